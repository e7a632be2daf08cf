//! Objects without a custom resource: an inventory goes in, changes come out, and the caller keeps the inventory.

use super::context::NamedClient;
use super::error::ReconcileError;
use super::judging::{Verdict, claim, drifted, hand_over, verdict};
use super::namespaces::{find_missing_namespaces, want_namespaces};
use super::reconcile::now;
use super::run::{MAX_ROUNDS, check};
use crate::api::v1alpha1::{InventoryItem, MissingNamespacesPolicy, Policies, TypePattern};
use crate::cluster::{Discovery, FlowControl, Objects, Watches, connect};
use crate::dependents::{
    Change, ClaimBook, Claims, Desired, Executor, IfUnseen, Names, Observed, Observer, Outcome,
    OwnerId, OwnerScope, Plan, Policies as PlanPolicies, PrepareError, PrepareOptions, Pruning,
    Target, plan, plan_deletion, prepare, refresh, served, unavailable, with_desired,
};
use crate::metrics::Metrics;
use crate::operator::OperatorError;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Config, ResourceExt};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use whipstaff_generator::{Generated, ObjectId};

/// Applies sets of objects and removes them again, without any custom resource.
///
/// It keeps nothing: what it owns stands in an inventory that the caller stores after each call, whatever came of it, and gives to the
/// next one. Nothing is created that does not stand in an inventory of an earlier call, so that a process that dies loses nothing.
///
/// ```no_run
/// use whipstaff::generator::{Generated, Object};
/// use whipstaff::ObjectReconciler;
///
/// # async fn example(config: kube::Config) -> Result<(), Box<dyn std::error::Error>> {
/// let map = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"}});
/// let mut objects = Generated::default();
/// objects.objects.push(Object::from_value(map)?, "shop.yaml");
///
/// let reconciler = ObjectReconciler::connect("shop.example.org", config).await?;
/// let mut inventory = Vec::new();
/// loop {
///     let set = reconciler.apply("shop", "default", &objects, &mut inventory).await?;
///     std::fs::write("inventory.json", serde_json::to_string(&inventory)?)?;
///     if set.is_done() {
///         break;
///     }
///     for waiting in &set.waiting {
///         println!("waiting for {waiting}");
///     }
///     tokio::time::sleep(std::time::Duration::from_secs(1)).await;
/// }
/// # Ok(())
/// # }
/// ```
pub struct ObjectReconciler {
    client: NamedClient,
    objects: Objects,
    discovery: Discovery,
    /// Nothing is watched through it: everything is read.
    watches: Watches,
    owners: OwnerScope,
    metrics: Metrics,
    /// What sets ask each other for.
    claims: Claims,
    policies: Policies,
    additional_types: Vec<TypePattern>,
}

impl fmt::Debug for ObjectReconciler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReconciler")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// What one call did, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ChangeSet {
    /// Objects that were written, in order.
    pub changes: Vec<ObjectChange>,
    /// Objects that were added to the inventory, and that the next call writes.
    pub recorded: usize,
    /// Objects that must get ready or go away, with the reason.
    pub waiting: Vec<String>,
    /// Objects that somebody changed and that are left so, with the fields; the inventory has it as long as it holds.
    pub drifted: Vec<String>,
}

impl ChangeSet {
    /// Whether everything is as it should be: nothing was written, and nothing is waited for.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.recorded == 0
    }
}

/// A write that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectChange {
    /// The object.
    pub id: ObjectId,
    /// What was done.
    pub action: ObjectAction,
    /// Why, as a sentence about the object.
    pub reason: String,
}

/// What was done with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectAction {
    /// It was applied.
    Applied,
    /// It was deleted.
    Deleted,
    /// Our marks were removed from it, and it stays.
    Released,
}

/// Why objects could not be applied or removed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ObjectsError(Box<ReconcileError>);

impl<E: Into<ReconcileError>> From<E> for ObjectsError {
    fn from(error: E) -> Self {
        Self(Box::new(error.into()))
    }
}

impl ObjectsError {
    /// Whether the same call may succeed although nobody changes anything.
    pub fn is_transient(&self) -> bool {
        use crate::class::Class;
        matches!(self.0.class(), Class::Transient | Class::NotReady)
    }
}

