//! The reconciliation of one component, from its event to the time of the next one.

use super::context::{Context, Defaults};
use super::deletion;
use super::error::ReconcileError;
use super::gauges;
use super::hooks::Hooks;
use super::memory::Memory;
use super::project::{Facts, Outcome, deadline, project};
use super::resource::Component;
use super::run::Run;
use super::stored;
use crate::api::v1alpha1::{ComponentStatus, DurationText, State};
use crate::events::Notice;
use crate::metrics::ReconcileOutcome;
use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use kube::runtime::events::EventType;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::Fault;

/// `spec.interval` when it is left out.
const DEFAULT_INTERVAL: Duration = Duration::from_mins(10);
/// `spec.retryInterval` when it is left out.
const DEFAULT_RETRY_INTERVAL: Duration = Duration::from_mins(1);
/// `spec.timeout` when it is left out.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);
/// First delay after a failure; it doubles with each further one.
const FIRST_RETRY: Duration = Duration::from_millis(500);
/// Shortest interval, whatever the spec says: a component must not keep the operator busy.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// When to look again at objects that are waited for although no watch has told of a change.
const SAFETY_NET: Duration = Duration::from_secs(30);

/// The durations of a component's spec.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// Between looks at the source.
    pub(super) interval: Duration,
    /// Longest between retries.
    pub(super) retry_interval: Duration,
    /// Until objects must be ready.
    pub(super) timeout: Duration,
    /// Between writes of an object that nothing is known to have happened to; none without it.
    pub(super) reapply: Option<Duration>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            interval: DEFAULT_INTERVAL,
            retry_interval: DEFAULT_RETRY_INTERVAL,
            timeout: DEFAULT_TIMEOUT,
            reapply: None,
        }
    }
}

/// Reconciles a component and says when to come again. It never fails: a failure is reported in the status and retried.
pub(crate) async fn reconcile<C: Component>(
    component: Arc<C>,
    context: Arc<Context>,
    hooks: Arc<Hooks<C>>,
) -> Option<Duration> {
    let started = Instant::now();
    let uid = component.uid()?;
    context.graph.update(&*component);
    let mut memory = context.memories.take(&uid)?;
    let attempted = attempt(&*component, &context, &hooks, &mut memory);
    let result = AssertUnwindSafe(attempted).catch_unwind().await;
    let result = result.unwrap_or_else(|_| {
        // What was remembered may be half changed.
        memory = Memory::default();
        Err(ReconcileError::Panicked)
    });
    let (outcome, delay) = match result {
        Ok(Done::Deleted) => (ReconcileOutcome::Deleted, None),
        Ok(Done::Next { outcome, delay }) => (outcome, delay),
        Err(error) => {
            tracing::warn!(error = error.report(), "the run could not be reported");
            memory.failures = memory.failures.saturating_add(1);
            context.reconciliations.failed(error.class());
            (
                ReconcileOutcome::Failed,
                Some(backoff(memory.failures, DEFAULT_RETRY_INTERVAL)),
            )
        }
    };
    context
        .reconciliations
        .reconciled(outcome, started.elapsed());
    if outcome == ReconcileOutcome::Deleted {
        context.graph.remove(&*component);
        context.memories.gone(&uid);
        context.metrics.forget(&uid);
    } else {
        gauges::update(&*component, &uid, &memory, &context.metrics);
        let cluster = memory.cluster.clone();
        if !context.memories.put(&uid, memory) {
            // It is no longer ours: deleted meanwhile, or in the hands of another shard.
            let namespace = component.namespace().unwrap_or_default();
            context.metrics.forget(&uid);
            context.release(&(namespace, component.name_any()), cluster.as_deref());
        }
    }
    delay
}

enum Done {
    Deleted,
    Next {
        outcome: ReconcileOutcome,
        delay: Option<Duration>,
    },
}

async fn attempt<C: Component>(
    component: &C,
    context: &Context,
    hooks: &Hooks<C>,
    memory: &mut Memory,
) -> Result<Done, ReconcileError> {
    let deleting = component.meta().deletion_timestamp.is_some();
    if deleting && !stored::has_finalizer(component, context) {
        return Ok(Done::Deleted);
    }
    let (times, malformed) = match times(component, &context.defaults) {
        Ok(times) => (times, None),
        Err(error) => (Times::default(), Some(error)),
    };
    stored::learn(component, context, memory).await?;
    let mut run = Run::new(component, context, hooks, memory, times)?;
    let outcome = match malformed {
        _ if deleting => deletion::delete(&mut run, times).await,
        _ if component.is_suspended() => Ok(Outcome::Suspended),
        Some(error) => Err(error),
        None => run.apply(times).await,
    };
    let outcome = match outcome {
        Err(ReconcileError::Gone) => return Ok(Done::Deleted),
        outcome => outcome.unwrap_or_else(Outcome::Failed),
    };
    if deleting && matches!(&outcome, Outcome::Deleting(waiting) if waiting.is_empty()) {
        deletion::finish(&mut run).await?;
        return Ok(Done::Deleted);
    }
    let now = now();
    let facts = Facts {
        generation: component.meta().generation,
        deleting,
        timeout: times.timeout,
    };
    let status = project(run.into_status(), &outcome, facts, &now);
    stored::write_status(component, context, memory, &status).await?;
    tell(component, context, memory, &status).await;
    Ok(next(&outcome, &status, times, memory, &now))
}

