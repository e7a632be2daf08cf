//! Releases that the real Helm made, taken over on a real API server.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod command;
mod fleet;
mod history;
mod killed;
mod takeover;
#[allow(dead_code, reason = "shared with the tests of reconciliation")]
#[path = "../reconcile/world.rs"]
mod world;
