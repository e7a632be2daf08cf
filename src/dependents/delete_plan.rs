//! What to delete next, for objects that are no longer wanted and for whole components.

use super::kinds::ManagedKinds;
use super::order::{Stage, stage};
use super::ownership::Owner;
use super::plan::{Action, Live, Observed, Plan, Policies, Reason, Step, Waiting};
use super::prune::Pruning;
use super::references::recorded;
use super::waves::after;
use crate::api::v1alpha1::{DeletePolicy, InventoryItem, Phase, TypePattern};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;
use whipstaff_generator::ObjectId;

/// How long an object that is no longer wanted is left alone, so that another component can ask for it.
const HANDOVER: Duration = Duration::from_secs(2);

/// How objects are removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Removal<'a> {
    claimed: &'a BTreeSet<ObjectId>,
    /// What is protected, and the time; nothing when the component is being deleted.
    pruning: Option<(Pruning<'a>, Timestamp)>,
    additional_types: &'a [TypePattern],
}

impl<'a> Removal<'a> {
    /// The component stays, and these objects go.
    pub(super) fn pruning(policies: &Policies<'a>) -> Self {
        Self {
            claimed: policies.claimed,
            pruning: Some((policies.pruning, policies.now)),
            additional_types: policies.additional_types,
        }
    }

    fn orphans(&self, policy: DeletePolicy) -> bool {
        match self.pruning {
            Some(_) => policy.orphans_on_apply(),
            None => policy.orphans_on_delete(),
        }
    }

    /// Until when an object is left alone.
    fn reprieve(&self, item: &InventoryItem) -> Option<Timestamp> {
        let (_, now) = self.pruning?;
        let since = match (item.phase, &item.since) {
            (Phase::Deleting, Some(since)) => since.0,
            _ => now,
        };
        // A clock that was set back must not make it wait for ever.
        after(since.min(now), HANDOVER).filter(|end| *end > now)
    }
}

/// Decides what to delete next of a component that is being deleted: everything in its inventory. `claimed` are objects that other
/// components ask for.
pub(crate) fn plan_deletion(
    inventory: &[InventoryItem],
    observed: &Observed,
    claimed: &BTreeSet<ObjectId>,
    additional_types: &[TypePattern],
) -> Plan {
    let mut plan = Plan::default();
    let removal = Removal {
        claimed,
        pruning: None,
        additional_types,
    };
    let items = inventory.iter().map(|item| (item.id(), item)).collect();
    remove(items, observed, &removal, &mut plan);
    plan
}

/// One object that has to be deleted.
struct Doomed<'a> {
    id: ObjectId,
    item: &'a InventoryItem,
    /// Nothing when it cannot be looked at.
    live: Option<&'a Live>,
    wave: Wave,
}

/// Delete order; part of it; reverse of the order in which objects were applied.
type Wave = (i32, u8, Reverse<i32>);

/// Adds the deletion of items to a plan: by delete order, inside it by parts, and then in the reverse of the order in which they were
/// applied. A wave starts when the one before is gone. What is not ours (any more) leaves the inventory, and what shall be orphaned,
/// or is asked for by others, is released.
pub(super) fn remove(
    items: Vec<(ObjectId, &InventoryItem)>,
    observed: &Observed,
    removal: &Removal<'_>,
    plan: &mut Plan,
) {
    let managed = ManagedKinds::of(
        items.iter().map(|(_, item)| *item),
        removal.additional_types,
    );
    let mut doomed = Vec::new();
    for (id, item) in items {
        let live = observed.objects.get(&id);
        if live.is_none()
            && observed.unavailable.contains(&id)
            && !removal.orphans(item.delete_policy)
        {
            let wave = wave(item, &id, true);
            let live = None;
            doomed.push(Doomed {
                id,
                item,
                live,
                wave,
            });
            continue;
        }
        let Some(live) = live.filter(|live| live.owner == Owner::Us) else {
            plan.gone.insert(id);
            continue;
        };
        let claimed = removal.claimed.contains(&id);
        if removal.orphans(item.delete_policy) || claimed {
            let reason = if claimed {
                Reason::Claimed
            } else {
                Reason::Orphaned
            };
            plan.steps.push(release(item, live, reason));
        } else if removal
            .pruning
            .is_some_and(|(pruning, _)| pruning.protects(&id, item))
        {
            plan.kept.insert(id);
        } else {
            let wave = wave(item, &id, managed.contains(&item.key()));
            doomed.push(Doomed {
                id,
                item,
                live: Some(live),
                wave,
            });
        }
    }
    plan.steps.sort_by_key(|step| step.key.id());
    spare_namespaces(&mut doomed, plan);
    delay_namespaces(&mut doomed);
    doomed.sort_by(|a, b| a.wave.cmp(&b.wave).then_with(|| b.id.cmp(&a.id)));
    delete(&doomed, removal, plan);
}