/// Tells of transitions: another state, or another message while something is wrong.
async fn tell<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
    status: &ComponentStatus,
) {
    let (Some(news), Some(ready)) = (news(status), status.conditions.first()) else {
        return;
    };
    let state = news.0;
    if memory.told.as_ref() == Some(&news) {
        return;
    }
    memory.told = Some(news);
    let severity = if ready.status == "False" {
        EventType::Warning
    } else {
        EventType::Normal
    };
    let reference = component.object_ref(&());
    let notice = Notice {
        severity,
        reason: &ready.reason,
        action: "Reconcile",
        note: &ready.message,
    };
    context.events.publish(&reference, &notice).await;
    tracing::info!(component = %reference.name.unwrap_or_default(), %state, reason = ready.reason, message = ready.message, "component changed");
}

/// What of a status is worth telling.
pub(super) fn news(status: &ComponentStatus) -> Option<(State, String)> {
    let (state, ready) = (status.state?, status.conditions.first()?);
    // What objects are waited for changes often; why a run failed is news.
    let is_about_objects = matches!(ready.reason.as_str(), "Timeout" | "ObjectFailed");
    let text = if ready.status == "False" && !is_about_objects {
        &ready.message
    } else {
        &ready.reason
    };
    Some((state, text.clone()))
}

fn next(
    outcome: &Outcome,
    status: &ComponentStatus,
    times: Times,
    memory: &mut Memory,
    now: &Time,
) -> Done {
    let fault = match outcome {
        Outcome::Failed(error) => error.fault(),
        _ => None,
    };
    memory.failures = match (outcome, fault) {
        // What will pass by itself is no failure.
        (Outcome::Failed(_), Some(Fault::Retriable(_))) => memory.failures,
        (Outcome::Failed(_), _) => memory.failures.saturating_add(1),
        _ => 0,
    };
    let (outcome, delay) = match outcome {
        Outcome::Ready | Outcome::AwaitingApproval(_) => (
            ReconcileOutcome::Unchanged,
            Some(until_fetch(memory, times.interval)),
        ),
        Outcome::Suspended => (ReconcileOutcome::Unchanged, None),
        Outcome::Deleting(_) | Outcome::Leaving(_) => (ReconcileOutcome::Waiting, Some(SAFETY_NET)),
        Outcome::Applying | Outcome::Restarting | Outcome::Waiting(_) => {
            let left = deadline(status, times.timeout)
                .and_then(|deadline| Duration::try_from(deadline.duration_since(now.0)).ok())
                .filter(|left| !left.is_zero());
            let delay = left.map_or(SAFETY_NET, |left| left.min(SAFETY_NET));
            (
                ReconcileOutcome::Waiting,
                Some(delay.min(until_fetch(memory, times.interval))),
            )
        }
        Outcome::Failed(_) => match fault {
            Some(Fault::Retriable(delay)) => (
                ReconcileOutcome::Waiting,
                Some(delay.unwrap_or(times.retry_interval)),
            ),
            Some(Fault::Terminal) => (ReconcileOutcome::Failed, None),
            None => (
                ReconcileOutcome::Failed,
                Some(backoff(memory.failures, times.retry_interval)),
            ),
        },
    };
    Done::Next { outcome, delay }
}

fn until_fetch(memory: &Memory, interval: Duration) -> Duration {
    memory
        .next()
        .map_or(interval, |next| {
            next.saturating_duration_since(Instant::now())
        })
        .max(MIN_INTERVAL)
}

/// Doubles from half a second up to a limit.
fn backoff(failures: u32, limit: Duration) -> Duration {
    FIRST_RETRY
        .saturating_mul(1 << failures.saturating_sub(1).min(16))
        .min(limit.max(FIRST_RETRY))
}

fn times<C: Component>(component: &C, defaults: &Defaults) -> Result<Times, ReconcileError> {
    let read = |field, text: Option<&DurationText>, default: Duration| match text {
        None => Ok(default),
        Some(text) => text
            .get()
            .map_err(|cause| ReconcileError::Duration { field, cause }),
    };
    let field = "reapplyInterval";
    let reapply = component.reapply_interval();
    let reapply = reapply.map(|text| read(field, Some(text), Duration::ZERO));
    let reapply = reapply.transpose()?;
    if reapply.is_some_and(|reapply| reapply.is_zero()) {
        return Err(ReconcileError::ZeroDuration { field });
    }
    Ok(Times {
        reapply,
        interval: read(
            "interval",
            component.interval(),
            defaults.interval.unwrap_or(DEFAULT_INTERVAL),
        )?
        .max(MIN_INTERVAL),
        retry_interval: read(
            "retryInterval",
            component.retry_interval(),
            defaults.retry_interval.unwrap_or(DEFAULT_RETRY_INTERVAL),
        )?,
        timeout: read(
            "timeout",
            component.timeout(),
            defaults.timeout.unwrap_or(DEFAULT_TIMEOUT),
        )?,
    })
}

/// The time, in whole seconds as the API server stores it.
pub(super) fn now() -> Time {
    let now = jiff::Timestamp::now();
    Time(jiff::Timestamp::from_second(now.as_second()).unwrap_or(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_come_ever_later_up_to_the_limit() {
        let limit = Duration::from_mins(1);
        let delays: Vec<_> = [1, 2, 3, 8, 100]
            .map(|n| backoff(n, limit).as_millis())
            .into();
        assert_eq!(delays, [500, 1_000, 2_000, 60_000, 60_000]);
    }
}
