//! What to do next: a pure function of what is wanted, what is recorded and what is there.

use super::delete_plan::remove;
use super::desired::{Desired, DesiredObject};
use super::order::Stage;
use super::ownership::Owner;
use crate::api::v1alpha1::{AdoptionPolicy, InventoryItem, Phase};
use crate::status::{Assessment, Status};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use whipstaff_generator::{ObjectId, ObjectKey};

/// A live object, reduced to what a decision needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Live {
    /// Its UID.
    pub(crate) uid: String,
    /// Its resource version as a number.
    pub(crate) version: u64,
    /// Whether it is being deleted.
    pub(crate) deleting: bool,
    /// Who owns it.
    pub(crate) owner: Owner,
    /// Digest that it carries, or empty.
    pub(crate) digest: String,
    /// Digest of the fields that we own.
    pub(crate) fields: String,
    /// How it is.
    pub(crate) assessment: Assessment,
}

/// Everything that was observed. An object that is not in it does not exist.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observed {
    /// Live objects.
    pub(crate) objects: HashMap<ObjectId, Live>,
    /// Namespaces that objects need and that do not exist.
    pub(crate) missing_namespaces: BTreeSet<String>,
}

/// What may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policies {
    /// Whether missing namespaces are created.
    pub(crate) create_namespaces: bool,
}

/// What to do next, and what is waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Objects that may not be touched. When there are any, nothing is done.
    pub(crate) refusals: Vec<Refusal>,
    /// Steps in order.
    pub(crate) steps: Vec<Step>,
    /// Objects that must get ready, or go away, before anything else happens.
    pub(crate) waiting: Vec<Waiting>,
    /// Items that leave the inventory: gone, or left alone on purpose.
    pub(crate) gone: BTreeSet<ObjectId>,
}

/// One write, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The object.
    pub(crate) key: ObjectKey,
    /// Its wave.
    pub(crate) wave: i32,
    /// What is done.
    pub(crate) action: Action,
    /// Why.
    pub(crate) reason: Reason,
}

/// Why an object is written; it prints as a sentence about the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Objects need this namespace.
    Needed,
    /// It was never applied and does not exist.
    New,
    /// It was applied and does not exist any more.
    Deleted,
    /// It exists and becomes ours.
    TakenOver,
    /// Its manifest changed.
    Changed,
    /// Nothing is recorded of its last write.
    Unverified,
    /// Fields of ours were changed by somebody else.
    Drifted,
    /// It did its work.
    Finished,
    /// It is no longer wanted.
    Unwanted,
}

impl Reason {
    /// Whether somebody else's doing is put right.
    pub(crate) fn is_drift(self) -> bool {
        matches!(self, Self::Drifted | Self::Deleted)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Needed => "objects need it",
            Self::New => "it did not exist",
            Self::Deleted => "somebody deleted it",
            Self::TakenOver => "it is taken over",
            Self::Changed => "its manifest changed",
            Self::Unverified => "it was not known to be as applied",
            Self::Drifted => "somebody changed it",
            Self::Finished => "it did its work",
            Self::Unwanted => "it is no longer wanted",
        })
    }
}

/// What is done with an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// A namespace that objects need is created, without our marks.
    CreateNamespace,
    /// The manifest is applied to an object that does not exist.
    Create,
    /// The manifest is applied to an object that exists.
    Apply,
    /// The object is deleted, to be created anew in a later round.
    Recreate {
        /// UID of the object that is meant.
        uid: String,
    },
    /// The object did its work and is deleted.
    Purge {
        /// UID of the object that is meant.
        uid: String,
    },
    /// The object is no longer wanted and is deleted.
    Delete {
        /// UID of the object that is meant.
        uid: String,
    },
}

/// An object that holds everything after it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// The object.
    pub(crate) id: ObjectId,
    /// What is waited for, for a person.
    pub(crate) reason: String,
    /// Since when.
    pub(crate) since: Option<Time>,
    /// Whether it has failed, as far as it can be told.
    pub(crate) failed: bool,
}

/// An object that may not be touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The object.
    pub(crate) id: ObjectId,
    /// Why, for a person.
    pub(crate) reason: String,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if !self.reason.is_empty() {
            write!(f, ": {}", self.reason)?;
        }
        match &self.since {
            Some(since) => write!(f, " (since {})", since.0.strftime("%H:%M:%S")),
            None => Ok(()),
        }
    }
}

enum Next {
    Done,
    Step(Action, Reason),
    Wait(String),
}

