//! How single objects are written: by creation, by server-side apply, or as a whole.

use super::desired::DesiredObject;
use super::drift::manifest_over;
use super::execute::{ExecuteError, Executor, Outcome};
use super::fields::absorbed;
use super::observe::live;
use super::plan::Action;
use crate::api::v1alpha1::{ImmutablePolicy, UpdatePolicy};
use crate::cluster::{ApplyOptions, RequestError};
use crate::metrics::Operation;
use serde_json::{Value, json};
use std::borrow::Cow;

impl Executor<'_> {
    /// Creates an object, unless it exists: then nothing is written.
    pub(super) async fn create(&self, object: &DesiredObject) -> Result<Outcome, ExecuteError> {
        let id = &object.id;
        let answer = if object.update == UpdatePolicy::Replace {
            let (resource, manifest) = (&object.resource, &object.manifest);
            let created = self
                .objects
                .post(resource, &id.namespace, manifest, self.manager());
            created.await
        } else {
            let (resource, manifest) = (&object.resource, &object.manifest);
            let created =
                self.objects
                    .create(resource, &id.namespace, &id.name, manifest, self.manager());
            created.await
        };
        match answer {
            Err(error) if error.is_conflict() => Ok(Outcome::Exists),
            Err(cause) => Err(failed("create", object, cause)),
            Ok(created) => {
                self.metrics.operated(Operation::Create);
                self.applied(object, &created)
            }
        }
    }

    /// Brings an object that exists to what its manifest says.
    pub(super) async fn apply(
        &self,
        object: &DesiredObject,
        action: &Action,
    ) -> Result<Outcome, ExecuteError> {
        let answer = match (object.update, action) {
            (UpdatePolicy::Replace, _) => self.replace(object).await,
            (_, Action::Absorb { kubectl }) => match self.absorb(object, *kubectl).await {
                Ok(()) => self.apply_over(object).await,
                Err(error) => Err(error),
            },
            _ => self.apply_over(object).await,
        };
        match answer {
            Ok(Some(applied)) => {
                self.metrics.operated(Operation::Apply);
                self.applied(object, &applied)
            }
            // It went meanwhile, and the next round creates it.
            Ok(None) => Ok(Outcome::Exists),
            Err(error) if error.is_immutable() => self.answer_immutable(object, error).await,
            Err(cause) => Err(failed("apply", object, cause)),
        }
    }

    /// Applies a manifest, with the live values of fields that are left to others.
    async fn apply_over(&self, object: &DesiredObject) -> Result<Option<Value>, RequestError> {
        let id = &object.id;
        let manifest = if object.ignored.is_empty() {
            Cow::Borrowed(&*object.manifest)
        } else {
            match self.read(object).await? {
                Some(live) => manifest_over(object, &live, self.manager()),
                None => return Ok(None),
            }
        };
        let options = ApplyOptions::forced(self.manager());
        let (resource, namespace) = (&object.resource, &id.namespace);
        let applied = self
            .objects
            .apply(resource, namespace, &id.name, &manifest, options);
        applied.await.map(Some)
    }

    /// Replaces an object as a whole, but for its finalizers.
    async fn replace(&self, object: &DesiredObject) -> Result<Option<Value>, RequestError> {
        let Some(live) = self.read(object).await? else {
            return Ok(None);
        };
        let mut manifest = manifest_over(object, &live, self.manager()).into_owned();
        let text = |path: &str| live.pointer(path).and_then(Value::as_str);
        set_version(
            &mut manifest,
            text("/metadata/resourceVersion").unwrap_or_default(),
        );
        keep_finalizers(&mut manifest, &live);
        let id = &object.id;
        let (resource, namespace) = (&object.resource, &id.namespace);
        let replaced =
            self.objects
                .replace(resource, namespace, &id.name, &manifest, self.manager());
        replaced.await.map(Some)
    }

    /// Makes fields ours that a plain apply would leave although they are not in the manifest.
    async fn absorb(&self, object: &DesiredObject, kubectl: bool) -> Result<(), RequestError> {
        let Some(live) = self.read(object).await? else {
            return Ok(());
        };
        let changes = json!({ "metadata": {
            "resourceVersion": live.pointer("/metadata/resourceVersion"),
            "managedFields": absorbed(&live, self.manager(), kubectl),
        }});
        let id = &object.id;
        let (resource, namespace) = (&object.resource, &id.namespace);
        let merged = self
            .objects
            .merge(resource, namespace, &id.name, &changes, self.manager());
        merged.await.map(|_| ())
    }

    async fn answer_immutable(
        &self,
        object: &DesiredObject,
        cause: RequestError,
    ) -> Result<Outcome, ExecuteError> {
        if object.immutable != ImmutablePolicy::Recreate {
            return Err(ExecuteError::Immutable {
                id: Box::new(object.id.clone()),
                cause,
            });
        }
        let live = self.read(object).await;
        let live = live.map_err(|cause| failed("read", object, cause))?;
        let uid = live
            .as_ref()
            .and_then(|live| live.pointer("/metadata/uid")?.as_str());
        if let Some(uid) = uid {
            self.delete(&object.key, uid).await?;
        }
        Ok(Outcome::Deleted)
    }

    async fn read(&self, object: &DesiredObject) -> Result<Option<Value>, RequestError> {
        let id = &object.id;
        let read = self.objects.read(&object.resource, &id.namespace, &id.name);
        read.await
    }

    fn applied(&self, object: &DesiredObject, answer: &Value) -> Result<Outcome, ExecuteError> {
        let live =
            live(answer, self.owner, &object.hints).map_err(|cause| ExecuteError::Metadata {
                id: Box::new(object.id.clone()),
                cause,
            })?;
        Ok(Outcome::Applied {
            digest: object.digest.clone(),
            fields: live.fields.clone(),
            live: Box::new(live),
        })
    }

    pub(super) fn manager(&self) -> &str {
        self.owner.names().field_manager()
    }
}

fn failed(verb: &'static str, object: &DesiredObject, cause: RequestError) -> ExecuteError {
    ExecuteError::Write {
        verb,
        id: Box::new(object.id.clone()),
        cause,
    }
}

fn set_version(manifest: &mut Value, version: &str) {
    if let Some(Value::Object(metadata)) = manifest.get_mut("metadata") {
        metadata.insert("resourceVersion".to_owned(), version.into());
    }
}

/// Finalizers belong to those who set them.
fn keep_finalizers(manifest: &mut Value, live: &Value) {
    let kept = live
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array);
    let Some(Value::Object(metadata)) = manifest.get_mut("metadata") else {
        return;
    };
    let wanted = metadata.get("finalizers").and_then(Value::as_array);
    let mut all = wanted.cloned().unwrap_or_default();
    let others = kept.into_iter().flatten();
    let missing: Vec<_> = others.filter(|f| !all.contains(f)).cloned().collect();
    all.extend(missing);
    if !all.is_empty() {
        metadata.insert("finalizers".to_owned(), Value::Array(all));
    }
}
