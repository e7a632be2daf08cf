//! Taking a Helm release over: proof, approval, and the handing over of its objects.
//!
//! Every phase is stored before the first write of the next one, and every write may be made again: whoever is interrupted goes on
//! where it stands.

use super::error::ReconcileError;
use super::project::Outcome;
use super::reconcile::now;
use super::references::{Reference, References};
use super::resource::Component;
use super::run::Run;
use super::wanted::Wanted;
use crate::adopt::{
    ADOPTER, AdoptError, Adoptable, PINS_KEY, PINS_TYPE, Pins, Proof, Subject, Verifier,
    pinned_secret, pins_secret_name,
};
use crate::api::v1alpha1::{
    Adopt, AdoptionApproval, AdoptionPhase, AdoptionStatus, DriftMode, HelmRelease, LaterRevisions,
    PendingRevision,
};
use crate::cluster::{Resource, Versions, WatchedQuestion};
use crate::dependents::{Desired, ExecuteError, TakeOver, Taken};
use crate::events::Notice;
use crate::release::{Driver, Head, History, OWNER_LABEL, ReleaseName, Status, Storage};
use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::runtime::events::EventType;
use kube::{Api, ResourceExt as _};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use whipstaff_generator::{Error, ErrorKind, Limits, Pipeline};

/// Annotation of a component, after the reconciler's name: the digest of the proof that is approved.
const APPROVE: &str = "approve-adoption";
/// How many objects are taken over at once.
const PARALLEL_WRITES: usize = 8;

/// What a run does next about the release.
#[derive(Debug)]
pub(super) enum Step {
    /// There is none, or it is ours: the run goes on as always.
    GoOn,
    /// Values were pinned, or are not any more: what is wanted must be gathered, and looked at, again.
    Again,
    /// Its objects are to be taken over before anything is applied.
    TakeOver,
    /// Nothing more is done in this run.
    Stop(Outcome),
}

/// The values that are kept for a component, if there can be any.
pub(super) fn pins_reference(adopt: &Adopt, component: &str) -> Option<Reference> {
    let reference = |name: &str| Reference::secret(name).key(PINS_KEY).ignored_on_deletion();
    match (&adopt.pinned, &adopt.helm_release) {
        (Some(pinned), _) => Some(reference(&pinned.secret_ref.name)),
        (None, Some(_)) => Some(reference(&pins_secret_name(component)).optional()),
        (None, None) => None,
    }
}

/// A pipeline that ends with the values that are kept.
pub(super) fn with_pins(
    pipeline: Pipeline,
    reference: &Reference,
    references: &References,
) -> Result<Pipeline, Error> {
    let Some(bytes) = references.bytes(reference) else {
        return Ok(pipeline);
    };
    let pins = Pins::from_json(bytes).ok_or_else(|| {
        // What the reader says may quote a Secret.
        let name = reference.name();
        let message = format!("the entry `{PINS_KEY}` of the Secret `{name}` is malformed");
        Error::new(ErrorKind::Parameters, message)
    })?;
    if pins.is_empty() {
        return Ok(pipeline);
    }
    let made_of = json!({"pinned": references.digest().to_string()});
    Ok(pipeline.then(&made_of, Arc::new(pins)))
}

