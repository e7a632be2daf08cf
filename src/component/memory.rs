//! What is remembered of a component between reconciliations. Losing it costs reads, never correctness.

use super::corrections::Corrections;
use super::health::KnownHealth;
use super::judging::Judged;
use super::lookups::Asked;
use super::mask::Mask;
use super::place::Cluster;
use super::references::KnownReferences;
use super::render::Rendered;
use super::seed::SeedKey;
use super::variables::KnownVariables;
use crate::api::v1alpha1::{ComponentStatus, State};
use crate::dependents::Live;
use crate::source::Artifact;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use whipstaff_generator::{Digest, FileTree, MAX_PARTS, ObjectId};

/// Most sources of one component that are remembered.
const MAX_SOURCES: usize = MAX_PARTS;

/// What is remembered of one component.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The status as it was last written; fresher than what the component's cache holds.
    pub(crate) status: Option<ComponentStatus>,
    /// The version of the component in which that status is stored.
    pub(crate) version: String,
    /// Variables out of ConfigMaps and Secrets.
    pub(crate) variables: Option<KnownVariables>,
    /// What references lead to.
    pub(crate) references: Option<KnownReferences>,
    /// The cluster that objects were last applied on.
    pub(crate) cluster: Option<Arc<Cluster>>,
    /// The files that were rendered last.
    pub(crate) sources: Sources,
    /// What was rendered last.
    pub(crate) rendered: Option<Arc<Rendered>>,
    /// The answers that it got to questions about live objects.
    pub(crate) asked: Option<Asked>,
    /// What random values are derived from, once some were drawn.
    pub(crate) seed: Option<SeedKey>,
    /// Dependents as they were last read or written.
    pub(crate) live: HashMap<ObjectId, Live>,
    /// How objects are judged.
    pub(crate) health: KnownHealth,
    /// Objects that exist without being marked as ours: those that a creation met. They are read whatever the watches say.
    pub(crate) contested: HashSet<ObjectId>,
    /// Objects that had to be put right.
    pub(crate) corrections: Corrections,
    /// What somebody did to objects that will be put right.
    pub(crate) judged: HashMap<ObjectId, Judged>,
    /// How often the watch had told of changes of the release's records when they were looked at.
    pub(crate) release_changes: Option<u64>,
    /// When there may be something to do although nothing has changed.
    pub(crate) next_look: Option<Instant>,
    /// Failures in a row.
    pub(crate) failures: u32,
    /// What the last event said, so that only transitions are told.
    pub(crate) told: Option<(State, String)>,
}

impl Memory {
    /// When something that was read has to be looked at again.
    pub(super) fn next(&self) -> Option<Instant> {
        let variables = self.variables.as_ref().map(|variables| variables.next);
        let references = self.references.as_ref().map(|references| references.next);
        let read = variables.into_iter().chain(references);
        let read = read.chain(self.sources.next());
        read.chain(self.next_look).min()
    }

    /// Forgets everything that was read, so that it is read anew.
    pub(super) fn forget_reads(&mut self) {
        self.variables = None;
        self.references = None;
        self.sources = Sources::default();
        self.rendered = None;
        self.asked = None;
        self.release_changes = None;
        self.live.clear();
        self.judged.clear();
    }

    /// What must not be told.
    pub(super) fn masks(&self) -> impl Iterator<Item = &Mask> {
        let variables = self.variables.iter().map(|known| &known.read.mask);
        let references = self.references.iter().map(|known| &known.read.mask);
        variables.chain(references).chain(self.sources.masks())
    }
}

/// What is remembered of a component's files.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    fetched: Vec<Fetched>,
    embedded: Vec<Arc<Artifact>>,
    /// Files that were decrypted.
    pub(super) decrypted: Vec<Decrypted>,
}

impl Sources {
    /// Files that are at hand, as if they had been fetched.
    pub(super) fn embedded(&mut self, files: &Arc<FileTree>) -> Arc<Artifact> {
        if let Some(known) = self.embedded.iter().find(|known| known.files == **files) {
            return Arc::clone(known);
        }
        let artifact = Arc::new(Artifact::embedded(files));
        make_room(&mut self.embedded);
        self.embedded.push(Arc::clone(&artifact));
        artifact
    }

