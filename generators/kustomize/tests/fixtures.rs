//! Builds every case of `fixtures/kustomize` and compares it with what kustomize 5.8.1 said.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a broken case is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use whipstaff_generator::FileTree;
use whipstaff_kustomize::{BuildOptions, build};

/// Where the cases are put in the tree, so that messages name a root that can be told.
const ROOT: &str = "app";

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kustomize");
    let mut cases: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    cases
}

fn add(tree: &mut FileTree, folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}/{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            add(tree, &path, &name);
        } else {
            tree.insert(name, fs::read(&path).unwrap()).unwrap();
        }
    }
}

/// Addresses of Go's objects, which differ from run to run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str("0x");
        shown.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    shown
}

#[test]
fn kustomizations_are_built_as_kustomize_builds_them() {
    let cases = cases();
    assert!(cases.len() >= 40, "only {} cases", cases.len());
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let mut tree = FileTree::new();
        add(&mut tree, &case.join("input"), ROOT);
        let built = build(&tree, &format!("/{ROOT}"), &BuildOptions::default());
        if let Ok(expected) = fs::read_to_string(case.join("expected.yaml")) {
            let built = built.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(built.to_yaml(), expected, "{name}");
            continue;
        }
        let expected = fs::read_to_string(case.join("expected_error.txt")).unwrap();
        let error = built.expect_err(&name).to_string();
        let error = format!("{}\n", error.trim_end());
        let expected = expected.replace("<ROOT>", &format!("/{ROOT}"));
        assert_eq!(
            without_addresses(&error),
            without_addresses(&expected),
            "{name}"
        );
    }
}
