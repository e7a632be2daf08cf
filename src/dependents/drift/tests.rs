use super::*;
use crate::dependents::testing::desired;
use serde_json::json;
use std::sync::Arc;

fn deployment(replicas: i64, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [
            {"name": "web", "image": image, "resources": {"limits": {"cpu": "1000m"}}}]}}}})
}

/// The deployment as it is in the cluster: with another container in front, and with replicas that a tool has set.
fn live(replicas: i64, image: &str) -> Value {
    let mut live = deployment(replicas, image);
    let containers = live.pointer_mut("/spec/template/spec/containers").unwrap();
    containers[0]["resources"]["limits"]["cpu"] = json!("1");
    let sidecar = json!({"name": "sidecar", "image": "s"});
    containers.as_array_mut().unwrap().insert(0, sidecar);
    live["metadata"]["managedFields"] = json!([{"manager": "scaler", "operation": "Update",
        "time": "2024-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    live
}

fn object(mode: DriftMode, rules: Vec<DriftIgnore>) -> DesiredObject {
    let mut object = desired(vec![deployment(3, "a")]).objects.remove(0);
    // The marks are not of interest here.
    object.manifest = Arc::new(deployment(3, "a"));
    object.drift = mode;
    object.ignored = rules.into_iter().map(Arc::new).collect();
    object
}

#[test]
fn differences_name_field_values_and_manager() {
    let found = differences(&deployment(3, "a"), &live(5, "b"), "us");
    assert_eq!(
        describe(&found),
        "`/spec/replicas` is 5, wanted 3, set by `scaler`; \
         `/spec/template/spec/containers/0/image` is \"b\", wanted \"a\""
    );
    assert!(differences(&deployment(3, "a"), &live(3, "a"), "us").is_empty());
}

#[test]
fn values_of_secrets_are_not_told() {
    let secret = |value: &str| json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"password": value}});
    let found = differences(&secret("d2FudGVk"), &secret("Zm91bmQ="), "us");
    assert_eq!(describe(&found), "`/data/password` is ***, wanted ***");
}

#[test]
fn change_that_is_wholly_ignored_is_accepted() {
    let by_pointer = DriftIgnore {
        pointers: vec!["/spec/replicas".to_owned()],
        ..DriftIgnore::default()
    };
    let by_manager = DriftIgnore {
        managers: vec!["scaler".to_owned()],
        ..DriftIgnore::default()
    };
    for rule in [by_pointer, by_manager] {
        let object = object(DriftMode::Correct, vec![rule]);
        let accepted = judge(&object, &live(5, "a"), "us");
        assert_eq!(accepted, Judgement::Accept(vec![]));
        let Judgement::Correct(open) = judge(&object, &live(5, "b"), "us") else {
            panic!("another field is not ignored")
        };
        assert_eq!(open.len(), 1);
        let applied = manifest_over(&object, &live(5, "b"), "us");
        assert_eq!(applied["spec"]["replicas"], 5);
        assert_eq!(
            applied.pointer("/spec/template/spec/containers/0/image"),
            Some(&json!("a"))
        );
    }
}

#[test]
fn modes_decide_what_is_done() {
    let report = judge(&object(DriftMode::Report, vec![]), &live(5, "a"), "us");
    assert!(matches!(report, Judgement::Accept(told) if told.len() == 1));
    let ignore = judge(&object(DriftMode::Ignore, vec![]), &live(5, "a"), "us");
    assert_eq!(ignore, Judgement::Accept(vec![]));
    let correct = judge(&object(DriftMode::Correct, vec![]), &live(3, "a"), "us");
    assert_eq!(correct, Judgement::Correct(vec![]));
}

#[test]
fn ignored_field_that_somebody_removed_stays_away() {
    let rule = DriftIgnore {
        pointers: vec!["/spec/replicas".to_owned()],
        ..DriftIgnore::default()
    };
    let object = object(DriftMode::Correct, vec![rule]);
    let mut live = live(5, "a");
    live["spec"]
        .as_object_mut()
        .unwrap()
        .shift_remove("replicas");
    let applied = manifest_over(&object, &live, "us");
    assert!(applied["spec"].get("replicas").is_none());
}

#[test]
fn pointers_are_escaped() {
    let map = |value: &str| json!({"metadata": {"annotations": {"a.b/c~d": value}}});
    let found = differences(&map("x"), &map("y"), "us");
    assert_eq!(found[0].pointer, "/metadata/annotations/a.b~1c~0d");
    let mut changed = map("x");
    put(&mut changed, &found[0].pointer, Some(json!("z")));
    assert_eq!(changed, map("z"));
}
