//! What is told of a component in metrics.

use super::memory::Memory;
use super::resource::Component;
use crate::api::v1alpha1::State;
use crate::metrics::{ComponentReport, ComponentState, DependentStatus, Metrics};
use crate::status::Status;
use kube::ResourceExt;
use std::collections::BTreeMap;

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

/// Reports a component after a reconciliation.
pub(super) fn update<C: Component>(component: &C, uid: &str, memory: &Memory, metrics: &Metrics) {
    let Some(status) = &memory.status else { return };
    let state = STATES
        .iter()
        .find(|(state, _)| Some(*state) == status.state);
    let mut dependents = BTreeMap::new();
    for item in &status.inventory {
        if let Some((_, label)) = STATUSES.iter().find(|(status, _)| *status == item.status) {
            *dependents.entry(*label).or_default() += 1;
        }
    }
    let report = ComponentReport {
        namespace: component.namespace().unwrap_or_default(),
        name: component.name_any(),
        state: state.map(|(_, label)| *label),
        dependents,
    };
    metrics.report(uid, report);
}
