//! The clusters that objects are applied on.

use super::identity::{Identities, IdentityError};
use super::kubeconfig::{KubeConfigError, read_config};
use crate::cluster::{
    ComponentName, Discovery, FlowControl, LookupWatches, Objects, Watches, connect,
};
use crate::dependents::{ClaimBook, Claims, OwnerScope};
use crate::metrics::Metrics;
use kube::Client;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::mpsc::UnboundedSender;
use whipstaff_generator::Digest;

/// Most clusters behind kubeconfigs that are remembered; those that nobody uses any more are forgotten first.
const MAX_CLUSTERS: usize = 256;

/// One API server that objects are applied on, with what is known of it.
pub(crate) struct Cluster {
    /// Clients by identity.
    pub(crate) identities: Identities,
    /// What it serves.
    pub(crate) discovery: Discovery,
    /// Watches of dependents.
    pub(crate) watches: Watches,
    /// Objects that components ask each other for.
    pub(crate) claims: Claims,
    /// Watches of what templates looked up.
    pub(crate) lookup_watches: LookupWatches,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

impl Cluster {
    /// A cluster by what is shared of it. Components whose dependents changed are sent to `wake`.
    pub(crate) fn new(
        identities: Identities,
        discovery: Discovery,
        watches: Watches,
        claims: Claims,
        wake: &UnboundedSender<ComponentName>,
    ) -> Self {
        Self {
            identities,
            discovery,
            watches,
            claims,
            lookup_watches: LookupWatches::new(wake.clone()),
        }
    }

    /// Watches nothing any more for a component.
    pub(crate) fn forget(&self, component: &ComponentName) -> Result<(), IdentityError> {
        self.watches.require(component, &BTreeSet::new());
        let client = self.identities.client("", None)?;
        self.lookup_watches
            .require(component, &client, BTreeMap::new());
        Ok(())
    }
}

/// The cluster that a component's objects are applied on, and how it is reached.
#[derive(Clone)]
pub(crate) struct Target {
    /// The cluster.
    pub(crate) cluster: Arc<Cluster>,
    /// A client under the component's identity there.
    pub(crate) client: Client,
    /// Requests under this identity.
    pub(crate) objects: Objects,
    /// The identity as a key of shared watches: empty for the one that the cluster is reached with.
    pub(crate) identity: String,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}

impl Target {
    /// A service account of a namespace on a cluster, or whom the cluster is reached as.
    pub(crate) fn new(
        cluster: &Arc<Cluster>,
        namespace: &str,
        account: Option<&str>,
    ) -> Result<Self, IdentityError> {
        let client = cluster.identities.client(namespace, account)?;
        Ok(Self {
            cluster: Arc::clone(cluster),
            objects: Objects::new(client.clone()),
            client,
            identity: account
                .map(|account| format!("{namespace}/{account}"))
                .unwrap_or_default(),
        })
    }
}

/// Clusters behind kubeconfigs, each once for as long as a component uses it.
pub(crate) struct Clusters {
    owners: OwnerScope,
    claims: ClaimBook,
    wake: UnboundedSender<ComponentName>,
    metrics: Metrics,
    known: Mutex<HashMap<Digest, Weak<Cluster>>>,
}

impl std::fmt::Debug for Clusters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clusters").finish_non_exhaustive()
    }
}

impl Clusters {
    /// Components whose dependents changed on one of the clusters are sent to `wake`.
    pub(crate) fn new(
        owners: OwnerScope,
        claims: ClaimBook,
        wake: UnboundedSender<ComponentName>,
        metrics: Metrics,
    ) -> Self {
        Self {
            owners,
            claims,
            wake,
            metrics,
            known: Mutex::default(),
        }
    }

    /// The cluster of a kubeconfig.
    pub(crate) async fn get(&self, kubeconfig: &[u8]) -> Result<Arc<Cluster>, KubeConfigError> {
        let key = Digest::of(kubeconfig);
        if let Some(known) = self.known().get(&key).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let config = read_config(kubeconfig).await?;
        let flow = FlowControl::counted(self.metrics.clone());
        let client = connect(config.clone(), &flow)
            .map_err(|cause| KubeConfigError::Client(Box::new(cause)))?;
        let discovery = Discovery::new(client.clone());
        let mut known = self.known();
        // Another component may have been faster.
        if let Some(other) = known.get(&key).and_then(Weak::upgrade) {
            return Ok(other);
        }
        if known.len() >= MAX_CLUSTERS {
            known.retain(|_, cluster| cluster.strong_count() > 0);
        }
        let identities = Identities::new(config, client.clone(), flow);
        let watches = Watches::new(client, self.owners.clone(), self.wake.clone());
        let claims = Claims::new(&self.claims, &key.hex(), self.wake.clone());
        let cluster = Cluster::new(identities, discovery, watches, claims, &self.wake);
        let cluster = Arc::new(cluster);
        known.insert(key, Arc::downgrade(&cluster));
        Ok(cluster)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Digest, Weak<Cluster>>> {
        // Nothing that holds the lock can leave the map half changed.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
