use super::{changed, check, condition};
use crate::status::Status::{Current, Failed, InProgress};
use serde_json::{Value, json};

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

pub(super) fn deployment() -> Value {
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
