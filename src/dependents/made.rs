//! Namespaces that are created because objects need them, and go with what needed them.

use super::desired::{Desired, DesiredObject, mark};
use super::execute::{ExecuteError, Executor, namespaces};
use super::hooks::DEFINITION_WAVE;
use super::order::Stage;
use super::ownership::OwnerId;
use crate::api::v1alpha1::{
    AdoptionPolicy, DeletePolicy, DriftMode, ImmutablePolicy, UpdatePolicy,
};
use crate::cluster::{RequestError, Resources};
use crate::status::Hints;
use serde_json::{Value, json};
use std::sync::Arc;
use whipstaff_generator::{Object, ObjectId};

/// Most objects of one kind that are looked at to find out whether a namespace is in use; one that holds more is.
const MAX_LISTED: u32 = 500;

/// The identity of a namespace.
pub(crate) fn namespace_id(name: &str) -> ObjectId {
    ObjectId {
        group: String::new(),
        kind: "Namespace".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}

impl Desired {
    /// Wants a namespace that objects need, and before them.
    pub(crate) fn make_namespace(&mut self, name: &str, owner: &OwnerId) {
        let manifest = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let Ok(mut object) = Object::from_value(manifest) else {
            return;
        };
        let inside = self.objects.iter().filter(|o| o.id.namespace == name);
        let first = inside.map(|object| object.apply_order).min();
        let digest = object.digest().to_string();
        mark(&mut object, owner, &digest);
        self.namespaces.remove(name);
        self.objects.insert(
            0,
            DesiredObject {
                key: object.key(),
                id: object.id(),
                manifest: Arc::new(object.into_value()),
                resource: namespaces(),
                defined: false,
                unserved: false,
                digest,
                apply_order: first.unwrap_or_default().min(DEFINITION_WAVE),
                delete_order: 0,
                stage: Stage::Namespace,
                // Whoever else made it meanwhile keeps it.
                adoption: AdoptionPolicy::Never,
                delete_policy: DeletePolicy::Delete,
                hints: Hints::default(),
                prunable: false,
                made: true,
                update: UpdatePolicy::default(),
                immutable: ImmutablePolicy::default(),
                fixed: false,
                drift: DriftMode::default(),
                ignored: Vec::new(),
                reapply: None,
                timeout: None,
                purge_order: None,
                manages: Vec::new(),
                depends_on: Vec::new(),
                source: String::new(),
            },
        );
        self.objects.sort_by_key(|object| object.apply_order);
    }
}

impl Executor<'_> {
    /// Something in a namespace that would be lost with it. What Kubernetes itself puts into every namespace does not count, nor
    /// what goes anyway: because it is being deleted, or because its owner in the namespace is.
    pub(super) async fn occupant(
        &self,
        namespace: &ObjectId,
    ) -> Result<Option<String>, ExecuteError> {
        let resources = self.discovery.latest_resources().await;
        let resources = resources.map_err(|cause| ExecuteError::Discovery {
            id: Box::new(namespace.clone()),
            cause,
        })?;
        for resource in resources.preferred_kinds() {
            if !resource.namespaced || is_record(&resource.kind) {
                continue;
            }
            let listed = self
                .objects
                .list(resource, &namespace.name, "", MAX_LISTED)
                .await;
            let list = match listed {
                Ok(list) => list,
                Err(RequestError::Refused {
                    code: 404 | 405, ..
                }) => continue,
                Err(error) if error.is_denied() => {
                    return Ok(Some(format!("it cannot be told: {error}")));
                }
                Err(cause) => {
                    return Err(ExecuteError::Write {
                        verb: "delete",
                        id: Box::new(namespace.clone()),
                        cause,
                    });
                }
            };
            let items = list.get("items").and_then(Value::as_array);
            let stays = |object: &&Value| stays(object, &resource.kind, &resources);
            if let Some(object) = items.into_iter().flatten().find(stays) {
                return Ok(Some(format!("{} {}", resource.kind, text(object, "name"))));
            }
            if !continuation(&list).is_empty() {
                return Ok(Some(format!("more than {MAX_LISTED} {}", resource.plural)));
            }
        }
        Ok(None)
    }
}

/// Kinds whose objects only tell of others.
fn is_record(kind: &str) -> bool {
    matches!(kind, "Event" | "Endpoints" | "EndpointSlice")
}

fn stays(object: &Value, kind: &str, resources: &Resources) -> bool {
    let metadata = object.get("metadata");
    let is_going = metadata.is_some_and(|metadata| metadata.get("deletionTimestamp").is_some());
    // What is only computed has no UID.
    if is_going || text(object, "uid").is_empty() {
        return false;
    }
    let is_usual = matches!(
        (kind, text(object, "name")),
        ("ServiceAccount", "default") | ("ConfigMap", "kube-root-ca.crt")
    );
    !is_usual && !is_owned_inside(object, resources)
}

/// Whether an object goes with another one, which is looked at itself.
fn is_owned_inside(object: &Value, resources: &Resources) -> bool {
    let references = object.pointer("/metadata/ownerReferences");
    let mut references = references.and_then(Value::as_array).into_iter().flatten();
    references.any(|reference| {
        let field = |name: &str| reference.get(name).and_then(Value::as_str);
        let owner = resources.get(
            field("apiVersion").unwrap_or_default(),
            field("kind").unwrap_or_default(),
        );
        owner.is_some_and(|owner| owner.namespaced)
    })
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    let metadata = object.get("metadata");
    let value = metadata.and_then(|metadata| metadata.get(field));
    value.and_then(Value::as_str).unwrap_or_default()
}

fn continuation(list: &Value) -> &str {
    text(list, "continue")
}
