//! Objects of others that would go, or be left without anybody who serves them, if a component were deleted.

use super::execute::{ExecuteError, Executor, served};
use super::observe::ObserveError;
use super::order::{Stage, stage};
use crate::api::v1alpha1::{InventoryItem, TypePattern};
use crate::cluster::{Objects, RequestError, Resource, Resources};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use whipstaff_generator::{ObjectId, ObjectKey};

impl Executor<'_> {
    /// Refuses if others have objects of the kinds that a component serves, or that it names in addition. `additional` kinds count in
    /// any case; what the component serves does not count where everything of it stays anyway.
    pub(crate) async fn check_foreign(
        &self,
        inventory: &[InventoryItem],
        additional: &[TypePattern],
    ) -> Result<(), ExecuteError> {
        let serves_groups = |item: &InventoryItem| stage(&item.id(), false) == Stage::ApiService;
        // What is found by its kind alone is not found when its definition came after the last discovery.
        let resources = if additional.is_empty() && !inventory.iter().any(serves_groups) {
            self.discovery.resources().await
        } else {
            self.discovery.latest_resources().await
        };
        let named = match inventory.first() {
            Some(item) => item.id(),
            None => return Ok(()),
        };
        let resources = resources.map_err(|cause| ExecuteError::Discovery {
            id: Box::new(named.clone()),
            cause,
        })?;
        for resource in resources.preferred_kinds() {
            let is_meant = |pattern: &TypePattern| pattern.matches(&resource.group, &resource.kind);
            if additional.iter().any(is_meant) {
                self.check_kind(&named, resource).await?;
            }
        }
        for item in inventory {
            if !item.delete_policy.orphans_on_delete() {
                self.check_served(item, &resources).await?;
            }
        }
        Ok(())
    }

    /// Refuses if others have objects of the kinds that an object serves.
    pub(crate) async fn check_served(
        &self,
        item: &InventoryItem,
        resources: &Resources,
    ) -> Result<(), ExecuteError> {
        let id = item.id();
        match stage(&id, false) {
            Stage::Definition => match served(resources, &item.key()) {
                Some(definitions) => self.check_unused(&id, definitions).await,
                None => Ok(()),
            },
            Stage::ApiService => self.check_group(&id, resources).await,
            _ => Ok(()),
        }
    }

    /// Refuses if others have objects of the kinds that an extension API server serves: it is called `version.group`.
    pub(super) async fn check_group(
        &self,
        id: &ObjectId,
        resources: &Resources,
    ) -> Result<(), ExecuteError> {
        let Some((version, group)) = id.name.split_once('.') else {
            return Ok(());
        };
        for resource in resources.kinds_of(group, version) {
            self.check_kind(id, resource).await?;
        }
        Ok(())
    }

    /// Refuses if others have objects of a kind. Kinds that cannot be listed have none, and neither have those whose objects are only
    /// computed: they have no UID.
    pub(super) async fn check_kind(
        &self,
        id: &ObjectId,
        resource: &Resource,
    ) -> Result<(), ExecuteError> {
        let selector = format!("{}!={}", self.owner.names().owner_key(), self.owner.label());
        let list = async |limit| match self.objects.list(resource, "", &selector, limit).await {
            Err(error) if cannot_be_listed(&error) => Ok(Value::Null),
            other => other.map_err(|cause| ExecuteError::Write {
                verb: "delete",
                id: Box::new(id.clone()),
                cause,
            }),
        };
        let mut found = list(1).await?;
        if items(&found).any(|object| self.is_ours(object)) {
            // Not every API server heeds selectors.
            found = list(0).await?;
        }
        let foreign = items(&found).find(|object| !self.is_ours(object));
        let text = |field: &str| {
            let metadata = foreign?.get("metadata")?;
            metadata.get(field).and_then(Value::as_str)
        };
        if text("uid").is_none() {
            return Ok(());
        }
        let name = text("name").unwrap_or_default();
        let instance = match text("namespace") {
            Some(namespace) => format!("{} {namespace}/{name}", resource.kind),
            None => format!("{} {name}", resource.kind),
        };
        Err(ExecuteError::ForeignInstance {
            id: Box::new(id.clone()),
            instance,
        })
    }

    fn is_ours(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        let owner = labels.and_then(|labels| labels.get(self.owner.names().owner_key()));
        owner.and_then(Value::as_str) == Some(self.owner.label())
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    let items = list.get("items").and_then(Value::as_array);
    items.into_iter().flatten()
}

/// Objects of kinds that are not served and should be: an API server beside the cluster's own has been registered for them.
pub(crate) async fn unavailable(
    objects: &Objects,
    unserved: Vec<ObjectKey>,
) -> Result<BTreeSet<ObjectId>, ObserveError> {
    let mut registered = BTreeMap::new();
    let mut unavailable = BTreeSet::new();
    for key in unserved {
        let name = format!("{}.{}", key.version, key.group);
        if !registered.contains_key(&name) {
            let is_registered = is_registered(objects, &name).await?;
            registered.insert(name.clone(), is_registered);
        }
        if registered.get(&name) == Some(&true) {
            unavailable.insert(key.id());
        }
    }
    Ok(unavailable)
}

async fn is_registered(objects: &Objects, name: &str) -> Result<bool, ObserveError> {
    let services = Resource {
        group: "apiregistration.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "APIService".to_owned(),
        plural: "apiservices".to_owned(),
        namespaced: false,
    };
    match objects.read(&services, "", name).await {
        // Those of the API server itself name no Service.
        Ok(found) => Ok(found.is_some_and(|found| {
            let service = found.pointer("/spec/service");
            service.is_some_and(|service| !service.is_null())
        })),
        Err(error) if error.is_forbidden() => Ok(false),
        Err(cause) => Err(ObserveError::Read {
            id: Box::new(ObjectId {
                group: services.group,
                kind: services.kind,
                namespace: String::new(),
                name: name.to_owned(),
            }),
            cause,
        }),
    }
}

fn cannot_be_listed(error: &RequestError) -> bool {
    matches!(
        error,
        RequestError::Refused {
            code: 404 | 405,
            ..
        }
    )
}
