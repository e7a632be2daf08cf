//! Charts that kustomizations name (`helmCharts`), rendered by the Helm generator instead of a program.

use std::borrow::Cow;
use whipstaff_generator::{FileTree, Limits, LookupSnapshot, Seed};
use whipstaff_helm::{
    CompiledChart, Dialect, KubeVersionError, LoadError, NameTemplateError, NotInstallable,
    ReleaseNameError, ReleaseObject, RenderCapabilities, RenderError, RenderInput,
    RenderKubeVersion, TextOptions, ValuesError, check_release_name, generated_release_name, load,
    merge_values, read_values, render_release_name, render_text, values_from_json,
};
use whipstaff_kustomize::ChartRequest;

/// The namespace of releases for which a kustomization names none.
const DEFAULT_NAMESPACE: &str = "default";

/// Why a chart of a kustomization cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InflateError {
    /// The chart cannot be read.
    #[error("the chart cannot be read")]
    Load(#[from] LoadError),
    /// Helm refuses to render it by itself.
    #[error(transparent)]
    NotInstallable(#[from] NotInstallable),
    /// Dependencies are declared that are not there.
    #[error("found in Chart.yaml, but missing in charts/ directory: {}", .0.join(", "))]
    MissingDependencies(Vec<String>),
    /// A name and a template for it are given.
    #[error("`releaseName` and `nameTemplate` are both given")]
    TwoNames,
    /// The template for the name of the release fails.
    #[error(transparent)]
    NameTemplate(#[from] NameTemplateError),
    /// The name of the release cannot be one.
    #[error("release name {name:?}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        #[source]
        cause: ReleaseNameError,
    },
    /// The version of the cluster cannot be understood.
    #[error(transparent)]
    KubeVersion(#[from] KubeVersionError),
    /// Values are no YAML.
    #[error("values cannot be read")]
    Values(#[from] ValuesError),
    /// The chart cannot be rendered.
    #[error(transparent)]
    Render(Box<RenderError>),
}

/// What a chart is rendered with besides the request.
pub(crate) struct InflateSettings {
    pub(crate) dialect: Dialect,
    /// Seconds since 1970, for names that are made up.
    pub(crate) now: u64,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
}

/// The manifests of a chart, as `helm template` prints them with the flags that kustomize gives.
///
/// # Errors
/// When the chart cannot be read or rendered.
pub(crate) fn inflate(
    files: &FileTree,
    request: &ChartRequest,
    settings: &InflateSettings,
) -> Result<String, InflateError> {
    let chart = load(files, settings.dialect)?;
    chart.check_installable(settings.dialect)?;
    let missing = chart.missing_dependencies();
    if !missing.is_empty() {
        return Err(InflateError::MissingDependencies(
            missing.into_iter().map(str::to_owned).collect(),
        ));
    }
    let mut values = values_from_json(&serde_json::Map::new());
    for document in &request.values {
        let document = read_values(document.as_bytes(), settings.dialect)?;
        values = merge_values(&values, &values_from_json(&document));
    }
    let lookups = LookupSnapshot::new();
    let input = RenderInput {
        values: &values,
        release: ReleaseObject {
            name: release_name(request, settings)?.into_owned(),
            namespace: namespace(request),
            revision: 1,
            is_upgrade: false,
        },
        capabilities: capabilities(request, settings.dialect)?,
        lookups: &lookups,
        seed: settings.seed,
        limits: settings.limits,
        skip_schema_validation: false,
        subchart_notes: false,
    };
    let rendered = CompiledChart::new(chart, settings.dialect)
        .render_texts(&input)
        .map_err(|error| InflateError::Render(Box::new(error)))?;
    let options = TextOptions {
        include_crds: request.include_crds,
        no_hooks: request.skip_hooks,
        skip_tests: request.skip_tests,
    };
    let text = render_text(&rendered, options);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn namespace(request: &ChartRequest) -> String {
    let name = match request.namespace.as_str() {
        "" => DEFAULT_NAMESPACE,
        name => name,
    };
    name.to_owned()
}

fn release_name<'a>(
    request: &'a ChartRequest,
    settings: &InflateSettings,
) -> Result<Cow<'a, str>, InflateError> {
    let name = match (
        request.release_name.as_str(),
        request.name_template.as_str(),
    ) {
        ("", "") => Cow::Owned(generated_release_name(&request.name, settings.now)),
        ("", template) => Cow::Owned(render_release_name(template, settings.dialect)?),
        (name, "") => Cow::Borrowed(name),
        _ => return Err(InflateError::TwoNames),
    };
    check_release_name(&name).map_err(|cause| InflateError::Name {
        name: name.clone().into_owned(),
        cause,
    })?;
    Ok(name)
}

fn capabilities(
    request: &ChartRequest,
    dialect: Dialect,
) -> Result<RenderCapabilities, InflateError> {
    let mut capabilities = RenderCapabilities::offline(dialect);
    if !request.kube_version.is_empty() {
        capabilities.kube_version = RenderKubeVersion::parse(&request.kube_version, dialect)?;
    }
    let versions = request.api_versions.iter().cloned();
    capabilities.api_versions.extend(versions);
    Ok(capabilities)
}