impl<C: Component> Run<'_, C> {
    /// Sees to the release that the component takes over, if it does.
    pub(super) async fn see_to_release(&mut self, wanted: &Wanted) -> Result<Step, ReconcileError> {
        let Some(adopt) = self.component.adopt().cloned() else {
            return Ok(Step::GoOn);
        };
        let Some(spec) = &adopt.helm_release else {
            return Ok(Step::GoOn);
        };
        let release = ReleaseName::new(
            spec.namespace.as_deref().unwrap_or(&wanted.namespace),
            &spec.name,
        );
        let known = self.status.adoption.clone();
        let known =
            known.filter(|k| (&k.namespace, &k.name) == (&release.namespace, &release.name));
        let phase = known.as_ref().map(|known| known.phase);
        match (known, phase) {
            (Some(status), Some(AdoptionPhase::Adopted)) => {
                let is_ours = self.heed_later(spec, &release, &status).await?;
                if is_ours {
                    Ok(Step::GoOn)
                } else {
                    self.follow().await
                }
            }
            (_, Some(AdoptionPhase::Adopting)) => Ok(Step::TakeOver),
            _ => self.verify(wanted, &adopt, spec, &release).await,
        }
    }

    /// Looks for revisions that somebody made since. False when the release has to be verified again.
    async fn heed_later(
        &mut self,
        spec: &HelmRelease,
        release: &ReleaseName,
        status: &AdoptionStatus,
    ) -> Result<bool, ReconcileError> {
        let changes = self.context.release_watches.changes(&self.component_name());
        let is_known = self.is_local() && self.memory.release_changes == Some(changes);
        if is_known && status.later_revision.is_none() {
            return Ok(true);
        }
        let history = self.history(release).await?;
        self.memory.release_changes = Some(changes);
        let last = history
            .last()
            .filter(|last| last.revision > status.revision);
        let later = last.map(|last| last.revision);
        if let Some(adoption) = &mut self.status.adoption {
            adoption.later_revision = later;
        }
        let Some(last) = last else {
            return Ok(true);
        };
        let policy = spec.later_revisions.unwrap_or_default();
        let advice = match policy {
            LaterRevisions::Report => {
                "what it changed in the component's objects is put right as the policy for drift says"
            }
            LaterRevisions::Refuse => {
                "nothing is applied before `laterRevisions` is `Report` or `Follow`, or that revision is gone"
            }
            LaterRevisions::Follow => "it is taken over once it is deployed",
        };
        let error = AdoptError::LaterRevision {
            release: release.clone(),
            revision: last.revision,
            status: last.status.to_string(),
            known: status.revision,
            advice,
        };
        if status.later_revision != later {
            self.tell_adoption("LaterRevision", EventType::Warning, &error.to_string())
                .await;
        }
        match policy {
            LaterRevisions::Report => Ok(true),
            LaterRevisions::Follow if last.status == Status::Deployed => Ok(false),
            // What Helm is about to change must not be put right meanwhile.
            LaterRevisions::Refuse | LaterRevisions::Follow => Err(error.into()),
        }
    }

    /// Begins anew with a revision that somebody made. What was pinned are the values of the one before.
    async fn follow(&mut self) -> Result<Step, ReconcileError> {
        self.remove_pins().await?;
        if let Some(adoption) = &mut self.status.adoption {
            adoption.phase = AdoptionPhase::Verifying;
            adoption.pinned_secret = None;
        }
        Ok(Step::Again)
    }

    /// The revisions of the release; from then on a watch tells of others.
    async fn history(&self, release: &ReleaseName) -> Result<History, ReconcileError> {
        let storage = Storage::new(self.target.client.clone());
        let history = storage.history(release).await.map_err(AdoptError::from)?;
        self.watch_release(&history);
        Ok(history)
    }

    /// Watches the records, as whoever takes over. On another cluster they are looked at once per interval.
    fn watch_release(&self, history: &History) {
        if !self.is_local() {
            return;
        }
        let release = &history.release;
        let question = WatchedQuestion {
            identity: self.identity.clone(),
            resource: Resource {
                group: String::new(),
                version: "v1".to_owned(),
                kind: "Secret".to_owned(),
                plural: "secrets".to_owned(),
                namespaced: true,
            },
            namespace: release.namespace.clone(),
            name: String::new(),
            selector: format!("{OWNER_LABEL}=helm,name={}", release.name),
        };
        let version = |head: &Head| {
            let name = (release.namespace.clone(), head.object.clone());
            (name, head.version.clone())
        };
        let versions: Versions = history.revisions.iter().map(version).collect();
        let wanted = BTreeMap::from([(question, versions)]);
        let watches = &self.context.release_watches;
        watches.require(&self.component_name(), &self.local_client, wanted);
    }

    /// Makes the proof, and goes on when it is approved.
    async fn verify(
        &mut self,
        wanted: &Wanted,
        adopt: &Adopt,
        spec: &HelmRelease,
        release: &ReleaseName,
    ) -> Result<Step, ReconcileError> {
        let history = self.history(release).await?;
        let storage = Storage::new(self.target.client.clone());
        let pending = spec.pending == Some(PendingRevision::Adopt);
        let adoptable = Adoptable::of(&storage, &history, pending).await?;
        self.check_claim(release, &adoptable).await?;
        let proof = self.prove(wanted, &adoptable).await?;
        // The API server may quote what it refuses.
        let told = self
            .memory
            .masks()
            .fold(proof.told(), |told, mask| mask.apply(&told));
        let digest = proof.digest().to_string();
        let identical = proof.is_identical();
        let key = self.owner.names().key(APPROVE);
        let is_approved = self.component.annotations().get(&key) == Some(&digest)
            || identical && spec.approval == Some(AdoptionApproval::AutomaticIfIdentical);
        let before = self.status.adoption.take();
        self.status.adoption = Some(AdoptionStatus {
            namespace: release.namespace.clone(),
            name: release.name.clone(),
            revision: proof.revision,
            rendered_revision: adoptable.rendering().revision,
            phase: AdoptionPhase::ReadyToAdopt,
            digest,
            identical,
            message: told.clone(),
            later_revision: None,
            pinned_secret: before.and_then(|before| before.pinned_secret),
            objects: None,
            adopted_at: None,
        });
        if is_approved {
            return self.begin_adoption(adopt, &adoptable, &proof, &told).await;
        }
        let message =
            format!("{told}; the annotation `{key}` with the digest of the proof approves that");
        Ok(Step::Stop(Outcome::AwaitingApproval(message)))
    }

    async fn prove(&self, wanted: &Wanted, adoptable: &Adoptable) -> Result<Proof, ReconcileError> {
        let cluster = &self.target.cluster;
        let compiled = self.context.renderer.compile(wanted).await?;
        let resources = cluster.discovery.resources().await?;
        let component = serde_json::to_value(self.component).unwrap_or_default();
        let subject = Subject {
            prepared: compiled.prepared,
            namespace: wanted.namespace.clone(),
            name: wanted.name.clone(),
            parameters: wanted.parameters.clone(),
            capabilities: resources.capabilities.clone(),
            release: adoptable.rendering(),
            component: Some(Arc::new(component)),
            now: adoptable.deployed_at(),
            limits: Limits::default(),
        };
        let policies = self.context.policies(self.component);
        let drift = policies.drift.as_ref().and_then(|drift| drift.mode);
        let verifier = Verifier {
            discovery: &cluster.discovery,
            objects: &self.objects,
            owner: &self.owner,
            corrects: drift.unwrap_or_default() == DriftMode::Correct,
        };
        let documents = verifier
            .documents(&adoptable.record.release, &subject)
            .await?;
        Ok(verifier.prove(adoptable, documents, None).await?)
    }

    /// Refuses a release that another component has.
    async fn check_claim(
        &self,
        release: &ReleaseName,
        adoptable: &Adoptable,
    ) -> Result<(), ReconcileError> {
        let Some(claim) = adoptable.record.annotations.get(ADOPTER) else {
            return Ok(());
        };
        let (namespace, name) = claim.split_once('/').unwrap_or_default();
        if (namespace, name) == (self.namespace.as_str(), self.component.name_any().as_str()) {
            return Ok(());
        }
        let components: Api<C> = Api::namespaced(self.context.client.0.clone(), namespace);
        let found = components.get_opt(name).await;
        let found = found.map_err(|cause| ReconcileError::Component {
            verb: "read the component that has the release",
            cause: Box::new(cause),
        })?;
        // Who is gone has nothing any more.
        if found.is_none() {
            return Ok(());
        }
        let error = AdoptError::Claimed {
            release: release.clone(),
            component: claim.clone(),
        };
        Err(error.into())
    }

    /// Stores that it begins, before the first write to an object.
    async fn begin_adoption(
        &mut self,
        adopt: &Adopt,
        adoptable: &Adoptable,
        proof: &Proof,
        told: &str,
    ) -> Result<Step, ReconcileError> {
        self.claim_release(adoptable).await?;
        let pins = &proof.documents.pins;
        let makes_pins = adopt.pinned.is_none() && !pins.is_empty();
        let name = pins_secret_name(&self.component.name_any());
        if makes_pins {
            if let Some(adoption) = &mut self.status.adoption {
                adoption.pinned_secret = Some(name.clone());
            }
            // Deletion must know of it.
            self.save_as_applying().await?;
            self.write_pins(&name, pins).await?;
        }
        if let Some(adoption) = &mut self.status.adoption {
            adoption.phase = AdoptionPhase::Adopting;
        }
        self.status.revision = Some(adoptable.rendering().revision);
        // What is rendered next is this revision, whatever was rendered before.
        self.status.input_digest = None;
        self.save_as_applying().await?;
        let note = format!("taking the release `{}` over: {told}", proof.release);
        self.tell_adoption("Adopting", EventType::Normal, &note)
            .await;
        Ok(Step::Again)
    }

    /// Marks the record, on condition that it still is what was verified: of two components, one is refused.
    async fn claim_release(&self, adoptable: &Adoptable) -> Result<(), ReconcileError> {
        let head = &adoptable.present.head;
        let claim = format!("{}/{}", self.namespace, self.component.name_any());
        if adoptable.record.annotations.get(ADOPTER) == Some(&claim) {
            return Ok(());
        }
        let patch = json!({"metadata": {
            "resourceVersion": adoptable.record.version,
            "annotations": {(ADOPTER): claim},
        }});
        let params = PatchParams::default();
        let (client, namespace) = (self.target.client.clone(), &head.release.namespace);
        let patch = Patch::Merge(&patch);
        let written = match head.driver {
            Driver::Secrets => {
                let api: Api<Secret> = Api::namespaced(client, namespace);
                api.patch_metadata(&head.object, &params, &patch)
                    .await
                    .map(drop)
            }
            Driver::ConfigMaps => {
                let api: Api<ConfigMap> = Api::namespaced(client, namespace);
                api.patch_metadata(&head.object, &params, &patch)
                    .await
                    .map(drop)
            }
        };
        written.map_err(|cause| ReconcileError::Component {
            verb: "mark the record of the release",
            cause: Box::new(cause),
        })
    }

    /// Stores values that are kept. It is the operator's own bookkeeping, as seeds are.
    async fn write_pins(&self, name: &str, pins: &Pins) -> Result<(), ReconcileError> {
        let failed = |cause| ReconcileError::Component {
            verb: "store values that are kept as they are",
            cause: Box::new(cause),
        };
        let secret = pinned_secret(&self.component.name_any(), &self.namespace, pins);
        let secrets = self.secrets();
        let found = secrets.get_opt(name).await.map_err(failed)?;
        if found.is_some_and(|secret| secret.type_.as_deref() != Some(PINS_TYPE)) {
            return Err(ReconcileError::ForeignSeed {
                name: name.to_owned(),
            });
        }
        let params = PatchParams::apply(self.owner.names().field_manager()).force();
        let written = secrets.patch(name, &params, &Patch::Apply(&secret)).await;
        written.map(drop).map_err(failed)
    }

    /// Removes the Secret with values that were kept.
    pub(super) async fn remove_pins(&self) -> Result<(), ReconcileError> {
        let adoption = self.status.adoption.as_ref();
        let Some(name) = adoption.and_then(|adoption| adoption.pinned_secret.as_ref()) else {
            return Ok(());
        };
        let failed = |cause| ReconcileError::Component {
            verb: "delete values that were kept",
            cause: Box::new(cause),
        };
        let secrets = self.secrets();
        let found = secrets.get_opt(name).await.map_err(failed)?;
        let Some(secret) = found.filter(|secret| secret.type_.as_deref() == Some(PINS_TYPE)) else {
            return Ok(());
        };
        let params = DeleteParams::default().preconditions(Preconditions {
            uid: secret.uid(),
            resource_version: None,
        });
        match secrets.delete(name, &params).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(failed(error)),
            Ok(_) => Ok(()),
        }
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.context.client.0.clone(), &self.namespace)
    }

    /// Takes the objects over: each gets our marks, and Helm's entries leave its managed fields.
    pub(super) async fn take_release_over(
        &mut self,
        desired: &Desired,
    ) -> Result<(), ReconcileError> {
        let Some(adoption) = self.status.adoption.clone() else {
            return Ok(());
        };
        let terms = TakeOver {
            namespace: &adoption.namespace,
            name: &adoption.name,
            may_change: !adoption.identical,
        };
        let executor = &self.executor();
        let (mut taken, mut failure) = (Vec::new(), None);
        {
            let served = desired.objects.iter().filter(|object| !object.unserved);
            // Collected first: a closure inside the stream would tie the future to one lifetime, and it could not be spawned.
            let writes: Vec<_> = served
                .map(|object| async move { (object, executor.take_over(object, terms).await) })
                .collect();
            let mut writes = stream::iter(writes).buffer_unordered(PARALLEL_WRITES);
            while let Some((object, result)) = writes.next().await {
                match result {
                    Ok(Taken::Ours { fields, drift }) => taken.push((object, fields, drift)),
                    Ok(Taken::Left) => {}
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
        }
        let count = taken.len();
        for (object, fields, drift) in taken {
            self.memory.live.remove(&object.id);
            let mut items = self.status.inventory.iter_mut();
            if let Some(item) = items.find(|item| item.id() == object.id) {
                item.digest.clone_from(&object.digest);
                item.fields = fields;
                item.drift = drift;
                item.applied_at = Some(now());
            }
        }
        if let Some(error) = failure {
            if let (ExecuteError::WouldChange { .. }, Some(adoption)) =
                (&error, &mut self.status.adoption)
            {
                // What was proved does not hold any more.
                adoption.phase = AdoptionPhase::Verifying;
            }
            return Err(error.into());
        }
        if let Some(adoption) = &mut self.status.adoption {
            adoption.phase = AdoptionPhase::Adopted;
            adoption.objects = Some(count as i64);
            adoption.adopted_at = Some(now());
        }
        // What is ours must be stored before anything else is done with it.
        self.save_as_applying().await?;
        let note = format!(
            "{count} objects of the release `{}/{}` are the component's now",
            adoption.namespace, adoption.name
        );
        self.tell_adoption("Adopted", EventType::Normal, &note)
            .await;
        Ok(())
    }

    async fn tell_adoption(&self, reason: &str, severity: EventType, note: &str) {
        let reference = self.component.object_ref(&());
        let notice = Notice {
            severity,
            reason,
            action: "Adopt",
            note,
        };
        self.context.events.publish(&reference, &notice).await;
    }

    /// The revision that was taken over: its hooks have run.
    pub(super) fn adopted_revision(&self) -> Option<i64> {
        let adoption = self.status.adoption.as_ref()?;
        let began = matches!(
            adoption.phase,
            AdoptionPhase::Adopting | AdoptionPhase::Adopted
        );
        began.then_some(adoption.rendered_revision)
    }
}
