//! What to do next: a pure function of what is wanted, what is recorded and what is there.

use super::delete_plan::{Removal, remove};
use super::desired::{Desired, DesiredObject};
use super::hooks::HOOK_WAVE;
use super::kinds::serves;
use super::ownership::Owner;
use super::prune::{Pruning, check_pruning};
use super::waves::Planner;
use crate::api::v1alpha1::{AdoptionPolicy, InventoryItem, TypePattern};
use crate::status::Assessment;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::collections::{BTreeSet, HashMap, HashSet};
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
    /// What holds it while it is being deleted.
    pub(crate) finalizers: Vec<String>,
    /// Who owns it.
    pub(crate) owner: Owner,
    /// Digest that it carries, or empty.
    pub(crate) digest: String,
    /// Digest of the fields that we own.
    pub(crate) fields: String,
    /// Whether there are fields that a plain apply would leave although they are not in the manifest: those that we own by another
    /// operation than apply, and those that were set with kubectl.
    pub(crate) stray: Stray,
    /// How it is.
    pub(crate) assessment: Assessment,
}

/// Fields that a plain apply would leave although they are not in the manifest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stray {
    /// Some are ours, by another operation than apply.
    pub(crate) ours: bool,
    /// Some were set with kubectl.
    pub(crate) kubectl: bool,
}

impl Live {
    /// Whether this component owns it.
    pub(crate) fn is_ours(&self) -> bool {
        self.owner == Owner::Us
    }
}

/// Everything that was observed. An object that is not in it does not exist.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observed {
    /// Live objects.
    pub(crate) objects: HashMap<ObjectId, Live>,
    /// Objects that may exist: the API server that serves them is not available.
    pub(crate) unavailable: BTreeSet<ObjectId>,
    /// Namespaces that objects need and that do not exist.
    pub(crate) missing_namespaces: BTreeSet<String>,
}

/// What may be done, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policies<'a> {
    /// Whether missing namespaces are created.
    pub(crate) create_namespaces: bool,
    /// What keeps objects from being pruned.
    pub(crate) pruning: Pruning<'a>,
    /// Objects that other components ask for.
    pub(crate) claimed: &'a BTreeSet<ObjectId>,
    /// Kinds whose objects need the component's, beside those that it serves.
    pub(crate) additional_types: &'a [TypePattern],
    /// Whether only what comes before the first hook is done.
    pub(crate) until_hooks: bool,
    /// The time.
    pub(crate) now: Timestamp,
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
    /// Objects that are no longer wanted and stay, because their kind is protected.
    pub(crate) kept: BTreeSet<ObjectId>,
    /// When there may be something to do although nothing has changed.
    pub(crate) next_look: Option<Timestamp>,
}

impl Plan {
    /// Whether anything is done or waited for.
    pub(crate) fn is_busy(&self) -> bool {
        !self.steps.is_empty() || !self.waiting.is_empty()
    }

    /// Asks for a look at a time, unless there is an earlier one.
    pub(crate) fn look_at(&mut self, time: Timestamp) {
        self.next_look = Some(self.next_look.map_or(time, |known| known.min(time)));
    }
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
    /// It is a hook, and it is its turn.
    Hook,
    /// Its manifest changed.
    Changed,
    /// Nothing is recorded of its last write.
    Unverified,
    /// Fields of ours were changed by somebody else.
    Drifted,
    /// Nothing is known to have changed, and its time has come.
    Due,
    /// It did its work.
    Finished,
    /// It is no longer wanted.
    Unwanted,
    /// It is no longer wanted, and stays.
    Orphaned,
    /// It is no longer wanted, and another component asks for it.
    Claimed,
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
            Self::Hook => "it is a hook",
            Self::Changed => "its manifest changed",
            Self::Unverified => "it was not known to be as applied",
            Self::Drifted => "somebody changed it",
            Self::Finished => "it did its work",
            Self::Due => "its time to be applied again has come",
            Self::Unwanted => "it is no longer wanted",
            Self::Orphaned => "it is no longer wanted and stays",
            Self::Claimed => "another component takes it over",
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
    /// The same, and what a plain apply would leave although it is not in the manifest goes.
    Absorb {
        /// Whether that includes what was set with kubectl.
        kubectl: bool,
    },
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
    /// The namespace is no longer wanted, and is deleted unless something of others is in it.
    DeleteIfEmpty {
        /// UID of the object that is meant.
        uid: String,
    },
    /// The object is no longer wanted and stays: our marks are removed.
    Release {
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
    /// Whether its own time is over; nothing when it has none of its own.
    pub(crate) overdue: Option<bool>,
}

impl Waiting {
    /// Waiting for an object that has not failed and has no time limit of its own.
    pub(crate) fn new(id: ObjectId, reason: String) -> Self {
        Self {
            id,
            reason,
            since: None,
            failed: false,
            overdue: None,
        }
    }
}

/// An object that may not be touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The object.
    pub(crate) id: ObjectId,
    /// Why, for a person.
    pub(crate) reason: String,
    /// Why, for a program.
    pub(crate) cause: RefusalCause,
}

