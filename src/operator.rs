//! The operator: everything that runs between a kubeconfig and a signal to stop.

use crate::api::v1alpha1 as api;
use crate::cluster::ComponentName;
use crate::component::Component;
use crate::controllers::run_components;
use crate::dependents::{NameError, Names};
use crate::http::{AdminServer, ListenError, Readiness};
use crate::inflate::SourceCharts;
use crate::lease::{Candidate, Leadership, LeaseError, LeaseOptions};
use crate::metrics::Metrics;
use crate::reconciler::{Reconciler, Shared};
use crate::remote::Remote;
use crate::source::SourceError;
use futures::future::BoxFuture;
use kube::{Client, Config};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use whipstaff_generator::{Limits, Registry};
use whipstaff_kustomize::KustomizeGenerator;

/// Reconciliations that run at the same time when nothing else is said.
pub(crate) const DEFAULT_CONCURRENCY: u16 = 8;
/// Name of the controller in metrics and events when nothing else is said.
pub(crate) const CONTROLLER: &str = "whipstaff";

/// How an operator runs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OperatorOptions {
    /// Name of the controller in metrics and events. Default: `whipstaff`.
    pub name: String,
    /// Generators that components may use. Default: `helm`, `kustomize` and `directory`.
    pub generators: Registry,
    /// Reconciliations that run at the same time. Default 8.
    pub concurrency: u16,
    /// What one rendering may use up before it is stopped with an error. Default: far above what any known chart needs.
    pub limits: Limits,
    /// Where `/metrics` is served; nowhere by default.
    pub metrics_address: Option<SocketAddr>,
    /// Where `/healthz` and `/readyz` are served; nowhere by default.
    pub health_address: Option<SocketAddr>,
    /// Service account in a component's namespace that everything is read and written as when the component names none. Default: the
    /// operator's own identity.
    pub default_service_account: Option<String>,
    /// The shard whose components are reconciled: those with this value of the label `whipstaff.dev/shard`. By default those without
    /// the label.
    pub shard: Option<String>,
    /// The lease that one of several replicas must hold to work; none by default. Every shard needs one of its own.
    pub leader_election: Option<LeaseOptions>,
}

impl Default for OperatorOptions {
    fn default() -> Self {
        Self {
            name: CONTROLLER.to_owned(),
            generators: default_generators(),
            concurrency: DEFAULT_CONCURRENCY,
            limits: Limits::default(),
            metrics_address: None,
            health_address: None,
            shard: None,
            default_service_account: None,
            leader_election: None,
        }
    }
}

/// The generators that come with Whipstaff, in the order in which files are shown to them. What kustomizations name by address is
/// refused.
pub fn default_generators() -> Registry {
    generators(KustomizeGenerator::new())
}

/// The same, with files behind `http` and `https` and git repositories that kustomizations name by address.
///
/// They are fetched as the operator, whoever a component acts as, when a kustomization is built: whenever its files or options change.
/// A kustomization should name a commit or a digest, for a branch that moves changes nothing by itself.
///
/// # Errors
/// [`OperatorError::Fetcher`] when the HTTP client cannot be built.
pub fn default_generators_with_remote() -> Result<Registry, OperatorError> {
    let remote = Remote::for_components().map_err(OperatorError::Fetcher)?;
    Ok(generators(
        KustomizeGenerator::new().with_remote(Arc::new(remote)),
    ))
}

fn generators(kustomize: KustomizeGenerator) -> Registry {
    let mut registry = Registry::new();
    registry.register(Arc::new(whipstaff_helm::HelmGenerator));
    let kustomize = kustomize.with_charts(Arc::new(SourceCharts));
    registry.register(Arc::new(whipstaff_templates::TemplatedGenerator::new(
        kustomize,
    )));
    registry.register(Arc::new(whipstaff_directory::DirectoryGenerator));
    registry
}