impl ObjectReconciler {
    /// A reconciler with a name, as that of a [`Reconciler`](crate::Reconciler), on the cluster of a configuration.
    ///
    /// # Errors
    /// [`OperatorError`] when the name is none, no client can be made or the cluster cannot be identified.
    pub async fn connect(name: &str, config: Config) -> Result<Self, OperatorError> {
        let names = Arc::new(Names::new(name)?);
        let client = connect(config, &FlowControl::default())
            .map_err(|error| OperatorError::Client(Box::new(error)))?;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let cluster = namespaces.get("kube-system").await;
        let cluster = cluster.map_err(|error| OperatorError::Cluster(Box::new(error)))?;
        let cluster = cluster.uid().unwrap_or_default();
        let owners = OwnerScope::new(names, &cluster, "Objects", "");
        let (wake, _) = tokio::sync::mpsc::unbounded_channel();
        Ok(Self {
            objects: Objects::new(client.clone()),
            discovery: Discovery::new(client.clone()),
            claims: Claims::new(&ClaimBook::default(), "", wake.clone()),
            watches: Watches::new(client.clone(), owners.clone(), wake),
            client: NamedClient(client),
            owners,
            metrics: Metrics::new(),
            policies: Policies::default(),
            additional_types: Vec::new(),
        })
    }

    /// What may be done to objects: the same as for components. Sets of one reconciler hand objects over to each other as components
    /// do: who was refused an object gets it when its owner no longer wants it.
    #[must_use]
    pub fn policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// Kinds whose objects need those that are applied, beside those that they serve.
    #[must_use]
    pub fn additional_managed_types(mut self, types: Vec<TypePattern>) -> Self {
        self.additional_types = types;
        self
    }

    /// Brings the cluster towards a set of objects, and removes what stands in the inventory and not among them.
    ///
    /// Hooks among them are left out: what ran and what did not is kept in the status of a custom resource.
    ///
    /// The first call with new objects only records them. `owner` tells sets apart that share a namespace; it must stay the same, and
    /// so must `namespace`, which namespaced objects without one get.
    ///
    /// # Errors
    /// [`ObjectsError`] when objects are refused or the cluster fails. The inventory is to be stored all the same.
    pub async fn apply(
        &self,
        owner: &str,
        namespace: &str,
        objects: &Generated,
        inventory: &mut Vec<InventoryItem>,
    ) -> Result<ChangeSet, ObjectsError> {
        let owner = OwnerId::new(&self.owners, namespace, owner);
        let mut desired = self.desired(&owner, namespace, objects).await?;
        if self.policies.missing_namespaces == Some(MissingNamespacesPolicy::CreateAndRemove) {
            let unknown = |_: &ObjectId| false;
            want_namespaces(&self.objects, &owner, &mut desired, inventory, "", unknown).await?;
        }
        let known = inventory.len();
        let (recorded, added) = with_desired(inventory, &desired, &now());
        *inventory = recorded;
        let mut set = ChangeSet::default();
        if added {
            set.recorded = inventory.len() - known;
            return Ok(set);
        }
        let mut checked = false;
        for _ in 0..MAX_ROUNDS {
            let mut observed = self.observe(&owner, &desired, inventory).await?;
            let missing = find_missing_namespaces(&self.objects, &desired, &observed, "").await?;
            observed.missing_namespaces = missing;
            let policies = PlanPolicies {
                create_namespaces: self.policies.missing_namespaces.unwrap_or_default()
                    != MissingNamespacesPolicy::DoNotCreate,
                pruning: Pruning::new(self.policies.prune.as_ref()),
                claimed: &self.claims.of_others(&owner),
                additional_types: &self.additional_types,
                until_hooks: false,
                now: jiff::Timestamp::now(),
            };
            let plan = plan(&desired, inventory, &observed, &policies);
            let name = (namespace.to_owned(), owner.annotation().to_owned());
            claim(&self.claims, &owner, &name, &desired, &plan.refusals);
            let judged = self.judge(&owner, &plan, &desired).await?;
            let drifted = accept(inventory, &judged);
            if !drifted.is_empty() {
                set.drifted.extend(drifted.into_iter().flatten());
                continue;
            }
            if !plan.refusals.is_empty() {
                let refusals = plan.refusals;
                let partly = inventory.iter().any(|item| !item.digest.is_empty());
                return Err(ReconcileError::Refused { refusals, partly }.into());
            }
            if plan.steps.is_empty() {
                refresh(inventory, &desired, &observed, &[], &plan, &now());
                set.waiting = plan.waiting.iter().map(ToString::to_string).collect();
                return Ok(set);
            }
            if !std::mem::replace(&mut checked, true) {
                let manager = owner.names().field_manager();
                check(&desired, &observed, &self.objects, manager).await?;
            }
            let before = set.changes.len();
            self.execute(&owner, &plan, &desired, &mut observed, inventory, &mut set)
                .await?;
            let new = set.changes.iter_mut().skip(before);
            describe_corrections(new, &judged);
        }
        Err(ReconcileError::Rounds { rounds: MAX_ROUNDS }.into())
    }

