//! Helm charts, which the host inflates.
//!
//! Mirrors `internal/builtins/HelmChartInflationGenerator.go` and `types/helmchartargs.go` of kustomize api v0.21.1.

use crate::error::{BuildError, BuildErrorKind, Result, fail};
use crate::files::{Loader, join};
use crate::kustomization::{HelmChart, HelmGlobals};
use crate::node::{Node, from_value, parse_document, to_value};
use crate::patch::{ListGrowth, merge};
use crate::resource::{Resource, Store, annotation, read_objects, read_text};
use serde_json::Value;
use whipstaff_generator::{Consulted, FileTree, Input, yaml};

/// What kustomize says where charts are not enabled.
pub(crate) const HELM_IS_OFF: &str = "must specify --enable-helm";
/// The folder of charts unless another is named.
const DEFAULT_CHART_HOME: &str = "charts";

/// What is asked of a [`ChartInflator`]: the arguments of `helm template`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, with Helm's name"
)]
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChartRequest {
    /// The name of the chart.
    pub name: String,
    /// The version, empty for any.
    pub version: String,
    /// Where the chart comes from if it is not in its folder: a repository, or `oci://…`; may be empty.
    pub repository: String,
    /// The absolute path of the folder of the chart in the file system of the build.
    pub chart_folder: String,
    /// The files in that folder, where the file system of the build can list them; otherwise the host reads the folder itself.
    pub files: Option<FileTree>,
    /// The name of the release; empty for a generated one.
    pub release_name: String,
    /// A template for the name of the release, or empty.
    pub name_template: String,
    /// The namespace of the release, or empty.
    pub namespace: String,
    /// Documents of values, later ones over earlier ones.
    pub values: Vec<String>,
    /// What the cluster offers in addition.
    pub api_versions: Vec<String>,
    /// The version of the cluster, or empty.
    pub kube_version: String,
    /// Whether CRDs are part of the output.
    pub include_crds: bool,
    /// Whether tests are left out.
    pub skip_tests: bool,
    /// Whether hooks are left out.
    pub skip_hooks: bool,
    /// Whether versions before a release count.
    pub devel: bool,
}

/// Renders charts for a build; the host implements it.
pub trait ChartInflator: std::fmt::Debug + Send + Sync {
    /// The manifests of a chart, as `helm template` prints them.
    ///
    /// # Errors
    /// When the chart cannot be found or rendered; the text becomes part of the build's error.
    fn inflate(
        &self,
        request: &ChartRequest,
    ) -> std::result::Result<String, Box<dyn std::error::Error + Send + Sync>>;

    /// The default values of a chart that is not in the file system of the build.
    ///
    /// # Errors
    /// When the chart cannot be found.
    fn default_values(
        &self,
        request: &ChartRequest,
    ) -> std::result::Result<String, Box<dyn std::error::Error + Send + Sync>>;
}

/// Renders the charts of a generator's kustomizations; the host implements it.
pub trait ChartHost: std::fmt::Debug + Send + Sync {
    /// An inflator for one rendering, whose templates see what is rendered for.
    fn inflator<'a>(&'a self, input: &'a Input<'a>) -> Box<dyn RecordingInflator + 'a>;
}

/// An inflator that tells what its charts made use of.
pub trait RecordingInflator: ChartInflator {
    /// What all charts so far consulted, those that failed included.
    fn consulted(&self) -> Consulted;
}

/// What the command line says about charts.
#[derive(Debug, Clone, Default)]
pub(crate) struct HelmSettings {
    pub(crate) enabled: bool,
    pub(crate) api_versions: Vec<String>,
    pub(crate) kube_version: String,
}

/// A chart that is ready to be inflated.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    config: HelmChart,
    request: ChartRequest,
    values_file: String,
    has_own_values_file: bool,
}

