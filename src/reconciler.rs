//! What an operator does with one kind.

use crate::api::v1alpha1::{self as api, Policies};
use crate::cluster::{ComponentName, Discovery, FlowControl, LookupWatches, Watches, connect};
use crate::component::{
    Cluster, Clusters, Component, Context, Defaults, Graph, HookContext, HookError, Hooks,
    Identities, Memories, NamedClient, Point, Renderer, reconcile,
};
use crate::dependents::{ClaimBook, Claims, Names, OwnerScope};
use crate::events::Events;
use crate::metrics::Metrics;
use crate::operator::{
    CONTROLLER, DEFAULT_CONCURRENCY, OperatorError, OperatorOptions, default_generators,
};
use crate::source::{FetchOptions, Fetcher};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, Config, ResourceExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use whipstaff_generator::{Limits, Registry};

/// What an operator does with the resources of one kind: who they act as, what holds when they say nothing else, and code of your own.
///
/// [`Operator::add`](crate::Operator::add) has it done for all of them, [`connect`](Self::connect) for single ones.
///
/// ```
/// use std::time::Duration;
/// use whipstaff::api::v1alpha1::{AdoptionPolicy, Component, Policies};
/// use whipstaff::{HookContext, HookError, Reconciler, Retriable};
///
/// async fn licensed(context: HookContext<Component>) -> Result<(), HookError> {
///     if context.component().metadata.labels.is_none() {
///         let error = Retriable::new("there is no licence yet").after(Duration::from_secs(5));
///         return Err(error.into());
///     }
///     context.set_condition("Licensed", true, "Found", "")?;
///     Ok(())
/// }
///
/// let mut policies = Policies::default();
/// policies.adoption = Some(AdoptionPolicy::Never);
/// let reconciler = Reconciler::<Component>::new("shop.example.org")
///     .policies(policies)
///     .service_account("deployer")
///     .interval(Duration::from_secs(300))
///     .concurrency(4)
///     .post_read(licensed)
///     .post_reconcile(|context: HookContext<Component>| async move {
///         println!("revision {}", context.revision());
///         Ok(())
///     });
/// # let _ = reconciler;
/// ```
#[derive(Debug)]
pub struct Reconciler<C = api::Component> {
    name: String,
    controller: String,
    generators: Registry,
    limits: Limits,
    defaults: Defaults,
    pub(crate) concurrency: u16,
    pub(crate) hooks: Arc<Hooks<C>>,
}

