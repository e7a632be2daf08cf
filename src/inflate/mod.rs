//! Charts that kustomizations name (`helmCharts`), rendered by the Helm generator instead of a program.

mod source;

pub(crate) use source::SourceCharts;

use std::borrow::Cow;
use whipstaff_generator::{Consulted, FileTree, FileTreeError, Limits, LookupSnapshot, Seed};
use whipstaff_helm::{
    CompiledChart, Dialect, IGNORE_FILE, IgnoreError, IgnoreRules, KubeVersionError, LoadError,
    NameTemplateError, NotInstallable, ReleaseNameError, ReleaseObject, RenderCapabilities,
    RenderError, RenderInput, RenderKubeVersion, TextOptions, ValuesError, check_release_name,
    generated_release_name, load, merge_values, read_values, render_release_name, render_text,
    values_from_json,
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
    /// A rule that leaves files out cannot be understood.
    #[error("`{IGNORE_FILE}` cannot be read")]
    Ignore(#[from] IgnoreError),
    /// There is no room for the chart's files.
    #[error(transparent)]
    Files(#[from] FileTreeError),
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

impl InflateError {
    /// What was consulted before it failed.
    pub(crate) fn consulted(&self) -> Consulted {
        match self {
            Self::Render(error) => match &**error {
                RenderError::Template(error) => (*error.consulted).clone(),
                _ => Consulted::default(),
            },
            _ => Consulted::default(),
        }
    }
}

/// What a chart is rendered with besides the request.
pub(crate) struct InflateSettings<'a> {
    pub(crate) dialect: Dialect,
    /// Seconds since 1970, for names that are made up.
    pub(crate) now: u64,
    pub(crate) seed: Seed,
    pub(crate) limits: Limits,
    /// What the cluster offers, for charts of which the kustomization says nothing.
    pub(crate) capabilities: RenderCapabilities,
    /// Live objects that are known.
    pub(crate) lookups: &'a LookupSnapshot,
}

/// A rendered chart.
#[derive(Debug)]
pub(crate) struct Inflated {
    /// Its manifests.
    pub(crate) text: String,
    /// What its templates consulted.
    pub(crate) consulted: Consulted,
}

/// The files of a chart's folder that its `.helmignore` leaves.
///
/// # Errors
/// When a rule cannot be understood.
pub(crate) fn without_ignored(files: &FileTree) -> Result<FileTree, InflateError> {
    let text = files
        .get(IGNORE_FILE)
        .map(|text| String::from_utf8_lossy(text));
    let rules = IgnoreRules::parse(&text.unwrap_or_default())?;
    let mut kept = FileTree::new();
    for (path, content) in files.iter() {
        let mut folders = path.match_indices('/').map(|(end, _)| path.get(..end));
        let is_below = folders.any(|folder| rules.ignores(folder.unwrap_or_default(), true));
        if !is_below && !rules.ignores(path, false) {
            kept.insert(path, std::sync::Arc::clone(content))?;
        }
    }
    Ok(kept)
}

/// The manifests of a chart, as `helm template` prints them with the flags that kustomize gives.
///
/// # Errors
/// When the chart cannot be read or rendered.
pub(crate) fn inflate(
    files: &FileTree,
    request: &ChartRequest,
    settings: InflateSettings<'_>,
) -> Result<Inflated, InflateError> {
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
    let name = release_name(request, &settings)?.into_owned();
    let dialect = settings.dialect;
    let input = RenderInput {
        values: &values,
        release: ReleaseObject {
            name,
            namespace: namespace(request),
            revision: 1,
            is_upgrade: false,
        },
        capabilities: capabilities(request, settings.capabilities, dialect)?,
        lookups: settings.lookups,
        seed: settings.seed,
        limits: settings.limits,
        skip_schema_validation: false,
        subchart_notes: false,
    };
    let mut rendered = CompiledChart::new(chart, dialect)
        .render_texts(&input)
        .map_err(|error| InflateError::Render(Box::new(error)))?;
    let options = TextOptions {
        include_crds: request.include_crds,
        no_hooks: request.skip_hooks,
        skip_tests: request.skip_tests,
    };
    let text = render_text(&rendered, options);
    Ok(Inflated {
        text: String::from_utf8_lossy(&text).into_owned(),
        consulted: std::mem::take(&mut rendered.consulted),
    })
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
    settings: &InflateSettings<'_>,
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
    mut capabilities: RenderCapabilities,
    dialect: Dialect,
) -> Result<RenderCapabilities, InflateError> {
    if !request.kube_version.is_empty() {
        capabilities.kube_version = RenderKubeVersion::parse(&request.kube_version, dialect)?;
    }
    let versions = request.api_versions.iter().cloned();
    capabilities.api_versions.extend(versions);
    Ok(capabilities)
}
