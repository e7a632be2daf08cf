//! Operators of one's own on a real API server: hooks, references, identities, clusters, dependencies.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod dependencies;
mod example;
mod identity;
mod kubeconfig;
mod objects;
mod requests;
mod several;
mod status;
mod values;
#[allow(dead_code, reason = "what all test binaries share")]
#[path = "../reconcile/world.rs"]
mod world;
