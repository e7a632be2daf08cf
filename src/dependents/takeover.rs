//! Making objects of a Helm release ours without changing what they hold.
//!
//! An object gets our marks by a server-side apply of what it is already, on condition that it still is so; then Helm's entries leave its
//! managed fields. Both may be done again, and whoever is interrupted between them goes on with the second.

use super::desired::DesiredObject;
use super::drift::{describe, differences, manifest_over, over_live};
use super::execute::{ExecuteError, Executor};
use super::fields::{owned_fields, without_helm};
use super::names::Names;
use super::ownership::{Owner, OwnerId};
use crate::api::v1alpha1::DriftMode;
use crate::cluster::{ApplyOptions, RequestError};
use crate::differing::differing;
use crate::metrics::Operation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

/// The field manager that differences are told without: what Helm wrote is what was wanted.
const HELM: &str = "helm";
/// Most fields that an error names.
const MAX_NAMED: usize = 5;

/// From whom objects are taken over, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakeOver<'a> {
    /// Namespace of the release.
    pub(crate) namespace: &'a str,
    /// Name of the release.
    pub(crate) name: &'a str,
    /// Whether more than metadata may change: somebody approved that.
    pub(crate) may_change: bool,
}

/// What came of taking an object over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It does not exist, or belongs to somebody else: what happens with it is decided as always.
    Left,
    /// It is ours.
    Ours {
        /// Digest of the fields that we own now.
        fields: String,
        /// What somebody changed in it, and is left so.
        drift: String,
    },
}

impl Executor<'_> {
    /// Takes an object over.
    pub(crate) async fn take_over(
        &self,
        object: &DesiredObject,
        terms: TakeOver<'_>,
    ) -> Result<Taken, ExecuteError> {
        let id = &object.id;
        let fail = |cause| ExecuteError::Write {
            verb: "take over",
            id: Box::new(id.clone()),
            cause,
        };
        let read = self.objects.read(&object.resource, &id.namespace, &id.name);
        let Some(mut live) = read.await.map_err(fail)? else {
            return Ok(Taken::Left);
        };
        let is_going = live.pointer("/metadata/deletionTimestamp").is_some();
        if is_going || foreign(&live, self.owner, terms.namespace, terms.name).is_some() {
            return Ok(Taken::Left);
        }
        let names = self.owner.names();
        with_metadata_maps(&mut live);
        let mut found = differences(&object.manifest, &live, HELM);
        found.retain(|difference| !is_mark(&difference.pointer, names));
        let drift = match object.drift {
            DriftMode::Report => describe(&found),
            DriftMode::Correct | DriftMode::Ignore => String::new(),
        };
        if !is_marked(&live, object, names) {
            live = self.mark(object, &live, terms).await?;
            self.metrics.operated(Operation::Apply);
            tracing::info!(object = %id, "took object over");
        }
        if let Some(entries) = without_helm(&live, names.field_manager()) {
            live = self.hand_over(object, &live, entries).await.map_err(fail)?;
        }
        Ok(Taken::Ours {
            fields: owned_fields(&live, names.field_manager()),
            drift,
        })
    }

    /// Applies an object as it is, with our marks.
    async fn mark(
        &self,
        object: &DesiredObject,
        live: &Value,
        terms: TakeOver<'_>,
    ) -> Result<Value, ExecuteError> {
        let (id, names) = (&object.id, self.owner.names());
        let manager = names.field_manager();
        let fail = |cause| ExecuteError::Write {
            verb: "take over",
            id: Box::new(id.clone()),
            cause,
        };
        let mut marked = live.clone();
        put_marks(&mut marked, &object.manifest, names);
        let mut manifest = match object.drift {
            DriftMode::Correct => manifest_over(object, &marked, manager).into_owned(),
            DriftMode::Report | DriftMode::Ignore => over_live(&object.manifest, &marked, HELM),
        };
        // On condition that nobody changes it meanwhile.
        if let Some(version) = live.pointer("/metadata/resourceVersion") {
            manifest["metadata"]["resourceVersion"] = version.clone();
        }
        let mut options = ApplyOptions::forced(manager);
        if !terms.may_change {
            options.dry_run = true;
            let answer = self.apply_as(object, &manifest, options).await;
            let mut changed = changes(live, &answer.map_err(fail)?);
            changed.retain(|pointer| !is_mark(pointer, names));
            if !changed.is_empty() {
                changed.truncate(MAX_NAMED);
                return Err(ExecuteError::WouldChange {
                    id: Box::new(id.clone()),
                    fields: changed.join(", "),
                });
            }
            options.dry_run = false;
        }
        let applied = self.apply_as(object, &manifest, options).await;
        applied.map_err(fail)
    }

    async fn apply_as(
        &self,
        object: &DesiredObject,
        manifest: &Value,
        options: ApplyOptions<'_>,
    ) -> Result<Value, RequestError> {
        let id = &object.id;
        let (resource, namespace) = (&object.resource, &id.namespace);
        let applied = self
            .objects
            .apply(resource, namespace, &id.name, manifest, options);
        applied.await
    }

    /// Takes Helm's entries out of the managed fields.
    async fn hand_over(
        &self,
        object: &DesiredObject,
        live: &Value,
        entries: Vec<Value>,
    ) -> Result<Value, RequestError> {
        let changes = json!({ "metadata": {
            "resourceVersion": live.pointer("/metadata/resourceVersion"),
            "managedFields": entries,
        }});
        let id = &object.id;
        let manager = self.owner.names().field_manager();
        let merged =
            self.objects
                .merge(&object.resource, &id.namespace, &id.name, &changes, manager);
        merged.await
    }
}

