//! From what happened to what is reported: one pure function.

use super::error::ReconcileError;
use crate::api::v1alpha1::{ComponentStatus, HistoryEntry, State};
use crate::class::Class;
use crate::dependents::Waiting;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use std::time::Duration;
use whipstaff_generator::Fault;

/// Longest message of a condition in bytes; the API server allows 32 KiB.
const MAX_MESSAGE: usize = 4_096;
/// Most revisions that are remembered.
const MAX_HISTORY: usize = 10;
/// Most objects that a message names.
const MAX_NAMED: usize = 3;

/// What came of a run.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Everything is applied and ready.
    Ready,
    /// Objects are about to be applied.
    Applying,
    /// Objects of a new input are about to be applied over those of another one.
    Restarting,
    /// Everything that could be done is done, and these objects are waited for.
    Waiting(Vec<Waiting>),
    /// A release can be taken over, and that is not approved yet.
    AwaitingApproval(String),
    /// Reconciliation is suspended.
    Suspended,
    /// Dependents are being deleted, and these are waited for.
    Deleting(Vec<Waiting>),
    /// Hooks that run at the deletion are waited for.
    Leaving(Vec<Waiting>),
    /// Something failed.
    Failed(ReconcileError),
}

/// What the reported status depends on beside the outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// Generation of the component.
    pub(crate) generation: Option<i64>,
    /// Whether the component is being deleted.
    pub(crate) deleting: bool,
    /// How long objects may take to get ready.
    pub(crate) timeout: Duration,
}

/// State, reason and message, and whether work goes on or a person must act.
struct Verdict {
    state: State,
    reason: &'static str,
    message: String,
    ready: &'static str,
    reconciling: bool,
    stalled: bool,
}

/// Completes a status with what an outcome means for state, conditions and generations. `status` comes with its inventory, source
/// and revision up to date, and with the conditions of last time.
pub(crate) fn project(
    mut status: ComponentStatus,
    outcome: &Outcome,
    facts: Facts,
    now: &Time,
) -> ComponentStatus {
    match outcome {
        Outcome::Applying | Outcome::Restarting | Outcome::Waiting(_) => {
            // A clock that was ahead and jumped back must not put the timeout off.
            let since = status
                .processing_since
                .take()
                .filter(|since| since.0 <= now.0);
            status.processing_since = since.or_else(|| Some(now.clone()));
        }
        Outcome::Failed(_) => {}
        Outcome::Ready
        | Outcome::AwaitingApproval(_)
        | Outcome::Suspended
        | Outcome::Deleting(_)
        | Outcome::Leaving(_) => {
            status.processing_since = None;
        }
    }
    let verdict = verdict(&status, outcome, facts, now);
    status.observed_generation = facts.generation;
    if matches!(outcome, Outcome::Ready) {
        status.applied_generation = facts.generation;
        remember(&mut status, now);
    }
    status.state = Some(verdict.state);
    status.conditions = conditions(&status.conditions, &verdict, facts.generation, now);
    status
}

/// Notes that the present revision was ready.
fn remember(status: &mut ComponentStatus, now: &Time) {
    let (Some(revision), Some(digest)) = (status.revision, &status.input_digest) else {
        return;
    };
    let known = status.history.last();
    if known.is_some_and(|last| last.revision == revision && last.digest == *digest) {
        return;
    }
    status.history.retain(|entry| entry.revision != revision);
    status.history.push(HistoryEntry {
        revision,
        digest: digest.clone(),
        source: status.source.as_ref().map(|source| source.revision.clone()),
        ready_at: now.clone(),
    });
    let excess = status.history.len().saturating_sub(MAX_HISTORY);
    status.history.drain(..excess);
}

/// When the objects that are waited for run out of time, if they are.
pub(crate) fn deadline(status: &ComponentStatus, timeout: Duration) -> Option<jiff::Timestamp> {
    let since = status.processing_since.as_ref()?.0;
    since
        .checked_add(jiff::SignedDuration::try_from(timeout).ok()?)
        .ok()
}

