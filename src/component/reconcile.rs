//! The reconciliation of one component, from its event to the time of the next one.

use super::context::{Context, Defaults};
use super::deletion;
use super::dependencies::Node;
use super::error::ReconcileError;
use super::gauges;
use super::hooks::Hooks;
use super::memory::Memory;
use super::project::{Facts, Outcome, deadline, project};
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::{ComponentStatus, DurationText};
use crate::events::Notice;
use crate::metrics::ReconcileOutcome;
use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Patch, PatchParams};
use kube::runtime::events::EventType;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
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
}

impl Default for Times {
    fn default() -> Self {
        Self {
            interval: DEFAULT_INTERVAL,
            retry_interval: DEFAULT_RETRY_INTERVAL,
            timeout: DEFAULT_TIMEOUT,
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
    let mut memory = context.memories.take(&uid);
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
    } else {
        context.memories.put(&uid, memory);
    }
    gauges::update(&context);
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
    if deleting && !deletion::has_finalizer(component, context) {
        return Ok(Done::Deleted);
    }
    let (times, malformed) = match times(component, &context.defaults) {
        Ok(times) => (times, None),
        Err(error) => (Times::default(), Some(error)),
    };
    let Some(mut run) = Run::new(component, context, hooks, memory).await? else {
        return Ok(Done::Deleted);
    };
    let outcome = match malformed {
        _ if deleting => deletion::delete(&mut run, times.interval).await,
        _ if component.is_suspended() => Ok(Outcome::Suspended),
        Some(error) => Err(error),
        None => run.apply(times.interval).await,
    };
    let outcome = outcome.unwrap_or_else(Outcome::Failed);
    if deleting && matches!(&outcome, Outcome::Deleting(waiting) if waiting.is_empty()) {
        deletion::finish(&run).await?;
        return Ok(Done::Deleted);
    }
    let now = now();
    let facts = Facts {
        generation: component.meta().generation,
        deleting,
        timeout: times.timeout,
    };
    let status = project(run.into_status(), &outcome, facts, &now);
    write_status(component, context, memory, &status).await?;
    tell(component, context, memory, &status, &outcome).await;
    Ok(next(&outcome, &status, times, memory, &now))
}

/// Writes the status if it differs from what was written last.
pub(super) async fn write_status<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
    status: &ComponentStatus,
) -> Result<(), ReconcileError> {
    if memory.status.as_ref() == Some(status) {
        return Ok(());
    }
    let api: Api<C> = Api::namespaced(
        context.client.0.clone(),
        &component.namespace().unwrap_or_default(),
    );
    let is_news = memory.status.as_ref().map(readiness) != Some(readiness(status));
    let status_body = whole(status);
    let body = json!({
        "apiVersion": C::api_version(&()),
        "kind": C::kind(&()),
        "metadata": { "name": component.name_any(), "uid": component.uid() },
        "status": status_body,
    });
    let params = PatchParams::apply(context.owners.names().field_manager()).force();
    let answer = api
        .patch_status(&component.name_any(), &params, &Patch::Apply(&body))
        .await;
    answer.map_err(|cause| ReconcileError::Component {
        verb: "write the component's status",
        cause: Box::new(cause),
    })?;
    memory.status = Some(status.clone());
    if is_news {
        context.graph.wake_dependants(&Node::of(component));
    }
    Ok(())
}

/// What others that depend on a component look at.
fn readiness(status: &ComponentStatus) -> Option<(&str, Option<i64>)> {
    let mut conditions = status.conditions.iter();
    let ready = conditions.find(|condition| condition.type_ == "Ready")?;
    Some((&ready.status, ready.observed_generation))
}

/// The status with the fields that are the kind's own.
fn whole(status: &ComponentStatus) -> Value {
    let mut whole = serde_json::to_value(status).unwrap_or_default();
    if let Value::Object(fields) = &mut whole {
        let own = status
            .extension
            .iter()
            .filter(|(_, value)| !value.is_null());
        fields.extend(own.map(|(field, value)| (field.clone(), value.clone())));
    }
    whole
}

/// Tells of transitions: another state, or another message while something is wrong.
async fn tell<C: Component>(
    component: &C,
    context: &Context,
    memory: &mut Memory,
    status: &ComponentStatus,
    outcome: &Outcome,
) {
    let (Some(state), Some(ready)) = (status.state, status.conditions.first()) else {
        return;
    };
    let news = match outcome {
        Outcome::Failed(_) => (state, ready.message.clone()),
        _ => (state, ready.reason.clone()),
    };
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
        Outcome::Ready => (
            ReconcileOutcome::Unchanged,
            Some(until_fetch(memory, times.interval)),
        ),
        Outcome::Suspended => (ReconcileOutcome::Unchanged, None),
        Outcome::Deleting(_) => (ReconcileOutcome::Waiting, Some(SAFETY_NET)),
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
    Ok(Times {
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
