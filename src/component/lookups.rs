//! What templates looked up: asking, and finding out whether an answer changed.

use super::error::ReconcileError;
use crate::api::v1alpha1::LookedUp;
use crate::cluster::{Discovery, Objects, Resources, Versions, WatchedQuestion, answer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Instant;
use whipstaff_generator::{Digest, LookupQuestion, LookupSnapshot};

/// Most questions that are reported in the status.
const MAX_REPORTED: usize = 50;

/// What is remembered of the answers that the last rendering got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Digest of all answers.
    pub(crate) digest: Digest,
    /// How often the watches had told of changes when they were asked for.
    pub(crate) changes: u64,
    /// When they were asked for.
    pub(crate) at: Instant,
}

/// Answers all questions anew.
pub(super) async fn ask(
    questions: &[LookupQuestion],
    discovery: &Discovery,
    objects: &Objects,
) -> Result<LookupSnapshot, ReconcileError> {
    let mut snapshot = LookupSnapshot::new();
    for question in questions {
        let answer = answer(question, discovery, objects).await?;
        snapshot.insert(question.clone(), answer);
    }
    Ok(snapshot)
}

/// Digest of all answers. Bookkeeping of the API server that changes with every write, or with every list, is left out: an answer that
/// differs in nothing else renders to the same objects.
pub(super) fn digest(snapshot: &LookupSnapshot) -> Digest {
    let texts: Vec<_> = snapshot
        .iter()
        .map(|(question, answer)| format!("{question:?} {}", without_bookkeeping(answer)))
        .collect();
    Digest::of_parts(texts.iter().map(String::as_bytes))
}

/// The questions as they can be watched, with the versions of the answers. Kinds that are not served cannot.
pub(super) fn watchable(
    snapshot: &LookupSnapshot,
    identity: &str,
    resources: &Resources,
) -> BTreeMap<WatchedQuestion, Versions> {
    let watchable = snapshot.iter().filter_map(|(question, answer)| {
        let resource = resources.get(&question.api_version, &question.kind)?;
        let question = WatchedQuestion {
            identity: identity.to_owned(),
            resource: resource.clone(),
            namespace: question.namespace.clone(),
            name: question.name.clone(),
            selector: question.selector.clone(),
        };
        Some((question, versions(answer)))
    });
    watchable.collect()
}

/// The questions as the status reports them.
pub(super) fn reported(questions: &[LookupQuestion]) -> Vec<LookedUp> {
    let reported = questions.iter().take(MAX_REPORTED).map(|question| {
        let LookupQuestion {
            api_version,
            kind,
            namespace,
            name,
            ..
        } = question.clone();
        LookedUp {
            api_version,
            kind,
            namespace,
            name,
        }
    });
    reported.collect()
}

fn versions(answer: &Value) -> Versions {
    let single = std::slice::from_ref(answer);
    let objects = answer.get("items").and_then(Value::as_array);
    let versions = objects
        .map_or(single, Vec::as_slice)
        .iter()
        .filter_map(|object| {
            let field = |name| object.pointer("/metadata")?.get(name)?.as_str();
            let name = (
                field("namespace").unwrap_or_default().to_owned(),
                field("name")?.to_owned(),
            );
            Some((name, field("resourceVersion")?.to_owned()))
        });
    versions.collect()
}

fn without_bookkeeping(answer: &Value) -> Value {
    let mut answer = answer.clone();
    strip(&mut answer);
    if let Some(Value::Array(items)) = answer.get_mut("items") {
        items.iter_mut().for_each(strip);
    }
    answer
}

fn strip(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("resourceVersion");
        metadata.remove("managedFields");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot(answer: Value) -> LookupSnapshot {
        let mut snapshot = LookupSnapshot::new();
        let question = LookupQuestion {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "n".to_owned(),
            name: String::new(),
            ..LookupQuestion::default()
        };
        snapshot.insert(question, answer);
        snapshot
    }

    fn list(version: &str, text: &str) -> Value {
        let metadata = json!({"name": "a", "namespace": "n", "resourceVersion": version, "managedFields": [version]});
        json!({"metadata": {"resourceVersion": version}, "items": [{"metadata": metadata, "data": {"text": text}}]})
    }

    #[test]
    fn only_what_templates_make_use_of_counts_as_a_change() {
        let before = digest(&snapshot(list("1", "one")));
        assert_eq!(before, digest(&snapshot(list("2", "one"))));
        assert_ne!(before, digest(&snapshot(list("2", "two"))));
        assert_ne!(before, digest(&snapshot(Value::Null)));
    }

    #[test]
    fn versions_are_those_of_the_objects_in_an_answer() {
        let name = ("n".to_owned(), "a".to_owned());
        let expected = Versions::from([(name, "7".to_owned())]);
        assert_eq!(versions(&list("7", "")), expected);
        assert_eq!(versions(&list("7", "")["items"][0]), expected);
        assert_eq!(versions(&Value::Null), Versions::new());
    }
}
