//! One metadata-only watch per kind of dependents, shared by all components.
//!
//! A watch keeps nothing of an object but its resource version and its owner. It tells when to look again; what there is to see is
//! read from the API server.

use super::Resource;
use crate::dependents::{Names, OwnerScope};
use futures::{StreamExt, stream::BoxStream};
use kube::api::{Api, DynamicObject};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;

/// Most kinds that are watched at once. Each watch holds a connection; kinds beyond are looked at once per interval.
const MAX_WATCHED_KINDS: usize = 200;

/// Namespace and name of a component.
pub(crate) type ComponentName = (String, String);

type Metadata = PartialObjectMeta<DynamicObject>;
type Events = BoxStream<'static, Result<watcher::Event<Metadata>, watcher::Error>>;

/// What a watch knows of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The kind is not watched, or its first list has not arrived.
    Unknown,
    /// No such object carries an owner label.
    Absent,
    /// The object exists in this resource version.
    At(u64),
}

/// The watches of all kinds that components own objects of, as the components of one kind see them.
#[derive(Clone)]
pub(crate) struct Watches {
    client: Client,
    names: Arc<Names>,
    /// The kind of component that this handle is for.
    route: usize,
    routes: Arc<Mutex<Vec<Route>>>,
    kinds: Arc<Mutex<HashMap<Resource, Kind>>>,
}

/// How components of one kind are told from others, and woken.
#[derive(Clone)]
struct Route {
    owners: OwnerScope,
    wake: UnboundedSender<ComponentName>,
}

/// A component and the route of its kind.
type Routed = (usize, ComponentName);

#[derive(Default)]
struct Kind {
    users: BTreeSet<Routed>,
    task: Option<AbortHandle>,
    listed: bool,
    objects: HashMap<(String, String), Entry>,
}

#[derive(Clone, PartialEq, Eq)]
struct Entry {
    version: u64,
    owner: Option<Routed>,
}

impl std::fmt::Debug for Watches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watches")
            .field("kinds", &self.kinds().len())
            .finish_non_exhaustive()
    }
}

impl Drop for Kind {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Watches {
    /// Watches through a client. Components whose dependents changed are sent to `wake`.
    pub(crate) fn new(
        client: Client,
        owners: OwnerScope,
        wake: UnboundedSender<ComponentName>,
    ) -> Self {
        Self {
            client,
            names: Arc::clone(owners.names()),
            route: 0,
            routes: Arc::new(Mutex::new(vec![Route { owners, wake }])),
            kinds: Arc::default(),
        }
    }

    /// The same watches for the components of another kind, whose reconciler has the same name.
    pub(crate) fn join(&self, owners: OwnerScope, wake: UnboundedSender<ComponentName>) -> Self {
        let mut routes = self.routes();
        routes.push(Route { owners, wake });
        Self {
            route: routes.len() - 1,
            ..self.clone()
        }
    }

    /// Says which kinds a component owns objects of: watches are started for new ones, and stopped when nobody needs them.
    pub(crate) fn require(&self, component: &ComponentName, wanted: &BTreeSet<Resource>) {
        let component = (self.route, component.clone());
        let mut kinds = self.kinds();
        kinds.retain(|resource, kind| {
            if !wanted.contains(resource) {
                kind.users.remove(&component);
            }
            !kind.users.is_empty()
        });
        for resource in wanted {
            if !kinds.contains_key(resource) && kinds.len() >= MAX_WATCHED_KINDS {
                tracing::warn!(kind = resource.kind, "too many kinds to watch this one too");
                continue;
            }
            let kind = kinds.entry(resource.clone()).or_default();
            kind.users.insert(component.clone());
            if kind.task.is_none() {
                kind.task = Some(self.start(resource.clone()));
            }
        }
    }

