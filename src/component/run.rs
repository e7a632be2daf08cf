//! One run: observe, plan, execute, until nothing is left but waiting.

use super::context::Context;
use super::corrections::Corrections;
use super::error::ReconcileError;
use super::memory::Memory;
use super::project::{Facts, Outcome, project};
use super::reconcile::now;
use super::render::Rendered;
use super::resource::Component;
use super::secrets::SecretReader;
use super::source::Fetching;
use super::stored;
use super::wanted::Wanted;
use crate::api::v1alpha1::{ComponentStatus, MissingNamespacesPolicy};
use crate::cluster::{Objects, Resource, Resources};
use crate::dependents::{
    Change, Desired, Executor, IfUnseen, Observed, Observer, Outcome as Written, OwnerId, Plan,
    Policies, PrepareError, PrepareOptions, Target, Waiting, namespaces, plan, preflight, prepare,
    refresh, served, with_desired,
};
use crate::events::Notice;
use kube::ResourceExt;
use kube::runtime::events::EventType;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;
use whipstaff_generator::{ObjectId, Release};

/// Most rounds of observing, planning and executing in one run.
const MAX_ROUNDS: usize = 200;

/// One run for one component.
pub(super) struct Run<'a, C> {
    pub(super) component: &'a C,
    pub(super) context: &'a Context,
    pub(super) memory: &'a mut Memory,
    pub(super) status: ComponentStatus,
    pub(super) owner: OwnerId,
    pub(super) objects: Objects,
    pub(super) namespace: String,
    /// Whether the status holds what must be stored before the first write of a dependent.
    pub(super) unsaved: bool,
}

impl<'a, C: Component> Run<'a, C> {
    /// Starts from the status that was written last, whoever wrote it. Nothing when the component is gone: the cache may not know
    /// yet, and what is applied for a component without a finalizer would stay for ever.
    pub(super) async fn new(
        component: &'a C,
        context: &'a Context,
        memory: &'a mut Memory,
    ) -> Result<Option<Self>, ReconcileError> {
        stored::learn(component, memory);
        let deleting = component.meta().deletion_timestamp.is_some();
        let applies = !deleting && !component.is_suspended();
        if applies && !stored::ensure_finalizer(component, context, memory).await? {
            return Ok(None);
        }
        let namespace = component.namespace().unwrap_or_default();
        let account = component.service_account_name();
        Ok(Some(Self {
            component,
            context,
            status: memory.status.clone().unwrap_or_default(),
            owner: OwnerId::new(&context.owners, &namespace, &component.name_any()),
            objects: context.identities.objects(&namespace, account)?,
            memory,
            namespace,
            unsaved: false,
        }))
    }

    /// The status as the run leaves it.
    pub(super) fn into_status(self) -> ComponentStatus {
        self.status
    }

    /// Fetches, renders and brings the cluster towards what is wanted.
    pub(super) async fn apply(&mut self, interval: Duration) -> Result<Outcome, ReconcileError> {
        let result = self.bring_about(interval).await;
        // Whatever failed: what was encrypted in the files, or is in Secrets, must not be told.
        result.map_err(|error| self.memory.masks().fold(error, ReconcileError::masked))
    }

    async fn bring_about(&mut self, interval: Duration) -> Result<Outcome, ReconcileError> {
        let variables = self.variables(interval).await?;
        let fetching = Fetching {
            fetcher: &self.context.fetcher,
            secrets: SecretReader::of_cluster(&self.objects),
            namespace: &self.namespace,
            interval,
            files: None,
            variables: &variables,
        };
        let context = self.context;
        let sources = &mut self.memory.sources;
        let wanted = Wanted::gather(self.component, &fetching, &context.renderer, sources).await?;
        self.status.source.clone_from(&wanted.source);
        let (rendered, release) = self.render(wanted, interval).await?;
        let desired = self.prepare(&rendered, release).await?;
        self.record(&desired).await?;
        self.settle(&desired).await
    }

    async fn prepare(
        &self,
        rendered: &Rendered,
        release: Release,
    ) -> Result<Desired, ReconcileError> {
        let resources = self.context.discovery.resources().await?;
        match self.prepare_with(rendered, release, &resources) {
            Err(PrepareError::UnknownKind { .. }) => {
                let fresh = self.context.discovery.fresh_resources().await?;
                Ok(self.prepare_with(rendered, release, &fresh)?)
            }
            other => Ok(other?),
        }
    }

    fn prepare_with(
        &self,
        rendered: &Rendered,
        release: Release,
        resources: &Resources,
    ) -> Result<Desired, PrepareError> {
        prepare(
            &rendered.generated,
            &PrepareOptions {
                owner: &self.owner,
                namespace: self.target_namespace(),
                is_upgrade: release.is_upgrade,
                revision: release.revision,
                hooks: self.component.runs_hooks(),
                adoption: self.component.policies().adoption.unwrap_or_default(),
                resources,
            },
        )
    }