/// Decides what to do next. Waves come one after another; inside a wave, namespaces and definitions must be ready before anything
/// else starts, and extension API servers start when all else is ready. What is no longer wanted goes when every wave is ready.
pub(crate) fn plan(
    desired: &Desired,
    inventory: &[InventoryItem],
    observed: &Observed,
    policies: Policies,
) -> Plan {
    let mut plan = Plan {
        refusals: refusals(desired, observed, policies),
        ..Plan::default()
    };
    if !plan.refusals.is_empty() {
        return plan;
    }
    let items: BTreeMap<ObjectId, &InventoryItem> =
        inventory.iter().map(|item| (item.id(), item)).collect();
    plan.steps.extend(
        observed
            .missing_namespaces
            .iter()
            .map(|name| create_namespace(name)),
    );
    for wave in desired
        .objects
        .chunk_by(|a, b| a.apply_order == b.apply_order)
    {
        plan_wave(wave, &items, observed, &mut plan);
        if !plan.steps.is_empty() || !plan.waiting.is_empty() {
            return plan;
        }
    }
    let wanted: BTreeSet<_> = desired.objects.iter().map(|object| &object.id).collect();
    let redundant: Vec<_> = inventory
        .iter()
        .filter(|item| !wanted.contains(&item.id()))
        .collect();
    remove(&redundant, observed, &mut plan);
    plan
}

fn plan_wave(
    wave: &[DesiredObject],
    items: &BTreeMap<ObjectId, &InventoryItem>,
    observed: &Observed,
    plan: &mut Plan,
) {
    for stage in wave.chunk_by(|a, b| gate(a.stage) == gate(b.stage)) {
        for object in stage {
            let item = items.get(&object.id).copied();
            match next(object, item, observed.objects.get(&object.id)) {
                Next::Done => {}
                Next::Step(action, reason) => plan.steps.push(Step {
                    key: object.key.clone(),
                    wave: object.apply_order,
                    action,
                    reason,
                }),
                Next::Wait(reason) => plan.waiting.push(Waiting {
                    id: object.id.clone(),
                    reason,
                    since: item.and_then(|item| item.since.clone()),
                    failed: is_failed(observed.objects.get(&object.id)),
                }),
            }
        }
        if !plan.steps.is_empty() || !plan.waiting.is_empty() {
            return;
        }
    }
}

/// Stages between which there is no gate share a number.
fn gate(stage: Stage) -> u8 {
    match stage {
        Stage::Namespace => 0,
        Stage::Definition => 1,
        Stage::Regular | Stage::Instance => 2,
        Stage::ApiService => 3,
    }
}

fn is_failed(live: Option<&Live>) -> bool {
    live.is_some_and(|live| live.assessment.status == Status::Failed)
}

fn next(object: &DesiredObject, item: Option<&InventoryItem>, live: Option<&Live>) -> Next {
    let Some(live) = live else {
        return next_absent(object, item);
    };
    if live.deleting {
        return Next::Wait("is being deleted".to_owned());
    }
    if live.owner != Owner::Us {
        return change(object, live, Reason::TakenOver);
    }
    if live.digest != object.digest {
        return change(object, live, Reason::Changed);
    }
    let recorded = item.map_or("", |item| item.fields.as_str());
    if !object.recreate && live.fields != recorded {
        let reason = if recorded.is_empty() {
            Reason::Unverified
        } else {
            Reason::Drifted
        };
        return Next::Step(Action::Apply, reason);
    }
    if live.assessment.status != Status::Current {
        return Next::Wait(live.assessment.message.clone());
    }
    if object.purge {
        return Next::Step(
            Action::Purge {
                uid: live.uid.clone(),
            },
            Reason::Finished,
        );
    }
    Next::Done
}

fn next_absent(object: &DesiredObject, item: Option<&InventoryItem>) -> Next {
    let Some(item) = item else {
        return Next::Step(Action::Create, Reason::New);
    };
    if item.phase == Phase::Completed && item.digest == object.digest {
        return Next::Done;
    }
    let was_there = !item.fields.is_empty();
    Next::Step(
        Action::Create,
        if was_there {
            Reason::Deleted
        } else {
            Reason::New
        },
    )
}

fn change(object: &DesiredObject, live: &Live, reason: Reason) -> Next {
    if object.recreate {
        Next::Step(
            Action::Recreate {
                uid: live.uid.clone(),
            },
            reason,
        )
    } else {
        Next::Step(Action::Apply, reason)
    }
}

fn create_namespace(name: &str) -> Step {
    Step {
        key: ObjectKey {
            group: String::new(),
            version: "v1".to_owned(),
            kind: "Namespace".to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        },
        wave: i32::MIN,
        action: Action::CreateNamespace,
        reason: Reason::Needed,
    }
}

fn refusals(desired: &Desired, observed: &Observed, policies: Policies) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if !policies.create_namespaces {
        refusals.extend(observed.missing_namespaces.iter().map(|name| Refusal {
            id: create_namespace(name).key.id(),
            reason: "does not exist, and missing namespaces are not created".to_owned(),
        }));
    }
    for object in &desired.objects {
        let Some(live) = observed.objects.get(&object.id) else {
            continue;
        };
        let reason = match (&live.owner, object.adoption) {
            (Owner::Us, _)
            | (_, AdoptionPolicy::Always)
            | (Owner::Nobody, AdoptionPolicy::IfUnowned) => continue,
            (Owner::Nobody, AdoptionPolicy::Never) => "exists already".to_owned(),
            (Owner::Other(owner), _) => format!("belongs to {owner}"),
        };
        refusals.push(Refusal {
            id: object.id.clone(),
            reason,
        });
    }
    refusals
}

#[cfg(test)]
mod tests;
