//! `whipstaff template`: renders a chart and prints it as `helm template` does.

mod accepted;
mod name;
mod output;
mod server;

use super::{
    TIME_LIMIT, block_on,
    global::GlobalArguments,
    repository::{RepositoryArguments, update_dependencies},
    values::ValueArguments,
    write_error,
};
use accepted::AcceptedArguments;
use anyhow::{Context, Result, bail};
use name::NameArguments;
use output::OutputArguments;
use server::Server;
use std::{mem::ManuallyDrop, path::Path};
use whipstaff_generator::{Limits, LookupQuestion, LookupSnapshot, Seed};
use whipstaff_helm::{
    Chart, CompiledChart, Dialect, Map, ReleaseObject, RenderCapabilities, RenderError,
    RenderInput, RenderKubeVersion, Rendered, check_release_name, load,
};

/// Render a chart and print its manifests.
#[derive(Debug, clap::Args)]
pub(crate) struct TemplateArguments {
    /// Release name, if any, and the chart: a folder, a packed chart, an `https://` or `oci://` address, or a name in `--repo`
    #[arg(num_args = 1..=2, required = true, value_name = "[NAME] CHART")]
    positional: Vec<String>,
    /// Helm version whose behaviour is wanted: v3, v4, v4.1, v4.2 or v4.3
    #[arg(long, default_value = "v4")]
    dialect: Dialect,
    /// Namespace of the release
    #[arg(short, long, env = "HELM_NAMESPACE", default_value = "default")]
    namespace: String,
    #[command(flatten)]
    name: NameArguments,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    repository: RepositoryArguments,
    /// Fetch dependencies that are declared and not in `charts/`
    #[arg(long)]
    dependency_update: bool,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    accepted: AcceptedArguments,
    #[command(flatten)]
    global: GlobalArguments,
}

/// The cluster that is rendered for.
#[derive(Debug, clap::Args)]
struct ClusterArguments {
    /// Kubernetes version
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// API versions that the cluster has besides the usual ones
    #[arg(short, long, value_name = "VERSIONS", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Render as for an upgrade
    #[arg(long)]
    is_upgrade: bool,
    /// Render for the kubeconfig's cluster and have it check the manifests; `--dry-run=server` in Helm 4
    #[arg(long)]
    validate: bool,
    /// `server` asks the kubeconfig's cluster, `client` does not
    #[arg(
        long,
        value_name = "WHERE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "client",
        conflicts_with = "validate"
    )]
    dry_run: Option<String>,
    /// With a cluster: do not have it check the manifests' fields
    #[arg(long)]
    disable_openapi_validation: bool,
}

/// What a cluster is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Asked {
    /// Its version and API versions.
    capabilities: bool,
    /// Its objects.
    lookups: bool,
    /// Whether it would take the manifests.
    validation: bool,
}

/// Renders and prints.
pub(crate) fn run(arguments: &TemplateArguments) -> Result<()> {
    arguments.accepted.check()?;
    let asked = arguments.cluster.asked(arguments.dialect)?;
    let capabilities = arguments.cluster.capabilities(arguments.dialect)?;
    let (name, chart) = arguments
        .name
        .name_and_chart(&arguments.positional, arguments.dialect)?;
    let chart = arguments.load(chart)?;
    check_release_name(&name).with_context(|| name_refusal(&name, arguments.dialect))?;
    let job = Job {
        arguments,
        chart: ManuallyDrop::new(CompiledChart::new(chart, arguments.dialect)),
        name,
        values: arguments.values.merge(arguments.dialect)?,
    };
    let rendered = if asked == Asked::default() {
        // Nobody looks at the values of the manifests.
        job.chart
            .render_texts(&job.input(capabilities, &LookupSnapshot::new()))?
    } else {
        block_on(job.render_for_server(asked, capabilities))?
    };
    for warning in &rendered.warnings {
        warn(warning);
    }
    arguments
        .output
        .print(&rendered, &job.name, arguments.dialect)
}

fn warn(text: &str) {
    let text = text.trim_start_matches("warning: ");
    write_error(&format!("warning: {text}"));
}

impl TemplateArguments {
    /// Loads the chart, wherever it is, with its dependencies.
    fn load(&self, place: &str) -> Result<Chart> {
        let mut chart = load(&self.repository.read(place)?, self.dialect)?;
        chart.check_installable(self.dialect)?;
        if chart.metadata.deprecated {
            warn("this chart is deprecated");
        }
        if self.dependency_update && !chart.missing_dependencies().is_empty() {
            update_dependencies(Path::new(place), self.dialect, &self.repository)?;
            chart = load(&self.repository.read(place)?, self.dialect)
                .context("failed reloading chart after repo update")?;
        }
        let missing = chart.missing_dependencies();
        if !missing.is_empty() {
            bail!(
                "{}: found in Chart.yaml, but missing in charts/ directory: {}",
                dependencies_advice(self.dialect),
                missing.join(", ")
            );
        }
        Ok(chart)
    }
}

