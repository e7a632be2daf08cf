//! The operator on a real API server: what becomes of a Component, and of what it owns.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod composite;
mod custom;
mod decryption;
mod deletion;
mod drift;
mod failures;
mod helm;
mod hooks;
mod inflation;
mod install;
mod kustomization;
mod lookup;
mod order;
mod ownership;
mod parity;
mod policies;
mod randomness;
mod readiness;
mod remote;
mod upgrade;
mod variables;
mod world;
