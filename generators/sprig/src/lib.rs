//! The Sprig and Helm template functions.

mod base_encoding;
mod hashes;
mod regex;
pub mod semver;
mod typed;
