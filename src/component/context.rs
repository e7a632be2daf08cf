//! What all reconciliations share.

use super::identity::Identities;
use super::memory::Memories;
use super::render::Renderer;
use crate::cluster::{ComponentName, Discovery, LookupWatches, Watches};
use crate::dependents::OwnerScope;
use crate::events::Events;
use crate::metrics::{ControllerMetrics, Metrics};
use crate::source::Fetcher;
use kube::Client;
use std::collections::{BTreeMap, BTreeSet};

/// What all reconciliations of an operator share.
#[derive(Debug)]
pub(crate) struct Context {
    /// The operator's own client: components, their status and finalizers, events.
    pub(crate) client: NamedClient,
    /// Clients of the identities that components act as.
    pub(crate) identities: Identities,
    /// What all owner ids begin with.
    pub(crate) owners: OwnerScope,
    /// What the cluster serves.
    pub(crate) discovery: Discovery,
    /// Watches of dependents.
    pub(crate) watches: Watches,
    /// Watches of what templates looked up.
    pub(crate) lookup_watches: LookupWatches,
    /// Watches of what variables come from.
    pub(crate) variable_watches: LookupWatches,
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
    /// Stops watching anything on behalf of a component.
    pub(crate) fn release(&self, component: &ComponentName) {
        self.watches.require(component, &BTreeSet::new());
        for watches in [&self.lookup_watches, &self.variable_watches] {
            watches.require(component, &self.client.0, BTreeMap::new());
        }
    }

    /// Forgets a component that is gone, or that another shard has now.
    pub(crate) fn forget(&self, uid: &str, component: &ComponentName) {
        self.memories.forget(uid);
        self.metrics.forget(uid);
        self.release(component);
    }
}

/// A client that can be printed.
#[derive(Clone)]
pub(crate) struct NamedClient(pub(crate) Client);

impl std::fmt::Debug for NamedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}
