//! What is remembered of a component between reconciliations. Losing it costs reads, never correctness.

use super::corrections::Corrections;
use super::lookups::Asked;
use super::render::Rendered;
use super::seed::SeedKey;
use crate::api::v1alpha1::{ComponentStatus, State};
use crate::dependents::Live;
use crate::source::Artifact;
use crate::status::Status;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use whipstaff_generator::{FileTree, ObjectId};

/// What is remembered of one component.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The status as it was last written; fresher than what the component's cache holds.
    pub(crate) status: Option<ComponentStatus>,
    /// What was fetched last.
    pub(crate) fetched: Option<Fetched>,
    /// Files that were at hand.
    pub(crate) embedded: Option<Arc<Artifact>>,
    /// What was rendered last.
    pub(crate) rendered: Option<Arc<Rendered>>,
    /// The answers that it got to questions about live objects.
    pub(crate) asked: Option<Asked>,
    /// What random values are derived from, once some were drawn.
    pub(crate) seed: Option<SeedKey>,
    /// Dependents as they were last read or written.
    pub(crate) live: HashMap<ObjectId, Live>,
    /// Objects that had to be put right.
    pub(crate) corrections: Corrections,
    /// Failures in a row.
    pub(crate) failures: u32,
    /// What the last event said, so that only transitions are told.
    pub(crate) told: Option<(State, String)>,
}

impl Memory {
    /// Files that are at hand, as if they had been fetched.
    pub(super) fn embedded(&mut self, files: &Arc<FileTree>) -> Arc<Artifact> {
        if let Some(known) = &self.embedded
            && known.files == **files
        {
            return Arc::clone(known);
        }
        let artifact = Arc::new(Artifact::embedded(files));
        self.embedded = Some(Arc::clone(&artifact));
        artifact
    }
}

/// What was fetched last, for which source, and when to look again.
#[derive(Debug, Clone)]
pub(crate) struct Fetched {
    /// The source as text: another one must be fetched at once.
    pub(crate) source: String,
    /// The files.
    pub(crate) artifact: Arc<Artifact>,
    /// When to look again.
    pub(crate) next: Instant,
}

/// How many components and dependents there are of each kind.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// Components by state.
    pub(crate) components: HashMap<State, usize>,
    /// Dependents by status.
    pub(crate) dependents: HashMap<Status, usize>,
}

/// The memories of all components, by UID.
#[derive(Debug, Default)]
pub(crate) struct Memories {
    components: Mutex<HashMap<String, Memory>>,
}

impl Memories {
    /// Takes the memory of a component out; empty when there is none.
    pub(crate) fn take(&self, uid: &str) -> Memory {
        self.lock().remove(uid).unwrap_or_default()
    }

    /// Puts it back.
    pub(crate) fn put(&self, uid: &str, memory: Memory) {
        self.lock().insert(uid.to_owned(), memory);
    }

    /// How many components are in each state, and how many dependents have each status.
    pub(crate) fn census(&self) -> Census {
        let mut census = Census::default();
        for memory in self.lock().values() {
            let Some(status) = &memory.status else {
                continue;
            };
            if let Some(state) = status.state {
                *census.components.entry(state).or_default() += 1;
            }
            for item in &status.inventory {
                *census.dependents.entry(item.status).or_default() += 1;
            }
        }
        census
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Memory>> {
        // Nothing that holds the lock can leave the map half changed.
        self.components
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
