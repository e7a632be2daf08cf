//! Charts of our own, rendered in two dialects and compared with what Helm 3.22.0 and Helm 4.3.1 print.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};
use whipstaff_generator::{FileTree, Limits, LookupSnapshot, Seed};
use whipstaff_helm::{
    Assignment, CompiledChart, Dialect, Map, ReleaseObject, RenderCapabilities, RenderInput,
    RenderKubeVersion, TextOptions, assign, assign_json, load, merge_values, read_values,
    render_text, values_from_json, without_ignored,
};

/// How a case is rendered.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Case {
    release: Option<String>,
    namespace: Option<String>,
    values: Vec<String>,
    set: Vec<String>,
    set_string: Vec<String>,
    set_json: Vec<String>,
    set_literal: Vec<String>,
    api_versions: Vec<String>,
    kube_version: Option<String>,
    include_crds: bool,
    is_upgrade: bool,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/helm");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() > 15, "cases are missing");
    cases
}

fn read_case(folder: &Path) -> Case {
    serde_json::from_slice(&fs::read(folder.join("case.json")).unwrap()).unwrap()
}

fn read_tree(folder: &Path, below: &str, tree: &mut FileTree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let relative = if below.is_empty() {
            name.to_owned()
        } else {
            format!("{below}/{name}")
        };
        if path.is_dir() {
            read_tree(&path, &relative, tree);
        } else {
            tree.insert(relative, fs::read(&path).unwrap()).unwrap();
        }
    }
}

fn chart_files(folder: &Path) -> FileTree {
    let mut tree = FileTree::new();
    read_tree(&folder.join("chart"), "", &mut tree);
    without_ignored(&tree).unwrap()
}

fn values(folder: &Path, case: &Case, dialect: Dialect) -> Map {
    let mut values = values_from_json(&serde_json::Map::new());
    for file in &case.values {
        let text = fs::read(folder.join(file)).unwrap();
        let file = read_values(&text, dialect).unwrap();
        values = merge_values(&values, &values_from_json(&file));
    }
    for text in &case.set_json {
        values = assign_json(text, &values, dialect).unwrap();
    }
    for text in &case.set {
        assign(text, &values, Assignment::Typed, dialect).unwrap();
    }
    for text in &case.set_string {
        assign(text, &values, Assignment::Text, dialect).unwrap();
    }
    for text in &case.set_literal {
        assign(text, &values, Assignment::Literal, dialect).unwrap();
    }
    values
}

/// The text that is printed, or the error with its causes.
fn render(folder: &Path, case: &Case, dialect: Dialect) -> Result<String, String> {
    let chart = load(&chart_files(folder), dialect).map_err(|error| chain(&error))?;
    let mut capabilities = RenderCapabilities::offline(dialect);
    if let Some(version) = &case.kube_version {
        capabilities.kube_version = RenderKubeVersion::parse(version, dialect).unwrap();
    }
    capabilities
        .api_versions
        .extend(case.api_versions.iter().cloned());
    let lookups = LookupSnapshot::new();
    let values = values(folder, case, dialect);
    let input = RenderInput {
        values: &values,
        release: ReleaseObject {
            name: case.release.clone().unwrap_or_else(|| "rel".to_owned()),
            namespace: case
                .namespace
                .clone()
                .unwrap_or_else(|| "default".to_owned()),
            revision: 1,
            is_upgrade: case.is_upgrade,
        },
        capabilities,
        lookups: &lookups,
        seed: Seed::Random,
        limits: Limits::default(),
        skip_schema_validation: false,
        subchart_notes: false,
    };
    let compiled = CompiledChart::new(chart, dialect);
    let rendered = compiled.render(&input).map_err(|error| chain(&error))?;
    let again = compiled.render(&input).map_err(|error| chain(&error))?;
    let options = TextOptions {
        include_crds: case.include_crds,
        no_hooks: false,
        skip_tests: false,
    };
    let text = render_text(&rendered, options);
    assert_eq!(
        text,
        render_text(&again, options),
        "a second rendering differs"
    );
    Ok(String::from_utf8(text).unwrap())
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn compare(dialect: Dialect) {
    let mut failures = Vec::new();
    for folder in cases() {
        let case = read_case(&folder);
        let expected = |extension: &str| {
            fs::read_to_string(folder.join(format!("expected/{dialect}.{extension}"))).ok()
        };
        let found = render(&folder, &case, dialect);
        let matches = match (expected("yaml"), expected("error"), &found) {
            (Some(expected), None, Ok(found)) => *found == expected,
            (None, Some(expected), Err(found)) => found.trim_end() == expected.trim_end(),
            _ => false,
        };
        if !matches {
            let found = found.unwrap_or_else(|error| format!("error: {error}"));
            failures.push(format!("{}:\n{found}", folder.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn charts_render_as_helm_3_renders_them() {
    compare(Dialect::V3);
}

#[test]
fn charts_render_as_helm_4_renders_them() {
    compare(Dialect::V4_3);
}
