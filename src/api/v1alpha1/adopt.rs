//! Taking over what another tool deployed.

#![expect(unreachable_pub, reason = "what the derive macros make of it")]

use super::SecretReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is taken over, and how.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(oldSelf.helmRelease) || !has(self.helmRelease) || self.helmRelease.name == oldSelf.helmRelease.name", "a Component takes over one release: the name cannot be changed"))]
pub struct Adopt {
    /// A release of Helm, version 3 or 4, whose objects become the Component's. Nothing is written before it is proved what would
    /// change, and that is approved. Then the objects get the Component's marks, and their fields its field manager; what they hold,
    /// and the release's records, stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm_release: Option<HelmRelease>,

    /// Values that the chart would make anew (random ones, and those that hang on the time), kept as they are. The operator makes such a
    /// Secret for a release that it takes over; `whipstaff adopt --write` writes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<PinnedValues>,
}

/// A release of Helm that is taken over.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct HelmRelease {
    /// Name of the release.
    #[schemars(length(min = 1, max = 53))]
    pub name: String,

    /// Namespace of the release. Default is the namespace that the objects are rendered for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,

    /// Who approves: with `Manual` the annotation `whipstaff.dev/approve-adoption` of the Component, whose value is the digest of the
    /// proof in the status; with `AutomaticIfIdentical` nobody needs to when nothing changes. Default is `Manual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<AdoptionApproval>,

    /// What becomes of a release whose last revision is pending, because Helm is at work or was interrupted: `Refuse` waits, `Adopt`
    /// passes that revision over. Default is `Refuse`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingRevision>,

    /// What happens when somebody makes another revision with Helm afterwards: `Report` tells and goes on, `Refuse` tells and applies
    /// nothing any more, `Follow` takes that revision over, too. Default is `Report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_revisions: Option<LaterRevisions>,
}

/// Who approves. Default is `Manual`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdoptionApproval {
    /// An annotation with the digest of the proof.
    #[default]
    Manual,
    /// Nobody needs to when nothing changes.
    AutomaticIfIdentical,
}

/// What becomes of a release whose last revision is pending. Default is `Refuse`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PendingRevision {
    /// It is waited for.
    #[default]
    Refuse,
    /// The revision is passed over.
    Adopt,
}

/// What happens when somebody makes another revision with Helm. Default is `Report`.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LaterRevisions {
    /// It is told.
    #[default]
    Report,
    /// It is told, and nothing is applied.
    Refuse,
    /// It is taken over.
    Follow,
}

/// Values that are kept as they are.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PinnedValues {
    /// Secret in the Component's namespace with the entry `pinned.json`.
    pub secret_ref: SecretReference,
}

/// How far taking over is.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AdoptionStatus {
    /// Namespace of the release.
    pub namespace: String,
    /// Name of the release.
    pub name: String,
    /// The revision that its objects come from.
    pub revision: i64,
    /// The revision that they are rendered as: another one after a rollback.
    pub rendered_revision: i64,
    /// How far it is.
    pub phase: AdoptionPhase,
    /// Digest of the proof, which an approval names.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Whether the proof says that nothing changes.
    #[serde(default)]
    pub identical: bool,
    /// What was found out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// A revision that somebody made afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_revision: Option<i64>,
    /// Secret in the Component's namespace with values that are kept, which the operator made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_secret: Option<String>,
    /// Objects whose fields were handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<i64>,
    /// When all of it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted_at: Option<Time>,
}

/// How far taking over is.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdoptionPhase {
    /// The release is held against the chart.
    Verifying,
    /// What would change is known, and an approval is waited for.
    ReadyToAdopt,
    /// Objects are being marked, and their fields handed over.
    Adopting,
    /// The objects are the Component's.
    Adopted,
}

impl fmt::Display for AdoptionPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
