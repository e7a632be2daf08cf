//! Version `v1alpha1` of the group `whipstaff.dev`.

mod component;
mod duration;
mod status;

pub use component::{
    AdoptionPolicy, Component, ComponentSpec, Dialect, HelmOptions, MissingNamespacesPolicy,
    Policies, Randomness, SecretReference, Source, UrlSource,
};
pub use duration::{DURATION_PATTERN, DurationError, DurationText};
pub use status::{
    ComponentStatus, DeletePolicy, GeneratorStatus, InventoryItem, LookedUp, Phase, SourceStatus,
    State,
};