fn verdict(status: &ComponentStatus, outcome: &Outcome, facts: Facts, now: &Time) -> Verdict {
    match outcome {
        Outcome::Ready => Verdict {
            state: State::Ready,
            reason: "Ready",
            message: format!(
                "all {} objects are applied and ready",
                status.inventory.len()
            ),
            ready: "True",
            reconciling: false,
            stalled: false,
        },
        Outcome::Applying | Outcome::Restarting => Verdict {
            state: State::Processing,
            reason: match outcome {
                Outcome::Restarting => "Restarting",
                _ => "Applying",
            },
            message: format!("applying {} objects", status.inventory.len()),
            ready: "Unknown",
            reconciling: true,
            stalled: false,
        },
        Outcome::Waiting(waiting) => waiting_verdict(status, waiting, facts, now),
        Outcome::AwaitingApproval(message) => Verdict {
            state: State::Pending,
            reason: "ReadyToAdopt",
            message: message.clone(),
            ready: "Unknown",
            reconciling: false,
            stalled: false,
        },
        Outcome::Suspended => Verdict {
            state: State::Pending,
            reason: "Suspended",
            message: "reconciliation is suspended".to_owned(),
            ready: "Unknown",
            reconciling: false,
            stalled: false,
        },
        Outcome::Deleting(waiting) => Verdict {
            state: State::Deleting,
            reason: "Deleting",
            message: format!("waiting until these are gone: {}", named(waiting)),
            ready: "Unknown",
            reconciling: true,
            stalled: false,
        },
        Outcome::Leaving(waiting) => Verdict {
            state: State::Deleting,
            reason: "DeletionHooks",
            message: match waiting.as_slice() {
                [] => "hooks are about to run".to_owned(),
                waiting => format!("waiting for {}", named(waiting)),
            },
            ready: "Unknown",
            reconciling: true,
            stalled: false,
        },
        Outcome::Failed(error) => failed_verdict(error, facts),
    }
}

fn waiting_verdict(
    status: &ComponentStatus,
    waiting: &[Waiting],
    facts: Facts,
    now: &Time,
) -> Verdict {
    let timed_out = deadline(status, facts.timeout).is_some_and(|deadline| now.0 >= deadline);
    // Objects with a time of their own do not wait for that of the component.
    let timed_out = waiting
        .iter()
        .any(|object| object.overdue.unwrap_or(timed_out));
    let failed = waiting.iter().any(|object| object.failed);
    let (state, reason, ready) = match (timed_out, failed) {
        // What has failed is not waited for any longer, although it may recover.
        (_, true) => (State::Error, "ObjectFailed", "False"),
        (true, false) => (State::Error, "Timeout", "False"),
        (false, false) => (State::Processing, "Progressing", "Unknown"),
    };
    Verdict {
        state,
        reason,
        message: format!("waiting for {}", named(waiting)),
        ready,
        reconciling: true,
        stalled: false,
    }
}

fn failed_verdict(error: &ReconcileError, facts: Facts) -> Verdict {
    let class = error.class();
    let outside = matches!(class, Class::Transient | Class::NotReady);
    let state = match (facts.deleting, outside) {
        (true, true) => State::DeletionPending,
        (true, false) if matches!(class, Class::Conflict | Class::Denied) => State::DeletionPending,
        (false, true) => State::Pending,
        (_, _) => State::Error,
    };
    let reason = match error.reason() {
        "Retrying" if facts.deleting => "DeletionRetrying",
        reason => reason,
    };
    let is_retriable = matches!(error.fault(), Some(Fault::Retriable(_)));
    let goes_on = outside || class == Class::Failed;
    Verdict {
        state,
        reason,
        message: error.report(),
        ready: if is_retriable { "Unknown" } else { "False" },
        reconciling: goes_on,
        stalled: !goes_on,
    }
}

fn named(waiting: &[Waiting]) -> String {
    let mut text = waiting
        .iter()
        .take(MAX_NAMED)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    if waiting.len() > MAX_NAMED {
        text.push_str("; and ");
        text.push_str(&(waiting.len() - MAX_NAMED).to_string());
        text.push_str(" more");
    }
    text
}

fn conditions(
    old: &[Condition],
    verdict: &Verdict,
    generation: Option<i64>,
    now: &Time,
) -> Vec<Condition> {
    let condition = |type_: &str, status: &str| {
        let since = old
            .iter()
            .find(|condition| condition.type_ == type_ && condition.status == status)
            .map_or_else(
                || now.clone(),
                |condition| condition.last_transition_time.clone(),
            );
        Condition {
            type_: type_.to_owned(),
            status: status.to_owned(),
            reason: verdict.reason.to_owned(),
            message: cut(&verdict.message),
            last_transition_time: since,
            observed_generation: generation,
        }
    };
    let mut conditions = vec![condition("Ready", verdict.ready)];
    if verdict.reconciling {
        conditions.push(condition("Reconciling", "True"));
    }
    if verdict.stalled {
        conditions.push(condition("Stalled", "True"));
    }
    // What hooks set stays until hooks change it.
    let domain = old.iter().filter(|condition| !is_own(&condition.type_));
    conditions.extend(domain.cloned());
    conditions
}

/// Whether a type of condition is one that this projection writes.
pub(crate) fn is_own(type_: &str) -> bool {
    matches!(type_, "Ready" | "Reconciling" | "Stalled")
}

fn cut(message: &str) -> String {
    if message.len() <= MAX_MESSAGE {
        return message.to_owned();
    }
    let end = (0..=MAX_MESSAGE)
        .rev()
        .find(|end| message.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{}…", &message[..end])
}

#[cfg(test)]
mod tests;
