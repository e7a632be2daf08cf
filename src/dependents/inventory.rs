//! Keeping the inventory: what is recorded before the first write, and what after a run.

use super::desired::{Desired, DesiredObject};
use super::execute::{Change, Outcome};
use super::plan::{Live, Observed, Plan};
use super::references::recorded;
use crate::api::v1alpha1::{InventoryItem, Phase};
use crate::status::Status;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::collections::BTreeMap;
use whipstaff_generator::ObjectId;

/// The inventory with every desired object in it, sorted by identity, and whether that added any: then it must be stored before
/// anything is written, so that nothing is ever created that is not recorded.
pub(crate) fn with_desired(
    inventory: &[InventoryItem],
    desired: &Desired,
    now: &Time,
) -> (Vec<InventoryItem>, bool) {
    let mut items: BTreeMap<ObjectId, InventoryItem> = inventory
        .iter()
        .map(|item| (item.id(), item.clone()))
        .collect();
    let mut added = false;
    for object in &desired.objects {
        let item = items.entry(object.id.clone()).or_insert_with(|| {
            added = true;
            InventoryItem {
                since: Some(now.clone()),
                ..InventoryItem::new(&object.key)
            }
        });
        item.version.clone_from(&object.key.version);
        item.apply_order = object.apply_order;
        item.delete_order = object.delete_order;
        item.delete_policy = object.delete_policy;
        item.prunable = object.prunable;
        item.made = object.made;
        item.manages.clone_from(&object.manages);
        item.depends_on = object.depends_on.iter().map(recorded).collect();
    }
    (items.into_values().collect(), added)
}

/// Brings the inventory up to date after a run: what was written, what is there now, and what is gone.
pub(crate) fn refresh(
    inventory: &mut Vec<InventoryItem>,
    desired: &Desired,
    observed: &Observed,
    changes: &[Change],
    plan: &Plan,
    now: &Time,
) {
    inventory.retain(|item| !plan.gone.contains(&item.id()));
    let wanted: BTreeMap<_, _> = desired
        .objects
        .iter()
        .map(|object| (&object.id, object))
        .collect();
    let written: BTreeMap<_, _> = changes.iter().map(|change| (&change.id, change)).collect();
    for item in inventory {
        let before = (item.phase, item.status);
        let id = item.id();
        if let Some(change) = written.get(&id) {
            record_change(item, change, now);
        }
        match wanted.get(&id) {
            Some(object) => observe_desired(item, object, observed.objects.get(&id)),
            None if plan.kept.contains(&id) => observe_kept(item, observed.objects.get(&id)),
            None => observe_redundant(item, observed.objects.get(&id)),
        }
        if (item.phase, item.status) != before || item.since.is_none() {
            item.since = Some(now.clone());
        }
    }
}

fn record_change(item: &mut InventoryItem, change: &Change, now: &Time) {
    match &change.outcome {
        Outcome::Applied { digest, fields, .. } => {
            item.digest.clone_from(digest);
            item.fields.clone_from(fields);
            item.applied_at = Some(now.clone());
            item.drift.clear();
        }
        Outcome::Purged => item.phase = Phase::Completed,
        Outcome::Deleted => item.fields.clear(),
        Outcome::Released | Outcome::Occupied { .. } | Outcome::Exists => {}
    }
}

fn observe_desired(item: &mut InventoryItem, object: &DesiredObject, live: Option<&Live>) {
    if item.phase == Phase::Completed && item.digest == object.digest {
        item.status = Status::Current;
        item.message.clear();
        return;
    }
    let Some(live) = live else {
        item.phase = Phase::Scheduled;
        item.status = Status::NotFound;
        item.message.clear();
        return;
    };
    item.status = live.assessment.status;
    item.message = match item.status {
        Status::Current => String::new(),
        _ => live.assessment.message.clone(),
    };
    item.phase = if live.digest != object.digest {
        Phase::Scheduled
    } else if item.status == Status::Current {
        Phase::Ready
    } else if item.phase == Phase::Ready {
        // Once ready, an object that falters stays in its phase: only its status says so.
        Phase::Ready
    } else {
        Phase::Applied
    };
}

fn observe_kept(item: &mut InventoryItem, live: Option<&Live>) {
    item.phase = Phase::Kept;
    item.status = live.map_or(Status::NotFound, |live| live.assessment.status);
    "is no longer wanted, and stays because its kind is protected".clone_into(&mut item.message);
}

fn observe_redundant(item: &mut InventoryItem, live: Option<&Live>) {
    item.phase = Phase::Deleting;
    item.status = if live.is_some() {
        Status::Terminating
    } else {
        Status::NotFound
    };
    item.message.clear();
}