/// Why an operator could not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OperatorError {
    /// The client could not be made.
    #[error("cannot make a client for the cluster")]
    Client(#[source] Box<kube::Error>),
    /// The cluster could not be identified.
    #[error("cannot read the namespace `kube-system`, whose UID identifies the cluster")]
    Cluster(#[source] Box<kube::Error>),
    /// A reconciler's name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The fetcher could not be made.
    #[error("cannot prepare fetching")]
    Fetcher(#[source] SourceError),
    /// An address could not be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The options of leader election cannot work.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// Another replica took over.
    #[error("the lease was lost: another replica leads now")]
    LeaseLost,
}

/// Runs the operator of [`api::v1alpha1::Component`](crate::api::v1alpha1::Component) until it is told to stop, or loses its lease.
///
/// Needs: get on the namespace `kube-system`; list, watch and patch on components and their status; create and patch on events; get,
/// create and delete on Secrets, for seeds;
/// get, create and update on leases with leader election; and whatever components bring, unless they name a service account, which
/// must then be impersonated.
///
/// # Errors
/// [`OperatorError`] when it cannot start, or lost its lease: the process should then end.
pub async fn run_operator(
    config: Config,
    options: OperatorOptions,
    stop: CancellationToken,
) -> Result<(), OperatorError> {
    run_operator_for::<api::Component>(config, options, stop).await
}

/// Runs an operator of a kind of your own until it is told to stop, or loses its lease. Its definition must be in the cluster.
///
/// Needs the same rights as [`run_operator`], on this kind. [`Operator`] runs several kinds, with hooks.
///
/// # Errors
/// [`OperatorError`] when it cannot start, or lost its lease: the process should then end.
pub async fn run_operator_for<C: Component>(
    config: Config,
    options: OperatorOptions,
    stop: CancellationToken,
) -> Result<(), OperatorError> {
    let reconciler = Reconciler::<C>::of(&options);
    let mut operator = Operator::new(config, options)?;
    operator.add(reconciler);
    operator.run(stop).await
}

type Work = Box<
    dyn FnOnce(Arc<Shared>, CancellationToken) -> BoxFuture<'static, Result<(), OperatorError>>
        + Send,
>;

/// An operator of one kind or several. They share connections, what is known of the cluster, metrics, and the graph of what depends on
/// what.
///
/// ```no_run
/// use tokio_util::sync::CancellationToken;
/// use whipstaff::api::v1alpha1::Component;
/// use whipstaff::{HookContext, HookError, Operator, OperatorOptions, Reconciler};
///
/// async fn announce(context: HookContext<Component>) -> Result<(), HookError> {
///     println!("{} is ready", context.target_name());
///     Ok(())
/// }
///
/// # async fn example(config: kube::Config) -> Result<(), Box<dyn std::error::Error>> {
/// let mut operator = Operator::new(config, OperatorOptions::default())?;
/// let trigger = operator.add(Reconciler::<Component>::new("shop.example.org").post_reconcile(announce));
/// tokio::spawn(async move { trigger.trigger("apps", "shop") });
/// operator.run(CancellationToken::new()).await?;
/// # Ok(())
/// # }
/// ```
pub struct Operator {
    config: Config,
    client: Client,
    options: OperatorOptions,
    metrics: Metrics,
    work: Vec<Work>,
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator")
            .field("options", &self.options)
            .field("kinds", &self.work.len())
            .finish_non_exhaustive()
    }
}

impl Operator {
    /// An operator without kinds. Of the options, those count that are not a [`Reconciler`]'s.
    ///
    /// # Errors
    /// [`OperatorError::Client`] when the configuration is unusable.
    pub fn new(config: Config, options: OperatorOptions) -> Result<Self, OperatorError> {
        let client = Client::try_from(config.clone())
            .map_err(|error| OperatorError::Client(Box::new(error)))?;
        Ok(Self {
            config,
            client,
            options,
            metrics: Metrics::new(),
            work: Vec::new(),
        })
    }

    /// Adds a kind, and gives what has single resources of it reconciled.
    pub fn add<C: Component>(&mut self, reconciler: Reconciler<C>) -> Trigger {
        let (wake, woken) = tokio::sync::mpsc::unbounded_channel();
        let trigger = Trigger { wake: wake.clone() };
        self.work.push(Box::new(move |shared, stop| {
            Box::pin(async move {
                let concurrency = reconciler.concurrency;
                let shard = shared.shard.clone();
                let hooks = Arc::clone(&reconciler.hooks);
                let context = Arc::new(reconciler.context(&shared, &wake)?);
                let shard = shard_selector(context.owners.names(), shard.as_deref());
                let channel = (wake, woken);
                run_components::<C>(context, hooks, channel, &shard, concurrency, stop).await;
                Ok(())
            })
        }));
        trigger
    }

    /// Runs until it is told to stop, or loses its lease.
    ///
    /// # Errors
    /// [`OperatorError`] when it cannot start, or lost its lease: the process should then end.
    pub async fn run(self, stop: CancellationToken) -> Result<(), OperatorError> {
        let readiness = Readiness::new();
        let options = &self.options;
        let metrics = options.metrics_address;
        let health = options.health_address;
        let servers = AdminServer::bind_all(
            metrics.map(|address| (address, self.metrics.clone())),
            health.map(|address| (address, readiness.clone())),
        )
        .await?;
        let after = CancellationToken::new();
        let serving: Vec<_> = servers
            .into_iter()
            .map(|server| tokio::spawn(server.run(after.clone())))
            .collect();
        let result = match options.leader_election.clone() {
            None => Box::pin(self.work(readiness, stop)).await,
            Some(lease) => {
                // This client is not under flow control: whatever else has to wait, the lease is renewed in time.
                let candidate = Candidate::new(self.client.clone(), lease)?;
                // A replica that waits for the lease is ready: its turn may come at any time.
                readiness.set(true);
                match candidate.acquire(&stop).await {
                    None => Ok(()),
                    Some(leadership) => {
                        while_leading(leadership, Box::pin(self.work(readiness, stop))).await
                    }
                }
            }
        };
        after.cancel();
        futures::future::join_all(serving).await;
        result
    }

    async fn work(
        self,
        readiness: Readiness,
        stop: CancellationToken,
    ) -> Result<(), OperatorError> {
        let shared = Shared::new(self.config, self.metrics).await?;
        let shared = Arc::new(shared.of_shard(self.options.shard));
        readiness.set(true);
        tracing::info!("operator started");
        let kinds = self.work.into_iter();
        let running = kinds.map(|work| work(Arc::clone(&shared), stop.clone()));
        let result = futures::future::try_join_all(running).await;
        readiness.set(false);
        tracing::info!("operator stopped");
        result.map(|_| ())
    }
}

/// Every component is in exactly one shard: the one that its label names, or the one of those without the label.
fn shard_selector(names: &Names, shard: Option<&str>) -> String {
    let label = names.key("shard");
    match shard {
        Some(name) => format!("{label}={name}"),
        None => format!("!{label}"),
    }
}

/// Has resources of a kind reconciled, whether anything changed or not. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Trigger {
    wake: UnboundedSender<ComponentName>,
}

impl Trigger {
    /// Has a resource reconciled as soon as possible. One that does not exist is passed over. It never waits.
    ///
    /// # Errors
    /// [`StoppedError`] when the operator has stopped.
    pub fn trigger(
        &self,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Result<(), StoppedError> {
        let name = (namespace.into(), name.into());
        self.wake.send(name).map_err(|_| StoppedError)
    }
}

/// The operator has stopped.
#[derive(Debug, thiserror::Error)]
#[error("the operator has stopped")]
pub struct StoppedError;

/// Works for as long as the lease is held. The lease is released when the work is over.
async fn while_leading(
    leadership: Leadership,
    work: impl Future<Output = Result<(), OperatorError>>,
) -> Result<(), OperatorError> {
    let done = CancellationToken::new();
    let release = done.clone();
    let holding = tokio::spawn(async move { leadership.hold(&release).await });
    tokio::pin!(holding);
    tokio::select! {
        result = work => {
            done.cancel();
            // Whether the release succeeded does not change the result: the lease expires anyway.
            let _ = holding.await;
            result
        }
        _ = &mut holding => Err(OperatorError::LeaseLost),
    }
}
