//! The only place that writes dependents.

use super::desired::{Desired, DesiredObject};
use super::order::{Stage, rank, stage};
use super::ownership::OwnerId;
use super::plan::{Action, Live, Reason, Step};
use crate::cluster::{
    ApplyOptions, Discovery, DiscoveryError, Objects, RequestError, Resource, Resources,
};
use crate::metrics::{Metrics, Operation};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use whipstaff_generator::{ObjectId, ObjectKey};

/// How many writes of one kind are under way at once.
const PARALLEL_WRITES: usize = 8;

/// A write that was made.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// The object.
    pub(crate) id: ObjectId,
    /// Why it was made.
    pub(crate) reason: Reason,
    /// What came of it.
    pub(crate) outcome: Outcome,
}

/// What came of a write.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// The manifest was applied.
    Applied {
        /// Its digest.
        digest: String,
        /// Digest of the fields that we own now.
        fields: String,
        /// The object as it is now.
        live: Box<Live>,
    },
    /// The object was deleted after it did its work.
    Purged,
    /// The object was deleted.
    Deleted,
    /// Our marks were removed from the object, and it stays.
    Released,
    /// Our marks were removed from the namespace, and it stays for what is in it.
    Occupied {
        /// What that is, for a person.
        by: String,
    },
    /// Nothing was written: an object that was to be created exists, or one that was to be changed does not.
    Exists,
}

impl Change {
    /// Whether somebody else's doing was put right.
    pub(crate) fn is_correction(&self) -> bool {
        self.reason.is_drift() && !matches!(self.outcome, Outcome::Exists)
    }
}

/// A step that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ExecuteError {
    /// The API server refused an object.
    #[error("cannot {verb} {id}")]
    Write {
        /// What was tried.
        verb: &'static str,
        /// The object.
        id: Box<ObjectId>,
        /// Why it failed.
        #[source]
        cause: RequestError,
    },
    /// A field cannot be changed.
    #[error(
        "cannot change {id} in place; with the policy `immutable: Recreate` it would be deleted and created anew"
    )]
    Immutable {
        /// The object.
        id: Box<ObjectId>,
        /// What the API server says of the field.
        #[source]
        cause: RequestError,
    },
    /// An object cannot be taken over as it is.
    #[error("cannot take {id} over: more than metadata would change, in {fields}")]
    WouldChange {
        /// The object.
        id: Box<ObjectId>,
        /// The fields.
        fields: String,
    },
    /// A definition that is to be deleted has instances of others, which would be deleted with it.
    #[error("cannot delete {id}: {instance} of somebody else still exists")]
    ForeignInstance {
        /// The definition.
        id: Box<ObjectId>,
        /// One of the instances.
        instance: String,
    },
    /// The API server sent something unexpected.
    #[error("cannot understand the metadata of {id}")]
    Metadata {
        /// The object.
        id: Box<ObjectId>,
        /// What is wrong with it.
        #[source]
        cause: serde_json::Error,
    },
    /// What the cluster serves is unknown.
    #[error("cannot delete {id}")]
    Discovery {
        /// The object.
        id: Box<ObjectId>,
        /// Why it is unknown.
        #[source]
        cause: DiscoveryError,
    },
}

/// Executes steps for one component.
#[derive(Debug)]
pub(crate) struct Executor<'a> {
    /// Requests under the target's identity.
    pub(crate) objects: &'a Objects,
    /// What the cluster serves.
    pub(crate) discovery: &'a Discovery,
    /// The component.
    pub(crate) owner: &'a OwnerId,
    /// Counts operations.
    pub(crate) metrics: &'a Metrics,
}

