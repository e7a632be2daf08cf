//! A chart as it was loaded: immutable, and fit for any thread.

use crate::metadata::{Dependency, Metadata};
use serde_json::{Map, Value};
use std::sync::Arc;
use whipstaff_gotemplate::Dialect;

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

/// Why a chart is not rendered by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotInstallable {
    /// It is made for a Helm that is not there yet, which Helm 4 can read but not install.
    #[error("invalid chart apiVersion")]
    Future,
    /// Nobody knows its `apiVersion`.
    #[error("unsupported chart version")]
    ApiVersion,
    /// It is there for other charts.
    #[error("{0} charts are not installable")]
    Kind(String),
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

    /// Whether Helm renders the chart by itself: Helm 4 refuses what is made for other versions (`pkg/chart/loader/load.go`), and all refuse
    /// charts that are there for others.
    ///
    /// # Errors
    /// [`NotInstallable`] with Helm's text.
    pub fn check_installable(&self, dialect: Dialect) -> Result<(), NotInstallable> {
        match self.metadata.api_version.as_str() {
            _ if !dialect.is_v4() => {}
            "v1" | "v2" => {}
            "v3" => return Err(NotInstallable::Future),
            _ => return Err(NotInstallable::ApiVersion),
        }
        match self.metadata.kind.as_str() {
            "" | "application" => Ok(()),
            kind => Err(NotInstallable::Kind(kind.to_owned())),
        }
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

#[cfg(test)]
mod tests {
    use crate::{Dialect, load};
    use whipstaff_generator::FileTree;

    #[test]
    fn charts_for_other_versions_of_helm_are_refused_by_helm_4() {
        let refusal = |api_version: &str, dialect| {
            let mut files = FileTree::new();
            let metadata = format!("apiVersion: {api_version}\nname: box\nversion: 1.0.0\n");
            files.insert("Chart.yaml", metadata.into_bytes()).unwrap();
            let chart = load(&files, dialect).unwrap();
            let checked = chart.check_installable(dialect);
            checked.err().map(|error| error.to_string())
        };
        for (api_version, expected) in [
            ("v1", None),
            ("v2", None),
            ("", None),
            ("v3", Some("invalid chart apiVersion")),
            ("v4", Some("unsupported chart version")),
            ("2", Some("unsupported chart version")),
        ] {
            assert_eq!(refusal(api_version, Dialect::V4_3).as_deref(), expected);
            assert_eq!(refusal(api_version, Dialect::V3), None);
        }
    }
}
