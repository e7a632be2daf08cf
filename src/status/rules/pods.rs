//! Pods.

use super::{Assessment, Live};
use crate::status::live::{Condition, text};
use serde_json::Value;

/// Reasons for waiting that belong to every start.
const ORDINARY_REASONS: [&str; 2] = ["ContainerCreating", "PodInitializing"];

pub(super) fn pod(live: &Live<'_>) -> Assessment {
    match live.text("/status/phase") {
        Some("Succeeded") => Assessment::current("pod has succeeded"),
        Some("Failed") => Assessment::current(failure(live)),
        Some("Running") => running(live),
        Some("Pending") => pending(live),
        Some(phase) => Assessment::in_progress(format!("pod is {phase}")),
        None => Assessment::in_progress("no controller has looked at the pod yet"),
    }
}

/// A pod that ended is what it is going to be, however it ended.
fn failure(live: &Live<'_>) -> String {
    let detail = live
        .text("/status/message")
        .or_else(|| live.text("/status/reason"));
    detail.map_or_else(
        || "pod has failed".to_owned(),
        |detail| format!("pod has failed: {detail}"),
    )
}

fn running(live: &Live<'_>) -> Assessment {
    if live.condition("Ready").is_some_and(|ready| ready.is_true()) {
        return Assessment::current("pod is ready");
    }
    if let Some(waiting) = waiting(live) {
        return waiting;
    }
    let unready: Vec<_> = live
        .list("/status/containerStatuses")
        .iter()
        .filter(|status| status.get("ready").and_then(Value::as_bool) == Some(false))
        .filter_map(|status| text(status, "/name"))
        .collect();
    match unready[..] {
        [] => Assessment::in_progress("pod is running but not ready"),
        [name] => Assessment::in_progress(format!("container {name} is not ready")),
        _ => Assessment::in_progress(format!("containers {} are not ready", unready.join(", "))),
    }
}

fn pending(live: &Live<'_>) -> Assessment {
    let unscheduled = live.condition("PodScheduled").filter(Condition::is_false);
    if let Some(unscheduled) = unscheduled {
        return Assessment::in_progress(match unscheduled.message {
            "" => "pod is not scheduled yet".to_owned(),
            message => format!("pod cannot be scheduled: {message}"),
        });
    }
    waiting(live).unwrap_or_else(|| Assessment::in_progress("pod is starting"))
}

/// What containers wait for when they do not just start; a crash loop is a failure.
fn waiting(live: &Live<'_>) -> Option<Assessment> {
    let statuses = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let waiting: Vec<_> = statuses
        .iter()
        .flat_map(|list| live.list(list))
        .filter_map(|status| {
            let reason = text(status, "/state/waiting/reason")?;
            let name = text(status, "/name")?;
            (!ORDINARY_REASONS.contains(&reason)).then_some((name, reason, status))
        })
        .collect();
    let crashing: Vec<_> = waiting
        .iter()
        .filter(|(_, reason, _)| *reason == "CrashLoopBackOff")
        .map(|(name, reason, _)| format!("container {name}: {reason}"))
        .collect();
    if !crashing.is_empty() {
        return Some(Assessment::failed(crashing.join(", ")));
    }
    let (name, reason, status) = waiting.first()?;
    Some(Assessment::in_progress(
        match text(status, "/state/waiting/message") {
            Some(message) => format!("container {name}: {reason}: {message}"),
            None => format!("container {name}: {reason}"),
        },
    ))
}
