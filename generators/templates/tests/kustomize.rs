//! Templated kustomizations, built.

#![allow(clippy::unwrap_used, reason = "a test may stop anywhere")]

use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use whipstaff_generator::{
    Capabilities, Error, FileTree, Generated, Generator, Input, LookupSnapshot,
};
use whipstaff_kustomize::KustomizeGenerator;
use whipstaff_templates::TemplatedGenerator;

fn generate(files: &[(&str, &str)], options: &Json) -> Result<Generated, Error> {
    let mut tree = FileTree::new();
    for (path, content) in files {
        tree.insert(*path, content.as_bytes()).unwrap();
    }
    let generator = TemplatedGenerator::new(KustomizeGenerator::new());
    let capabilities = Capabilities {
        kube_version: "v1.34.0".parse().unwrap(),
        api_versions: BTreeSet::new(),
    };
    let lookups = LookupSnapshot::new();
    let parameters = json!({"size": "large"}).as_object().unwrap().clone();
    let input = Input::new("apps", "shop", &parameters, &capabilities, &lookups);
    generator.prepare(&tree, options)?.generate(&input)
}

/// `namespace/name size` of every object.
fn built(files: &[(&str, &str)], options: &Json) -> Vec<String> {
    let generated = generate(files, options).unwrap();
    let line = |object: &whipstaff_generator::Object| {
        let size = object.pointer(&["data", "size"]).cloned();
        let size = size.unwrap_or_default();
        format!("{}/{} {size}", object.namespace(), object.name())
    };
    generated
        .objects
        .iter()
        .map(|item| line(&item.object))
        .collect()
}

const CONFIG_MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  size: '{{ .size }}'\n";

#[test]
fn kustomizations_are_rendered_and_built() {
    let files = [
        (".component-config.yaml", "values: {suffix: -1}"),
        (
            "kustomization.yaml",
            "namespace: {{ namespace }}\nnameSuffix: '{{ .suffix }}'\nresources: [a.yaml]\n",
        ),
        ("a.yaml", CONFIG_MAP),
    ];
    assert_eq!(built(&files, &Json::Null), ["apps/a-1 \"large\""]);
}

#[test]
fn a_folder_without_a_kustomization_is_built_from_its_manifests() {
    let files = [("a.yaml", CONFIG_MAP), ("README.md", "x")];
    assert_eq!(built(&files, &json!({"template": true})), ["/a \"large\""]);
    let empty = [("README.md", "x")];
    assert!(built(&empty, &json!({"template": true})).is_empty());
}

#[test]
fn included_kustomizations_are_built_with_the_folder_that_is_asked_for() {
    let files = [
        (
            "app/.component-config.yaml",
            "includedKustomizations: [../base]",
        ),
        (
            "app/kustomization.yaml",
            "namePrefix: {{ name }}-\nresources: [../base]\n",
        ),
        ("base/a.yaml", CONFIG_MAP),
        ("other/b.yaml", "{{ malformed"),
    ];
    let options = json!({"path": "app"});
    assert_eq!(built(&files, &options), ["/shop-a \"large\""]);
}

#[test]
fn plain_kustomizations_stay_plain() {
    let files = [
        ("kustomization.yaml", "resources: [a.yaml]\n"),
        ("a.yaml", CONFIG_MAP),
    ];
    assert_eq!(built(&files, &Json::Null), ["/a \"{{ .size }}\""]);
}