/// What Helm says about dependencies that are not there.
fn dependencies_advice(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::V3 => {
            "An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies"
        }
        Dialect::V4_1 => {
            "an error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies"
        }
        _ => {
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies"
        }
    }
}

/// What Helm puts before the reason why a name is refused.
fn name_refusal(name: &str, dialect: Dialect) -> String {
    let check = if dialect.is_v4() {
        "release name check failed: "
    } else {
        ""
    };
    format!("{check}release name {name:?}")
}

/// What came of one rendering.
type Outcome = Result<Rendered, Box<RenderError>>;

/// A chart with everything that it is rendered with.
struct Job<'a> {
    arguments: &'a TemplateArguments,
    /// The process ends once it has been rendered: to free it piece by piece would be in vain.
    chart: ManuallyDrop<CompiledChart>,
    name: String,
    values: Map,
}

impl Job<'_> {
    fn input<'i>(
        &'i self,
        capabilities: RenderCapabilities,
        lookups: &'i LookupSnapshot,
    ) -> RenderInput<'i> {
        let arguments = self.arguments;
        let mut limits = Limits::default();
        limits.time = TIME_LIMIT;
        RenderInput {
            values: &self.values,
            release: ReleaseObject {
                name: self.name.clone(),
                namespace: arguments.namespace.clone(),
                revision: 1,
                is_upgrade: arguments.cluster.is_upgrade,
            },
            capabilities,
            lookups,
            seed: Seed::Random,
            limits,
            skip_schema_validation: arguments.values.skip_schema_validation,
            subchart_notes: arguments.output.render_subchart_notes,
        }
    }

    async fn render_for_server(
        &self,
        asked: Asked,
        offline: RenderCapabilities,
    ) -> Result<Rendered> {
        let arguments = self.arguments;
        let server = Server::connect(&arguments.global).await?;
        let capabilities = if asked.capabilities {
            RenderCapabilities::of_cluster(&server.resources.capabilities, arguments.dialect)
        } else {
            offline
        };
        let render = |lookups: &LookupSnapshot| {
            let input = self.input(capabilities.clone(), lookups);
            self.chart.render(&input).map_err(Box::new)
        };
        let rendered = if asked.lookups {
            server.render(render, questions).await??
        } else {
            render(&LookupSnapshot::new())?
        };
        if asked.validation {
            let fields = !arguments.cluster.disable_openapi_validation;
            server
                .validate(&rendered, &arguments.namespace, fields)
                .await?;
        }
        Ok(rendered)
    }
}

/// What a rendering asked of the cluster, whether it failed or not.
fn questions(rendered: &Outcome) -> Vec<LookupQuestion> {
    match rendered {
        Ok(rendered) => rendered.consulted.lookups.clone(),
        Err(error) => match &**error {
            RenderError::Template(error) => error.consulted.lookups.clone(),
            _ => Vec::new(),
        },
    }
}

impl ClusterArguments {
    fn capabilities(&self, dialect: Dialect) -> Result<RenderCapabilities> {
        let mut capabilities = RenderCapabilities::offline(dialect);
        if let Some(version) = &self.kube_version {
            capabilities.kube_version = RenderKubeVersion::parse(version, dialect)?;
        }
        capabilities
            .api_versions
            .extend(self.api_versions.iter().cloned());
        Ok(capabilities)
    }

    /// What the flags want of a cluster. In Helm 3, `--validate` does not look objects up, and `--dry-run=server` does nothing else.
    fn asked(&self, dialect: Dialect) -> Result<Asked> {
        let dry_run = self.dry_run.as_deref();
        if !dialect.is_v4() {
            let lookups = match dry_run {
                Some("server" | "none" | "false") => true,
                None | Some("client" | "true" | "") => false,
                Some(_) => bail!(
                    "Invalid dry-run flag. Flag must one of the following: false, true, none, client, server"
                ),
            };
            return Ok(Asked {
                capabilities: self.validate,
                lookups,
                validation: self.validate,
            });
        }
        let server = match dry_run {
            Some("server") => true,
            None | Some("client" | "unset" | "1" | "t" | "T" | "true" | "TRUE" | "True") => {
                self.validate
            }
            Some(other) => {
                bail!("invalid dry-run value (\"{other}\"). Must be \"server\" or \"client\"")
            }
        };
        Ok(Asked {
            capabilities: server,
            lookups: server,
            validation: server,
        })
    }
}
