//! Keys and objects that are there twice.

use super::{
    super::{Finding, LintInput, Severity},
    DUPLICATE_KEY, DUPLICATE_OBJECT,
    bench::{by_path, describe},
    finding,
};
use crate::{manifest::Manifest, render::Rendered};
use std::collections::BTreeMap;
use whipstaff_generator::yaml;

/// Looks for keys that are in the default values twice.
pub(super) fn check_values(input: &LintInput<'_>, findings: &mut Vec<Finding>) {
    let file = "values.yaml";
    let Some(text) = input.files.get(file) else {
        return;
    };
    if let Some((line, key)) = duplicate(text) {
        let message = format!("key {key} is there twice, and the last one wins");
        let path = file.to_owned();
        findings.push(finding(
            DUPLICATE_KEY,
            Severity::Warning,
            path,
            line,
            message,
        ));
    }
}

pub(super) fn check(rendered: &Rendered, input: &LintInput<'_>, findings: &mut Vec<Finding>) {
    let mut objects = BTreeMap::new();
    for (path, manifests) in by_path(rendered) {
        let path = inside(path);
        for manifest in manifests {
            if let Some((line, key)) = duplicate(&manifest.content) {
                let line = line.map_or_else(String::new, |line| format!(" (line {line} of it)"));
                let message = format!(
                    "{} is rendered with key {key} twice{line}: the last one wins, and strict readers refuse it",
                    describe(manifest)
                );
                findings.push(finding(
                    DUPLICATE_KEY,
                    Severity::Warning,
                    path.clone(),
                    None,
                    message,
                ));
            }
        }
    }
    for manifest in &rendered.manifests {
        let Some(key) = identity(manifest, input.namespace) else {
            continue;
        };
        if let Some(first) = objects.insert(key, &manifest.path) {
            let message = format!(
                "{} is also rendered by {}",
                describe(manifest),
                inside(first)
            );
            let path = inside(&manifest.path);
            findings.push(finding(
                DUPLICATE_OBJECT,
                Severity::Warning,
                path,
                None,
                message,
            ));
        }
    }
}

/// A template's path without the chart's name.
fn inside(path: &str) -> String {
    path.split_once('/')
        .map_or(path, |(_, below)| below)
        .to_owned()
}

/// Line and key, in quotes, of the first key that is there twice.
fn duplicate(text: &[u8]) -> Option<(Option<usize>, String)> {
    let text = std::str::from_utf8(text).ok()?;
    let error = yaml::from_str_strict(text).err()?;
    let message = error.message();
    let (before, _) = message.split_once(" already set in map")?;
    let (line, key) = before.rsplit_once(": key ")?;
    let line = line.rsplit(' ').next().and_then(|line| line.parse().ok());
    Some((line, key.to_owned()))
}

/// Group, kind, namespace and name.
fn identity(manifest: &Manifest, namespace: &str) -> Option<[String; 4]> {
    let metadata = manifest.value.get("metadata")?;
    let text = |key: &str| metadata.get(key)?.as_str().filter(|text| !text.is_empty());
    let group = manifest
        .api_version
        .split_once('/')
        .map_or("", |(group, _)| group);
    let kind = manifest.kind.as_str();
    let name = text("name").filter(|_| !kind.is_empty() && kind != "List")?;
    Some([group, kind, text("namespace").unwrap_or(namespace), name].map(ToOwned::to_owned))
}