/// Who an object belongs to, if that is neither the component nor a release.
pub(crate) fn foreign(
    live: &Value,
    owner: &OwnerId,
    namespace: &str,
    name: &str,
) -> Option<String> {
    let metadata = live.get("metadata").unwrap_or(&Value::Null);
    let metadata = ObjectMeta::deserialize(metadata).unwrap_or_default();
    let is_of_release = || {
        let annotations = metadata.annotations.as_ref();
        let annotation = |key: &str| annotations.and_then(|all| all.get(key)).map(String::as_str);
        let labels = metadata.labels.as_ref();
        labels.is_none_or(|labels| !labels.contains_key(owner.names().owner_key()))
            && annotation("meta.helm.sh/release-name") == Some(name)
            && annotation("meta.helm.sh/release-namespace") == Some(namespace)
    };
    match Owner::of(&metadata, owner) {
        Owner::Us | Owner::Nobody => None,
        Owner::Other(_) if is_of_release() => None,
        Owner::Other(owner) => Some(owner),
    }
}

/// Fields that differ between an object as it is and as it would be, without the API server's bookkeeping.
pub(crate) fn changes(live: &Value, applied: &Value) -> Vec<String> {
    const BOOKKEEPING: &[&str] = &["managedFields", "resourceVersion", "generation"];
    let bare = |object: &Value| {
        let mut object = object.clone();
        with_metadata_maps(&mut object);
        if let Value::Object(fields) = &mut object {
            fields.remove("status");
            if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
                metadata.retain(|field, _| !BOOKKEEPING.contains(&field.as_str()));
            }
        }
        object
    };
    differing(&bare(live), &bare(applied))
}

/// What an object without labels or annotations lacks is then a single one of them, and not all.
fn with_metadata_maps(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for field in ["labels", "annotations"] {
            let entries = metadata.entry(field).or_insert_with(|| json!({}));
            if entries.is_null() {
                *entries = Value::Object(Map::new());
            }
        }
    }
}

/// Whether a pointer leads to one of our marks.
pub(crate) fn is_mark(pointer: &str, names: &Names) -> bool {
    marks(names).iter().any(|(field, key)| {
        let key = key.replace('~', "~0").replace('/', "~1");
        pointer == format!("/metadata/{field}/{key}")
    })
}

fn marks(names: &Names) -> [(&'static str, &str); 3] {
    [
        ("labels", names.owner_key()),
        ("annotations", names.owner_key()),
        ("annotations", names.digest_key()),
    ]
}

/// Puts the marks of a component into a manifest; the digest is the one that the live object has, if it has one.
pub(crate) fn put_marks_of(owner: &OwnerId, manifest: &mut Value, live: &Value) {
    let names = owner.names();
    with_metadata_maps(manifest);
    let annotations = live.get("metadata").and_then(|m| m.get("annotations"));
    let digest = annotations.and_then(|all| all.get(names.digest_key())?.as_str());
    let metadata = &mut manifest["metadata"];
    metadata["labels"][names.owner_key()] = owner.label().into();
    metadata["annotations"][names.owner_key()] = owner.annotation().into();
    metadata["annotations"][names.digest_key()] = digest.unwrap_or("none").into();
}

fn put_marks(live: &mut Value, manifest: &Value, names: &Names) {
    for (field, key) in marks(names) {
        let mark = manifest
            .get("metadata")
            .and_then(|m| m.get(field)?.get(key));
        if let Some(mark) = mark {
            live["metadata"][field][key] = mark.clone();
        }
    }
}

fn is_marked(live: &Value, object: &DesiredObject, names: &Names) -> bool {
    let mark = |value: &Value, field: &str, key: &str| {
        let mark = value.get("metadata")?.get(field)?.get(key)?;
        mark.as_str().map(str::to_owned)
    };
    marks(names).iter().all(|(field, key)| {
        let wanted = mark(&object.manifest, field, key);
        wanted.is_some() && mark(live, field, key) == wanted
    })
}
