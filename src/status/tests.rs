mod hints;
mod workloads;

use super::{Assessment, MAX_MESSAGE_LENGTH, Status, assess};
use Status::{Current, Failed, InProgress, NotFound, Terminating, Unknown};
use serde_json::{Map, Value, json};

/// What is different from a kind's ready object, at JSON pointers; null takes a field away.
type Changes = Value;

/// An object with fields changed: `{"/status/replicas": 2}`.
fn changed(object: &Value, changes: &Changes) -> Value {
    let mut object = object.clone();
    for (pointer, value) in changes.as_object().unwrap() {
        let (parents, field) = pointer.rsplit_once('/').unwrap();
        let mut place = &mut object;
        for part in parents.split('/').skip(1) {
            place = place
                .as_object_mut()
                .unwrap()
                .entry(part.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
        }
        let fields = place.as_object_mut().unwrap();
        if value.is_null() {
            fields.remove(field);
        } else {
            fields.insert(field.to_owned(), value.clone());
        }
    }
    object
}

/// Checks a ready object and what becomes of it when it is changed.
fn check(ready: &Value, ready_message: &str, cases: &[(Changes, Status, &str)]) {
    let expected = Assessment {
        status: Current,
        message: ready_message.to_owned(),
    };
    assert_eq!(assess(ready), expected, "{ready}");
    for (changes, status, message) in cases {
        let expected = Assessment {
            status: *status,
            message: (*message).to_owned(),
        };
        assert_eq!(assess(&changed(ready, changes)), expected, "{changes}");
    }
}

fn condition(name: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": name, "status": status, "reason": reason, "message": message})
}

#[test]
fn any_object_is_judged_by_generation_and_conditions() {
    let thing = json!({"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "a", "generation": 3}});
    let conditions = |conditions: Value| json!({"/status/conditions": conditions});
    check(
        &thing,
        "object exists",
        &[
            (
                json!({"/status/observedGeneration": 3}),
                Current,
                "object exists",
            ),
            (
                json!({"/metadata/generation": null, "/status/observedGeneration": 2}),
                Current,
                "object exists",
            ),
            (
                json!({"/status/observedGeneration": 2}),
                InProgress,
                "generation 3 is not observed yet; the last one was 2",
            ),
            (
                conditions(json!([condition("Ready", "True", "Fine", "all is well")])),
                Current,
                "Ready is True: all is well",
            ),
            (
                conditions(json!([condition("Ready", "False", "Building", "")])),
                InProgress,
                "Ready is False: Building",
            ),
            (
                conditions(json!([{"type": "Ready"}])),
                InProgress,
                "Ready is Unknown",
            ),
            (
                conditions(json!([
                    condition("Ready", "True", "", ""),
                    condition("Reconciling", "True", "Retrying", "trying again")
                ])),
                InProgress,
                "Reconciling is True: trying again",
            ),
            (
                conditions(json!([
                    condition("Ready", "True", "", ""),
                    condition("Stalled", "True", "BadSpec", "no such region")
                ])),
                Failed,
                "Stalled is True: no such region",
            ),
            (
                conditions(json!([
                    condition("Stalled", "False", "", ""),
                    condition("Reconciling", "False", "", ""),
                    condition("Ready", "True", "", "")
                ])),
                Current,
                "Ready is True",
            ),
        ],
    );
}

#[test]
fn deletion_goes_before_everything_else() {
    let deleted = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"conditions": [condition("Stalled", "True", "", "")]},
    });
    let waiting = changed(
        &deleted,
        &json!({"/metadata/finalizers": ["example.org/a", "example.org/b"]}),
    );
    for (object, message) in [
        (deleted, "object is being deleted"),
        (
            waiting,
            "object is being deleted; it waits for example.org/a, example.org/b",
        ),
    ] {
        assert_eq!(
            assess(&object),
            Assessment {
                status: Terminating,
                message: message.to_owned()
            }
        );
    }
}

#[test]
fn what_is_no_object_has_a_status_too() {
    assert_eq!(assess(&Value::Null).status, NotFound);
    assert_eq!(assess(&json!("text")).status, Unknown);
    assert_eq!(assess(&json!({})).status, Current);
}

#[test]
fn fields_of_an_unexpected_type_count_as_missing() {
    let odd = json!({
        "apiVersion": "example.org/v1", "kind": "Thing",
        "metadata": {"generation": 1},
        "status": {"observedGeneration": "0", "conditions": {"Ready": "False"}},
    });
    assert_eq!(assess(&odd).status, Current);
    let odd = json!({"apiVersion": 1, "kind": [], "metadata": "x", "status": [1, 2]});
    assert_eq!(assess(&odd).status, Current);
}

