//! `whipstaff template`: renders a chart and prints it as `helm template` does.

mod name;
mod output;

use super::{
    TIME_LIMIT,
    chart_files::read_chart, global::GlobalArguments, values::ValueArguments, write_error,
};
use anyhow::{Result, bail};
use name::NameArguments;
use output::OutputArguments;
use std::path::Path;
use whipstaff_generator::{Limits, LookupSnapshot, Seed};
use whipstaff_helm::{
    CompiledChart, Dialect, ReleaseObject, RenderCapabilities, RenderInput, RenderKubeVersion,
    check_release_name, load,
};

/// Render a chart and print its manifests.
#[derive(Debug, clap::Args)]
pub(crate) struct TemplateArguments {
    /// Release name, if any, and the chart: a folder or a packed chart
    #[arg(num_args = 1..=2, required = true, value_name = "[NAME] CHART")]
    positional: Vec<String>,
    /// Helm version whose behaviour is wanted: v3, v4, v4.1, v4.2 or v4.3
    #[arg(long, default_value = "v4")]
    dialect: Dialect,
    /// Namespace of the release
    #[arg(short, long, default_value = "default")]
    namespace: String,
    #[command(flatten)]
    name: NameArguments,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    output: OutputArguments,
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
}

/// Renders and prints.
pub(crate) fn run(arguments: &TemplateArguments) -> Result<()> {
    let (name, path) = arguments
        .name
        .name_and_chart(&arguments.positional, arguments.dialect)?;
    check_release_name(&name)?;
    let values = arguments.values.merge(arguments.dialect)?;
    let chart = load(&read_chart(Path::new(path))?, arguments.dialect)?;
    if !matches!(chart.metadata.kind.as_str(), "" | "application") {
        bail!("{} charts are not installable", chart.metadata.kind);
    }
    if chart.metadata.deprecated {
        warn("this chart is deprecated");
    }
    let missing = chart.missing_dependencies();
    if !missing.is_empty() {
        bail!(
            "found in Chart.yaml, but missing in charts/ directory: {}",
            missing.join(", ")
        );
    }
    let lookups = LookupSnapshot::new();
    let mut limits = Limits::default();
    limits.time = TIME_LIMIT;
    let rendered = CompiledChart::new(chart, arguments.dialect).render(&RenderInput {
        values: &values,
        release: ReleaseObject {
            name: name.clone(),
            namespace: arguments.namespace.clone(),
            revision: 1,
            is_upgrade: arguments.cluster.is_upgrade,
        },
        capabilities: arguments.cluster.capabilities(arguments.dialect)?,
        lookups: &lookups,
        seed: Seed::Random,
        limits,
        skip_schema_validation: arguments.values.skip_schema_validation,
        subchart_notes: arguments.output.render_subchart_notes,
    })?;
    for warning in &rendered.warnings {
        warn(warning);
    }
    arguments.output.print(&rendered, &name, arguments.dialect)
}

fn warn(text: &str) {
    let text = text.trim_start_matches("warning: ");
    write_error(&format!("warning: {text}"));
}

impl ClusterArguments {
    fn capabilities(&self, dialect: Dialect) -> Result<RenderCapabilities> {
        let mut capabilities = RenderCapabilities::offline();
        if let Some(version) = &self.kube_version {
            capabilities.kube_version = RenderKubeVersion::parse(version, dialect)?;
        }
        capabilities
            .api_versions
            .extend(self.api_versions.iter().cloned());
        Ok(capabilities)
    }
}
