//! An API server that does what API servers do on bad days, and several operators on one cluster: in the end everything is as if
//! nothing had happened.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod operators;
mod server;
mod world;