impl<C: Component> Reconciler<C> {
    /// A reconciler with a [name](crate::Names): a domain of yours that labels, annotations and the finalizer begin with, so that
    /// operators that know nothing of each other never meet. It must not change as long as there are objects of its.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            controller: C::kind(&()).to_lowercase(),
            generators: default_generators(),
            limits: Limits::default(),
            defaults: Defaults::default(),
            concurrency: DEFAULT_CONCURRENCY,
            hooks: Arc::default(),
        }
    }

    /// What options of an operator say of its only kind.
    pub(crate) fn of(options: &OperatorOptions) -> Self {
        Self {
            controller: options.name.clone(),
            generators: options.generators.clone(),
            limits: options.limits,
            concurrency: options.concurrency,
            defaults: Defaults {
                service_account: options.default_service_account.clone(),
                ..Defaults::default()
            },
            ..Self::default()
        }
    }

    /// Name of the controller in metrics and events. Default: the kind in lower case.
    #[must_use]
    pub fn controller(mut self, name: impl Into<String>) -> Self {
        self.controller = name.into();
        self
    }

    /// Generators that resources may use. Default: [`default_generators`].
    #[must_use]
    pub fn generators(mut self, generators: Registry) -> Self {
        self.generators = generators;
        self
    }

    /// What one rendering may use up. Default: far above what any known chart needs.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Reconciliations that run at the same time. Default 8.
    #[must_use]
    pub fn concurrency(mut self, concurrency: u16) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// Policies of resources that name none.
    #[must_use]
    pub fn policies(mut self, policies: Policies) -> Self {
        self.defaults.policies = policies;
        self
    }

    /// Service account in a resource's namespace that everything is read and written as when the resource names none. Default: the
    /// operator's own identity.
    #[must_use]
    pub fn service_account(mut self, name: impl Into<String>) -> Self {
        self.defaults.service_account = Some(name.into());
        self
    }

    /// How often files are looked at again when a resource does not say. Default: ten minutes.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.defaults.interval = Some(interval);
        self
    }

    /// Longest time between retries when a resource does not say. Default: a minute.
    #[must_use]
    pub fn retry_interval(mut self, interval: Duration) -> Self {
        self.defaults.retry_interval = Some(interval);
        self
    }

    /// How long objects may take to become ready when a resource does not say. Default: five minutes.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.defaults.timeout = Some(timeout);
        self
    }

    /// Runs code after a resource was read, before anything else: also before its deletion.
    #[must_use]
    pub fn post_read<F, T>(self, hook: F) -> Self
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.hook(Point::PostRead, hook)
    }

    /// Runs code after rendering, before anything is applied.
    #[must_use]
    pub fn pre_reconcile<F, T>(self, hook: F) -> Self
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.hook(Point::PreReconcile, hook)
    }

    /// Runs code whenever everything is applied and ready, before the resource becomes ready itself.
    #[must_use]
    pub fn post_reconcile<F, T>(self, hook: F) -> Self
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.hook(Point::PostReconcile, hook)
    }

    /// Runs code before objects of a resource that is deleted are deleted, each time that they are looked at.
    #[must_use]
    pub fn pre_delete<F, T>(self, hook: F) -> Self
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.hook(Point::PreDelete, hook)
    }

    /// Runs code when all objects of a resource that is deleted are gone, before the resource goes itself.
    #[must_use]
    pub fn post_delete<F, T>(self, hook: F) -> Self
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        self.hook(Point::PostDelete, hook)
    }

    fn hook<F, T>(mut self, point: Point, hook: F) -> Self
    where
        F: Fn(HookContext<C>) -> T + Send + Sync + 'static,
        T: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        let mut hooks = Arc::unwrap_or_clone(self.hooks);
        hooks.add(point, hook);
        self.hooks = Arc::new(hooks);
        self
    }

    /// A reconciler of single resources, without a watch loop: for programs that have a loop of their own.
    ///
    /// # Errors
    /// [`OperatorError`] when the name is none, no client can be made or the cluster cannot be identified.
    pub async fn connect(self, config: Config) -> Result<Connected<C>, OperatorError> {
        let shared = Shared::new(config, Metrics::new()).await?;
        let (wake, _) = tokio::sync::mpsc::unbounded_channel();
        Ok(Connected {
            hooks: Arc::clone(&self.hooks),
            context: Arc::new(self.context(&shared, &wake)?),
        })
    }

    /// What the reconciliations of this kind share. Resources that should be reconciled again are sent to `wake`.
    pub(crate) fn context(
        self,
        shared: &Shared,
        wake: &UnboundedSender<ComponentName>,
    ) -> Result<Context, OperatorError> {
        let client = &shared.client;
        let names = Arc::new(Names::new(&self.name)?);
        let owners = OwnerScope::new(names, &shared.cluster, &C::kind(&()), &C::group(&()));
        shared.graph.register::<C>(wake.clone());
        let local = Cluster::new(
            shared.identities.clone(),
            shared.discovery.clone(),
            shared.watches(&owners, wake),
            Claims::new(&shared.claims, "", wake.clone()),
            wake,
        );
        Ok(Context {
            local: Arc::new(local),
            clusters: Clusters::new(
                owners.clone(),
                shared.claims.clone(),
                wake.clone(),
                shared.metrics.clone(),
            ),
            defaults: self.defaults,
            graph: shared.graph.clone(),
            variable_watches: LookupWatches::new(wake.clone()),
            reference_watches: LookupWatches::new(wake.clone()),
            dependency_watches: LookupWatches::new(wake.clone()),
            release_watches: LookupWatches::new(wake.clone()),
            fetcher: Fetcher::new(FetchOptions::default()).map_err(OperatorError::Fetcher)?,
            renderer: Renderer::new(self.generators, self.limits),
            memories: Memories::default(),
            events: Events::new(client.clone(), &self.controller, None),
            reconciliations: shared.metrics.controller(&self.controller),
            metrics: shared.metrics.clone(),
            client: NamedClient(client.clone()),
            owners,
        })
    }
}

