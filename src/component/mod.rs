//! One component from source to status: fetch, generate, plan, execute, report.

mod context;
mod corrections;
mod decryption;
mod deletion;
mod error;
mod gauges;
mod identity;
mod lookups;
mod mask;
mod memory;
mod preview;
mod project;
mod reconcile;
mod render;
mod rendering;
mod resource;
mod run;
mod secrets;
mod seed;
mod source;
mod spec;
mod stored;
mod variables;
mod wanted;

pub(crate) use context::{Context, NamedClient};
pub(crate) use identity::Identities;
pub(crate) use memory::Memories;
pub(crate) use preview::{Preview, PreviewOptions, preview};
pub(crate) use reconcile::reconcile;
pub(crate) use render::Renderer;
pub use resource::{Component, GeneratorOptions, Origin, Part};
pub(crate) use secrets::SecretEntries;
pub use variables::Variables;
pub(crate) use variables::variable_entries;
