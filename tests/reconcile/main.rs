//! The operator on a real API server: what becomes of a Component, and of what it owns.

mod deletion;
mod drift;
mod failures;
mod hooks;
mod install;
mod ownership;
mod readiness;
mod upgrade;
mod world;
