//! What a Component reports of its chart's hooks and of the revisions that it went through.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use whipstaff_generator::{ObjectId, ObjectKey};

/// Which hooks run when a Component goes back to an input that was ready before: those of an upgrade, or those of a rollback. Default
/// is `Upgrade`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnReturn {
    /// Going back is a change like any other.
    #[default]
    Upgrade,
    /// Going back is what `helm rollback` does.
    Rollback,
}

/// A revision whose objects were all applied and ready.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// The revision.
    pub revision: i64,
    /// Digest of its input.
    pub digest: String,
    /// Revision of the source that it was rendered from, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it was ready for the first time.
    pub ready_at: Time,
}

/// The hooks of a chart that ran last, and those that are still there.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HooksStatus {
    /// When hooks run: `pre-install`, `post-install`, `pre-upgrade`, `post-upgrade`, `pre-rollback`, `post-rollback`, `pre-delete` or
    /// `post-delete`.
    pub event: String,
    /// Revision that they run for.
    pub revision: i64,
    /// Digest of the input that they run for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// How often they were begun again for this revision.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: i64,
    /// How far they are.
    #[serde(flatten)]
    pub run: HookRun,
    /// Objects of hooks that ran before and were not deleted. They stay when they are no longer in the chart, and when the Component is
    /// deleted, as with Helm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub left: Vec<HookItem>,
}

/// A test of a Component: the test hooks of its chart, which run when the annotation `whipstaff.dev/test-at` gets a new value.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TestStatus {
    /// Value of the annotation that asked for it.
    pub requested: String,
    /// When it began.
    pub started_at: Time,
    /// How far it is.
    #[serde(flatten)]
    pub run: HookRun,
}

/// How far the hooks of one event are: they run one after another.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HookRun {
    /// How they are as a whole.
    pub phase: HookPhase,
    /// What is wrong with them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Since when the present one runs, or since when they are done.
    pub since: Time,
    /// Whether objects must still be deleted, as their delete policies say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleanup: bool,
    /// The hooks in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub hooks: Vec<HookItem>,
}

/// One hook.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct HookItem {
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
    /// How far it is.
    pub phase: HookPhase,
    /// Whether its object was deleted, as its delete policy says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// How far a hook is, or all hooks of an event.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookPhase {
    /// It has not begun.
    Scheduled,
    /// It runs.
    Running,
    /// It did its work.
    Succeeded,
    /// It failed.
    Failed,
}

impl fmt::Display for HookPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl HookRun {
    /// Hooks that are about to run.
    pub(crate) fn new(keys: impl IntoIterator<Item = ObjectKey>, now: &Time) -> Self {
        Self {
            phase: HookPhase::Running,
            message: String::new(),
            since: now.clone(),
            cleanup: false,
            hooks: keys.into_iter().map(HookItem::new).collect(),
        }
    }

    /// Position of the hook whose turn it is: the first that has not succeeded.
    pub(crate) fn position(&self) -> usize {
        let mut hooks = self.hooks.iter();
        let position = hooks.position(|hook| hook.phase != HookPhase::Succeeded);
        position.unwrap_or(self.hooks.len())
    }

    /// Whether there is nothing left to do, whatever came of it.
    pub fn is_over(&self) -> bool {
        self.phase != HookPhase::Running && !self.cleanup
    }

    /// Whether every hook did its work, and nothing is left to do.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.phase == HookPhase::Succeeded && self.is_over()
    }
}

impl HookItem {
    fn new(key: ObjectKey) -> Self {
        Self {
            group: key.group,
            version: key.version,
            kind: key.kind,
            namespace: key.namespace,
            name: key.name,
            phase: HookPhase::Scheduled,
            deleted: false,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}