impl Chart {
    /// Checks what a kustomization says about a chart.
    ///
    /// # Errors
    /// When charts are not enabled, there is no name, or values cannot be read.
    pub(crate) fn new(
        loader: &Loader<'_>,
        settings: &HelmSettings,
        mut chart: HelmChart,
        globals: &HelmGlobals,
    ) -> Result<Self> {
        if !settings.enabled {
            return Err(BuildError::new(BuildErrorKind::Refused, HELM_IS_OFF));
        }
        if chart.name.is_empty() {
            return Err(fail("chart name cannot be empty"));
        }
        let home = if globals.chart_home.is_empty() {
            DEFAULT_CHART_HOME
        } else {
            &globals.chart_home
        };
        let mut home = if home.starts_with('/') {
            home.to_owned()
        } else {
            join(loader.root(), home)
        };
        if !chart.version.is_empty() && !chart.repo.is_empty() {
            home = join(&home, &format!("{}-{}", chart.name, chart.version));
        }
        let folder = join(&home, &chart.name);
        let mut more = Vec::new();
        for file in &chart.additional_values_files {
            let content = loader
                .load(file)
                .map_err(|error| error.within("could not load additionalValuesFile"))?;
            more.push(read_text(&content)?.to_owned());
        }
        match chart.values_merge.as_str() {
            "" => "override".clone_into(&mut chart.values_merge),
            "merge" | "override" | "replace" => {}
            _ => return Err(fail("valuesMerge must be one of [merge override replace]")),
        }
        if chart.kube_version.is_empty() {
            chart.kube_version.clone_from(&settings.kube_version);
        }
        if chart.api_versions.is_empty() {
            chart.api_versions.clone_from(&settings.api_versions);
        }
        let has_own_values_file = !chart.values_file.is_empty();
        let values_file = if has_own_values_file {
            chart.values_file.clone()
        } else {
            join(&folder, "values.yaml")
        };
        Ok(Self {
            request: request(&chart, folder, more),
            values_file,
            has_own_values_file,
            config: chart,
        })
    }

    /// Inflates the chart.
    ///
    /// # Errors
    /// When the host offers no charts, cannot render this one, or its output is no list of objects.
    pub(crate) fn inflate(
        &self,
        store: &mut Store,
        loader: &Loader<'_>,
        inflator: Option<&dyn ChartInflator>,
    ) -> Result<Vec<Resource>> {
        let inflator = inflator.ok_or_else(|| {
            BuildError::new(
                BuildErrorKind::Refused,
                format!(
                    "chart `{}` cannot be inflated: charts are not available here",
                    self.config.name
                ),
            )
        })?;
        let mut request = self.request.clone();
        request.files = loader.folder(&request.chart_folder);
        let values = self.values(store, loader, inflator, &request)?;
        request.values.insert(0, values);
        let text = inflator.inflate(&request).map_err(|cause| {
            BuildError::new(
                BuildErrorKind::Build,
                format!("cannot inflate chart `{}`: {cause}", self.config.name),
            )
        })?;
        let resources = read_objects(store, &text)?;
        for resource in &resources {
            resource.set_annotation(store, annotation::HELM_GENERATED, "true")?;
        }
        Ok(resources)
    }

    fn values(
        &self,
        store: &mut Store,
        loader: &Loader<'_>,
        inflator: &dyn ChartInflator,
        request: &ChartRequest,
    ) -> Result<String> {
        let inline = Value::Object(self.config.values_inline.clone());
        if !self.config.values_inline.is_empty() && self.config.values_merge == "replace" {
            return Ok(yaml::to_string(&inline));
        }
        let defaults = match loader.load(&self.values_file) {
            Ok(content) => read_text(&content)?.to_owned(),
            Err(error) if self.has_own_values_file => return Err(error),
            Err(_) => inflator.default_values(request).map_err(|cause| {
                BuildError::new(
                    BuildErrorKind::Load,
                    format!(
                        "cannot read the values of chart `{}`: {cause}",
                        self.config.name
                    ),
                )
            })?,
        };
        if self.config.values_inline.is_empty() {
            return Ok(defaults);
        }
        let defaults = parse_document(&mut store.arena, &defaults)
            .map_err(|error| error.within("could not parse values file into rnode"))?;
        let defaults = defaults.unwrap_or_else(|| store.arena.add(Node::default()));
        let inline = from_value(&mut store.arena, &inline);
        let (target, patch) = if self.config.values_merge == "merge" {
            (inline, defaults)
        } else {
            (defaults, inline)
        };
        let merged = merge(store, Some(target), Some(patch), ListGrowth::Append)
            .map_err(|error| error.within("could not merge values"))?;
        let value = merged.map_or(Ok(Value::Object(serde_json::Map::new())), |merged| {
            to_value(&store.arena, merged)
        })?;
        Ok(yaml::to_string(&value))
    }
}

fn request(chart: &HelmChart, chart_folder: String, values: Vec<String>) -> ChartRequest {
    ChartRequest {
        name: chart.name.clone(),
        version: chart.version.clone(),
        repository: chart.repo.clone(),
        chart_folder,
        files: None,
        release_name: chart.release_name.clone(),
        name_template: chart.name_template.clone(),
        namespace: chart.namespace.clone(),
        values,
        api_versions: chart.api_versions.clone(),
        kube_version: chart.kube_version.clone(),
        include_crds: chart.include_crds,
        skip_tests: chart.skip_tests,
        skip_hooks: chart.skip_hooks,
        devel: chart.devel,
    }
}
