//! Kubernetes events: what `kubectl describe` shows of a component's history.
//!
//! Events are for transitions. Whoever reports one need not remember what was said before: repetitions are dropped here, and so
//! is everything that the API server does not take. A reconcile never fails for an event.

mod recent;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::{
    Client,
    runtime::events::{Event, EventType, Recorder, Reporter},
};
use recent::{Mark, Recent, Verdict};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::time;
use whipstaff_generator::Digest;

/// Most bytes of a note; the API server takes 1024.
const MAX_NOTE_BYTES: usize = 1000;
/// Most bytes of a reason and of an action: the API server's own limit.
const MAX_NAME_BYTES: usize = 128;
/// Longest time that a reconcile waits for an event to be taken.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);
/// Hexadecimal digits that keep an action apart.
const APART_DIGITS: usize = 8;
const ELLIPSIS: &str = "…";

/// Something to tell about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Notice<'a> {
    /// Whether somebody should look at it.
    pub severity: EventType,
    /// Why, as a word in Pascal case.
    pub reason: &'a str,
    /// What was done or tried, as a word in Pascal case.
    pub action: &'a str,
    /// A sentence for a person. Cut to 1000 bytes.
    pub note: &'a str,
}

/// Publishes events. Clones are cheap and share the memory of what was published.
#[derive(Clone)]
pub(crate) struct Events {
    recorder: Recorder,
    recent: Arc<Mutex<Recent>>,
}

impl Events {
    /// A publisher that reports as a controller, and as one of its instances: the name of the pod, or else of the host.
    ///
    /// Needs `create` and `patch` on `events` of `events.k8s.io` in the namespaces of the objects; events about objects without a
    /// namespace go to `default`.
    pub(crate) fn new(client: Client, controller: &str, instance: Option<String>) -> Self {
        let mut reporter = Reporter::from(controller);
        if instance.is_some() {
            reporter.instance = instance;
        }
        Self {
            recorder: Recorder::new(client, reporter),
            recent: Arc::default(),
        }
    }

    /// Publishes an event about an object, unless the same was said within 5 minutes or too much was said about the object.
    ///
    /// Failures are logged at debug level.
    pub(crate) async fn publish(&self, object: &ObjectReference, notice: &Notice<'_>) {
        let Some(event) = self.prepare(object, notice, Instant::now()) else {
            return;
        };
        let published = self.recorder.publish(&event, object);
        match time::timeout(PUBLISH_TIMEOUT, published).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(error = %error, reason = notice.reason, "event is not published");
            }
            Err(_) => {
                tracing::debug!(reason = notice.reason, "event is not published in time");
            }
        }
    }

    fn prepare(
        &self,
        object: &ObjectReference,
        notice: &Notice<'_>,
        now: Instant,
    ) -> Option<Event> {
        let note = cut(notice.note, MAX_NOTE_BYTES);
        let reason = cut(notice.reason, MAX_NAME_BYTES);
        let mut action = cut(notice.action, MAX_NAME_BYTES - APART_DIGITS - 1);
        let severity = match notice.severity {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        };
        let mark = Mark {
            merged: digest([severity, &action, &reason]),
            reason: digest([&reason]),
            note: digest([&note]),
        };
        let verdict = {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            recent.judge(identify(object), mark, now)
        };
        match verdict {
            Verdict::Withhold => return None,
            Verdict::Publish => {}
            // Kube's recorder keeps the first note of events that differ in nothing else.
            Verdict::PublishApart => {
                let digits: String = mark.note.hex().chars().take(APART_DIGITS).collect();
                action = format!("{action}-{digits}");
            }
        }
        let note = (!note.is_empty()).then_some(note);
        Some(Event {
            type_: notice.severity,
            reason,
            note,
            action,
            secondary: None,
        })
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

fn identify(object: &ObjectReference) -> Digest {
    let parts = [
        &object.api_version,
        &object.kind,
        &object.namespace,
        &object.name,
        &object.uid,
    ];
    digest(parts.map(|part| part.as_deref().unwrap_or_default()))
}

fn digest<const N: usize>(parts: [&str; N]) -> Digest {
    Digest::of_parts(parts.map(str::as_bytes))
}

/// A text of at most `limit` bytes that ends in an ellipsis when something was cut off.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub(ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (start, _) = text.split_at(end);
    format!("{start}{ELLIPSIS}")
}

#[cfg(test)]
mod tests;
