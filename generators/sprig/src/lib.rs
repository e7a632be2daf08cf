//! The Sprig and Helm template functions.

mod base_encoding;
mod dates;
pub mod glob;
mod hashes;
mod network;
mod paths;
mod random;
mod regex;
pub mod semver;
mod typed;
mod urls;
