//! What may be done to objects, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kinds whose objects are not pruned unless the policies say otherwise: what they hold cannot be made again.
pub const PROTECTED_KINDS: &[&str] = &[
    "PersistentVolumeClaim",
    "Namespace",
    "CustomResourceDefinition.apiextensions.k8s.io",
];

/// What may be done to objects, and how. Annotations of an object go before what is said here.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct Policies {
    /// Whether objects that exist already are taken over: `Never`, `IfUnowned` or `Always`. An object counts as owned when it
    /// belongs to another Component, to a Helm release or to a controller. Default is `IfUnowned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adoption: Option<AdoptionPolicy>,

    /// How an object is changed: `SsaMerge`, `SsaOverride`, `Replace` or `Recreate`. Default is `SsaMerge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdatePolicy>,

    /// What happens when a change touches a field that cannot be changed: `Refuse` or `Recreate`. Default is `Refuse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub immutable: Option<ImmutablePolicy>,

    /// When an object is applied again: `OnObjectChange`, `OnObjectOrComponentChange` or `Once`. Default is `OnObjectChange`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconcile: Option<ReconcilePolicy>,

    /// What happens to an object that is no longer wanted: `Delete`, `Orphan`, `OrphanOnApply` or `OrphanOnDelete`. Default is
    /// `Delete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<DeletePolicy>,

    /// Whether namespaces that objects need are created: `Create`, `CreateAndRemove` or `DoNotCreate`. Default is `Create`, and a
    /// namespace created so is never deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_namespaces: Option<MissingNamespacesPolicy>,

    /// What happens when somebody else changes an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftPolicy>,

    /// What keeps objects from being pruned when they are no longer among the manifests. The deletion of the Component itself is
    /// not affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<PrunePolicy>,
}

impl Policies {
    /// These policies, with those of others where these say nothing.
    #[must_use]
    pub fn or(self, others: &Self) -> Self {
        Self {
            adoption: self.adoption.or(others.adoption),
            update: self.update.or(others.update),
            immutable: self.immutable.or(others.immutable),
            reconcile: self.reconcile.or(others.reconcile),
            delete: self.delete.or(others.delete),
            missing_namespaces: self.missing_namespaces.or(others.missing_namespaces),
            drift: self.drift.or_else(|| others.drift.clone()),
            prune: self.prune.or_else(|| others.prune.clone()),
        }
    }
}

/// Whether objects that exist already are taken over: `Never`, `IfUnowned` or `Always`. An object counts as owned when it belongs to
/// another Component, to a Helm release or to a controller. Default is `IfUnowned`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdoptionPolicy {
    /// An object that exists already is an error.
    Never,
    /// Only objects that nobody owns are taken over.
    #[default]
    IfUnowned,
    /// Any object is taken over.
    Always,
}

/// How an object is changed. Default is `SsaMerge`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpdatePolicy {
    /// Server-side apply: fields that others added stay.
    #[default]
    SsaMerge,
    /// Server-side apply that also takes over what was set with kubectl: what is not in the manifest goes.
    SsaOverride,
    /// The whole object is replaced: fields that others added go.
    Replace,
    /// The object is deleted and created anew.
    Recreate,
}

/// What happens when a change touches a field that cannot be changed. Default is `Refuse`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImmutablePolicy {
    /// It is an error that names the field.
    #[default]
    Refuse,
    /// The object is deleted and created anew.
    Recreate,
}

/// When an object is applied again. Default is `OnObjectChange`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReconcilePolicy {
    /// When its manifest changes, or somebody else changes the object.
    #[default]
    OnObjectChange,
    /// Also whenever the Component's spec, annotations or source change.
    OnObjectOrComponentChange,
    /// Never, once it was applied. It comes back when it is deleted.
    Once,
}

/// What happens to an object when it is no longer wanted. Default is `Delete`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeletePolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// It stays, and is no longer owned.
    Orphan,
    /// It stays when it is no longer among the manifests, and is deleted with the Component.
    OrphanOnApply,
    /// It is deleted when it is no longer among the manifests, and stays when the Component is deleted.
    OrphanOnDelete,
}

