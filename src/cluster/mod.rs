//! Talking to a cluster: what it serves, requests on single objects, and watches.

mod discovery;
mod flow;
mod lookup;
mod lookup_watches;
mod objects;
mod scopes;
mod watches;

pub(crate) use discovery::{Discovery, DiscoveryError, Resource, Resources};
pub(crate) use flow::{FlowControl, connect};
pub(crate) use lookup::{LookupError, answer};
pub(crate) use lookup_watches::{LookupWatches, Versions, WatchedQuestion};
pub(crate) use objects::{ApplyOptions, Objects, RequestError};
pub(crate) use scopes::is_cluster_scoped;
pub(crate) use watches::{ComponentName, Seen, Watches};