    /// Records every wanted object in the stored inventory before the first one is created.
    async fn record(&mut self, desired: &Desired) -> Result<(), ReconcileError> {
        let (inventory, added) = with_desired(&self.status.inventory, desired, &now());
        self.status.inventory = inventory;
        if added || std::mem::take(&mut self.unsaved) {
            self.save_as_applying().await?;
        }
        Ok(())
    }

    /// Stores the status before anything else is done.
    pub(super) async fn save_as_applying(&mut self) -> Result<(), ReconcileError> {
        let facts = Facts {
            generation: self.component.meta().generation,
            deleting: false,
            timeout: Duration::MAX,
        };
        self.status = project(self.status.clone(), &Outcome::Applying, facts, &now());
        stored::write_status(self.component, self.context, self.memory, &self.status).await
    }

    async fn settle(&mut self, desired: &Desired) -> Result<Outcome, ReconcileError> {
        self.watch(desired, None).await?;
        let policies = self.component.policies();
        let policies = Policies {
            create_namespaces: policies.missing_namespaces.unwrap_or_default()
                == MissingNamespacesPolicy::Create,
        };
        let mut checked = false;
        let mut written = HashSet::new();
        for _ in 0..MAX_ROUNDS {
            let mut observed = self.observe(desired, &written).await?;
            let mut plan = plan(desired, &self.status.inventory, &observed, policies);
            self.memory.corrections.restrain(&mut plan);
            if !plan.refusals.is_empty() {
                return Err(ReconcileError::Refused {
                    refusals: plan.refusals,
                    partly: self.has_applied(),
                });
            }
            if plan.steps.is_empty() {
                self.finish(desired, &observed, &[], &plan);
                self.date(&mut plan.waiting);
                self.watch(desired, Some(&observed)).await?;
                return Ok(if plan.waiting.is_empty() {
                    Outcome::Ready
                } else {
                    Outcome::Waiting(plan.waiting)
                });
            }
            // Half an installation harms nobody, and what is wrong with it is said all the same.
            if !std::mem::replace(&mut checked, true) && self.has_applied() {
                self.check(desired, &observed).await?;
            }
            let (changes, result) = self.execute(&plan, desired).await;
            self.learn(&changes, &mut observed, &mut written);
            self.finish(desired, &observed, &changes, &plan);
            self.tell_corrections(&changes).await;
            result?;
        }
        Err(ReconcileError::Rounds { rounds: MAX_ROUNDS })
    }

    /// Whether anything was applied for the component yet.
    fn has_applied(&self) -> bool {
        let mut items = self.status.inventory.iter();
        items.any(|item| !item.digest.is_empty())
    }

    /// Says since when objects are waited for, from the inventory as it is now.
    fn date(&self, waiting: &mut [Waiting]) {
        for waiting in waiting {
            let item = self
                .status
                .inventory
                .iter()
                .find(|item| item.id() == waiting.id);
            waiting.since = item.and_then(|item| item.since.clone());
        }
    }

    /// Has the API server look at every change before the first write.
    async fn check(&self, desired: &Desired, observed: &Observed) -> Result<(), ReconcileError> {
        let objects = preflight(
            desired,
            observed,
            &self.objects,
            self.owner.names().field_manager(),
        )
        .await;
        if objects.is_empty() {
            Ok(())
        } else {
            Err(ReconcileError::Preflight { objects })
        }
    }