impl DeletePolicy {
    /// Whether an object stays that is no longer among the manifests.
    pub fn orphans_on_apply(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanOnApply)
    }

    /// Whether an object stays when the Component is deleted.
    pub fn orphans_on_delete(self) -> bool {
        matches!(self, Self::Orphan | Self::OrphanOnDelete)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::Delete
    }
}

/// Whether namespaces that objects need are created. Default is `Create`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingNamespacesPolicy {
    /// A missing namespace is an error.
    DoNotCreate,
    /// A missing namespace is created, without labels, and stays when the Component goes.
    #[default]
    Create,
    /// A missing namespace is created and owned, and is deleted with the Component unless something of others is in it.
    CreateAndRemove,
}

/// What happens when somebody else changes an object.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct DriftPolicy {
    /// `Correct` puts the object right at once, `Report` only tells, `Ignore` does neither. Default is `Correct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<DriftMode>,

    /// Changes that are left as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub ignore: Vec<DriftIgnore>,
}

/// What happens when somebody else changes an object. Default is `Correct`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DriftMode {
    /// It is put right.
    #[default]
    Correct,
    /// It stays, and is told in the inventory and as an event.
    Report,
    /// It stays.
    Ignore,
}

/// Changes that are left as they are: those of some fields, by some managers, or both, in the objects that match all of group, kind,
/// namespace and name that are given.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct DriftIgnore {
    /// API group; empty for the core group. Any when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub group: Option<String>,
    /// Kind. Any when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub kind: Option<String>,
    /// Namespace. Any when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
    /// Name. Any when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub name: Option<String>,
    /// Fields as JSON pointers, for example `/spec/replicas`; what is below them is meant too. All fields when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 512), regex(pattern = "^/")), extend("x-kubernetes-list-type" = "atomic"))]
    pub pointers: Vec<String>,
    /// Field managers whose changes are left as they are. All managers when left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 128)), extend("x-kubernetes-list-type" = "atomic"))]
    pub managers: Vec<String>,
}

/// What keeps objects from being pruned.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct PrunePolicy {
    /// Most objects that one change may remove, in percent of all objects. A change that removes more is refused before anything is
    /// written. Default is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 100))]
    pub max_percent: Option<u8>,

    /// Kinds whose objects stay, owned as before, when they are no longer among the manifests: `Kind`, or `Kind.group`. An object
    /// with the annotation `delete-policy: delete` is pruned all the same. Default is `PersistentVolumeClaim`, `Namespace`
    /// and `CustomResourceDefinition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 317)), extend("x-kubernetes-list-type" = "atomic"))]
    pub protect: Option<Vec<String>>,
}

/// A set of kinds.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct TypePattern {
    /// API group: empty for the core group, `*` for any, or `*.` and a suffix for every group below it.
    #[serde(default)]
    #[schemars(
        length(max = 253),
        regex(pattern = r"^(\*|(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$")
    )]
    pub group: String,
    /// Kind, or `*` for any.
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^(\*|[A-Za-z][A-Za-z0-9]*)$")
    )]
    pub kind: String,
}

impl TypePattern {
    /// Whether a kind is in the set. An asterisk in front of a suffix stands for one label of a DNS name or more.
    pub fn matches(&self, group: &str, kind: &str) -> bool {
        let group_matches = match self.group.strip_prefix("*.") {
            Some(suffix) => group
                .strip_suffix(suffix)
                .and_then(|front| front.strip_suffix('.'))
                .is_some_and(|front| !front.is_empty()),
            None => self.group == "*" || self.group == group,
        };
        group_matches && (self.kind == "*" || self.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_groups_below_a_suffix_and_not_the_suffix_itself() {
        let cases = [
            ("*.example.org", "*", "a.example.org", "Widget", true),
            ("*.example.org", "*", "a.b.example.org", "Widget", true),
            ("*.example.org", "*", "example.org", "Widget", false),
            ("*.example.org", "*", ".example.org", "Widget", false),
            ("*", "Widget", "anything", "Widget", true),
            ("", "Secret", "", "Secret", true),
            ("", "Secret", "example.org", "Secret", false),
            ("a*", "Secret", "ab", "Secret", false),
        ];
        for (group, kind, of, object, expected) in cases {
            let pattern = TypePattern {
                group: group.to_owned(),
                kind: kind.to_owned(),
            };
            assert_eq!(pattern.matches(of, object), expected, "{group} {of}");
        }
    }
}
