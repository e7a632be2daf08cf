//! The operator: everything that runs between a kubeconfig and a signal to stop.

use crate::api::v1alpha1 as api;
use crate::cluster::{ComponentName, Discovery, FlowControl, LookupWatches, Watches, connect};
use crate::component::{
    Component, Context, Identities, Memories, NamedClient, Renderer, reconcile,
};
use crate::controllers::run_components;
use crate::dependents::{Names, OwnerScope};
use crate::events::Events;
use crate::http::{AdminServer, ListenError, Readiness};
use crate::inflate::SourceCharts;
use crate::lease::{Candidate, Leadership, LeaseError, LeaseOptions};
use crate::metrics::Metrics;
use crate::source::{FetchOptions, Fetcher, SourceError};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, Config, ResourceExt};
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;
use whipstaff_generator::{Limits, Registry};

/// Reconciliations that run at the same time when nothing else is said.
const DEFAULT_CONCURRENCY: u16 = 8;
/// Name of the controller in metrics and events when nothing else is said.
const CONTROLLER: &str = "whipstaff";

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
            leader_election: None,
        }
    }
}

/// The generators that come with Whipstaff, in the order in which files are shown to them.
pub fn default_generators() -> Registry {
    let mut registry = Registry::new();
    registry.register(Arc::new(whipstaff_helm::HelmGenerator));
    let kustomize =
        whipstaff_kustomize::KustomizeGenerator::new().with_charts(Arc::new(SourceCharts));
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
/// Needs the same rights as [`run_operator`], on this kind.
///
/// # Errors
/// [`OperatorError`] when it cannot start, or lost its lease: the process should then end.
pub async fn run_operator_for<C: Component>(
    config: Config,
    options: OperatorOptions,
    stop: CancellationToken,
) -> Result<(), OperatorError> {
    let metrics = Metrics::new();
    let readiness = Readiness::new();
    let servers = AdminServer::bind_all(
        options
            .metrics_address
            .map(|address| (address, metrics.clone())),
        options
            .health_address
            .map(|address| (address, readiness.clone())),
    )
    .await?;
    let after = CancellationToken::new();
    let serving: Vec<_> = servers
        .into_iter()
        .map(|server| tokio::spawn(server.run(after.clone())))
        .collect();
    let result = match options.leader_election.clone() {
        None => Box::pin(work::<C>(config, options, metrics, readiness, stop)).await,
        Some(lease) => {
            // Not under flow control: whatever else has to wait, the lease is renewed in time.
            let client = Client::try_from(config.clone());
            let client = client.map_err(|error| OperatorError::Client(Box::new(error)))?;
            let candidate = Candidate::new(client, lease)?;
            // A replica that waits for the lease is ready: its turn may come at any time.
            readiness.set(true);
            match candidate.acquire(&stop).await {
                None => Ok(()),
                Some(leadership) => {
                    let work = Box::pin(work::<C>(config, options, metrics, readiness, stop));
                    while_leading(leadership, work).await
                }
            }
        }
    };
    after.cancel();
    futures::future::join_all(serving).await;
    result
}

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

async fn work<C: Component>(
    config: Config,
    options: OperatorOptions,
    metrics: Metrics,
    readiness: Readiness,
    stop: CancellationToken,
) -> Result<(), OperatorError> {
    let concurrency = options.concurrency;
    let renderer = Renderer::new(options.generators, options.limits);
    let (context, woken) = context::<C>(config, &options.name, renderer, metrics).await?;
    let shard = shard_selector(context.owners.names(), options.shard.as_deref());
    readiness.set(true);
    tracing::info!("operator started");
    run_components::<C>(Arc::new(context), woken, &shard, concurrency, stop).await;
    readiness.set(false);
    tracing::info!("operator stopped");
    Ok(())
}

/// Every component is in exactly one shard: the one that its label names, or the one of those without the label.
fn shard_selector(names: &Names, shard: Option<&str>) -> String {
    let label = names.key("shard");
    match shard {
        Some(name) => format!("{label}={name}"),
        None => format!("!{label}"),
    }
}

/// Reconciles single components, without a watch loop: for programs that have a loop of their own.
#[derive(Debug)]
pub struct Reconciler<C = api::Component> {
    context: Arc<Context>,
    kind: PhantomData<fn() -> C>,
}

impl<C> Clone for Reconciler<C> {
    fn clone(&self) -> Self {
        Self {
            context: Arc::clone(&self.context),
            kind: PhantomData,
        }
    }
}

impl<C: Component> Reconciler<C> {
    /// A reconciler on the cluster of a configuration.
    ///
    /// # Errors
    /// [`OperatorError`] when no client can be made or the cluster cannot be identified.
    pub async fn new(config: Config, generators: Registry) -> Result<Self, OperatorError> {
        let renderer = Renderer::new(generators, Limits::default());
        let metrics = Metrics::new();
        let (context, _) = context::<C>(config, CONTROLLER, renderer, metrics).await?;
        Ok(Self {
            context: Arc::new(context),
            kind: PhantomData,
        })
    }

    /// Reconciles a component once and reports in its status. Gives the time after which to come again, or nothing when only a
    /// change of the component is worth it. What is remembered of the component makes the next run cheap.
    pub async fn reconcile(&self, component: C) -> Option<Duration> {
        reconcile(Arc::new(component), Arc::clone(&self.context)).await
    }
}

/// What the reconciliations of a kind share, and the names of components that should be reconciled again.
async fn context<C: Component>(
    config: Config,
    controller: &str,
    renderer: Renderer,
    metrics: Metrics,
) -> Result<(Context, UnboundedReceiver<ComponentName>), OperatorError> {
    let flow = FlowControl::counted(metrics.clone());
    let client = connect(config.clone(), &flow);
    let client = client.map_err(|error| OperatorError::Client(Box::new(error)))?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let cluster = namespaces.get("kube-system").await;
    let cluster = cluster.map_err(|error| OperatorError::Cluster(Box::new(error)))?;
    let cluster = cluster.uid().unwrap_or_default();
    let owners = OwnerScope::new(Names::shared(), &cluster, &C::kind(&()), &C::group(&()));
    let (wake, woken) = tokio::sync::mpsc::unbounded_channel();
    let context = Context {
        identities: Identities::new(config, client.clone(), flow),
        discovery: Discovery::new(client.clone()),
        watches: Watches::new(client.clone(), owners.clone(), wake.clone()),
        lookup_watches: LookupWatches::new(wake.clone()),
        variable_watches: LookupWatches::new(wake),
        fetcher: Fetcher::new(FetchOptions::default()).map_err(OperatorError::Fetcher)?,
        renderer,
        memories: Memories::default(),
        events: Events::new(client.clone(), controller, None),
        reconciliations: metrics.controller(controller),
        client: NamedClient(client),
        owners,
        metrics,
    };
    Ok((context, woken))
}