fn delete(doomed: &[Doomed<'_>], removal: &Removal<'_>, plan: &mut Plan) {
    let Some(first) = doomed.first().map(|object| object.wave) else {
        return;
    };
    let wave: Vec<_> = doomed
        .iter()
        .filter(|object| object.wave == first)
        .collect();
    let holders = holders(&wave);
    for object in wave {
        let Doomed { id, item, live, .. } = object;
        let waiting = |reason: String| Waiting {
            since: item.since.clone(),
            ..Waiting::new(id.clone(), reason)
        };
        let Some(live) = live else {
            let reason = "may still exist: the API server that serves it is not available";
            plan.waiting.push(waiting(reason.to_owned()));
            continue;
        };
        if live.deleting {
            plan.waiting.push(waiting(going(live)));
        } else if let Some(holder) = holders.get(id) {
            plan.waiting
                .push(waiting(format!("is deleted after {holder}")));
        } else if let Some(end) = removal.reprieve(item) {
            plan.look_at(end);
            let reason = "is no longer wanted, and another component may ask for it";
            plan.waiting.push(waiting(reason.to_owned()));
        } else {
            let uid = live.uid.clone();
            let action = if item.made {
                Action::DeleteIfEmpty { uid }
            } else {
                Action::Delete { uid }
            };
            plan.steps.push(Step {
                key: item.key(),
                wave: item.delete_order,
                action,
                reason: Reason::Unwanted,
            });
        }
    }
}

/// A namespace stays as long as something that is kept is in it.
fn spare_namespaces(doomed: &mut Vec<Doomed<'_>>, plan: &mut Plan) {
    let used: BTreeSet<String> = plan.kept.iter().map(|id| id.namespace.clone()).collect();
    let spared = doomed.extract_if(.., |object| {
        is_namespace(object) && used.contains(&object.id.name)
    });
    plan.kept.extend(spared.map(|object| object.id));
}

/// A namespace goes in no earlier wave than what is in it, whatever was recorded.
fn delay_namespaces(doomed: &mut [Doomed<'_>]) {
    let mut last: HashMap<String, Wave> = HashMap::new();
    for object in doomed.iter().filter(|object| !is_namespace(object)) {
        let wave = last
            .entry(object.id.namespace.clone())
            .or_insert(object.wave);
        *wave = object.wave.max(*wave);
    }
    for object in doomed.iter_mut().filter(|object| is_namespace(object)) {
        if let Some(wave) = last.get(&object.id.name) {
            object.wave = object.wave.max(*wave);
        }
    }
}

fn is_namespace(object: &Doomed<'_>) -> bool {
    stage(&object.id, false) == Stage::Namespace
}

/// Objects that have to wait for another one of their wave to go: namespaces for what is in them, and what others depend on.
fn holders<'a>(wave: &[&'a Doomed<'_>]) -> HashMap<&'a ObjectId, &'a ObjectId> {
    let mut namespaces: HashMap<&str, &ObjectId> = HashMap::new();
    for object in wave.iter().filter(|object| !is_namespace(object)) {
        namespaces.entry(&object.id.namespace).or_insert(&object.id);
    }
    let names: HashMap<String, &ObjectId> = if wave.iter().any(|o| !o.item.depends_on.is_empty()) {
        wave.iter().map(|o| (recorded(&o.id), &o.id)).collect()
    } else {
        HashMap::new()
    };
    let mut holders = HashMap::new();
    for object in wave {
        for target in &object.item.depends_on {
            if let Some(target) = names.get(target) {
                holders.insert(*target, &object.id);
            }
        }
        let inside = namespaces.get(object.id.name.as_str());
        if let Some(inside) = inside.filter(|_| is_namespace(object)) {
            holders.insert(&object.id, *inside);
        }
    }
    drop_circles(&mut holders);
    holders
}

/// Records may hold circles, when objects changed what they depend on over time: nobody may wait for himself.
fn drop_circles(holders: &mut HashMap<&ObjectId, &ObjectId>) {
    let starts: Vec<_> = holders.keys().copied().collect();
    for start in starts {
        let mut seen = HashSet::from([start]);
        let mut at = start;
        while let Some(next) = holders.get(at).copied() {
            if !seen.insert(next) {
                holders.remove(at);
                break;
            }
            at = next;
        }
    }
}

fn release(item: &InventoryItem, live: &Live, reason: Reason) -> Step {
    Step {
        key: item.key(),
        wave: i32::MIN,
        action: Action::Release {
            uid: live.uid.clone(),
        },
        reason,
    }
}

fn going(live: &Live) -> String {
    match live.finalizers.as_slice() {
        [] => "is being deleted".to_owned(),
        finalizers => format!("is being deleted; finalizers: {}", finalizers.join(", ")),
    }
}

fn wave(item: &InventoryItem, id: &ObjectId, managed: bool) -> Wave {
    let part = match stage(id, managed) {
        Stage::Instance => 0,
        Stage::Webhook | Stage::ApiService => 1,
        Stage::Regular => 2,
        Stage::Definition => 3,
        Stage::Namespace => 4,
    };
    (item.delete_order, part, Reverse(item.apply_order))
}
