//! What a record holds. Fields that are not known here are kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// One revision of a release.
#[derive(Serialize, Deserialize, Clone, PartialEq, Default)]
pub(crate) struct Release {
    /// Name of the release.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    /// What became of it.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) info: Info,
    /// The chart, without its subcharts: Helm does not store those.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) chart: StoredChart,
    /// The user's values.
    #[serde(
        default,
        deserialize_with = "nullable",
        skip_serializing_if = "Map::is_empty"
    )]
    pub(crate) config: Map<String, Value>,
    /// The documents that are no hooks, as one text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) manifest: String,
    /// The hooks.
    #[serde(
        default,
        deserialize_with = "nullable",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(crate) hooks: Vec<StoredHook>,
    /// The revision, from one.
    #[serde(default)]
    pub(crate) version: i64,
    /// Namespace of the release.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    /// How the objects were written; Helm 3 does not say.
    #[serde(default, skip_serializing_if = "ApplyMethod::is_unknown")]
    pub(crate) apply_method: ApplyMethod,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values and manifests hold secrets.
        f.debug_struct("Release")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// What became of a revision.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Default)]
pub(crate) struct Info {
    /// When the release was first deployed, as Helm wrote it; Helm 3 writes empty texts for times that are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_deployed: Option<String>,
    /// When this revision was deployed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_deployed: Option<String>,
    /// When it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<String>,
    /// A sentence about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    /// Its state.
    #[serde(default)]
    pub(crate) status: Status,
    /// The revision that this one is a rollback to, or zero; Helm 4.3 says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) rollback_revision: i64,
    /// The rendered notes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) notes: String,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

/// State of a revision.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(from = "String", into = "String")]
pub(crate) enum Status {
    /// Nobody knows.
    #[default]
    Unknown,
    /// It is what is deployed.
    Deployed,
    /// The release was uninstalled, and its records stayed.
    Uninstalled,
    /// A later revision took its place.
    Superseded,
    /// Its deployment failed.
    Failed,
    /// It is being uninstalled, or that was interrupted.
    Uninstalling,
    /// The first revision is being deployed, or that was interrupted.
    PendingInstall,
    /// An upgrade is under way, or was interrupted.
    PendingUpgrade,
    /// A rollback is under way, or was interrupted.
    PendingRollback,
    /// A state that no Helm known here has.
    Other(String),
}

impl Status {
    /// Whether something is under way, or was interrupted: Helm refuses to do anything then.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(
            self,
            Self::PendingInstall | Self::PendingUpgrade | Self::PendingRollback
        )
    }

    /// The state as Helm writes it.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Unknown => "unknown",
            Self::Deployed => "deployed",
            Self::Uninstalled => "uninstalled",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
            Self::Uninstalling => "uninstalling",
            Self::PendingInstall => "pending-install",
            Self::PendingUpgrade => "pending-upgrade",
            Self::PendingRollback => "pending-rollback",
            Self::Other(text) => text,
        }
    }
}

impl From<String> for Status {
    fn from(text: String) -> Self {
        match text.as_str() {
            "unknown" | "" => Self::Unknown,
            "deployed" => Self::Deployed,
            "uninstalled" => Self::Uninstalled,
            "superseded" => Self::Superseded,
            "failed" => Self::Failed,
            "uninstalling" => Self::Uninstalling,
            "pending-install" => Self::PendingInstall,
            "pending-upgrade" => Self::PendingUpgrade,
            "pending-rollback" => Self::PendingRollback,
            _ => Self::Other(text),
        }
    }
}

impl From<Status> for String {
    fn from(status: Status) -> Self {
        status.as_str().to_owned()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How Helm wrote the objects of a revision.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, Default)]
#[serde(from = "String", into = "String")]
pub(crate) enum ApplyMethod {
    /// It does not say: Helm 3, and so by patches that the client makes.
    #[default]
    Unknown,
    /// By patches that the client makes.
    ClientSide,
    /// By server-side apply.
    ServerSide,
    /// In a way that no Helm known here has.
    Other(String),
}

impl ApplyMethod {
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl From<String> for ApplyMethod {
    fn from(text: String) -> Self {
        match text.as_str() {
            "" => Self::Unknown,
            "csa" => Self::ClientSide,
            "ssa" => Self::ServerSide,
            _ => Self::Other(text),
        }
    }
}

impl From<ApplyMethod> for String {
    fn from(method: ApplyMethod) -> Self {
        match method {
            ApplyMethod::Unknown => Self::new(),
            ApplyMethod::ClientSide => "csa".to_owned(),
            ApplyMethod::ServerSide => "ssa".to_owned(),
            ApplyMethod::Other(text) => text,
        }
    }
}

/// A chart as a record has it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Default)]
pub(crate) struct StoredChart {
    /// `Chart.yaml` as JSON. Of the dependencies only those are left that were enabled.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) metadata: Map<String, Value>,
    /// `Chart.lock`.
    #[serde(default)]
    pub(crate) lock: Value,
    /// Files below `templates/`.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) templates: Vec<StoredFile>,
    /// Default values. With declared dependencies those of the subcharts are merged in.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) values: Map<String, Value>,
    /// `values.schema.json`, in base64.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) schema: String,
    /// All other files.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) files: Vec<StoredFile>,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

impl StoredChart {
    /// Name, or empty.
    pub(crate) fn name(&self) -> &str {
        self.text("name")
    }

