use super::{Assessment, HintError, Hints, MAX_MESSAGE_LENGTH, Status, assess, assess_with_hints};
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
fn pod_is_ready_when_it_is_ready_or_has_ended() {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "status": {"phase": "Running", "conditions": [condition("Ready", "True", "", "")]},
    });
    let unready = json!([condition("Ready", "False", "ContainersNotReady", "")]);
    let unscheduled =
        |message| json!([condition("PodScheduled", "False", "Unschedulable", message)]);
    let waiting = |name: &str, reason: &str, message: &str| json!([{"name": name, "ready": false, "state": {"waiting": {"reason": reason, "message": message}}}]);
    let running = |statuses: Value| json!({"/status/conditions": unready, "/status/containerStatuses": statuses});
    let pending = |field: &str, value: Value| json!({"/status/phase": "Pending", "/status/conditions": [], format!("/status/{field}"): value});
    check(
        &pod,
        "pod is ready",
        &[
            (
                json!({"/status/phase": "Succeeded"}),
                Current,
                "pod has succeeded",
            ),
            (
                json!({"/status/phase": "Failed"}),
                Current,
                "pod has failed",
            ),
            (
                json!({"/status/phase": "Failed", "/status/reason": "Evicted", "/status/message": "node is low on memory"}),
                Current,
                "pod has failed: node is low on memory",
            ),
            (
                running(json!([])),
                InProgress,
                "pod is running but not ready",
            ),
            (
                running(json!([{"name": "web", "ready": false}, {"name": "log", "ready": true}])),
                InProgress,
                "container web is not ready",
            ),
            (
                running(json!([{"name": "web", "ready": false}, {"name": "log", "ready": false}])),
                InProgress,
                "containers web, log are not ready",
            ),
            (
                running(waiting("web", "CrashLoopBackOff", "back-off 10s")),
                Failed,
                "container web: CrashLoopBackOff",
            ),
            (
                pending(
                    "initContainerStatuses",
                    waiting("setup", "CrashLoopBackOff", ""),
                ),
                Failed,
                "container setup: CrashLoopBackOff",
            ),
            (
                pending(
                    "containerStatuses",
                    waiting("web", "ImagePullBackOff", "no such image"),
                ),
                InProgress,
                "container web: ImagePullBackOff: no such image",
            ),
            (
                pending("containerStatuses", waiting("web", "ErrImagePull", "")),
                InProgress,
                "container web: ErrImagePull",
            ),
            (
                pending("containerStatuses", waiting("web", "ContainerCreating", "")),
                InProgress,
                "pod is starting",
            ),
            (
                pending("conditions", unscheduled("0/3 nodes are available")),
                InProgress,
                "pod cannot be scheduled: 0/3 nodes are available",
            ),
            (
                pending("conditions", unscheduled("")),
                InProgress,
                "pod is not scheduled yet",
            ),
            (
                json!({"/status/phase": "Unknown"}),
                InProgress,
                "pod is Unknown",
            ),
            (
                json!({"/status": null}),
                InProgress,
                "no controller has looked at the pod yet",
            ),
        ],
    );
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"generation": 2},
        "spec": {"replicas": 3, "progressDeadlineSeconds": 600},
        "status": {
            "observedGeneration": 2,
            "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
            "conditions": [
                condition("Progressing", "True", "NewReplicaSetAvailable", ""),
                condition("Available", "True", "MinimumReplicasAvailable", ""),
            ],
        },
    })
}

