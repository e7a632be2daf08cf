//! What all reconciliations share.

use super::dependencies::Graph;
use super::memory::Memories;
use super::place::{Cluster, Clusters};
use super::render::Renderer;
use super::resource::Component;
use crate::api::v1alpha1::Policies;
use crate::cluster::{ComponentName, LookupWatches};
use crate::dependents::OwnerScope;
use crate::events::Events;
use crate::metrics::{ControllerMetrics, Metrics};
use crate::source::Fetcher;
use kube::Client;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What all reconciliations of an operator share.
#[derive(Debug)]
pub(crate) struct Context {
    /// The operator's own client: components, their status and finalizers, events.
    pub(crate) client: NamedClient,
    /// The cluster of the components.
    pub(crate) local: Arc<Cluster>,
    /// Other clusters that objects are applied on.
    pub(crate) clusters: Clusters,
    /// What holds for components that say nothing else.
    pub(crate) defaults: Defaults,
    /// Which components depend on which.
    pub(crate) graph: Graph,
    /// What all owner ids begin with.
    pub(crate) owners: OwnerScope,
    /// Watches of what variables come from.
    pub(crate) variable_watches: LookupWatches,
    /// Watches of what components refer to.
    pub(crate) reference_watches: LookupWatches,
    /// Watches of what components depend on.
    pub(crate) dependency_watches: LookupWatches,
    /// Watches of the records of releases that components take over.
    pub(crate) release_watches: LookupWatches,
    /// Fetches sources.
    pub(crate) fetcher: Fetcher,
    /// Compiles and renders.
    pub(crate) renderer: Renderer,
    /// What is remembered of each component.
    pub(crate) memories: Memories,
    /// Publishes events.
    pub(crate) events: Events,
    /// Counts operations.
    pub(crate) metrics: Metrics,
    /// Counts reconciliations.
    pub(crate) reconciliations: ControllerMetrics,
}

impl Context {
    /// Stops watching anything on behalf of a component, whose objects may be on another cluster.
    pub(crate) fn release(&self, component: &ComponentName, other: Option<&Cluster>) {
        for cluster in std::iter::once(&*self.local).chain(other) {
            if let Err(error) = cluster.forget(component) {
                tracing::debug!(%error, "watches are not released");
            }
        }
        let watches = [
            &self.variable_watches,
            &self.reference_watches,
            &self.dependency_watches,
            &self.release_watches,
        ];
        for watches in watches {
            watches.require(component, &self.client.0, BTreeMap::new());
        }
    }

    /// Forgets a component that is gone, or that another shard has now.
    pub(crate) fn forget(&self, uid: &str, component: &ComponentName) {
        let memory = self.memories.forget(uid);
        self.metrics.forget(uid);
        self.release(
            component,
            memory.and_then(|memory| memory.cluster).as_deref(),
        );
    }

    /// The service account that a component acts as, if it is not the operator itself.
    pub(crate) fn account<'a, C: Component>(&'a self, component: &'a C) -> Option<&'a str> {
        let own = component.service_account_name();
        own.or(self.defaults.service_account.as_deref())
    }

    /// The policies of a component.
    pub(crate) fn policies<C: Component>(&self, component: &C) -> Policies {
        component.policies().or(&self.defaults.policies)
    }
}

/// What holds for components that say nothing else.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defaults {
    /// Service account in a component's namespace that everything is read and written as.
    pub(crate) service_account: Option<String>,
    /// Policies.
    pub(crate) policies: Policies,
    /// Between looks at the source.
    pub(crate) interval: Option<Duration>,
    /// Longest between retries.
    pub(crate) retry_interval: Option<Duration>,
    /// Until objects must be ready.
    pub(crate) timeout: Option<Duration>,
}

/// A client that can be printed.
#[derive(Clone)]
pub(crate) struct NamedClient(pub(crate) Client);

impl std::fmt::Debug for NamedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}
