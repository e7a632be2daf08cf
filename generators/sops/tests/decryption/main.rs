//! Files that SOPS encrypted, and what becomes of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    clippy::format_push_string,
    reason = "the names are our own, and the texts short"
)]

mod hostile;
mod recordings;
mod refusals;
mod trees;

use std::path::{Path, PathBuf};

use whipstaff_sops::Keys;

/// The folder of the recordings.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sops")
}

/// A file of the recordings, by its path in their folder.
fn fixture(path: &str) -> Vec<u8> {
    let path = fixtures().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An encrypted file as text.
fn encrypted(path: &str) -> String {
    String::from_utf8(fixture(&format!("encrypted/{path}"))).unwrap()
}

/// The test keys of some entries.
fn keys(entries: &[&str]) -> Keys {
    let entries = entries
        .iter()
        .map(|name| (*name, fixture(&format!("keys/{name}"))));
    Keys::from_entries(entries).unwrap()
}
