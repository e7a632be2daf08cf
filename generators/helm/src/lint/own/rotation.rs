//! Values that change with every upgrade. An upgrade is played through: what the first rendering made is there to be looked up.

use super::{
    super::{Finding, Severity},
    ROTATES,
    bench::{Bench, Case, by_path, describe},
    finding,
};
use crate::{manifest::Manifest, render::Rendered};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map as JsonMap, Value as Json, json};
use whipstaff_generator::{LookupQuestion, LookupSnapshot};

/// Most rounds of questions about the objects of the first rendering.
const MAX_ROUNDS: usize = 4;

/// Compares two upgrades of the same release that only differ in what is random and in the time.
pub(super) fn check(bench: &mut Bench<'_>, installed: &Rendered, findings: &mut Vec<Finding>) {
    let mut case = Case::install(bench.input);
    case.draw = 2;
    match bench.render(&case) {
        Ok(other) if differences(installed, &other).is_empty() => return,
        Ok(_) => {}
        Err(_) => return,
    }
    let Some((lookups, one)) = upgrade(bench, installed) else {
        return;
    };
    let mut case = upgrade_case(bench, 3);
    case.lookups = Some(&lookups);
    let Ok(other) = bench.render(&case) else {
        return;
    };
    for (path, object, pointer) in differences(&one, &other) {
        let is_secondary = pointer.contains("/annotations/") || pointer == "/metadata/name";
        let severity = if is_secondary {
            Severity::Info
        } else {
            Severity::Warning
        };
        let message = format!(
            "{object} has another value at `{pointer}` on every upgrade: with Helm it is lost unless it is looked up or given in the values"
        );
        let path = bench.inside(path).to_owned();
        findings.push(finding(ROTATES, severity, path, None, message));
    }
}

fn upgrade_case<'a>(bench: &Bench<'_>, draw: u8) -> Case<'a> {
    Case {
        dialect: bench.input.dialect,
        values: bench.input.values.clone(),
        draw,
        is_upgrade: true,
        lookups: None,
    }
}

/// Renders an upgrade, with answers from what was installed.
fn upgrade(bench: &mut Bench<'_>, installed: &Rendered) -> Option<(LookupSnapshot, Rendered)> {
    let mut lookups = LookupSnapshot::new();
    for _ in 0..MAX_ROUNDS {
        let mut case = upgrade_case(bench, 2);
        case.lookups = Some(&lookups);
        let rendered = bench.render(&case).ok()?;
        let new: Vec<LookupQuestion> = rendered
            .consulted
            .lookups
            .iter()
            .filter(|question| !lookups.contains(question))
            .cloned()
            .collect();
        if new.is_empty() {
            return Some((lookups, rendered));
        }
        for question in new {
            let answer = answer(&question, installed, bench.input.namespace);
            lookups.insert(question, answer);
        }
    }
    None
}

/// What a cluster that has only what was installed would answer.
fn answer(question: &LookupQuestion, installed: &Rendered, namespace: &str) -> Json {
    let hooks = installed.hooks.iter().map(|hook| &hook.manifest);
    let matching: Vec<Json> = installed
        .manifests
        .iter()
        .chain(hooks)
        .filter(|manifest| {
            manifest.kind == question.kind && manifest.api_version == question.api_version
        })
        .map(|manifest| stored(&manifest.value, namespace))
        .filter(|object| {
            let wanted = question.namespace.as_str();
            wanted.is_empty() || object.pointer("/metadata/namespace") == Some(&json!(wanted))
        })
        .collect();
    if question.name.is_empty() {
        let kind = format!("{}List", question.kind);
        return json!({"apiVersion": question.api_version, "kind": kind, "items": matching});
    }
    let is_named = |object: &Json| {
        object.pointer("/metadata/name").and_then(Json::as_str) == Some(&question.name)
    };
    matching.into_iter().find(is_named).unwrap_or_default()
}

/// An object as the API server would give it back: in a namespace, and with the texts of a secret among its data.
fn stored(object: &Json, namespace: &str) -> Json {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata
            .entry("namespace")
            .or_insert_with(|| json!(namespace));
    }
    let is_secret = object.get("kind").is_some_and(|kind| kind == "Secret");
    let Some(fields) = object.as_object_mut().filter(|_| is_secret) else {
        return object;
    };
    if let Some(Json::Object(texts)) = fields.remove("stringData") {
        let data = fields
            .entry("data")
            .or_insert_with(|| Json::Object(JsonMap::new()));
        if let Some(data) = data.as_object_mut() {
            for (key, text) in texts {
                let text = text.as_str().unwrap_or_default();
                data.insert(key, Json::String(STANDARD.encode(text)));
            }
        }
    }
    object
}

/// Template, object and place of the first difference of each object that differs.
fn differences<'a>(one: &'a Rendered, other: &Rendered) -> Vec<(&'a str, String, String)> {
    let others = by_path(other);
    let mut found = Vec::new();
    for (path, manifests) in by_path(one) {
        let counterparts = others.get(path).map(Vec::as_slice).unwrap_or_default();
        for (manifest, counterpart) in manifests.into_iter().zip(counterparts) {
            if let Some(pointer) = difference(manifest, counterpart) {
                found.push((path, describe(manifest), pointer));
            }
        }
    }
    found
}

fn difference(one: &Manifest, other: &Manifest) -> Option<String> {
    first_difference(&one.value, &other.value)
}

/// Where two values differ first, as a JSON pointer.
pub(super) fn first_difference(one: &Json, other: &Json) -> Option<String> {
    if one == other {
        return None;
    }
    let below = |key: &str, pointer: String| {
        let key = key.replace('~', "~0").replace('/', "~1");
        format!("/{key}{pointer}")
    };
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            let missing = |key: &str| below(key, String::new());
            let inside = one.iter().find_map(|(key, value)| match other.get(key) {
                Some(counterpart) => {
                    first_difference(value, counterpart).map(|pointer| below(key, pointer))
                }
                None => Some(missing(key)),
            });
            inside.or_else(|| {
                let added = other.keys().find(|key| !one.contains_key(*key));
                added.map(|key| missing(key))
            })
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .find_map(|(at, (one, other))| {
                first_difference(one, other).map(|pointer| format!("/{at}{pointer}"))
            }),
        _ => Some(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found() {
        let cases = [
            (
                json!({"a": [1, {"b/c": 2}]}),
                json!({"a": [1, {"b/c": 3}]}),
                Some("/a/1/b~1c"),
            ),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), Some("/b")),
            (json!({"a": 1, "b": 2}), json!({"a": 1}), Some("/b")),
            (json!([1]), json!([1, 2]), Some("")),
            (json!({"a": 1}), json!({"a": 1}), None),
        ];
        for (one, other, expected) in cases {
            assert_eq!(first_difference(&one, &other).as_deref(), expected);
        }
    }

    #[test]
    fn secrets_are_stored_with_their_texts_encoded() {
        let object = json!({"kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "x"}});
        let stored = stored(&object, "ns");
        assert_eq!(stored.pointer("/data/a"), Some(&json!("eA==")));
        assert_eq!(stored.pointer("/metadata/namespace"), Some(&json!("ns")));
        assert_eq!(stored.get("stringData"), None);
    }
}
