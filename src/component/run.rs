//! One run: observe, plan, execute, until nothing is left but waiting.

use super::adoption::Step;
use super::chart_hooks::Pending;
use super::context::Context;
use super::error::ReconcileError;
use super::hooks::{Hooks, Point};
use super::memory::Memory;
use super::namespaces::find_missing_namespaces;
use super::place::Target;
use super::project::{Facts, Outcome, project};
use super::reconcile::{Times, now};
use super::references::References;
use super::render::Rendered;
use super::resource::Component;
use super::secrets::SecretReader;
use super::source::Fetching;
use super::stored;
use super::variables::Variables;
use super::wanted::Wanted;
use crate::api::v1alpha1::{
    ComponentStatus, ImmutablePolicy, MissingNamespacesPolicy, TargetStatus,
};
use crate::cluster::{Objects, Resource, Resources};
use crate::dependents::{
    Change, Desired, Executor, IfUnseen, Observed, Observer, Outcome as Written, OwnerId, Plan,
    Policies, PrepareError, PrepareOptions, Pruning, Target as Observable, Waiting, plan,
    preflight, prepare, refresh, served, unavailable, with_desired,
};
use kube::{Client, ResourceExt};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::{Digest, ObjectId};

/// Most rounds of observing, planning and executing in one run.
pub(super) const MAX_ROUNDS: usize = 200;
/// How often what is wanted is gathered in one run because a release is taken over: once without the values that were pinned to another
/// revision, and once with those of this one.
const MAX_GATHERINGS: usize = 2;
/// Annotation of a component, after the reconciler's name: a new value asks for a run that remembers nothing.
const RECONCILE_AT: &str = "reconcile-at";

/// Hexadecimal digits of a component's digest in the digests of its objects.
const COMPONENT_DIGEST: usize = 16;

/// One run for one component.
pub(super) struct Run<'a, C> {
    pub(super) component: &'a C,
    pub(super) context: &'a Context,
    pub(super) memory: &'a mut Memory,
    pub(super) status: ComponentStatus,
    pub(super) owner: OwnerId,
    /// Code of the operator's own.
    pub(super) hooks: &'a Hooks<C>,
    /// Requests on the component's cluster, under its identity.
    pub(super) local: Objects,
    /// The client of the same.
    pub(super) local_client: Client,
    /// The component's identity as a key of shared watches.
    pub(super) identity: String,
    /// Where the objects are applied.
    pub(super) target: Target,
    /// Requests there.
    pub(super) objects: Objects,
    pub(super) namespace: String,
    /// Whether the status holds what must be stored before the first write of a dependent.
    pub(super) unsaved: bool,
    /// Whether the input is another one than that of the last run.
    pub(super) restarting: bool,
    /// The durations of the component's spec.
    pub(super) times: Times,
    /// Whether the component was asked to reconcile since the last run.
    pub(super) asked: bool,
    /// Kinds of the chart's hooks that are to be watched.
    pub(super) hook_kinds: BTreeSet<Resource>,
}

impl<'a, C: Component> Run<'a, C> {
    /// Starts from the status that was written last, whoever wrote it.
    pub(super) fn new(
        component: &'a C,
        context: &'a Context,
        hooks: &'a Hooks<C>,
        memory: &'a mut Memory,
        times: Times,
    ) -> Result<Self, ReconcileError> {
        let namespace = component.namespace().unwrap_or_default();
        let local = Target::new(&context.local, &namespace, context.account(component))?;
        Ok(Self {
            component,
            context,
            hooks,
            status: memory.status.clone().unwrap_or_default(),
            owner: OwnerId::new(&context.owners, &namespace, &component.name_any()),
            local: local.objects.clone(),
            local_client: local.client.clone(),
            identity: local.identity.clone(),
            objects: local.objects.clone(),
            target: local,
            memory,
            namespace,
            unsaved: false,
            restarting: false,
            times,
            asked: false,
            hook_kinds: BTreeSet::new(),
        })
    }