/// Why an object may not be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalCause {
    /// It belongs to somebody else, or is there already.
    Owned,
    /// Its namespace is missing.
    Namespace,
    /// Too much would be deleted, or something that is needed.
    Pruning,
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

/// Decides what to do next. Waves come one after another; inside a wave, namespaces, definitions, workloads, what depends on workloads,
/// and instances come one after another, and so do objects that depend on each other. What is no longer wanted goes when every wave
/// is ready.
pub(crate) fn plan(
    desired: &Desired,
    inventory: &[InventoryItem],
    observed: &Observed,
    policies: &Policies<'_>,
) -> Plan {
    let wanted: HashSet<_> = desired.objects.iter().map(|object| &object.id).collect();
    let items: HashMap<ObjectId, &InventoryItem> =
        inventory.iter().map(|item| (item.id(), item)).collect();
    let redundant: Vec<_> = items
        .iter()
        .filter(|(id, _)| !wanted.contains(id))
        .map(|(id, item)| (id.clone(), *item))
        .collect();
    let mut plan = Plan {
        refusals: refusals(desired, observed, policies),
        ..Plan::default()
    };
    plan.refusals
        .extend(needed(desired, &redundant, observed, policies));
    plan.refusals.extend(check_pruning(
        &redundant,
        inventory.len(),
        observed,
        policies,
    ));
    if !plan.refusals.is_empty() {
        return plan;
    }
    plan.steps.extend(
        observed
            .missing_namespaces
            .iter()
            .map(|name| create_namespace(name)),
    );
    let mut planner = Planner::new(&items, observed, policies.now);
    let objects = desired.objects.as_slice();
    if policies.until_hooks {
        let before = objects.partition_point(|object| object.apply_order < HOOK_WAVE);
        planner.waves(objects.get(..before).unwrap_or_default(), false, &mut plan);
        return plan;
    }
    planner.waves(objects, true, &mut plan);
    if !plan.is_busy() {
        remove(redundant, observed, &Removal::pruning(policies), &mut plan);
    }
    plan
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

fn refusals(desired: &Desired, observed: &Observed, policies: &Policies<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if !policies.create_namespaces {
        refusals.extend(observed.missing_namespaces.iter().map(|name| Refusal {
            id: create_namespace(name).key.id(),
            reason: "does not exist, and missing namespaces are not created".to_owned(),
            cause: RefusalCause::Namespace,
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
            cause: RefusalCause::Owned,
        });
    }
    refusals
}

/// What would be deleted although wanted objects need it: their namespace, or what serves their kind.
fn needed(
    desired: &Desired,
    redundant: &[(ObjectId, &InventoryItem)],
    observed: &Observed,
    policies: &Policies<'_>,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let owners = redundant.iter().filter(|(id, item)| {
        (!item.manages.is_empty() || id.kind == "Namespace" && id.group.is_empty())
            && policies.pruning.deletes(id, item, observed)
    });
    for (id, item) in owners {
        let needs = |object: &&DesiredObject| {
            let holds = id.kind == "Namespace" && object.id.namespace == id.name;
            holds
                || item
                    .manages
                    .iter()
                    .any(|served| serves(served, &object.key))
        };
        if let Some(object) = desired.objects.iter().find(needs) {
            refusals.push(Refusal {
                id: id.clone(),
                reason: format!("would be deleted, and {} needs it", object.id),
                cause: RefusalCause::Pruning,
            });
        }
    }
    refusals
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
