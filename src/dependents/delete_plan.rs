//! What to delete next, for objects that are no longer wanted and for whole components.

use super::order::{Stage, stage};
use super::ownership::Owner;
use super::plan::{Action, Observed, Plan, Reason, Step, Waiting};
use crate::api::v1alpha1::{DeletePolicy, InventoryItem};
use std::cmp::Reverse;
use whipstaff_generator::ObjectId;

/// Decides what to delete next of a component that is being deleted: everything in its inventory.
pub(crate) fn plan_deletion(inventory: &[InventoryItem], observed: &Observed) -> Plan {
    let mut plan = Plan::default();
    remove(&inventory.iter().collect::<Vec<_>>(), observed, &mut plan);
    plan
}

/// Adds the deletion of items to a plan: by delete order, then in the reverse of the order in which they were applied. A wave
/// starts when the one before is gone. What is not ours (any more), or shall be orphaned, is left alone and leaves the inventory.
pub(super) fn remove(items: &[&InventoryItem], observed: &Observed, plan: &mut Plan) {
    let mut present = Vec::new();
    for item in items {
        let id = item.id();
        match observed.objects.get(&id) {
            Some(live) if live.owner == Owner::Us && item.delete_policy == DeletePolicy::Delete => {
                present.push((*item, id, live));
            }
            _ => {
                plan.gone.insert(id);
            }
        }
    }
    present.sort_by(|a, b| {
        wave(a.0, &a.1)
            .cmp(&wave(b.0, &b.1))
            .then_with(|| b.1.cmp(&a.1))
    });
    let Some(first) = present.first().map(|(item, id, _)| wave(item, id)) else {
        return;
    };
    for (item, id, live) in present
        .iter()
        .filter(|(item, id, _)| wave(item, id) == first)
    {
        if live.deleting {
            plan.waiting.push(Waiting {
                id: id.clone(),
                reason: "is being deleted".to_owned(),
                since: item.since.clone(),
                failed: false,
            });
        } else {
            plan.steps.push(Step {
                key: item.key(),
                wave: item.delete_order,
                action: Action::Delete {
                    uid: live.uid.clone(),
                },
                reason: Reason::Unwanted,
            });
        }
    }
}

fn wave(item: &InventoryItem, id: &ObjectId) -> (i32, Reverse<i32>, u8) {
    let last = match stage(id, false) {
        Stage::ApiService => 0,
        Stage::Regular | Stage::Instance => 1,
        Stage::Definition => 2,
        Stage::Namespace => 3,
    };
    (item.delete_order, Reverse(item.apply_order), last)
}
