//! The gauges of components and dependents.

use super::context::Context;
use crate::api::v1alpha1::State;
use crate::metrics::{ComponentState, DependentStatus};
use crate::status::Status;

/// Every state with its label.
const STATES: [(State, ComponentState); 6] = [
    (State::Pending, ComponentState::Pending),
    (State::Processing, ComponentState::Processing),
    (State::Ready, ComponentState::Ready),
    (State::DeletionPending, ComponentState::DeletionPending),
    (State::Deleting, ComponentState::Deleting),
    (State::Error, ComponentState::Error),
];

/// Every status with its label.
const STATUSES: [(Status, DependentStatus); 6] = [
    (Status::InProgress, DependentStatus::InProgress),
    (Status::Failed, DependentStatus::Failed),
    (Status::Current, DependentStatus::Current),
    (Status::Terminating, DependentStatus::Terminating),
    (Status::NotFound, DependentStatus::NotFound),
    (Status::Unknown, DependentStatus::Unknown),
];

/// Brings the gauges up to date after a reconciliation.
pub(super) fn update(context: &Context) {
    let census = context.memories.census();
    for (state, label) in STATES {
        let count = census.components.get(&state).copied().unwrap_or_default();
        context.metrics.set_components(label, count);
    }
    for (status, label) in STATUSES {
        let count = census.dependents.get(&status).copied().unwrap_or_default();
        context.metrics.set_dependents(label, count);
    }
}