    pub(super) fn executor(&self) -> Executor<'_> {
        Executor {
            objects: &self.objects,
            discovery: &self.context.discovery,
            owner: &self.owner,
            metrics: &self.context.metrics,
        }
    }

    pub(super) async fn execute(
        &self,
        plan: &Plan,
        desired: &Desired,
    ) -> (Vec<Change>, Result<(), ReconcileError>) {
        let mut changes = Vec::new();
        let result = self
            .executor()
            .execute(&plan.steps, desired, &mut changes)
            .await;
        (changes, result.map_err(ReconcileError::from))
    }

    /// Takes over what the answers to writes say of the objects.
    pub(super) fn learn(
        &mut self,
        changes: &[Change],
        observed: &mut Observed,
        written: &mut HashSet<ObjectId>,
    ) {
        for change in changes {
            match &change.outcome {
                Written::Applied { live, .. } => {
                    self.memory.contested.remove(&change.id);
                    self.memory.live.insert(change.id.clone(), (**live).clone());
                    observed.objects.insert(change.id.clone(), (**live).clone());
                    written.insert(change.id.clone());
                }
                Written::Exists => {
                    self.memory.contested.insert(change.id.clone());
                }
                Written::Purged | Written::Deleted => {
                    self.memory.live.remove(&change.id);
                    written.remove(&change.id);
                }
            }
        }
    }

    pub(super) fn finish(
        &mut self,
        desired: &Desired,
        observed: &Observed,
        changes: &[Change],
        plan: &Plan,
    ) {
        let inventory = &mut self.status.inventory;
        refresh(inventory, desired, observed, changes, &plan.gone, &now());
        for id in &plan.gone {
            self.memory.live.remove(id);
        }
        self.memory.corrections.count(changes);
    }

    async fn tell_corrections(&self, changes: &[Change]) {
        let reference = self.component.object_ref(&());
        for change in changes.iter().filter(|change| change.is_correction()) {
            let note = format!("{} was put right: {}", change.id, change.reason);
            let notice = Notice {
                severity: EventType::Normal,
                reason: "Corrected",
                action: "Correct",
                note: &note,
            };
            self.context.events.publish(&reference, &notice).await;
        }
    }

    /// Observes everything that is wanted or recorded. `written` are objects whose state is known from this run's own writes.
    pub(super) async fn observe(
        &mut self,
        desired: &Desired,
        written: &HashSet<ObjectId>,
    ) -> Result<Observed, ReconcileError> {
        let items: HashMap<_, _> = self.status.inventory.iter().map(|i| (i.id(), i)).collect();
        let unknown = |id: &ObjectId| {
            if self.memory.contested.contains(id) {
                IfUnseen::Read
            } else if items.get(id).is_none_or(|item| item.digest.is_empty()) {
                IfUnseen::Absent
            } else {
                IfUnseen::AbsentIfWatched
            }
        };
        let mut targets: Vec<_> = desired
            .objects
            .iter()
            .map(|object| Target::of(object, unknown(&object.id)))
            .collect();
        let wanted: HashSet<_> = desired
            .objects
            .iter()
            .map(|object| object.id.clone())
            .collect();
        let resources = self.context.discovery.resources().await?;
        for item in &self.status.inventory {
            let id = item.id();
            if wanted.contains(&id) {
                continue;
            }
            // A kind that is no longer served has no objects left.
            if let Some(resource) = served(&resources, &item.key()) {
                targets.push(Target::new(id, resource.clone()));
            }
        }
        let reader = Observer {
            objects: &self.objects,
            watches: &self.context.watches,
            owner: &self.owner,
        };
        let mut observed = reader
            .observe(targets, &mut self.memory.live, written)
            .await?;
        observed.missing_namespaces = self.missing_namespaces(desired, &observed).await?;
        Ok(observed)
    }

    /// Namespaces that do not exist, among those that hold wanted objects which do not exist either.
    async fn missing_namespaces(
        &self,
        desired: &Desired,
        observed: &Observed,
    ) -> Result<BTreeSet<String>, ReconcileError> {
        let absent = desired
            .objects
            .iter()
            .filter(|o| !observed.objects.contains_key(&o.id));
        let candidates: BTreeSet<_> = absent
            .map(|object| &object.id.namespace)
            .filter(|namespace| desired.namespaces.contains(*namespace))
            .filter(|namespace| **namespace != self.namespace)
            .collect();
        let mut missing = BTreeSet::new();
        for namespace in candidates {
            let id = ObjectId {
                group: String::new(),
                kind: "Namespace".to_owned(),
                namespace: String::new(),
                name: namespace.clone(),
            };
            let found = self.objects.read(&namespaces(), "", namespace).await;
            if found
                .map_err(|cause| ReconcileError::read(id, cause))?
                .is_none()
            {
                missing.insert(namespace.clone());
            }
        }
        Ok(missing)
    }

    /// Watches the kinds of all dependents. A kind that the component defines itself is watched once it has objects: a watch on a
    /// kind that is not served yet would only fail and back off.
    async fn watch(
        &self,
        desired: &Desired,
        observed: Option<&Observed>,
    ) -> Result<(), ReconcileError> {
        let resources = self.context.discovery.resources().await?;
        let exists = |id: &ObjectId| observed.is_some_and(|o| o.objects.contains_key(id));
        let mut kinds: BTreeSet<Resource> = desired
            .objects
            .iter()
            .filter(|object| !object.defined || exists(&object.id))
            .map(|object| object.resource.clone())
            .collect();
        let recorded = self
            .status
            .inventory
            .iter()
            .filter_map(|item| served(&resources, &item.key()));
        kinds.extend(recorded.cloned());
        self.context
            .watches
            .require(&(self.namespace.clone(), self.component.name_any()), &kinds);
        Ok(())
    }

    pub(super) fn target_namespace(&self) -> &str {
        let target = self.component.target_namespace();
        target.unwrap_or(&self.namespace)
    }
}

impl Corrections {
    /// Counts the corrections among changes.
    pub(super) fn count(&mut self, changes: &[Change]) {
        changes
            .iter()
            .filter(|c| c.is_correction())
            .for_each(|c| self.corrected(&c.id));
    }
}