impl Executor<'_> {
    /// Executes steps in order; those of one kind side by side. Every change that was made is pushed to `changes`, also when a
    /// later one fails.
    ///
    /// # Cancel safety
    /// A write that was sent may happen although its change was not recorded; the next run finds the object and records it.
    pub(crate) async fn execute(
        &self,
        steps: &[Step],
        desired: &Desired,
        changes: &mut Vec<Change>,
    ) -> Result<(), ExecuteError> {
        let wanted: HashMap<_, _> = desired.objects.iter().map(|o| (&o.id, o)).collect();
        for group in steps.chunk_by(|a, b| group(a) == group(b)) {
            // Collected first: a closure inside the stream would tie the future to one lifetime, and it could not be spawned.
            let writes: Vec<_> = group
                .iter()
                .map(|step| self.step(step, wanted.get(&step.key.id()).copied()))
                .collect();
            let mut writes = stream::iter(writes).buffer_unordered(PARALLEL_WRITES);
            let mut failed = None;
            while let Some(result) = writes.next().await {
                match result {
                    Ok(change) => changes.extend(change),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            if group
                .iter()
                .any(|step| stage(&step.key.id(), false) == Stage::Definition)
            {
                self.discovery.forget().await;
            }
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(())
    }

    async fn step(
        &self,
        step: &Step,
        object: Option<&DesiredObject>,
    ) -> Result<Option<Change>, ExecuteError> {
        let id = step.key.id();
        let outcome = match (&step.action, object) {
            (Action::CreateNamespace, _) => {
                self.create_namespace(&id).await?;
                return Ok(None);
            }
            (Action::Create, Some(object)) => self.create(object).await?,
            (action @ (Action::Apply | Action::Absorb { .. }), Some(object)) => {
                self.apply(object, action).await?
            }
            (Action::Create | Action::Apply | Action::Absorb { .. }, None) => return Ok(None),
            (Action::Release { uid }, _) => {
                self.release(&step.key, uid).await?;
                Outcome::Released
            }
            (Action::DeleteIfEmpty { uid }, _) => match self.occupant(&id).await? {
                None => {
                    self.delete(&step.key, uid).await?;
                    Outcome::Deleted
                }
                Some(by) => {
                    self.release(&step.key, uid).await?;
                    Outcome::Occupied { by }
                }
            },
            (Action::Purge { uid }, _) => {
                self.delete(&step.key, uid).await?;
                Outcome::Purged
            }
            (Action::Recreate { uid } | Action::Delete { uid }, _) => {
                self.delete(&step.key, uid).await?;
                Outcome::Deleted
            }
        };
        if matches!(outcome, Outcome::Exists) {
            tracing::debug!(object = %id, "object is not as it was seen; looking again");
        } else {
            tracing::info!(object = %id, action = verb(&step.action), reason = %step.reason, "wrote object");
        }
        Ok(Some(Change {
            id,
            reason: step.reason,
            outcome,
        }))
    }

    async fn create_namespace(&self, id: &ObjectId) -> Result<(), ExecuteError> {
        let manifest =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": id.name}});
        let resource = namespaces();
        let answer = self
            .objects
            .apply(
                &resource,
                "",
                &id.name,
                &manifest,
                ApplyOptions::forced(self.manager()),
            )
            .await;
        answer.map_err(|cause| ExecuteError::Write {
            verb: "create",
            id: Box::new(id.clone()),
            cause,
        })?;
        self.metrics.operated(Operation::Create);
        tracing::info!(object = %id, "created namespace");
        Ok(())
    }

    /// Removes our marks from an object: it is nobody's then.
    async fn release(&self, key: &ObjectKey, uid: &str) -> Result<(), ExecuteError> {
        let id = key.id();
        let resources = self.resources(&id).await?;
        let Some(resource) = served(&resources, key) else {
            return Ok(());
        };
        let names = self.owner.names();
        let changes = json!({ "metadata": {
            "uid": uid,
            "labels": { (names.owner_key()): null },
            "annotations": { (names.owner_key()): null, (names.digest_key()): null },
        }});
        let released =
            self.objects
                .merge(resource, &id.namespace, &id.name, &changes, self.manager());
        match released.await {
            Err(cause) if !cause.is_not_found() => Err(ExecuteError::Write {
                verb: "release",
                id: Box::new(id),
                cause,
            }),
            _ => Ok(()),
        }
    }

    async fn resources(&self, id: &ObjectId) -> Result<Arc<Resources>, ExecuteError> {
        let resources = self.discovery.resources().await;
        resources.map_err(|cause| ExecuteError::Discovery {
            id: Box::new(id.clone()),
            cause,
        })
    }

    pub(super) async fn delete(&self, key: &ObjectKey, uid: &str) -> Result<(), ExecuteError> {
        let id = key.id();
        let resources = self.resources(&id).await?;
        // A kind that is no longer served has no objects left.
        let Some(resource) = served(&resources, key) else {
            return Ok(());
        };
        match stage(&id, false) {
            Stage::Definition => self.check_unused(&id, resource).await?,
            Stage::ApiService => self.check_group(&id, &resources).await?,
            _ => {}
        }
        let answer = self
            .objects
            .delete(resource, &id.namespace, &id.name, uid)
            .await;
        answer.map_err(|cause| ExecuteError::Write {
            verb: "delete",
            id: Box::new(id),
            cause,
        })?;
        self.metrics.operated(Operation::Delete);
        Ok(())
    }

    /// Refuses if a definition has instances of others: they would be deleted with it.
    pub(crate) async fn check_unused(
        &self,
        id: &ObjectId,
        definitions: &Resource,
    ) -> Result<(), ExecuteError> {
        let fail = |cause| ExecuteError::Write {
            verb: "delete",
            id: Box::new(id.clone()),
            cause,
        };
        let definition = self
            .objects
            .read(definitions, "", &id.name)
            .await
            .map_err(fail)?;
        // What the definition itself says is certain; discovery may not have heard of it yet.
        let Some(instances) = definition.as_ref().and_then(instances_of) else {
            return Ok(());
        };
        self.check_kind(id, &instances).await
    }
}

/// Where the instances of a definition are served; nowhere when no version is.
fn instances_of(definition: &Value) -> Option<Resource> {
    let text = |path: &str| Some(definition.pointer(path)?.as_str()?.to_owned());
    let versions = definition.pointer("/spec/versions")?.as_array()?;
    let served = versions
        .iter()
        .find(|v| v.get("served").and_then(Value::as_bool) == Some(true))?;
    Some(Resource {
        group: text("/spec/group")?,
        version: served.get("name")?.as_str()?.to_owned(),
        kind: text("/spec/names/kind")?,
        plural: text("/spec/names/plural")?,
        namespaced: text("/spec/scope")? == "Namespaced",
    })
}

/// Where namespaces are served.
pub(crate) fn namespaces() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
        plural: "namespaces".to_owned(),
        namespaced: false,
    }
}

/// Where an object is served: in its recorded version, or in the one that the API server prefers now.
pub(crate) fn served<'a>(resources: &'a Resources, key: &ObjectKey) -> Option<&'a Resource> {
    resources
        .get(&key.api_version(), &key.kind)
        .or_else(|| resources.preferred(&key.group, &key.kind))
}

/// Steps of one group are executed side by side.
fn group(step: &Step) -> (i32, bool, usize) {
    let is_delete = matches!(
        step.action,
        Action::Delete { .. } | Action::DeleteIfEmpty { .. } | Action::Release { .. }
    );
    (
        step.wave,
        is_delete,
        if is_delete { 0 } else { rank(&step.key.kind) },
    )
}

fn verb(action: &Action) -> &'static str {
    match action {
        Action::CreateNamespace | Action::Create => "create",
        Action::Apply | Action::Absorb { .. } => "apply",
        Action::Release { .. } => "release",
        Action::Recreate { .. } => "delete, to create it anew,",
        Action::Purge { .. } | Action::Delete { .. } | Action::DeleteIfEmpty { .. } => "delete",
    }
}