    /// Version, or empty.
    pub(crate) fn version(&self) -> &str {
        self.text("version")
    }

    /// `NAME-VERSION`, as Helm shows it.
    pub(crate) fn title(&self) -> String {
        format!("{}-{}", self.name(), self.version())
    }

    /// Names of the dependencies that were enabled.
    pub(crate) fn dependencies(&self) -> Vec<&str> {
        let dependencies = self.metadata.get("dependencies").and_then(Value::as_array);
        let names = dependencies.into_iter().flatten().map(|dependency| {
            let text = |field| dependency.get(field).and_then(Value::as_str);
            text("alias").or_else(|| text("name")).unwrap_or_default()
        });
        names.collect()
    }

    fn text(&self, field: &str) -> &str {
        let text = self.metadata.get(field).and_then(Value::as_str);
        text.unwrap_or_default()
    }
}

/// A file of a chart.
#[derive(Serialize, Deserialize, Clone, PartialEq, Default)]
pub(crate) struct StoredFile {
    /// Path inside the chart.
    #[serde(default)]
    pub(crate) name: String,
    /// Contents, in base64.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) data: String,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

impl StoredFile {
    /// The contents, unless they are no base64.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.data).ok()
    }
}

impl fmt::Debug for StoredFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredFile").field(&self.name).finish()
    }
}

/// A hook of a revision.
#[derive(Serialize, Deserialize, Clone, PartialEq, Default)]
pub(crate) struct StoredHook {
    /// Name of its object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    /// Kind of its object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) kind: String,
    /// Path of its template.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
    /// Its document.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) manifest: String,
    /// When it runs.
    #[serde(
        default,
        deserialize_with = "nullable",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(crate) events: Vec<String>,
    /// Its last run.
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) last_run: Execution,
    /// Order among the hooks of an event.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) weight: i64,
    /// When its object is deleted.
    #[serde(
        default,
        deserialize_with = "nullable",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(crate) delete_policies: Vec<String>,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

impl fmt::Debug for StoredHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredHook")
            .field("kind", &self.kind)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A run of a hook.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Default)]
pub(crate) struct Execution {
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    /// When it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) completed_at: Option<String>,
    /// `Unknown`, `Running`, `Succeeded`, `Failed`, or empty.
    #[serde(default)]
    pub(crate) phase: String,
    #[serde(flatten)]
    pub(crate) other: Map<String, Value>,
}

impl Info {
    /// When the revision was deployed.
    pub(crate) fn deployed_at(&self) -> Option<Timestamp> {
        time(self.last_deployed.as_deref())
    }

    /// The revision that this one is a rollback to. Up to Helm 4.2 only the description says so.
    pub(crate) fn rolled_back_to(&self) -> Option<i64> {
        if self.rollback_revision > 0 {
            return Some(self.rollback_revision);
        }
        self.description.strip_prefix("Rollback to ")?.parse().ok()
    }
}

/// A time as Helm writes it; an empty text, or Go's first instant, is none.
fn time(text: Option<&str>) -> Option<Timestamp> {
    let time: Timestamp = text?.parse().ok()?;
    (time.as_second() > 0).then_some(time)
}

/// Go writes null for what was never made.
fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_survives_reading_and_writing() {
        let record = json!({
            "name": "web",
            "info": {"first_deployed": "2024-05-01T10:00:00.5+02:00", "deleted": "", "status": "superseded",
                "resources": {"v1/Pod": []}},
            "chart": {"metadata": {"name": "web", "version": "1.2.3", "dependencies": [{"name": "db", "alias": "store"}]},
                "lock": null, "templates": [{"name": "templates/a.yaml", "data": "YQ==", "modtime": "x"}],
                "values": {"a": null}, "schema": "", "files": [], "schemamodtime": "0001-01-01T00:00:00Z"},
            "hooks": [{"name": "h", "last_run": {"started_at": "", "phase": ""}, "output_log_policies": ["hook-failed"]}],
            "version": 3, "namespace": "apps", "apply_method": "ssa", "later": [1]
        });
        let release: Release = serde_json::from_value(record.clone()).unwrap();
        assert_eq!(release.info.status, Status::Superseded);
        assert_eq!(release.apply_method, ApplyMethod::ServerSide);
        assert_eq!(release.chart.dependencies(), ["store"]);
        assert_eq!(
            release.chart.templates[0].bytes().as_deref(),
            Some(&b"a"[..])
        );
        assert_eq!(serde_json::to_value(&release).unwrap(), record);
    }

    #[test]
    fn null_stands_for_what_is_empty_and_times_may_be() {
        let text = r#"{"info":null,"chart":{"templates":null,"values":null,"schema":null,"files":null},"hooks":null,"config":null}"#;
        let release: Release = serde_json::from_str(text).unwrap();
        assert_eq!(release.info.status, Status::Unknown);
        assert_eq!(release.info.deployed_at(), None);
        let info = Info {
            last_deployed: Some("0001-01-01T00:00:00Z".to_owned()),
            ..Info::default()
        };
        assert_eq!(info.deployed_at(), None);
        let info = Info {
            last_deployed: Some("2024-05-01T10:00:00.123456789Z".to_owned()),
            description: "Rollback to 4".to_owned(),
            ..Info::default()
        };
        assert!(info.deployed_at().is_some());
        assert_eq!(info.rolled_back_to(), Some(4));
    }
}