#[test]
fn deployment_is_ready_when_its_replicas_are_and_its_rollout_is_complete() {
    let conditions = |progressing: Value, available: &str| json!({"/status/conditions": [progressing, condition("Available", available, "", "too few")]});
    let complete = || condition("Progressing", "True", "NewReplicaSetAvailable", "");
    let rolling = || condition("Progressing", "True", "ReplicaSetUpdated", "still going");
    let failed = condition(
        "Progressing",
        "False",
        "ProgressDeadlineExceeded",
        "no progress in 600s",
    );
    let mut without_deadline = conditions(rolling(), "True");
    without_deadline["/spec/progressDeadlineSeconds"] = json!(i32::MAX);
    let mut paused = conditions(
        condition("Progressing", "Unknown", "DeploymentPaused", ""),
        "True",
    );
    paused["/spec/paused"] = json!(true);
    let quota = json!({"/status/replicas": 1, "/status/conditions": [
        condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]});
    check(
        &deployment(),
        "3 of 3 replicas are available",
        &[
            (
                json!({"/status/observedGeneration": 1}),
                InProgress,
                "generation 2 is not observed yet; the last one was 1",
            ),
            (
                json!({"/status/replicas": 2}),
                InProgress,
                "2 of 3 replicas are created",
            ),
            (
                json!({"/status/updatedReplicas": 1}),
                InProgress,
                "1 of 3 replicas are updated",
            ),
            (
                json!({"/status/replicas": 4}),
                InProgress,
                "replicas to be removed: 1 of 4",
            ),
            (
                json!({"/status/availableReplicas": 2}),
                InProgress,
                "2 of 3 replicas are available",
            ),
            (
                json!({"/status/readyReplicas": null}),
                InProgress,
                "0 of 3 replicas are ready",
            ),
            (
                json!({"/status": null}),
                InProgress,
                "0 of 3 replicas are created",
            ),
            (
                quota,
                InProgress,
                "1 of 3 replicas are created; ReplicaFailure is True: exceeded quota",
            ),
            (
                conditions(rolling(), "True"),
                InProgress,
                "Progressing is True: still going",
            ),
            (without_deadline, Current, "3 of 3 replicas are available"),
            (paused, InProgress, "rollout is paused"),
            (
                conditions(failed, "True"),
                Failed,
                "Progressing is False: no progress in 600s",
            ),
            (
                conditions(complete(), "False"),
                InProgress,
                "Available is False: too few",
            ),
            (
                json!({"/status/conditions": [complete()]}),
                InProgress,
                "the condition Available is missing",
            ),
            (
                json!({"/status/conditions": []}),
                InProgress,
                "rollout has not begun",
            ),
        ],
    );
}

#[test]
fn deployment_scaled_to_nothing_is_ready() {
    let none = json!({
        "/spec/replicas": 0,
        "/status/replicas": null, "/status/updatedReplicas": null,
        "/status/readyReplicas": null, "/status/availableReplicas": null,
    });
    check(
        &changed(&deployment(), &none),
        "0 of 0 replicas are available",
        &[],
    );
}

#[test]
fn stateful_set_is_ready_when_replicas_and_revisions_match() {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "spec": {"replicas": 3},
        "status": {
            "replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "updatedReplicas": 3,
            "currentRevision": "a", "updateRevision": "a",
        },
    });
    let partition = |partition: i64, updated: i64| {
        json!({
            "/spec/updateStrategy/rollingUpdate/partition": partition,
            "/status/updatedReplicas": updated,
            "/status/currentReplicas": 3 - updated,
            "/status/updateRevision": "b",
        })
    };
    let on_delete = json!({"/spec/updateStrategy/type": "OnDelete", "/status": null});
    check(
        &set,
        "3 of 3 replicas are ready",
        &[
            (on_delete, Current, "pods are updated when they are deleted"),
            (
                json!({"/status/replicas": 1}),
                InProgress,
                "1 of 3 replicas are created",
            ),
            (
                json!({"/status/readyReplicas": 2}),
                InProgress,
                "2 of 3 replicas are ready",
            ),
            (
                json!({"/status/replicas": 5}),
                InProgress,
                "replicas to be removed: 2 of 5",
            ),
            (
                json!({"/status/currentReplicas": 1}),
                InProgress,
                "1 of 3 replicas are current",
            ),
            (
                json!({"/status/updateRevision": "b"}),
                InProgress,
                "revision b is being rolled out",
            ),
            (
                json!({"/status": null}),
                InProgress,
                "0 of 3 replicas are created",
            ),
            (
                json!({"/spec/replicas": null, "/status/replicas": 1, "/status/readyReplicas": 1, "/status/currentReplicas": 1}),
                Current,
                "1 of 1 replicas are ready",
            ),
            (partition(2, 1), Current, "3 of 3 replicas are ready"),
            (partition(1, 1), InProgress, "1 of 2 replicas are updated"),
            (partition(9, 0), Current, "3 of 3 replicas are ready"),
        ],
    );
}

