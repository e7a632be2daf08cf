//! What to do next with the objects that are wanted, wave by wave.

use super::desired::DesiredObject;
use super::order::gate;
use super::ownership::Owner;
use super::plan::{Action, Live, Observed, Plan, Reason, Step, Waiting};
use crate::api::v1alpha1::{DriftMode, InventoryItem, Phase, UpdatePolicy};
use crate::status::Status;
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use whipstaff_generator::ObjectId;

enum Next {
    Done,
    Step(Action, Reason),
    Wait(String),
}

/// Plans the waves of one component.
pub(super) struct Planner<'a> {
    items: &'a HashMap<ObjectId, &'a InventoryItem>,
    observed: &'a Observed,
    now: Timestamp,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        items: &'a HashMap<ObjectId, &'a InventoryItem>,
        observed: &'a Observed,
        now: Timestamp,
    ) -> Self {
        Self {
            items,
            observed,
            now,
        }
    }

    /// Adds to a plan what is next: nothing when every object is as it should be. Objects are in the order of their waves; `all` says
    /// whether there are no others.
    pub(super) fn waves(&mut self, objects: &[DesiredObject], all: bool, plan: &mut Plan) {
        let mut before = 0;
        for wave in objects.chunk_by(|a, b| a.apply_order == b.apply_order) {
            for stage in wave.chunk_by(|a, b| gate(a.stage) == gate(b.stage)) {
                self.stage(stage, plan);
                if plan.is_busy() {
                    return;
                }
            }
            before += wave.len();
            let done = objects.get(..before).unwrap_or_default();
            self.purge(done, all && done.len() == objects.len(), plan);
            if plan.is_busy() {
                return;
            }
        }
    }

    fn stage(&self, stage: &[DesiredObject], plan: &mut Plan) {
        let states: Vec<_> = stage.iter().map(|object| self.next(object)).collect();
        let unready: HashSet<&ObjectId> = stage
            .iter()
            .zip(&states)
            .filter(|(_, next)| !matches!(next, Next::Done))
            .map(|(object, _)| &object.id)
            .collect();
        for (object, next) in stage.iter().zip(states) {
            let held_by = object.depends_on.iter().find(|id| unready.contains(id));
            match (next, held_by) {
                (Next::Done, _) => self.look_again(object, plan),
                (Next::Step(..), Some(target)) => {
                    plan.waiting
                        .push(self.waiting(object, format!("waits for {target}")));
                }
                (Next::Step(action, reason), None) => plan.steps.push(Step {
                    key: object.key.clone(),
                    wave: object.apply_order,
                    action,
                    reason,
                }),
                (Next::Wait(reason), _) => {
                    let waiting = self.waiting(object, reason);
                    if let (Some(timeout), Some(since)) = (object.timeout, &waiting.since) {
                        plan.next_look = earliest(plan.next_look, after(since.0, timeout));
                    }
                    plan.waiting.push(waiting);
                }
            }
        }
    }

    fn waiting(&self, object: &DesiredObject, reason: String) -> Waiting {
        let since = self
            .items
            .get(&object.id)
            .and_then(|item| item.since.clone());
        let live = self.observed.objects.get(&object.id);
        let overdue = object.timeout.map(|timeout| {
            let end = since.as_ref().and_then(|since| after(since.0, timeout));
            end.is_some_and(|end| end <= self.now)
        });
        Waiting {
            failed: live.is_some_and(|live| live.assessment.status == Status::Failed),
            since,
            overdue,
            ..Waiting::new(object.id.clone(), reason)
        }
    }

    /// When an object that needs nothing now is to be applied again.
    fn look_again(&self, object: &DesiredObject, plan: &mut Plan) {
        let applied = self
            .items
            .get(&object.id)
            .and_then(|item| item.applied_at.as_ref());
        let interval = object
            .reapply
            .filter(|_| object.drift == DriftMode::Correct);
        if let (Some(interval), Some(applied)) = (interval, applied) {
            plan.next_look = earliest(plan.next_look, after(applied.0, interval));
        }
    }

    /// Objects of the waves so far that did their work: all of them when there are no more waves.
    fn purge(&self, objects: &[DesiredObject], last: bool, plan: &mut Plan) {
        let Some(wave) = objects.last().map(|object| object.apply_order) else {
            return;
        };
        for object in objects {
            let due = object
                .purge_order
                .is_some_and(|order| last || order <= wave);
            let live = self.observed.objects.get(&object.id);
            let Some(live) = live.filter(|live| due && live.owner == Owner::Us) else {
                continue;
            };
            plan.steps.push(Step {
                key: object.key.clone(),
                wave: object.apply_order,
                action: Action::Purge {
                    uid: live.uid.clone(),
                },
                reason: Reason::Finished,
            });
        }
    }

    fn next(&self, object: &DesiredObject) -> Next {
        let item = self.items.get(&object.id).copied();
        let completed =
            item.is_some_and(|item| item.phase == Phase::Completed && item.digest == object.digest);
        let Some(live) = self.observed.objects.get(&object.id) else {
            return match item {
                _ if completed => Next::Done,
                _ if object.unserved => Next::Wait("its kind is not served yet".to_owned()),
                Some(item) if !item.fields.is_empty() => {
                    Next::Step(Action::Create, Reason::Deleted)
                }
                _ => Next::Step(Action::Create, Reason::New),
            };
        };
        if live.deleting {
            return Next::Wait("is being deleted".to_owned());
        }
        if completed {
            // Whoever made it anew did not want it purged; if it is ours, it is purged once more.
            return Next::Done;
        }
        if live.owner != Owner::Us {
            return change(object, live, Reason::TakenOver);
        }
        if live.digest != object.digest {
            return change(object, live, Reason::Changed);
        }
        let recorded = item.map_or("", |item| item.fields.as_str());
        if !object.fixed && live.fields != recorded {
            let reason = match recorded {
                "" => Reason::Unverified,
                _ => Reason::Drifted,
            };
            return Next::Step(apply(object, live), reason);
        }
        if self.is_due(object, item) {
            return Next::Step(apply(object, live), Reason::Due);
        }
        if live.assessment.status == Status::Current {
            Next::Done
        } else {
            Next::Wait(live.assessment.message.clone())
        }
    }

    fn is_due(&self, object: &DesiredObject, item: Option<&InventoryItem>) -> bool {
        let applied = item.and_then(|item| item.applied_at.as_ref());
        let interval = object
            .reapply
            .filter(|_| object.drift == DriftMode::Correct);
        match (interval, applied) {
            (Some(interval), Some(applied)) => {
                after(applied.0, interval).is_some_and(|due| due <= self.now)
            }
            _ => false,
        }
    }
}

fn change(object: &DesiredObject, live: &Live, reason: Reason) -> Next {
    if object.update == UpdatePolicy::Recreate {
        let uid = live.uid.clone();
        Next::Step(Action::Recreate { uid }, reason)
    } else {
        Next::Step(apply(object, live), reason)
    }
}

fn apply(object: &DesiredObject, live: &Live) -> Action {
    match object.update {
        UpdatePolicy::SsaOverride if live.stray.ours || live.stray.kubectl => {
            Action::Absorb { kubectl: true }
        }
        UpdatePolicy::SsaMerge | UpdatePolicy::Recreate if live.stray.ours => {
            Action::Absorb { kubectl: false }
        }
        _ => Action::Apply,
    }
}

/// A time and a duration later; nothing when that is out of range.
pub(super) fn after(time: Timestamp, duration: Duration) -> Option<Timestamp> {
    time.checked_add(SignedDuration::try_from(duration).ok()?)
        .ok()
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}
