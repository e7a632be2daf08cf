//! The built program, as a person or a script calls it.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod build;
mod dependencies;
mod flags;
#[cfg(feature = "git")]
mod git;
mod lint;
mod program;
mod registry;
#[cfg(feature = "git")]
mod remote;
mod render;
mod repository;
mod server;
