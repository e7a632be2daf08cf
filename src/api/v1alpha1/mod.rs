//! Version `v1alpha1` of the group `whipstaff.dev`.

mod component;
mod duration;
mod generators;
mod health;
mod relations;
mod status;
mod transformers;

pub use component::{
    AdoptionPolicy, Component, ComponentSpec, Decryption, MissingNamespacesPolicy, Policies,
    SecretReference, Source, UrlSource,
};
pub use duration::{DURATION_PATTERN, DurationError, DurationText};
pub use generators::{
    Dialect, DirectoryOptions, GeneratorPart, HelmOptions, KustomizeOptions, LoadRestrictor,
    Randomness, Reorder, TemplateLanguage,
};
pub use health::HealthCheck;
pub use relations::{DependsOn, KubeConfig, SecretKeyReference, ValuesSource};
pub use status::{
    ComponentStatus, DeletePolicy, GeneratorStatus, InventoryItem, LookedUp, Phase, SourceStatus,
    State, TargetStatus,
};
pub use transformers::{
    Image, Patch, PatchOptions, PatchTarget, Substitute, UndefinedVariable, VariableSource,
    VariableSourceKind,
};
