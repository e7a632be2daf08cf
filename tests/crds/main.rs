//! The committed definitions are those that the types give.
//!
//! `UPDATE=1 cargo test --test crds` rewrites them.

use std::{env, fs, path::Path};

/// Where the definitions are committed: for users, and for the chart that installs the operator.
const FOLDERS: &[&str] = &["crds", "charts/whipstaff/crds"];

#[test]
fn committed_definitions_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = whipstaff::crd_files().unwrap();
    assert!(!files.is_empty());
    for folder in FOLDERS {
        for (name, text) in &files {
            let path = root.join(folder).join(name);
            if env::var_os("UPDATE").is_some() {
                fs::create_dir_all(root.join(folder)).unwrap();
                fs::write(&path, text).unwrap();
            }
            let committed = fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(
                committed, *text,
                "`{folder}/{name}` is stale: run `just crds`"
            );
        }
    }
}

#[test]
fn definitions_are_structural_and_described() {
    for (name, text) in whipstaff::crd_files().unwrap() {
        let crd: serde_json::Value = serde_yaml::from_str(&text).unwrap();
        let schema = crd
            .pointer("/spec/versions/0/schema/openAPIV3Schema")
            .unwrap();
        check_schema(schema, &name);
    }
}

/// Every field has a type (or keeps unknown fields) and a description.
fn check_schema(schema: &serde_json::Value, path: &str) {
    let preserves = schema.get("x-kubernetes-preserve-unknown-fields").is_some();
    assert!(
        schema.get("type").is_some() || preserves,
        "{path} has no type"
    );
    if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
        for (field, schema) in properties {
            let path = format!("{path}.{field}");
            assert!(
                schema.get("description").is_some(),
                "{path} has no description"
            );
            check_schema(schema, &path);
        }
    }
    if let Some(items) = schema.get("items") {
        check_schema(items, &format!("{path}[]"));
    }
}