    /// Removes everything that stands in the inventory. It is done when the inventory is empty.
    ///
    /// # Errors
    /// [`ObjectsError`] when the cluster fails, or something must not be deleted. The inventory is to be stored all the same.
    pub async fn delete(
        &self,
        owner: &str,
        namespace: &str,
        inventory: &mut Vec<InventoryItem>,
    ) -> Result<ChangeSet, ObjectsError> {
        self.is_deletion_allowed(owner, namespace, inventory)
            .await?;
        let owner = OwnerId::new(&self.owners, namespace, owner);
        let nothing = Desired::default();
        let name = (namespace.to_owned(), owner.annotation().to_owned());
        claim(&self.claims, &owner, &name, &nothing, &[]);
        let mut set = ChangeSet::default();
        for _ in 0..MAX_ROUNDS {
            let mut observed = self.observe(&owner, &nothing, inventory).await?;
            let plan = plan_deletion(
                inventory,
                &observed,
                &self.claims.of_others(&owner),
                &self.additional_types,
            );
            if plan.steps.is_empty() {
                refresh(inventory, &nothing, &observed, &[], &plan, &now());
                set.waiting = plan.waiting.iter().map(ToString::to_string).collect();
                return Ok(set);
            }
            self.execute(&owner, &plan, &nothing, &mut observed, inventory, &mut set)
                .await?;
        }
        Err(ReconcileError::Rounds { rounds: MAX_ROUNDS }.into())
    }

    /// Whether everything in the inventory may be removed now: definitions with instances of others may not.
    ///
    /// # Errors
    /// [`ObjectsError`] that says what is in the way, or that the cluster fails.
    pub async fn is_deletion_allowed(
        &self,
        owner: &str,
        namespace: &str,
        inventory: &[InventoryItem],
    ) -> Result<(), ObjectsError> {
        let owner = OwnerId::new(&self.owners, namespace, owner);
        let executor = self.executor(&owner);
        executor
            .check_foreign(inventory, &self.additional_types)
            .await?;
        Ok(())
    }

    async fn desired(
        &self,
        owner: &OwnerId,
        namespace: &str,
        objects: &Generated,
    ) -> Result<Desired, ReconcileError> {
        let with = |resources: &_| {
            let options = PrepareOptions {
                owner,
                namespace,
                adopted: false,
                policies: &self.policies,
                component: "",
                reapply: None,
                additional_types: &self.additional_types,
                resources,
            };
            prepare(objects, &options)
        };
        let resources = self.discovery.resources().await?;
        match with(&*resources) {
            Err(PrepareError::UnknownKind { .. }) => {
                let fresh = self.discovery.fresh_resources().await?;
                Ok(with(&*fresh)?)
            }
            other => Ok(other?),
        }
    }

    /// Looks at what others changed in objects that would be put right.
    async fn judge(
        &self,
        owner: &OwnerId,
        plan: &Plan,
        desired: &Desired,
    ) -> Result<Vec<Verdict>, ReconcileError> {
        let manager = owner.names().field_manager();
        let mut judged = Vec::new();
        for id in drifted(plan) {
            let mut wanted = desired.objects.iter();
            if let Some(object) = wanted.find(|object| object.id == id) {
                judged.extend(verdict(&self.objects, object, manager).await?);
            }
        }
        Ok(judged)
    }

