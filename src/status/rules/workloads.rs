//! Kinds that keep a number of pods.

use super::{Assessment, Live};
use crate::status::live::Condition;

/// What a Deployment without a progress deadline has in its place.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// Numbers that must be reached, in the order in which a rollout reaches them: how many are, and what they are.
type Milestones<'a> = &'a [(i64, &'a str)];

/// The first number that is lower than it must be.
fn first_below(wanted: i64, noun: &str, milestones: Milestones<'_>) -> Option<Assessment> {
    let (reached, what) = milestones.iter().find(|(reached, _)| *reached < wanted)?;
    Some(Assessment::in_progress(format!(
        "{reached} of {wanted} {noun} are {what}"
    )))
}

fn surplus(wanted: i64, existing: i64) -> Option<Assessment> {
    (existing > wanted).then(|| {
        let surplus = existing - wanted;
        Assessment::in_progress(format!("replicas to be removed: {surplus} of {existing}"))
    })
}

fn wanted_replicas(live: &Live<'_>) -> i64 {
    live.integer("/spec/replicas").unwrap_or(1)
}

pub(super) fn deployment(live: &Live<'_>) -> Assessment {
    let progressing = live.condition("Progressing");
    if let Some(stuck) = progressing
        .as_ref()
        .filter(|c| c.reason == "ProgressDeadlineExceeded")
    {
        return Assessment::failed(stuck.explain());
    }
    deployment_replicas(live)
        .map(|missing| with_failure(missing, live))
        .or_else(|| deployment_rollout(live, progressing.as_ref()))
        .unwrap_or_else(|| {
            let wanted = wanted_replicas(live);
            Assessment::current(format!("{wanted} of {wanted} replicas are available"))
        })
}

/// Adds why no pods can be created: a quota, for example.
fn with_failure(missing: Assessment, live: &Live<'_>) -> Assessment {
    match live.condition("ReplicaFailure").filter(Condition::is_true) {
        Some(failure) => Assessment::new(
            missing.status,
            format!("{}; {}", missing.message, failure.explain()),
        ),
        None => missing,
    }
}

fn deployment_replicas(live: &Live<'_>) -> Option<Assessment> {
    let wanted = wanted_replicas(live);
    let existing = live.count("/status/replicas");
    let updated = live.count("/status/updatedReplicas");
    first_below(
        wanted,
        "replicas",
        &[(existing, "created"), (updated, "updated")],
    )
    .or_else(|| surplus(wanted, existing))
    .or_else(|| {
        let available = live.count("/status/availableReplicas");
        first_below(updated, "replicas", &[(available, "available")])
    })
    .or_else(|| {
        first_below(
            wanted,
            "replicas",
            &[(live.count("/status/readyReplicas"), "ready")],
        )
    })
}

fn deployment_rollout(live: &Live<'_>, progressing: Option<&Condition<'_>>) -> Option<Assessment> {
    let deadline = live
        .integer("/spec/progressDeadlineSeconds")
        .unwrap_or(NO_DEADLINE);
    let complete = progressing.is_some_and(|c| c.is_true() && c.reason == "NewReplicaSetAvailable");
    if deadline != NO_DEADLINE && !complete {
        return Some(Assessment::in_progress(match progressing {
            _ if live.flag("/spec/paused") => "rollout is paused".to_owned(),
            Some(condition) => condition.explain(),
            None => "rollout has not begun".to_owned(),
        }));
    }
    match live.condition("Available") {
        Some(available) if available.is_true() => None,
        Some(available) => Some(Assessment::in_progress(available.explain())),
        None => Some(Assessment::in_progress(
            "the condition Available is missing",
        )),
    }
}

pub(super) fn stateful_set(live: &Live<'_>) -> Assessment {
    if live.text("/spec/updateStrategy/type") == Some("OnDelete") {
        return Assessment::current("pods are updated when they are deleted");
    }
    let wanted = wanted_replicas(live);
    let existing = live.count("/status/replicas");
    let ready = live.count("/status/readyReplicas");
    first_below(
        wanted,
        "replicas",
        &[(existing, "created"), (ready, "ready")],
    )
    .or_else(|| surplus(wanted, existing))
    .unwrap_or_else(|| stateful_set_rollout(live, wanted))
}

fn stateful_set_rollout(live: &Live<'_>, wanted: i64) -> Assessment {
    if let Some(partition) = live.integer("/spec/updateStrategy/rollingUpdate/partition") {
        let to_update = wanted.saturating_sub(partition).max(0);
        let updated = live.count("/status/updatedReplicas");
        return first_below(to_update, "replicas", &[(updated, "updated")]).unwrap_or_else(|| {
            Assessment::current(format!("{wanted} of {wanted} replicas are ready"))
        });
    }
    let current = live.count("/status/currentReplicas");
    if let Some(behind) = first_below(wanted, "replicas", &[(current, "current")]) {
        return behind;
    }
    if live.text("/status/currentRevision") != live.text("/status/updateRevision") {
        let revision = live.text("/status/updateRevision").unwrap_or_default();
        return Assessment::in_progress(format!("revision {revision} is being rolled out"));
    }
    Assessment::current(format!("{wanted} of {wanted} replicas are ready"))
}

pub(super) fn daemon_set(live: &Live<'_>) -> Assessment {
    let observed = live.integer("/status/observedGeneration");
    let desired = live.integer("/status/desiredNumberScheduled");
    let (Some(_), Some(desired)) = (observed, desired) else {
        return Assessment::in_progress("no controller has looked at the daemon set yet");
    };
    let on_delete = live.text("/spec/updateStrategy/type") == Some("OnDelete");
    let updated = if on_delete {
        desired
    } else {
        live.count("/status/updatedNumberScheduled")
    };
    let milestones = [
        (live.count("/status/currentNumberScheduled"), "scheduled"),
        (updated, "updated"),
        (live.count("/status/numberAvailable"), "available"),
        (live.count("/status/numberReady"), "ready"),
    ];
    first_below(desired, "pods", &milestones).unwrap_or_else(|| {
        Assessment::current(format!("{desired} of {desired} pods are available"))
    })
}

pub(super) fn replica_set(live: &Live<'_>) -> Assessment {
    if let Some(failure) = live.condition("ReplicaFailure").filter(Condition::is_true) {
        return Assessment::in_progress(failure.explain());
    }
    let wanted = wanted_replicas(live);
    let milestones = [
        (live.count("/status/fullyLabeledReplicas"), "labelled"),
        (live.count("/status/availableReplicas"), "available"),
        (live.count("/status/readyReplicas"), "ready"),
    ];
    first_below(wanted, "replicas", &milestones)
        .or_else(|| surplus(wanted, live.count("/status/replicas")))
        .unwrap_or_else(|| {
            Assessment::current(format!("{wanted} of {wanted} replicas are available"))
        })
}
