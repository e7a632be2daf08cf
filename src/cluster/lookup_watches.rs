//! Watches on what templates looked up: metadata only, one per question and identity, shared by all components that asked it.
//!
//! They tell when to ask again; the answers are read from the API server. A question that is not watched (too many are, or the
//! identity may not watch) is asked again once per interval.

use super::{ComponentName, Resource};
use futures::StreamExt;
use kube::api::{Api, DynamicObject};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;

/// Most questions that are watched at once: each watch holds a connection.
const MAX_WATCHED_QUESTIONS: usize = 200;

type Metadata = PartialObjectMeta<DynamicObject>;

/// Resource versions of objects by namespace and name.
pub(crate) type Versions = BTreeMap<(String, String), String>;

/// A question that can be watched, and who asks it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WatchedQuestion {
    /// Who watches: empty for the operator itself.
    pub(crate) identity: String,
    /// Where the objects are served.
    pub(crate) resource: Resource,
    /// Namespace, or empty for a cluster-scoped object or all namespaces.
    pub(crate) namespace: String,
    /// Name, or empty for all objects.
    pub(crate) name: String,
    /// Label selector, or empty; means nothing beside a name.
    pub(crate) selector: String,
}

/// The watches of all questions.
#[derive(Clone)]
pub(crate) struct LookupWatches {
    wake: UnboundedSender<ComponentName>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    watches: HashMap<WatchedQuestion, Watch>,
    changes: HashMap<ComponentName, u64>,
}

struct Watch {
    users: BTreeSet<ComponentName>,
    versions: Versions,
    task: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl std::fmt::Debug for LookupWatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LookupWatches")
            .field("watches", &self.state().watches.len())
            .finish_non_exhaustive()
    }
}

impl LookupWatches {
    /// Components whose answers may have changed are sent to `wake`.
    pub(crate) fn new(wake: UnboundedSender<ComponentName>) -> Self {
        Self {
            wake,
            state: Arc::default(),
        }
    }

    /// Says what a component asked, through whose client, and which versions it was answered with: watches are started for new
    /// questions, and stopped when nobody asks them any more.
    pub(crate) fn require(
        &self,
        component: &ComponentName,
        client: &Client,
        wanted: BTreeMap<WatchedQuestion, Versions>,
    ) {
        let mut state = self.state();
        state.watches.retain(|question, watch| {
            if !wanted.contains_key(question) {
                watch.users.remove(component);
            }
            !watch.users.is_empty()
        });
        if wanted.is_empty() {
            state.changes.remove(component);
        }
        let mut missed = false;
        for (question, versions) in wanted {
            if let Some(watch) = state.watches.get_mut(&question) {
                // The answer may be older than what the watch has seen before the component joined.
                missed |= watch.users.insert(component.clone()) && watch.versions != versions;
            } else if state.watches.len() < MAX_WATCHED_QUESTIONS {
                let task = self.start(client.clone(), question.clone());
                let users = BTreeSet::from([component.clone()]);
                let watch = Watch {
                    users,
                    versions,
                    task,
                };
                state.watches.insert(question, watch);
            } else {
                tracing::debug!(kind = question.resource.kind, "too many lookups to watch");
            }
        }
        if missed {
            self.tell(&mut state, [component.clone()]);
        }
    }

    /// Counts the changes of what a component asked.
    pub(crate) fn changes(&self, component: &ComponentName) -> u64 {
        self.state()
            .changes
            .get(component)
            .copied()
            .unwrap_or_default()
    }

    fn start(&self, client: Client, question: WatchedQuestion) -> AbortHandle {
        tokio::spawn(self.clone().follow(client, question)).abort_handle()
    }

    async fn follow(self, client: Client, question: WatchedQuestion) {
        let resource = question.resource.api_resource();
        let api = if question.resource.namespaced && !question.namespace.is_empty() {
            Api::<Metadata>::namespaced_with(client, &question.namespace, &resource)
        } else {
            Api::<Metadata>::all_with(client, &resource)
        };
        let mut config = watcher::Config::default();
        if !question.name.is_empty() {
            config = config.fields(&format!("metadata.name={}", question.name));
        } else if !question.selector.is_empty() {
            config = config.labels(&question.selector);
        }
        let mut events = watcher(api, config).default_backoff().boxed();
        let mut listing = Versions::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(watcher::Event::Init) => listing.clear(),
                Ok(watcher::Event::InitApply(object)) => {
                    listing.extend([version(&object)]);
                }
                Ok(watcher::Event::InitDone) => {
                    let listing = std::mem::take(&mut listing);
                    self.update(&question, |versions| *versions = listing);
                }
                Ok(watcher::Event::Apply(object)) => {
                    self.update(&question, |versions| versions.extend([version(&object)]));
                }
                Ok(watcher::Event::Delete(object)) => {
                    self.update(&question, |versions| {
                        versions.remove(&version(&object).0);
                    });
                }
                Err(error) => {
                    tracing::debug!(kind = question.resource.kind, %error, "lookup cannot be watched, trying again");
                }
            }
        }
    }

    /// Changes what is known, and tells everybody who asked if that made a difference.
    fn update(&self, question: &WatchedQuestion, change: impl FnOnce(&mut Versions)) {
        let mut state = self.state();
        let Some(watch) = state.watches.get_mut(question) else {
            return;
        };
        let before = watch.versions.clone();
        change(&mut watch.versions);
        if watch.versions != before {
            let users = watch.users.clone();
            self.tell(&mut state, users);
        }
    }

    fn tell(&self, state: &mut State, components: impl IntoIterator<Item = ComponentName>) {
        for component in components {
            *state.changes.entry(component.clone()).or_default() += 1;
            // Fails only while the operator stops: then nobody is left to wake.
            let _ = self.wake.send(component);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave the maps half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn version(object: &Metadata) -> ((String, String), String) {
    let name = (object.namespace().unwrap_or_default(), object.name_any());
    (name, object.resource_version().unwrap_or_default())
}
