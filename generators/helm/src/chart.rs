//! A chart as it was loaded: immutable, and fit for any thread.

use crate::metadata::{Dependency, Metadata};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A chart with its subcharts.
#[derive(Debug, Clone)]
pub struct Chart {
    /// `Chart.yaml`.
    pub metadata: Metadata,
    /// `Chart.lock` or `requirements.lock`, if there is one.
    pub lock: Option<Lock>,
    /// Default values.
    pub values: Map<String, Value>,
    /// `values.schema.json`, if there is one.
    pub schema: Option<Arc<[u8]>>,
    /// Files below `templates/`, in the order in which Helm walks folders.
    pub templates: Vec<ChartFile>,
    /// All other files: what `.Files` gives, `crds/` included.
    pub files: Vec<ChartFile>,
    /// Charts below `charts/`, packed or not, by the name of their folder or archive.
    pub dependencies: Vec<Arc<Self>>,
}

/// A file of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartFile {
    /// Path inside the chart.
    pub name: String,
    /// Contents, without a byte order mark.
    pub data: Arc<[u8]>,
}

/// Which versions of its dependencies a chart was packed with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lock {
    /// Digest of what was requested and what was chosen.
    pub digest: String,
    /// The chosen versions.
    pub dependencies: Vec<Dependency>,
}

impl Chart {
    /// The chart's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Names of declared dependencies that are not below `charts/`.
    pub fn missing_dependencies(&self) -> Vec<&str> {
        let present = |name: &str| self.dependencies.iter().any(|chart| chart.name() == name);
        let declared = self.metadata.dependencies().iter().map(|d| d.name.as_str());
        declared.filter(|name| !present(name)).collect()
    }

    /// Whether only templates that start with `_` count.
    pub fn is_library(&self) -> bool {
        self.metadata.kind.eq_ignore_ascii_case("library")
    }
}

impl ChartFile {
    /// Whether this is a CRD to be installed before everything else: a YAML or JSON file below `crds/`.
    pub(crate) fn is_crd(&self) -> bool {
        let extension = self
            .name
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension);
        let manifest = ["yaml", "yml", "json"]
            .iter()
            .any(|e| extension.eq_ignore_ascii_case(e));
        manifest && self.name.starts_with("crds/")
    }
}