    /// What is known of an object.
    pub(crate) fn seen(&self, resource: &Resource, namespace: &str, name: &str) -> Seen {
        let kinds = self.kinds();
        let Some(kind) = kinds.get(resource).filter(|kind| kind.listed) else {
            return Seen::Unknown;
        };
        match kind.objects.get(&(namespace.to_owned(), name.to_owned())) {
            Some(entry) => Seen::At(entry.version),
            None => Seen::Absent,
        }
    }

    fn start(&self, resource: Resource) -> AbortHandle {
        let api = Api::<Metadata>::all_with(self.client.clone(), &resource.api_resource());
        let config = watcher::Config::default().labels(self.names.owner_key());
        let events = watcher(api, config).default_backoff().boxed();
        tokio::spawn(self.clone().follow(resource, events)).abort_handle()
    }

    async fn follow(self, resource: Resource, mut events: Events) {
        let mut listing = HashMap::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Init) => listing.clear(),
                Ok(watcher::Event::InitApply(object)) => {
                    listing.insert(name(&object), self.entry(&object));
                }
                Ok(watcher::Event::InitDone) => {
                    self.replace(&resource, std::mem::take(&mut listing));
                }
                Ok(watcher::Event::Apply(object)) => self.apply(&resource, &object),
                Ok(watcher::Event::Delete(object)) => self.delete(&resource, &object),
                Err(error) => {
                    tracing::debug!(kind = resource.kind, %error, "watch failed, trying again");
                }
            }
        }
    }

    fn replace(&self, resource: &Resource, listing: HashMap<(String, String), Entry>) {
        let mut changed = BTreeSet::new();
        if let Some(kind) = self.kinds().get_mut(resource) {
            kind.listed = true;
            let old = std::mem::replace(&mut kind.objects, listing);
            for (name, entry) in &old {
                if kind.objects.get(name) != Some(entry) {
                    changed.extend(entry.owner.clone());
                }
            }
            for (name, entry) in &kind.objects {
                if old.get(name) != Some(entry) {
                    changed.extend(entry.owner.clone());
                }
            }
        }
        for component in changed {
            self.wake(component);
        }
    }

    fn apply(&self, resource: &Resource, object: &Metadata) {
        let entry = self.entry(object);
        let mut woken = BTreeSet::new();
        woken.extend(entry.owner.clone());
        if let Some(kind) = self.kinds().get_mut(resource) {
            let old = kind.objects.insert(name(object), entry);
            woken.extend(old.and_then(|old| old.owner));
        }
        for component in woken {
            self.wake(component);
        }
    }

    fn delete(&self, resource: &Resource, object: &Metadata) {
        let old = match self.kinds().get_mut(resource) {
            Some(kind) => kind.objects.remove(&name(object)),
            None => None,
        };
        if let Some(component) = old.and_then(|old| old.owner) {
            self.wake(component);
        }
    }

    fn entry(&self, object: &Metadata) -> Entry {
        let owner = object.annotations().get(self.names.owner_key());
        Entry {
            version: object
                .resource_version()
                .and_then(|v| v.parse().ok())
                .unwrap_or(u64::MAX),
            owner: owner.and_then(|owner| self.owner(owner)),
        }
    }

    fn owner(&self, annotation: &str) -> Option<Routed> {
        let routes = self.routes();
        let mut found = routes.iter().enumerate();
        found.find_map(|(route, known)| Some((route, known.owners.component(annotation)?)))
    }

    fn wake(&self, (route, component): Routed) {
        if let Some(route) = self.routes().get(route) {
            // Fails only while the operator stops: then nobody is left to wake.
            let _ = route.wake.send(component);
        }
    }

    fn routes(&self) -> MutexGuard<'_, Vec<Route>> {
        // Nothing that holds the lock can leave the list half changed.
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kinds(&self) -> MutexGuard<'_, HashMap<Resource, Kind>> {
        // Nothing that holds the lock can leave the map half changed.
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(object: &Metadata) -> (String, String) {
    (object.namespace().unwrap_or_default(), object.name_any())
}
