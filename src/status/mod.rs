//! What state a live object is in, and what it waits for.
//!
//! The rules are those of kstatus (`sigs.k8s.io/cli-utils/pkg/kstatus/status`, v0.37), so that an object counts as ready here when it
//! does for Flux, kpt and others, with what `component-operator-runtime` (`pkg/status`) demands in addition. Differences:
//!
//! - A `Job` is ready when it is complete, not when it has merely started or is suspended.
//! - A `CustomResourceDefinition` needs accepted names, an `APIService` must be available and a `Namespace` active.
//! - A `Pod` that cannot be scheduled is in progress for as long as that lasts. kstatus calls it failed after fifteen seconds, but
//!   nothing here has a clock, and new nodes take longer to come.
//! - A `Pod` whose init containers are in a crash loop has failed, too.
//! - A `DaemonSet` with the strategy `OnDelete` does not wait for its pods to be updated, as a `StatefulSet` does not.
//! - Fields of an unexpected type count as missing.
//!
//! Objects of other kinds are judged by `metadata.generation`, `status.observedGeneration` and the conditions `Reconciling`,
//! `Stalled` and `Ready`. One that has none of them is ready as soon as it exists, unless [`Hints`] say that they will come.

mod expression;
mod health;
mod hints;
mod live;
mod rules;
#[cfg(test)]
mod tests;

pub(crate) use expression::{Expression, ExpressionError};

pub(crate) use health::{HealthError, HealthRules};
pub(crate) use hints::kebab_case;
pub use hints::{HintError, Hints};

use live::{Condition, Live};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Longest message of an assessment in bytes; what conditions say is cut off there.
pub const MAX_MESSAGE_LENGTH: usize = 1024;

/// What stands for the rest of a message that was cut off.
const ELLIPSIS: &str = "…";

/// The state of a live object.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub enum Status {
    /// The object is not yet what its specification asks for.
    InProgress,
    /// The object will not become what its specification asks for without help.
    Failed,
    /// The object is what its specification asks for: it is ready.
    Current,
    /// The object is being deleted.
    Terminating,
    /// The object does not exist.
    NotFound,
    /// Nothing can be said.
    #[default]
    Unknown,
}

impl Status {
    /// Whether the object is ready.
    pub fn is_ready(self) -> bool {
        self == Self::Current
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Current => "Current",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        })
    }
}

/// The state of a live object and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The state.
    pub status: Status,
    /// Why, or what the object waits for, in words for a person: "2 of 3 replicas are available".
    /// At most [`MAX_MESSAGE_LENGTH`] bytes.
    pub message: String,
}

impl Assessment {
    fn new(status: Status, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE_LENGTH {
            let mut end = MAX_MESSAGE_LENGTH - ELLIPSIS.len();
            while !message.is_char_boundary(end) {
                end -= 1;
            }
            message.truncate(end);
            message.push_str(ELLIPSIS);
        }
        Self { status, message }
    }

    fn current(message: impl Into<String>) -> Self {
        Self::new(Status::Current, message)
    }

    fn in_progress(message: impl Into<String>) -> Self {
        Self::new(Status::InProgress, message)
    }

    fn failed(message: impl Into<String>) -> Self {
        Self::new(Status::Failed, message)
    }
}

/// Says what state a live object is in. Null stands for an object that does not exist.
pub fn assess(object: &Value) -> Assessment {
    assess_with_hints(object, &Hints::default())
}

/// Says what state a live object is in, given hints about what its controller will write.
pub fn assess_with_hints(object: &Value, hints: &Hints) -> Assessment {
    if object.is_null() {
        return Assessment::new(Status::NotFound, "object does not exist");
    }
    if !object.is_object() {
        return Assessment::new(Status::Unknown, "not an object");
    }
    let live = Live::new(object);
    let assessment = check_deletion(&live)
        .or_else(|| check_generation(&live, hints))
        .or_else(|| hints.health().map(|rule| rule.assess(object)))
        .or_else(|| check_progress(&live))
        .or_else(|| rules::of(&live).map(|rule| rule(&live)))
        .or_else(|| check_ready(&live, hints))
        .unwrap_or_else(|| Assessment::current("object exists"));
    if assessment.status.is_ready() {
        return check_hinted_conditions(&live, hints).unwrap_or(assessment);
    }
    assessment
}

fn check_deletion(live: &Live<'_>) -> Option<Assessment> {
    live.text("/metadata/deletionTimestamp")?;
    let message = match live.list("/metadata/finalizers") {
        [] => "object is being deleted".to_owned(),
        finalizers => {
            let names: Vec<_> = finalizers.iter().filter_map(Value::as_str).collect();
            format!("object is being deleted; it waits for {}", names.join(", "))
        }
    };
    Some(Assessment::new(Status::Terminating, message))
}

fn check_generation(live: &Live<'_>, hints: &Hints) -> Option<Assessment> {
    let generation = live.integer("/metadata/generation")?;
    match live.integer("/status/observedGeneration") {
        Some(observed) if observed == generation => None,
        Some(observed) => Some(unobserved(generation, observed)),
        None if hints.has_observed_generation() => {
            let ready = live
                .condition("Ready")
                .and_then(|ready| ready.observed_generation);
            match ready {
                Some(observed) if observed == generation => None,
                Some(observed) => Some(unobserved(generation, observed)),
                None => Some(Assessment::in_progress(
                    "no controller has looked at the object yet",
                )),
            }
        }
        None => None,
    }
}

fn unobserved(generation: i64, observed: i64) -> Assessment {
    Assessment::in_progress(format!(
        "generation {generation} is not observed yet; the last one was {observed}"
    ))
}

/// The two conditions that kstatus asks controllers to set while something is abnormal.
fn check_progress(live: &Live<'_>) -> Option<Assessment> {
    if let Some(reconciling) = live.condition("Reconciling").filter(Condition::is_true) {
        return Some(Assessment::in_progress(reconciling.explain()));
    }
    let stalled = live.condition("Stalled").filter(Condition::is_true)?;
    Some(Assessment::failed(stalled.explain()))
}

fn check_ready(live: &Live<'_>, hints: &Hints) -> Option<Assessment> {
    match live.condition("Ready") {
        Some(ready) if ready.is_true() => Some(Assessment::current(ready.explain())),
        Some(ready) => Some(Assessment::in_progress(ready.explain())),
        None if hints.has_ready_condition() => {
            Some(Assessment::in_progress("the condition Ready is missing"))
        }
        None => None,
    }
}

fn check_hinted_conditions(live: &Live<'_>, hints: &Hints) -> Option<Assessment> {
    hints
        .conditions()
        .iter()
        .find_map(|name| require(live, name))
}

/// What is in the way as long as a condition is not true.
fn require(live: &Live<'_>, name: &str) -> Option<Assessment> {
    match live.condition(name) {
        Some(condition) if condition.is_true() => None,
        Some(condition) => Some(Assessment::in_progress(condition.explain())),
        None => Some(Assessment::in_progress(format!(
            "the condition {name} is missing"
        ))),
    }
}
