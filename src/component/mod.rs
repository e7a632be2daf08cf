//! One component from source to status: fetch, generate, plan, execute, report.

mod context;
mod corrections;
mod deletion;
mod error;
mod gauges;
mod identity;
mod lookups;
mod memory;
mod project;
mod reconcile;
mod render;
mod rendering;
mod resource;
mod run;
mod seed;
mod source;

pub(crate) use context::{Context, NamedClient};
pub(crate) use identity::Identities;
pub(crate) use memory::Memories;
pub(crate) use reconcile::reconcile;
pub(crate) use render::Renderer;
pub use resource::{Component, Origin};