    /// The status as the run leaves it.
    pub(super) fn into_status(self) -> ComponentStatus {
        self.status
    }

    /// Finds the cluster that the objects are applied on. Until then it is the component's own.
    pub(super) async fn connect(
        &mut self,
        kubeconfig: Option<Vec<u8>>,
    ) -> Result<(), ReconcileError> {
        let context = self.context;
        if let Some(text) = kubeconfig {
            let cluster = context.clusters.get(&text).await;
            let cluster = cluster.map_err(|cause| {
                let reference = self.component.kube_config();
                let name = reference.map(|reference| reference.name().to_owned());
                let name = name.unwrap_or_default();
                ReconcileError::KubeConfig { name, cause }
            })?;
            // The kubeconfig is the identity there; the service account reads it.
            self.target = Target::new(&cluster, "", None)?;
            self.objects = self.target.objects.clone();
        }
        let before = self
            .memory
            .cluster
            .replace(Arc::clone(&self.target.cluster));
        if let Some(before) = before
            && !Arc::ptr_eq(&before, &self.target.cluster)
        {
            before.forget(&self.component_name())?;
            self.memory.live.clear();
            self.memory.asked = None;
        }
        Ok(())
    }

    /// Refuses another namespace or name than that of what was applied: references would break, and nobody would notice.
    fn check_target(&mut self) -> Result<(), ReconcileError> {
        let name = self.component.target_name().map(str::to_owned);
        let target = TargetStatus {
            namespace: self.target_namespace().to_owned(),
            name: name.unwrap_or_else(|| self.component.name_any()),
        };
        let was_applied = !self.status.inventory.is_empty();
        match self.status.target.replace(target.clone()) {
            Some(was) if was_applied && was != target => {
                let error = ReconcileError::TargetMoved {
                    was: was.to_string(),
                    is: target.to_string(),
                };
                self.status.target = Some(was);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Heeds the annotation that asks for a run: whatever was remembered is looked at anew.
    pub(super) fn heed_request(&mut self) {
        let key = self.owner.names().key(RECONCILE_AT);
        let asked = self.component.annotations().get(&key);
        if asked == self.status.last_handled_reconcile_at.as_ref() {
            return;
        }
        self.status.last_handled_reconcile_at = asked.cloned();
        self.memory.forget_reads();
        self.asked = true;
    }

    /// Fetches, renders and brings the cluster towards what is wanted.
    pub(super) async fn apply(&mut self, times: Times) -> Result<Outcome, ReconcileError> {
        let result = self.bring_about(times).await;
        // Whatever failed: what was encrypted in the files, or is in Secrets, must not be told.
        result.map_err(|error| self.memory.masks().fold(error, ReconcileError::masked))
    }

    async fn bring_about(&mut self, times: Times) -> Result<Outcome, ReconcileError> {
        let interval = times.interval;
        self.heed_request();
        let (references, kubeconfig) = self.references(interval, false).await?;
        self.connect(kubeconfig).await?;
        self.check_target()?;
        self.hooks(Point::PostRead, None, &references).await?;
        if !stored::ensure_finalizer(self.component, self.context, self.memory).await? {
            return Err(ReconcileError::Gone);
        }
        self.check_dependencies().await?;
        let variables = self.variables(interval).await?;
        let mut references = references;
        let mut wanted = Box::pin(self.gather(&references, &variables, interval)).await?;
        // On the heap: few components take anything over.
        let mut step = Box::pin(self.see_to_release(&wanted)).await?;
        for _ in 0..MAX_GATHERINGS {
            if !matches!(step, Step::Again) {
                break;
            }
            self.memory.references = None;
            (references, _) = self.references(interval, false).await?;
            wanted = Box::pin(self.gather(&references, &variables, interval)).await?;
            step = Box::pin(self.see_to_release(&wanted)).await?;
        }
        match step {
            Step::Stop(outcome) => return Ok(outcome),
            // It is taken up in the next run, where this one left it.
            Step::Again => return Err(ReconcileError::Overtaken),
            Step::GoOn | Step::TakeOver => {}
        }
        let rendered = self.render(wanted, interval).await?;
        let hooks = Some(&rendered);
        self.hooks(Point::PreReconcile, hooks, &references).await?;
        let mut desired = self.prepare(&rendered).await?;
        self.apply_health_rules(&mut desired)?;
        self.make_namespaces(&mut desired).await?;
        let pending = self.pending_hooks(&rendered, &mut desired).await?;
        self.keep_deletion_hooks(&rendered.generated).await?;
        self.record(&desired).await?;
        if matches!(step, Step::TakeOver) {
            Box::pin(self.take_release_over(&desired)).await?;
        }
        let outcome = self.settle(&desired, &pending).await?;
        if matches!(outcome, Outcome::Ready) {
            self.hooks(Point::PostReconcile, hooks, &references).await?;
            self.test(&pending).await?;
        }
        Ok(outcome)
    }

    /// Fetches what is to be rendered.
    async fn gather(
        &mut self,
        references: &References,
        variables: &Variables,
        interval: Duration,
    ) -> Result<Wanted, ReconcileError> {
        let fetching = Fetching {
            fetcher: &self.context.fetcher,
            secrets: SecretReader::of_cluster(&self.local),
            namespace: &self.namespace,
            interval,
            files: None,
            variables,
            references,
            names: self.owner.names(),
        };
        let context = self.context;
        let sources = &mut self.memory.sources;
        let wanted = Wanted::gather(self.component, &fetching, &context.renderer, sources).await?;
        self.status.source.clone_from(&wanted.source);
        Ok(wanted)
    }

    async fn prepare(&self, rendered: &Rendered) -> Result<Desired, ReconcileError> {
        let resources = self.target.cluster.discovery.resources().await?;
        let generated = &rendered.generated;
        let prepared = self.with_options(&resources, |options| prepare(generated, options));
        let is_stale = match &prepared {
            Ok(desired) => desired.objects.iter().any(|object| object.unserved),
            Err(error) => matches!(error, PrepareError::UnknownKind { .. }),
        };
        if !is_stale {
            return Ok(prepared?);
        }
        let fresh = self.target.cluster.discovery.fresh_resources().await?;
        Ok(self.with_options(&fresh, |options| prepare(generated, options))?)
    }

    /// Digest of everything that makes the component what it is.
    fn digest(&self) -> String {
        let annotations = serde_json::to_string(self.component.annotations()).unwrap_or_default();
        let spec = serde_json::to_value(self.component).ok();
        let spec = spec.and_then(|component| Some(component.get("spec")?.to_string()));
        let input = self.status.input_digest.as_deref().unwrap_or_default();
        let parts = [input, &annotations, spec.as_deref().unwrap_or_default()];
        let mut digest = Digest::of_parts(parts.map(str::as_bytes)).hex();
        digest.truncate(COMPONENT_DIGEST);
        digest
    }

    /// Makes something of what is wanted, with the component's policies and with what a cluster serves.
    pub(super) fn with_options<T>(
        &self,
        resources: &Resources,
        make: impl FnOnce(&PrepareOptions<'_>) -> T,
    ) -> T {
        let policies = self.context.policies(self.component);
        make(&PrepareOptions {
            owner: &self.owner,
            namespace: self.target_namespace(),
            adopted: self.adopted_revision().is_some(),
            policies: &policies,
            component: &self.digest(),
            reapply: self.times.reapply,
            additional_types: self.component.additional_managed_types(),
            resources,
        })
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
        let outcome = if self.restarting {
            Outcome::Restarting
        } else {
            Outcome::Applying
        };
        self.status = project(self.status.clone(), &outcome, facts, &now());
        stored::write_status(self.component, self.context, self.memory, &self.status).await
    }

    async fn settle(
        &mut self,
        desired: &Desired,
        pending: &Pending,
    ) -> Result<Outcome, ReconcileError> {
        // A watch is the operator's own: none is begun for an account that has yet to show that it may do anything at all.
        let is_known = self
            .status
            .inventory
            .iter()
            .any(|item| !item.digest.is_empty());
        if is_known || self.identity.is_empty() {
            self.watch(desired, None).await?;
        }
        let wanted = self.context.policies(self.component);
        let mut checked = false;
        let mut written = HashSet::new();
        for _ in 0..MAX_ROUNDS {
            let mut observed = self.observe(desired, &written).await?;
            let due = self.due_hooks(pending);
            let policies = Policies {
                until_hooks: due.is_some_and(|due| due.before),
                create_namespaces: wanted.missing_namespaces.unwrap_or_default()
                    != MissingNamespacesPolicy::DoNotCreate,
                pruning: Pruning::new(wanted.prune.as_ref()),
                claimed: &self.target.cluster.claims.of_others(&self.owner),
                additional_types: self.component.additional_managed_types(),
                now: jiff::Timestamp::now(),
            };
            let mut plan = plan(desired, &self.status.inventory, &observed, &policies);
            self.claim(desired, &plan.refusals);
            if self.judge(&plan, desired, &observed).await? {
                continue;
            }
            self.restrain(&mut plan);
            if !plan.refusals.is_empty() {
                return Err(ReconcileError::Refused {
                    refusals: plan.refusals,
                    partly: self.has_applied(),
                });
            }
            if plan.steps.is_empty() {
                self.finish(desired, &observed, &[], &plan);
                self.date(&mut plan.waiting);
                if let Some(due) = due.filter(|_| plan.waiting.is_empty()) {
                    // What is refused stops an upgrade before its first hook.
                    if !std::mem::replace(&mut checked, true) && self.has_applied() {
                        self.check(desired, &observed).await?;
                    }
                    match self.run_due(due).await? {
                        None => continue,
                        Some(hook) => plan.waiting.push(hook),
                    }
                }
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
            self.tell_occupied(&changes).await;
            result?;
        }
        Err(ReconcileError::Rounds { rounds: MAX_ROUNDS })
    }

    /// Holds back what was put right too often lately, and notes when to look again.
    fn restrain(&mut self, plan: &mut Plan) {
        let (judged, now) = (&self.memory.judged, Instant::now());
        let what = |id: &ObjectId| judged.get(id).map(|known| known.what.clone());
        let pause = self.memory.corrections.restrain(plan, now, what);
        let left = plan.next_look.map(|look| {
            Duration::try_from(look.duration_since(jiff::Timestamp::now())).unwrap_or_default()
        });
        let next = pause.into_iter().chain(left).min();
        self.memory.next_look = next.and_then(|left| now.checked_add(left));
    }

    /// Whether anything was applied for the component yet.
    pub(super) fn has_applied(&self) -> bool {
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

    async fn check(&self, desired: &Desired, observed: &Observed) -> Result<(), ReconcileError> {
        let manager = self.owner.names().field_manager();
        check(desired, observed, &self.objects, manager).await
    }

    pub(super) fn executor(&self) -> Executor<'_> {
        Executor {
            objects: &self.objects,
            discovery: &self.target.cluster.discovery,
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
                    self.memory.live.remove(&change.id);
                    written.remove(&change.id);
                    self.memory.contested.insert(change.id.clone());
                }
                Written::Purged
                | Written::Deleted
                | Written::Released
                | Written::Occupied { .. } => {
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
        refresh(inventory, desired, observed, changes, plan, &now());
        for id in &plan.gone {
            self.memory.live.remove(id);
        }
        self.memory.corrections.count(changes, Instant::now());
        let is_applied = |change: &Change| matches!(change.outcome, Written::Applied { .. });
        if changes.iter().any(is_applied) {
            self.status.last_applied_at = Some(now());
        }
        self.hand_over(changes);
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
            .filter(|object| !object.unserved)
            .map(|object| Observable::of(object, unknown(&object.id)))
            .collect();
        let wanted: HashSet<_> = desired
            .objects
            .iter()
            .map(|object| object.id.clone())
            .collect();
        let resources = self.target.cluster.discovery.resources().await?;
        let mut unserved = Vec::new();
        for item in &self.status.inventory {
            let id = item.id();
            if wanted.contains(&id) {
                continue;
            }
            // A kind that is no longer served has no objects left, unless it should be.
            if let Some(resource) = served(&resources, &item.key()) {
                targets.push(Observable {
                    dispensable: self.is_dispensable(item, resource),
                    ..Observable::new(id, resource.clone())
                });
            } else if !item.digest.is_empty() {
                unserved.push(item.key());
            }
        }
        let reader = Observer {
            objects: &self.objects,
            watches: &self.target.cluster.watches,
            owner: &self.owner,
        };
        let mut observed = reader
            .observe(targets, &mut self.memory.live, written)
            .await?;
        // What the cluster serves is the operator's own business, as discovery is.
        let own = self.target.cluster.identities.objects("", None)?;
        observed.unavailable = unavailable(&own, unserved).await?;
        if !observed.unavailable.is_empty() {
            // The next look is a new one.
            self.target.cluster.discovery.forget().await;
        }
        // The namespace of the component itself is there, but maybe not on another cluster.
        observed.missing_namespaces =
            find_missing_namespaces(&self.objects, desired, &observed, self.own_namespace())
                .await?;
        Ok(observed)
    }

    /// Watches the kinds of all dependents. A kind that the component defines itself is watched once it has objects: a watch on a
    /// kind that is not served yet would only fail and back off.
    pub(super) async fn watch(
        &self,
        desired: &Desired,
        observed: Option<&Observed>,
    ) -> Result<(), ReconcileError> {
        let resources = self.target.cluster.discovery.resources().await?;
        let exists = |id: &ObjectId| observed.is_some_and(|o| o.objects.contains_key(id));
        let mut kinds: BTreeSet<Resource> = desired
            .objects
            .iter()
            .filter(|object| !object.unserved && (!object.defined || exists(&object.id)))
            .map(|object| object.resource.clone())
            .collect();
        kinds.extend(self.hook_kinds.iter().cloned());
        let recorded = self
            .status
            .inventory
            .iter()
            .filter_map(|item| served(&resources, &item.key()));
        kinds.extend(recorded.cloned());
        self.target
            .cluster
            .watches
            .require(&(self.namespace.clone(), self.component.name_any()), &kinds);
        Ok(())
    }

    /// Whether objects are applied on the component's own cluster.
    pub(super) fn is_local(&self) -> bool {
        Arc::ptr_eq(&self.target.cluster, &self.context.local)
    }

    /// The component's own namespace where the objects are applied; empty on another cluster.
    pub(super) fn own_namespace(&self) -> &str {
        if self.is_local() { &self.namespace } else { "" }
    }

    pub(super) fn target_namespace(&self) -> &str {
        let target = self.component.target_namespace();
        target.unwrap_or(&self.namespace)
    }
}

/// Has the API server look at every change before the first write.
pub(super) async fn check(
    desired: &Desired,
    observed: &Observed,
    objects: &Objects,
    manager: &str,
) -> Result<(), ReconcileError> {
    let mut refused = preflight(desired, observed, objects, manager).await;
    let recreated = |id: &ObjectId| {
        let mut objects = desired.objects.iter();
        objects.any(|o| o.id == *id && o.immutable == ImmutablePolicy::Recreate)
    };
    // Those will be deleted and created anew.
    refused.retain(|(id, error)| !(error.is_immutable() && recreated(id)));
    if refused.is_empty() {
        Ok(())
    } else {
        Err(ReconcileError::Preflight { objects: refused })
    }
}
