//! What a Component reports.

use super::adopt::AdoptionStatus;
use super::hooks::{HistoryEntry, HooksStatus, TestStatus};
use super::policies::DeletePolicy;
use crate::status::Status;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use whipstaff_generator::{ObjectId, ObjectKey};

/// What was observed of a Component and of everything that it owns.
///
/// # Extensions
/// A kind whose status has fields of its own flattens this one, and sets them in [hooks](crate::HookContext::set_status_field):
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use whipstaff::api::v1alpha1::ComponentStatus;
///
/// #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
/// #[serde(rename_all = "camelCase")]
/// struct CacheStatus {
///     #[serde(flatten)]
///     common: ComponentStatus,
///     #[serde(default, skip_serializing_if = "Option::is_none")]
///     endpoint: Option<String>,
/// }
/// ```
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ComponentStatus {
    /// Generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Generation of the spec whose objects were last all applied and ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_generation: Option<i64>,

    /// When an object was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_at: Option<Time>,

    /// Summary in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,

    /// `Ready`, and while they hold `Reconciling` (work goes on) and `Stalled` (a person must act).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,

    /// What was fetched last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceStatus>,

    /// What the objects are rendered for; it stays as long as there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetStatus>,

    /// What renders the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorStatus>,

    /// Counts the different inputs (source, parameters, options) that were rendered: the revision of a Helm release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<i64>,

    /// Digest of the input that was rendered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_digest: Option<String>,

    /// When the current input was first rendered: what `now` answers in its templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_since: Option<Time>,

    /// Secret in the Component's namespace that the random values of its templates are derived from; absent when they draw none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_secret: Option<String>,

    /// Secret in the Component's namespace that holds the inventory; absent unless that is too large to stand here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory_secret: Option<String>,

    /// How far the takeover of `spec.adopt.helmRelease` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adoption: Option<AdoptionStatus>,

    /// Live objects that templates looked up, at most 50 of them. When one changes, the input is rendered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub lookups: Vec<LookedUp>,

    /// Since when objects of the current input are waited for; the timeout counts from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_since: Option<Time>,

    /// Value of the annotation `whipstaff.dev/reconcile-at` that was heeded last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,

    /// Every object that the Component owns, unless they stand in a Secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub inventory: Vec<InventoryItem>,

    /// Hooks of the chart that ran last; absent when none ever did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Box<HooksStatus>>,

    /// Secret in the Component's namespace that holds the hooks which run when the Component is deleted; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks_secret: Option<String>,

    /// The test that was asked for last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Box<TestStatus>>,

    /// The last ten revisions that were ready, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub history: Vec<HistoryEntry>,

    /// Fields of a kind's status that are not these; see [extensions](Self#extensions).
    #[serde(skip)]
    pub(crate) extension: Map<String, Value>,
}

/// What was fetched.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// Address that it came from.
    pub url: String,
    /// Revision that the source gave it: an entity tag, a time, or the digest.
    pub revision: String,
    /// SHA-256 of the archive.
    pub digest: String,
}

/// What objects are rendered for.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TargetStatus {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for TargetStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}/{}`", self.namespace, self.name)
    }
}

/// A live object, or a list of them, that a template looked up.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LookedUp {
    /// API version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; absent for cluster-scoped objects and for lists over all namespaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name; absent for a list.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What renders the source.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GeneratorStatus {
    /// Name of the generator.
    pub name: String,
    /// Why it was chosen.
    pub reason: String,
    /// Helm dialect, for the Helm generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
}

/// Summary of a Component in one word.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Something outside is waited for, or reconciliation is suspended.
    Pending,
    /// Objects are being applied, or waited for.
    Processing,
    /// Everything is applied and ready.
    Ready,
    /// Deletion is requested and something outside holds it up.
    DeletionPending,
    /// Objects are being deleted.
    Deleting,
    /// Something is wrong; the Ready condition says what.
    Error,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One object that a Component owns.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct InventoryItem {
    /// API group; absent for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; absent for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,

    /// What is being done with the object.
    pub phase: Phase,
    /// How the object itself is.
    pub status: Status,
    /// What it is waiting for, when it is not ready.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Since when phase and status are as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,

    /// Digest of the manifest that was applied last; absent when none was yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Digest of the fields that the operator owned after its last write. Another digest on the live object means that somebody
    /// changed one of them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fields: String,

    /// Wave in which the object is applied.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub apply_order: i32,
    /// Wave in which the object is deleted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delete_order: i32,
    /// What happens to the object when it is no longer wanted.
    #[serde(default, skip_serializing_if = "DeletePolicy::is_default")]
    pub delete_policy: DeletePolicy,
    /// Whether the object is pruned even if its kind is protected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prunable: bool,

    /// Whether it is a namespace that was created because objects needed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,

    /// Kinds that the object serves, as `group/version/Kind`, each with `*` for any: those of a definition or of an extension API
    /// server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub manages: Vec<String>,
    /// Objects that this one was said to depend on, as `group/Kind/namespace/name`: they are deleted after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub depends_on: Vec<String>,
    /// What somebody else changed in the object, where such changes are only reported.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub drift: String,
    /// When the object was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<Time>,
}

impl InventoryItem {
    /// An item for an object that was not applied yet.
    pub fn new(key: &ObjectKey) -> Self {
        Self {
            group: key.group.clone(),
            version: key.version.clone(),
            kind: key.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            phase: Phase::Scheduled,
            status: Status::Unknown,
            message: String::new(),
            since: None,
            digest: String::new(),
            fields: String::new(),
            apply_order: 0,
            delete_order: 0,
            delete_policy: DeletePolicy::default(),
            prunable: false,
            made: false,
            manages: Vec::new(),
            depends_on: Vec::new(),
            drift: String::new(),
            applied_at: None,
        }
    }

    /// Group, version, kind, namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Identity across API versions.
    pub fn id(&self) -> ObjectId {
        self.key().id()
    }
}

/// What is being done with an object.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It will be applied.
    Scheduled,
    /// It was applied and is waited for.
    Applied,
    /// It was applied and was ready.
    Ready,
    /// It did its work and was deleted: a hook that shall not remain.
    Completed,
    /// It is no longer wanted and is being deleted.
    Deleting,
    /// It is no longer wanted, and stays because its kind is protected.
    Kept,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}