impl<C: Component> Default for Reconciler<C> {
    /// The name of Whipstaff's own: `whipstaff.dev`.
    fn default() -> Self {
        Self::new("whipstaff.dev").controller(CONTROLLER)
    }
}

/// Reconciles single resources. Cheap to clone; clones share what is remembered.
#[derive(Debug)]
pub struct Connected<C = api::Component> {
    context: Arc<Context>,
    hooks: Arc<Hooks<C>>,
}

impl<C> Clone for Connected<C> {
    fn clone(&self) -> Self {
        Self {
            context: Arc::clone(&self.context),
            hooks: Arc::clone(&self.hooks),
        }
    }
}

impl<C: Component> Connected<C> {
    /// Reconciles a resource once and reports in its status. Gives the time after which to come again, or nothing when only a
    /// change of the resource is worth it. What is remembered of the resource makes the next run cheap.
    pub async fn reconcile(&self, component: C) -> Option<Duration> {
        let (context, hooks) = (Arc::clone(&self.context), Arc::clone(&self.hooks));
        // A run holds much, and whoever waits for it need not.
        Box::pin(reconcile(Arc::new(component), context, hooks)).await
    }
}

/// What all kinds of an operator share.
pub(crate) struct Shared {
    client: Client,
    identities: Identities,
    discovery: Discovery,
    graph: Graph,
    claims: ClaimBook,
    metrics: Metrics,
    /// Watches of dependents by the name of the reconciler: it is in the label that they select by.
    watches: Mutex<HashMap<String, Watches>>,
    /// The UID of the cluster of the resources.
    cluster: String,
    pub(crate) shard: Option<String>,
}

impl Shared {
    pub(crate) async fn new(config: Config, metrics: Metrics) -> Result<Self, OperatorError> {
        let flow = FlowControl::counted(metrics.clone());
        let client = connect(config.clone(), &flow);
        let client = client.map_err(|error| OperatorError::Client(Box::new(error)))?;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let cluster = namespaces.get("kube-system").await;
        let cluster = cluster.map_err(|error| OperatorError::Cluster(Box::new(error)))?;
        Ok(Self {
            identities: Identities::new(config, client.clone(), flow),
            discovery: Discovery::new(client.clone()),
            graph: Graph::default(),
            claims: ClaimBook::default(),
            metrics,
            watches: Mutex::default(),
            cluster: cluster.uid().unwrap_or_default(),
            client,
            shard: None,
        })
    }

    /// The watches of dependents for one kind, shared with the other kinds of the same name.
    fn watches(&self, owners: &OwnerScope, wake: &UnboundedSender<ComponentName>) -> Watches {
        let name = owners.names().name().to_owned();
        // Nothing that holds the lock can leave the map half changed.
        let mut all = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(&name) {
            return known.join(owners.clone(), wake.clone());
        }
        let watches = Watches::new(self.client.clone(), owners.clone(), wake.clone());
        all.insert(name, watches.clone());
        watches
    }

    /// For the components of one shard.
    pub(crate) fn of_shard(mut self, shard: Option<String>) -> Self {
        self.shard = shard;
        self
    }
}