#[test]
fn kinds_without_a_status_are_ready_at_once() {
    for (api_version, kind) in [
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("batch/v1", "CronJob"),
        ("policy/v1", "PodDisruptionBudget"),
    ] {
        let object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"generation": 1}});
        check(
            &object,
            "object exists",
            &[(
                json!({"/status/observedGeneration": 0}),
                InProgress,
                "generation 1 is not observed yet; the last one was 0",
            )],
        );
    }
}

#[test]
fn namespace_is_ready_when_it_is_active() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "status": {"phase": "Active"}});
    check(
        &namespace,
        "namespace is active",
        &[
            (
                json!({"/status/phase": "Terminating"}),
                Terminating,
                "namespace is being deleted",
            ),
            (
                json!({"/status": null}),
                InProgress,
                "namespace is not active yet",
            ),
        ],
    );
}

#[test]
fn service_is_ready_unless_a_load_balancer_has_no_cluster_address() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "ClusterIP"}});
    let balancer = json!({"/spec/type": "LoadBalancer"});
    let addressed = json!({"/spec/type": "LoadBalancer", "/spec/clusterIP": "10.0.0.1"});
    check(
        &service,
        "service exists",
        &[
            (balancer, InProgress, "service has no cluster address yet"),
            (addressed, Current, "service exists"),
        ],
    );
}

#[test]
fn claim_is_ready_when_it_is_bound() {
    let claim =
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Bound"}});
    check(
        &claim,
        "claim is bound",
        &[
            (
                json!({"/status/phase": "Pending"}),
                InProgress,
                "claim is not bound: it is Pending",
            ),
            (json!({"/status": null}), InProgress, "claim is not bound"),
        ],
    );
}

#[test]
fn definition_is_ready_when_it_is_established_and_its_names_are_accepted() {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "status": {"conditions": [
            condition("NamesAccepted", "True", "", ""),
            condition("Established", "True", "", ""),
        ]},
    });
    let conditions = |conditions: Value| json!({"/status/conditions": conditions});
    check(
        &definition,
        "definition is established",
        &[
            (
                conditions(json!([])),
                InProgress,
                "the condition Established is missing",
            ),
            (
                conditions(json!([condition(
                    "Established",
                    "False",
                    "Installing",
                    "wait"
                )])),
                InProgress,
                "Established is False: wait",
            ),
            (
                conditions(json!([condition(
                    "Established",
                    "False",
                    "NotAccepted",
                    "no"
                )])),
                Failed,
                "Established is False: no",
            ),
            (
                conditions(json!([
                    condition("Established", "True", "", ""),
                    condition("NamesAccepted", "False", "Conflict", "kind is taken")
                ])),
                Failed,
                "NamesAccepted is False: kind is taken",
            ),
            (
                conditions(json!([condition("Established", "True", "", "")])),
                InProgress,
                "the condition NamesAccepted is missing",
            ),
        ],
    );
}

#[test]
fn api_service_is_ready_when_it_is_available() {
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "status": {"conditions": [condition("Available", "True", "", "")]},
    });
    let missing = condition("Available", "False", "MissingEndpoints", "no endpoints");
    check(
        &service,
        "API service is available",
        &[
            (
                json!({"/status": null}),
                InProgress,
                "the condition Available is missing",
            ),
            (
                json!({"/status/conditions": [missing]}),
                InProgress,
                "Available is False: no endpoints",
            ),
        ],
    );
}

#[test]
fn kinds_of_one_name_in_other_groups_are_judged_like_any_object() {
    let service = json!({
        "apiVersion": "serving.example.org/v1", "kind": "Service", "spec": {"type": "LoadBalancer"},
        "status": {"conditions": [condition("Ready", "False", "", "no route")]},
    });
    assert_eq!(assess(&service).message, "Ready is False: no route");
}

#[test]
fn long_messages_are_cut_off_between_characters() {
    for text in [
        "x".repeat(5000),
        "ä".repeat(3000),
        "x".to_owned() + &"€".repeat(2000),
    ] {
        let object = json!({"status": {"conditions": [condition("Ready", "False", "", &text)]}});
        let message = assess(&object).message;
        assert!(message.len() <= MAX_MESSAGE_LENGTH && message.len() > MAX_MESSAGE_LENGTH - 8);
        assert!(message.ends_with('…'));
    }
}

#[test]
fn status_is_written_in_pascal_case() {
    for status in [InProgress, Failed, Current, Terminating, NotFound, Unknown] {
        assert_eq!(
            serde_json::to_value(status).unwrap(),
            json!(status.to_string())
        );
        assert_eq!(status.is_ready(), status == Current);
    }
}