#[test]
fn daemon_set_is_ready_when_all_its_pods_are() {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"generation": 1},
        "status": {
            "observedGeneration": 1, "desiredNumberScheduled": 2, "currentNumberScheduled": 2,
            "updatedNumberScheduled": 2, "numberAvailable": 2, "numberReady": 2,
        },
    });
    let unseen = "no controller has looked at the daemon set yet";
    let on_delete =
        json!({"/spec/updateStrategy/type": "OnDelete", "/status/updatedNumberScheduled": 0});
    check(
        &set,
        "2 of 2 pods are available",
        &[
            (
                json!({"/status/observedGeneration": null}),
                InProgress,
                unseen,
            ),
            (
                json!({"/status/desiredNumberScheduled": null}),
                InProgress,
                unseen,
            ),
            (
                json!({"/status/currentNumberScheduled": 1}),
                InProgress,
                "1 of 2 pods are scheduled",
            ),
            (
                json!({"/status/updatedNumberScheduled": null}),
                InProgress,
                "0 of 2 pods are updated",
            ),
            (
                json!({"/status/numberAvailable": 1}),
                InProgress,
                "1 of 2 pods are available",
            ),
            (
                json!({"/status/numberReady": 1}),
                InProgress,
                "1 of 2 pods are ready",
            ),
            (on_delete, Current, "2 of 2 pods are available"),
        ],
    );
}

