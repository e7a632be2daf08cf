//! The live objects of a release, and what applying its chart would do to them.

use super::documents::Documents;
use super::error::AdoptError;
use crate::cluster::{ApplyOptions, Objects, Resource, Resources};
use crate::dependents::{
    OwnerId, changes, describe, differences, foreign, is_mark, over_live, put_marks_of,
};
use crate::release::ReleaseName;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;
use serde_json::Value;
use whipstaff_generator::ObjectId;

/// How many objects are looked at at once.
const PARALLEL_READS: usize = 8;
/// The field manager that Helm writes as.
const HELM: &str = "helm";

/// What taking an object over does to it.
#[derive(Serialize, Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It gets our labels and annotations, and its fields another manager.
    Nothing,
    /// These fields change.
    Changes(Vec<String>),
    /// It does not exist and is created.
    Created,
    /// The API server refuses what would be applied.
    Refused(String),
    /// It belongs to somebody else.
    Foreign(String),
    /// Its kind is not served.
    NotServed,
}

impl Effect {
    /// The effect for a person; nothing when there is none.
    pub(super) fn told(&self) -> Option<String> {
        Some(match self {
            Self::Nothing => return None,
            Self::Changes(fields) => format!("changes in {}", fields.join(", ")),
            Self::Created => "is created: it does not exist".to_owned(),
            Self::Refused(problem) => format!("is refused by the API server: {problem}"),
            Self::Foreign(owner) => format!("belongs to {owner}"),
            Self::NotServed => "is of a kind that the cluster does not serve".to_owned(),
        })
    }
}

/// A live object.
#[derive(Debug, Clone)]
pub(crate) struct LiveObject {
    /// The object.
    pub(crate) id: ObjectId,
    /// What taking it over does.
    pub(crate) effect: Effect,
    /// Fields that are not as the release has them.
    pub(crate) drifted: Vec<String>,
    /// The same for a person, with who wrote them.
    pub(crate) drift: String,
}

/// Looks at live objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inspector<'a> {
    /// Requests.
    pub(crate) objects: &'a Objects,
    /// What the cluster serves.
    pub(crate) resources: &'a Resources,
    /// Who takes over.
    pub(crate) owner: &'a OwnerId,
    /// The release.
    pub(crate) release: &'a ReleaseName,
    /// Whether what others changed is put right.
    pub(crate) corrects: bool,
}

impl Inspector<'_> {
    /// Looks at every object that will be applied. Nothing is written: the API server is asked what it would do.
    pub(crate) async fn inspect(
        &self,
        documents: &Documents,
    ) -> Result<Vec<LiveObject>, AdoptError> {
        let wanted = documents.all.iter();
        let wanted = wanted.filter_map(|document| Some((&document.id, document.wanted.as_ref()?)));
        let looks: Vec<_> = wanted.map(|(id, wanted)| self.look(id, wanted)).collect();
        let looks = stream::iter(looks).buffered(PARALLEL_READS);
        looks.try_collect().await
    }

    async fn look(&self, id: &ObjectId, wanted: &Value) -> Result<LiveObject, AdoptError> {
        let found = |effect, drifted: Vec<String>, drift| LiveObject {
            id: id.clone(),
            effect,
            drifted,
            drift,
        };
        let text = |field: &str| wanted.get(field).and_then(Value::as_str);
        let api_version = text("apiVersion").unwrap_or_default();
        let Some(resource) = self.resources.get(api_version, &id.kind) else {
            return Ok(found(Effect::NotServed, Vec::new(), String::new()));
        };
        let read = self.objects.read(resource, &id.namespace, &id.name).await;
        let read = read.map_err(|cause| AdoptError::Object {
            verb: "read",
            id: Box::new(id.clone()),
            cause,
        })?;
        let Some(live) = read else {
            return Ok(found(Effect::Created, Vec::new(), String::new()));
        };
        let drift = differences(wanted, &live, HELM);
        let drifted = drift.iter().map(|d| d.pointer.clone()).collect();
        let told = describe(&drift);
        let effect = match foreign(
            &live,
            self.owner,
            &self.release.namespace,
            &self.release.name,
        ) {
            Some(owner) => Effect::Foreign(owner),
            None => self.effect(id, resource, wanted, &live).await?,
        };
        Ok(found(effect, drifted, told))
    }

    async fn effect(
        &self,
        id: &ObjectId,
        resource: &Resource,
        wanted: &Value,
        live: &Value,
    ) -> Result<Effect, AdoptError> {
        let mut manifest = if self.corrects {
            wanted.clone()
        } else {
            over_live(wanted, live, HELM)
        };
        // With the marks that it will have: what nobody owns goes with the last entry of a map that is ours.
        put_marks_of(self.owner, &mut manifest, live);
        let options = ApplyOptions {
            dry_run: true,
            ..ApplyOptions::forced(self.owner.names().field_manager())
        };
        let answer = self
            .objects
            .apply(resource, &id.namespace, &id.name, &manifest, options)
            .await;
        match answer {
            Ok(applied) => {
                let mut changed = changes(live, &applied);
                changed.retain(|pointer| !is_mark(pointer, self.owner.names()));
                Ok(if changed.is_empty() {
                    Effect::Nothing
                } else {
                    Effect::Changes(changed)
                })
            }
            Err(error) if error.is_invalid() => Ok(Effect::Refused(error.to_string())),
            Err(cause) => Err(AdoptError::Object {
                verb: "try to apply",
                id: Box::new(id.clone()),
                cause,
            }),
        }
    }
}
