//! Namespaces that objects need.

use super::error::ReconcileError;
use super::resource::Component;
use super::run::Run;
use crate::api::v1alpha1::{InventoryItem, MissingNamespacesPolicy};
use crate::cluster::Objects;
use crate::dependents::{
    Change, Desired, Observed, Outcome, Owner, OwnerId, live, namespace_id, namespaces,
};
use crate::status::Hints;
use kube::ResourceExt;
use kube::runtime::events::EventType;
use std::collections::{BTreeMap, BTreeSet};
use whipstaff_generator::ObjectId;

impl<C: Component> Run<'_, C> {
    /// Wants the namespaces that objects need, and that are not there or ours already, if they are to go with the component.
    pub(super) async fn make_namespaces(
        &self,
        desired: &mut Desired,
    ) -> Result<(), ReconcileError> {
        let policy = self.context.policies(self.component).missing_namespaces;
        if policy != Some(MissingNamespacesPolicy::CreateAndRemove) {
            return Ok(());
        }
        let (inventory, own) = (&self.status.inventory, self.own_namespace());
        let known = &self.memory.live;
        // Where something of ours is, the namespace is.
        let known = |id: &ObjectId| known.contains_key(id);
        want_namespaces(&self.objects, &self.owner, desired, inventory, own, known).await
    }

    /// Tells of namespaces that stay for what is in them.
    pub(super) async fn tell_occupied(&self, changes: &[Change]) {
        for (id, by) in occupied(changes) {
            let note = format!("{id} was created for the component and stays: it holds {by}");
            self.tell("NamespaceKept", "Delete", EventType::Warning, &note)
                .await;
            tracing::info!(component = self.component.name_any(), "{note}");
        }
    }
}

/// Namespaces that were to be deleted and stay, with what is in them.
pub(super) fn occupied(changes: &[Change]) -> impl Iterator<Item = (&ObjectId, &str)> {
    changes.iter().filter_map(|change| match &change.outcome {
        Outcome::Occupied { by } => Some((&change.id, by.as_str())),
        _ => None,
    })
}

/// Adds the namespaces that objects need to what is wanted: those that do not exist, and those that were created so before. What is
/// somebody else's stays so. `is_known` says which objects exist for certain, and `own` is a namespace that does.
pub(super) async fn want_namespaces(
    objects: &Objects,
    owner: &OwnerId,
    desired: &mut Desired,
    inventory: &[InventoryItem],
    own: &str,
    is_known: impl Fn(&ObjectId) -> bool,
) -> Result<(), ReconcileError> {
    let recorded: BTreeMap<_, _> = inventory
        .iter()
        .map(|item| (item.id(), item.made))
        .collect();
    let mut wanted = Vec::new();
    for name in desired.namespaces.iter().filter(|name| *name != own) {
        let id = namespace_id(name);
        let is_recorded = recorded.contains_key(&id);
        let mut inside = desired.objects.iter().filter(|o| o.id.namespace == *name);
        if !is_recorded && inside.any(|object| is_known(&object.id)) {
            continue;
        }
        let found = objects.read(&namespaces(), "", name).await;
        let found = found.map_err(|cause| ReconcileError::read(id.clone(), cause))?;
        let is_ours = match &found {
            None => true,
            Some(found) => live(found, owner, &Hints::default())
                .is_ok_and(|live| live.owner == Owner::Us && is_recorded),
        };
        if is_ours {
            wanted.push(name.clone());
        }
    }
    for name in wanted {
        desired.make_namespace(&name, owner);
    }
    Ok(())
}

/// Namespaces that do not exist, among those that hold wanted objects which do not exist either. `own` is one that certainly does.
pub(super) async fn find_missing_namespaces(
    objects: &Objects,
    desired: &Desired,
    observed: &Observed,
    own: &str,
) -> Result<BTreeSet<String>, ReconcileError> {
    let absent = desired
        .objects
        .iter()
        .filter(|o| !observed.objects.contains_key(&o.id));
    let candidates: BTreeSet<_> = absent
        .map(|object| &object.id.namespace)
        .filter(|namespace| desired.namespaces.contains(*namespace))
        .chain(&desired.hook_namespaces)
        .filter(|namespace| *namespace != own)
        .collect();
    let mut missing = BTreeSet::new();
    for namespace in candidates {
        let found = objects.read(&namespaces(), "", namespace).await;
        let id = namespace_id(namespace);
        if found
            .map_err(|cause| ReconcileError::read(id, cause))?
            .is_none()
        {
            missing.insert(namespace.clone());
        }
    }
    Ok(missing)
}