    async fn observe(
        &self,
        owner: &OwnerId,
        desired: &Desired,
        inventory: &[InventoryItem],
    ) -> Result<Observed, ReconcileError> {
        let wanted = desired.objects.iter();
        let mut targets: Vec<_> = wanted.map(|o| Target::of(o, IfUnseen::Read)).collect();
        let wanted: HashSet<_> = desired.objects.iter().map(|object| &object.id).collect();
        let resources = self.discovery.resources().await?;
        let mut unserved = Vec::new();
        for item in inventory.iter().filter(|item| !wanted.contains(&item.id())) {
            // A kind that is no longer served has no objects left, unless it should be.
            match served(&resources, &item.key()) {
                Some(resource) => targets.push(Target::new(item.id(), resource.clone())),
                None if item.digest.is_empty() => {}
                None => unserved.push(item.key()),
            }
        }
        let reader = Observer {
            objects: &self.objects,
            watches: &self.watches,
            owner,
        };
        let mut known = HashMap::new();
        let mut observed = reader.observe(targets, &mut known, &HashSet::new()).await?;
        observed.unavailable = unavailable(&self.objects, unserved).await?;
        if !observed.unavailable.is_empty() {
            // The next look is a new one.
            self.discovery.forget().await;
        }
        Ok(observed)
    }

    fn executor<'a>(&'a self, owner: &'a OwnerId) -> Executor<'a> {
        Executor {
            objects: &self.objects,
            discovery: &self.discovery,
            owner,
            metrics: &self.metrics,
        }
    }

    async fn execute(
        &self,
        owner: &OwnerId,
        plan: &Plan,
        desired: &Desired,
        observed: &mut Observed,
        inventory: &mut Vec<InventoryItem>,
        set: &mut ChangeSet,
    ) -> Result<(), ReconcileError> {
        let mut changes = Vec::new();
        let executor = self.executor(owner);
        let result = executor.execute(&plan.steps, desired, &mut changes).await;
        for change in &changes {
            if let Outcome::Applied { live, .. } = &change.outcome {
                observed.objects.insert(change.id.clone(), (**live).clone());
            }
        }
        refresh(inventory, desired, observed, &changes, plan, &now());
        hand_over(&self.claims, &changes);
        set.changes.extend(changes.iter().filter_map(told));
        Ok(result?)
    }
}

/// Records the objects that are left as somebody changed them, and gives for each what is to be told of it if that is news.
fn accept(inventory: &mut [InventoryItem], judged: &[Verdict]) -> Vec<Option<String>> {
    let accepted = judged.iter().filter(|verdict| verdict.is_accepted);
    let told = accepted.filter_map(|verdict| {
        let mut items = inventory.iter_mut();
        let item = items.find(|item| item.id() == verdict.id)?;
        let is_news = verdict.record(item);
        Some(is_news.then(|| format!("{}: {}", verdict.id, verdict.what)))
    });
    told.collect()
}

/// Adds what was wrong to the reasons of corrections.
fn describe_corrections<'c>(
    changes: impl Iterator<Item = &'c mut ObjectChange>,
    judged: &[Verdict],
) {
    for change in changes {
        let mut judged = judged.iter().filter(|verdict| !verdict.what.is_empty());
        if let Some(verdict) = judged.find(|verdict| verdict.id == change.id) {
            change.reason.push_str(": ");
            change.reason.push_str(&verdict.what);
        }
    }
}

fn told(change: &Change) -> Option<ObjectChange> {
    Some(ObjectChange {
        id: change.id.clone(),
        action: match change.outcome {
            Outcome::Applied { .. } => ObjectAction::Applied,
            Outcome::Exists => return None,
            Outcome::Purged | Outcome::Deleted => ObjectAction::Deleted,
            Outcome::Released | Outcome::Occupied { .. } => ObjectAction::Released,
        },
        reason: change.reason.to_string(),
    })
}
