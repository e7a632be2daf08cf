//! Reading what is there, and no more often than something changed.

use super::desired::DesiredObject;
use super::fields::{owned_fields, stray};
use super::ownership::{Owner, OwnerId};
use super::plan::{Live, Observed};
use crate::cluster::{Objects, RequestError, Resource, Seen, Watches};
use crate::status::{Hints, assess_with_hints};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use whipstaff_generator::ObjectId;

/// How many objects are read at once.
const PARALLEL_READS: usize = 8;

/// An object that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ObserveError {
    /// The API server refused.
    #[error("cannot read {id}")]
    Read {
        id: Box<ObjectId>,
        #[source]
        cause: RequestError,
    },
    /// Its metadata is not what the API server is known to send.
    #[error("cannot understand the metadata of {id}")]
    Metadata {
        id: Box<ObjectId>,
        #[source]
        cause: serde_json::Error,
    },
}

/// Where to look for an object.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The object.
    pub(crate) id: ObjectId,
    /// Where it is served.
    pub(crate) resource: Resource,
    /// How its readiness is read.
    pub(crate) hints: Hints,
    /// What is believed of it when no watch has seen it.
    pub(crate) if_unseen: IfUnseen,
    /// Whether it is passed over when it may not be read.
    pub(crate) dispensable: bool,
}

/// What is believed of an object that no watch has seen. To believe that it does not exist is safe when it would be created then:
/// a creation never changes an object that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfUnseen {
    /// Nothing: it is read.
    Read,
    /// It does not exist if its kind is watched; otherwise it is read.
    AbsentIfWatched,
    /// It does not exist.
    Absent,
}

impl Target {
    /// A wanted object.
    pub(crate) fn of(object: &DesiredObject, if_unseen: IfUnseen) -> Self {
        Self {
            id: object.id.clone(),
            resource: object.resource.clone(),
            hints: object.hints.clone(),
            if_unseen,
            dispensable: false,
        }
    }

    /// An object that is only recorded.
    pub(crate) fn new(id: ObjectId, resource: Resource) -> Self {
        Self {
            id,
            resource,
            hints: Hints::default(),
            if_unseen: IfUnseen::Read,
            dispensable: false,
        }
    }
}

/// Reads live objects for one component.
#[derive(Debug)]
pub(crate) struct Observer<'a> {
    /// Requests under the target's identity.
    pub(crate) objects: &'a Objects,
    /// What changed.
    pub(crate) watches: &'a Watches,
    /// The component.
    pub(crate) owner: &'a OwnerId,
}

impl Observer<'_> {
    /// Observes objects. Those that no watch has seen change since `known` are taken from there, and so are those that the
    /// current run has `written`: a watch may not know of them yet.
    pub(crate) async fn observe(
        &self,
        targets: Vec<Target>,
        known: &mut HashMap<ObjectId, Live>,
        written: &HashSet<ObjectId>,
    ) -> Result<Observed, ObserveError> {
        let mut observed = Observed::default();
        let mut unread = Vec::new();
        for target in targets {
            let ObjectId {
                namespace, name, ..
            } = &target.id;
            let seen = self.watches.seen(&target.resource, namespace, name);
            match known.get(&target.id) {
                Some(live) if is_fresh(seen, live, written.contains(&target.id)) => {
                    observed.objects.insert(target.id, live.clone());
                }
                _ if is_absent(seen, target.if_unseen) => {
                    known.remove(&target.id);
                }
                _ => unread.push(target),
            }
        }
        let mut reads = stream::iter(unread)
            .map(|target| self.read(target))
            .buffer_unordered(PARALLEL_READS);
        while let Some((id, live)) = reads.try_next().await? {
            match live {
                Some(live) => {
                    known.insert(id.clone(), live.clone());
                    observed.objects.insert(id, live);
                }
                None => {
                    known.remove(&id);
                }
            }
        }
        Ok(observed)
    }

    async fn read(&self, target: Target) -> Result<(ObjectId, Option<Live>), ObserveError> {
        let Target {
            id,
            resource,
            hints,
            dispensable,
            ..
        } = target;
        match self.objects.read(&resource, &id.namespace, &id.name).await {
            Ok(None) => Ok((id, None)),
            Err(cause) if dispensable && cause.is_forbidden() => Ok((id, None)),
            Ok(Some(object)) => match live(&object, self.owner, &hints) {
                Ok(live) => Ok((id, Some(live))),
                Err(cause) => Err(ObserveError::Metadata {
                    id: Box::new(id),
                    cause,
                }),
            },
            Err(cause) => Err(ObserveError::Read {
                id: Box::new(id),
                cause,
            }),
        }
    }
}

fn is_fresh(seen: Seen, live: &Live, written: bool) -> bool {
    // A watch may lag behind a write of ours: an older version than the known one is no news.
    match seen {
        Seen::At(version) => version <= live.version,
        Seen::Unknown | Seen::Absent => written,
    }
}

fn is_absent(seen: Seen, if_unseen: IfUnseen) -> bool {
    match (seen, if_unseen) {
        (Seen::At(_), _) | (_, IfUnseen::Read) | (Seen::Unknown, IfUnseen::AbsentIfWatched) => {
            false
        }
        (Seen::Absent, _) | (Seen::Unknown, IfUnseen::Absent) => true,
    }
}

/// Reduces a live object to what decisions need.
pub(crate) fn live(
    object: &Value,
    owner: &OwnerId,
    hints: &Hints,
) -> Result<Live, serde_json::Error> {
    let metadata: ObjectMeta =
        serde::Deserialize::deserialize(object.get("metadata").unwrap_or(&Value::Null))?;
    let annotations = metadata.annotations.as_ref();
    Ok(Live {
        owner: Owner::of(&metadata, owner),
        digest: annotations
            .and_then(|annotations| annotations.get(owner.names().digest_key()))
            .cloned()
            .unwrap_or_default(),
        fields: owned_fields(object, owner.names().field_manager()),
        stray: stray(object, owner.names().field_manager()),
        finalizers: metadata.finalizers.unwrap_or_default(),
        version: metadata
            .resource_version
            .as_deref()
            .and_then(|version| version.parse().ok())
            .unwrap_or_default(),
        deleting: metadata.deletion_timestamp.is_some(),
        uid: metadata.uid.unwrap_or_default(),
        assessment: assess_with_hints(object, hints),
    })
}