#[test]
fn replica_set_is_ready_when_its_replicas_are() {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "spec": {"replicas": 2},
        "status": {"replicas": 2, "fullyLabeledReplicas": 2, "availableReplicas": 2, "readyReplicas": 2},
    });
    let failure = json!({"/status/conditions": [condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota")]});
    check(
        &set,
        "2 of 2 replicas are available",
        &[
            (
                json!({"/status/fullyLabeledReplicas": 1}),
                InProgress,
                "1 of 2 replicas are labelled",
            ),
            (
                json!({"/status/availableReplicas": 1}),
                InProgress,
                "1 of 2 replicas are available",
            ),
            (
                json!({"/status/readyReplicas": 0}),
                InProgress,
                "0 of 2 replicas are ready",
            ),
            (
                json!({"/status/replicas": 3}),
                InProgress,
                "replicas to be removed: 1 of 3",
            ),
            (
                failure,
                InProgress,
                "ReplicaFailure is True: exceeded quota",
            ),
        ],
    );
}

#[test]
fn job_is_ready_only_when_it_is_complete() {
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "spec": {"completions": 3, "parallelism": 2},
        "status": {"startTime": "2026-01-01T00:00:00Z", "conditions": [condition("Complete", "True", "", "")]},
    });
    let conditions = |condition: Value| json!({"/status/conditions": [condition]});
    check(
        &job,
        "job is complete",
        &[
            (
                conditions(condition("Failed", "True", "BackoffLimitExceeded", "")),
                Failed,
                "Failed is True: BackoffLimitExceeded",
            ),
            (
                conditions(condition("Suspended", "True", "", "")),
                InProgress,
                "job is suspended",
            ),
            (
                json!({"/status/conditions": [], "/spec/suspend": true}),
                InProgress,
                "job is suspended",
            ),
            (json!({"/status": null}), InProgress, "job has not started"),
            (
                json!({"/status/conditions": [], "/status/succeeded": 1, "/status/active": 2}),
                InProgress,
                "1 of 3 pods have succeeded, 2 active",
            ),
            (
                json!({"/status/conditions": [], "/status/failed": 1, "/spec/completions": null}),
                InProgress,
                "0 of 2 pods have succeeded, 0 active, 1 failed",
            ),
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
fn hints_make_an_object_wait_for_what_will_come() {
    let thing =
        json!({"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"generation": 2}});
    let ready = |generation: i64| json!({"/status/conditions": [{"type": "Ready", "status": "True", "observedGeneration": generation}]});
    let others = |blue: &str| {
        json!({"/status/conditions": [
            condition("Green", "True", "", ""), condition("Blue", blue, "", "")]})
    };
    let unseen = "no controller has looked at the object yet";
    let cases = [
        ("", json!({}), Current, "object exists"),
        ("has-observed-generation", json!({}), InProgress, unseen),
        (
            "has-observed-generation",
            json!({"/status/observedGeneration": 2}),
            Current,
            "object exists",
        ),
        (
            "has-observed-generation",
            ready(2),
            Current,
            "Ready is True",
        ),
        (
            "has-observed-generation",
            ready(1),
            InProgress,
            "generation 2 is not observed yet; the last one was 1",
        ),
        (
            "has-ready-condition",
            json!({}),
            InProgress,
            "the condition Ready is missing",
        ),
        ("has-ready-condition", ready(1), Current, "Ready is True"),
        (
            "conditions=Green;Blue",
            others("True"),
            Current,
            "object exists",
        ),
        (
            "conditions=Green;Blue",
            others("False"),
            InProgress,
            "Blue is False",
        ),
        (
            "conditions=Red",
            others("True"),
            InProgress,
            "the condition Red is missing",
        ),
        (
            "has-ready-condition,conditions=Green",
            ready(2),
            InProgress,
            "the condition Green is missing",
        ),
    ];
    for (hints, changes, status, message) in cases {
        let hints = Hints::parse(hints).unwrap();
        let assessment = assess_with_hints(&changed(&thing, &changes), &hints);
        let expected = Assessment {
            status,
            message: message.to_owned(),
        };
        assert_eq!(assessment, expected, "{hints:?} {changes}");
    }
}

#[test]
fn hinted_conditions_do_not_hide_a_failure() {
    let failed = json!({"/status/conditions": [
        condition("Progressing", "False", "ProgressDeadlineExceeded", "no progress")]});
    let hints = Hints::parse("conditions=Other").unwrap();
    assert_eq!(
        assess_with_hints(&changed(&deployment(), &failed), &hints).status,
        Failed
    );
}

#[test]
fn hints_may_be_written_in_any_case() {
    let expected =
        Hints::parse("has-observed-generation,has-ready-condition,conditions=A;B").unwrap();
    for text in [
        "HasObservedGeneration,HasReadyCondition,Conditions=A;B",
        "hasObservedGeneration,has_ready_condition,conditions=A,conditions=B",
        " has-observed-generation , has-ready-condition , conditions = A ; B ",
    ] {
        assert_eq!(Hints::parse(text), Ok(expected.clone()), "{text}");
    }
    assert!(expected.has_observed_generation() && expected.has_ready_condition());
    assert_eq!(expected.conditions(), ["A", "B"]);
    assert_eq!(Hints::parse(""), Ok(Hints::default()));
}

#[test]
fn hints_that_make_no_sense_are_refused() {
    let unknown = |hint: &str| HintError::Unknown {
        hint: hint.to_owned(),
    };
    let missing = HintError::MissingValue {
        hint: "conditions".to_owned(),
    };
    for (text, expected) in [
        ("has-status", unknown("has-status")),
        ("has-ready-condition,", unknown("")),
        (
            "HasReadyCondition=true",
            HintError::UnexpectedValue {
                hint: "has-ready-condition".to_owned(),
            },
        ),
        ("conditions", missing.clone()),
        ("conditions=", missing.clone()),
        ("conditions=A;;B", missing),
    ] {
        assert_eq!(Hints::parse(text), Err(expected), "{text}");
    }
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
