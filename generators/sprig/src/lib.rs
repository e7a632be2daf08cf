//! The Sprig and Helm template functions.

mod base_encoding;
mod dates;
mod hashes;
mod regex;
pub mod semver;
mod typed;

pub use dates::scalar_host;