    /// What was fetched from a source.
    pub(super) fn fetched(&self, source: &str) -> Option<&Fetched> {
        self.fetched.iter().find(|fetched| fetched.source == source)
    }

    /// Remembers what was fetched.
    pub(super) fn remember(&mut self, fetched: Fetched) {
        self.fetched.retain(|known| known.source != fetched.source);
        make_room(&mut self.fetched);
        self.fetched.push(fetched);
    }

    /// Remembers what was decrypted.
    pub(super) fn remember_decrypted(&mut self, decrypted: Decrypted) {
        self.decrypted.retain(|known| known.of != decrypted.of);
        make_room(&mut self.decrypted);
        self.decrypted.push(decrypted);
    }

    /// What must not be told of the files.
    pub(super) fn masks(&self) -> impl Iterator<Item = &Mask> {
        self.decrypted.iter().map(|decrypted| &*decrypted.mask)
    }

    /// When a source has to be looked at again.
    pub(super) fn next(&self) -> Option<Instant> {
        let fetched = self.fetched.iter().map(|fetched| fetched.next);
        fetched
            .chain(self.decrypted.iter().map(|decrypted| decrypted.next))
            .min()
    }

    /// Forgets the sources that were not used in a run which began at a time, and would be looked at for nothing.
    pub(super) fn forget_old(&mut self, now: Instant) {
        self.fetched.retain(|fetched| now < fetched.next);
        self.decrypted.retain(|decrypted| now < decrypted.next);
    }
}

fn make_room<T>(known: &mut Vec<T>) {
    if known.len() >= MAX_SOURCES {
        known.remove(0);
    }
}

/// Files that were decrypted.
#[derive(Debug, Clone)]
pub(crate) struct Decrypted {
    /// The files before, and the Secret with the keys.
    pub(crate) of: (Digest, String),
    /// The files after.
    pub(crate) artifact: Arc<Artifact>,
    /// What must not be shown of them.
    pub(crate) mask: Arc<Mask>,
    /// When to decrypt them again, because the keys may have changed.
    pub(crate) next: Instant,
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

/// The memories of all components, by UID.
#[derive(Debug, Default)]
pub(crate) struct Memories {
    components: Mutex<HashMap<String, Place>>,
}

/// Where the memory of a component is.
#[derive(Debug)]
enum Place {
    Here(Box<Memory>),
    /// A reconciliation has it.
    Taken,
    /// A reconciliation has it, and the component is no longer ours.
    Unwanted,
    /// The component is gone, and its cache has not heard of it yet.
    Gone,
}

impl Memories {
    /// Takes the memory of a component out; empty when there is none. Nothing when the component is known to be gone.
    pub(crate) fn take(&self, uid: &str) -> Option<Memory> {
        let mut components = self.lock();
        if matches!(components.get(uid), Some(Place::Gone)) {
            return None;
        }
        Some(match components.insert(uid.to_owned(), Place::Taken) {
            Some(Place::Here(memory)) => *memory,
            _ => Memory::default(),
        })
    }

    /// Puts it back, or drops it when the component is no longer ours.
    pub(crate) fn put(&self, uid: &str, memory: Memory) -> bool {
        let mut components = self.lock();
        let wanted = !matches!(components.get(uid), Some(Place::Unwanted));
        if wanted {
            components.insert(uid.to_owned(), Place::Here(Box::new(memory)));
        } else {
            components.remove(uid);
        }
        wanted
    }

    /// Forgets a component, at once or when its reconciliation is over.
    pub(crate) fn forget(&self, uid: &str) -> Option<Memory> {
        let mut components = self.lock();
        match components.get_mut(uid) {
            Some(place @ (Place::Taken | Place::Unwanted)) => {
                *place = Place::Unwanted;
                None
            }
            _ => match components.remove(uid) {
                Some(Place::Here(memory)) => Some(*memory),
                _ => None,
            },
        }
    }

    /// Notes that a component is gone for good, until it is forgotten.
    pub(crate) fn gone(&self, uid: &str) {
        let mut components = self.lock();
        if matches!(components.get(uid), Some(Place::Unwanted)) {
            components.remove(uid);
        } else {
            components.insert(uid.to_owned(), Place::Gone);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Place>> {
        // Nothing that holds the lock can leave the map half changed.
        self.components
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
