//! Version `v1alpha1` of the group `whipstaff.dev`.

mod adopt;
mod component;
mod duration;
mod generators;
mod health;
mod hooks;
mod policies;
mod relations;
mod status;
mod transformers;

pub use adopt::{
    Adopt, AdoptionApproval, AdoptionPhase, AdoptionStatus, HelmRelease, LaterRevisions,
    PendingRevision, PinnedValues,
};
pub use component::{
    Component, ComponentSpec, Decryption, ReleaseSource, SecretReference, Source, UrlSource,
};
pub use duration::{DURATION_PATTERN, DurationError, DurationText};
pub use generators::{
    Dialect, DirectoryOptions, GeneratorPart, HelmOptions, KustomizeOptions, LoadRestrictor,
    Randomness, Reorder, TemplateLanguage,
};
pub use health::HealthCheck;
pub use hooks::{HistoryEntry, HookItem, HookPhase, HookRun, HooksStatus, OnReturn, TestStatus};
pub use policies::{
    AdoptionPolicy, DeletePolicy, DriftIgnore, DriftMode, DriftPolicy, ImmutablePolicy,
    MissingNamespacesPolicy, PROTECTED_KINDS, Policies, PrunePolicy, ReconcilePolicy, TypePattern,
    UpdatePolicy,
};
pub use relations::{DependsOn, KubeConfig, SecretKeyReference, ValuesSource};
pub use status::{
    ComponentStatus, GeneratorStatus, InventoryItem, LookedUp, Phase, SourceStatus, State,
    TargetStatus,
};
pub use transformers::{
    Image, Patch, PatchOptions, PatchTarget, Substitute, UndefinedVariable, VariableSource,
    VariableSourceKind,
};
