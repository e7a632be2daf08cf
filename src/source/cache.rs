//! Artifacts that were fetched before, the least recently used dropped first.

use super::Artifact;
use reqwest::header::HeaderValue;
use std::{collections::HashMap, sync::Arc};
use whipstaff_generator::Digest;

/// What an entry without files is counted as, in bytes; also bounds the number of entries.
const ENTRY_BYTES: usize = 16 * 1024;
/// What a file is counted as beyond its path and content, in bytes.
const FILE_BYTES: usize = 128;

/// What was asked for, and by whom: nobody gets what somebody else's credentials opened.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The whole address.
    pub(super) url: String,
    /// Fingerprint of the credentials.
    pub(super) identity: Digest,
}

/// What a server identifies a version of its answer by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Validators {
    pub(super) etag: Option<HeaderValue>,
    pub(super) last_modified: Option<HeaderValue>,
}

/// An artifact, and what to ask the server for a newer one with.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub(super) artifact: Arc<Artifact>,
    pub(super) validators: Validators,
}

#[derive(Debug)]
struct Entry {
    cached: Cached,
    weight: usize,
    used: u64,
}

/// Bounded by the bytes of the files that it holds.
#[derive(Debug)]
pub(super) struct Cache {
    entries: HashMap<Key, Entry>,
    limit: usize,
    weight: usize,
    clock: u64,
}

impl Cache {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::new(),
            limit,
            weight: 0,
            clock: 0,
        }
    }

    pub(super) fn get(&mut self, key: &Key) -> Option<Cached> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.used = self.clock;
        Some(entry.cached.clone())
    }

    /// An artifact with a digest, under whatever address the same credentials fetched it from.
    pub(super) fn get_pinned(
        &mut self,
        digest: &Digest,
        identity: &Digest,
    ) -> Option<Arc<Artifact>> {
        self.clock += 1;
        let (_, entry) = self.entries.iter_mut().find(|(key, entry)| {
            key.identity == *identity && entry.cached.artifact.digest == *digest
        })?;
        entry.used = self.clock;
        Some(Arc::clone(&entry.cached.artifact))
    }

    /// Keeps an artifact, unless it alone is over the limit.
    pub(super) fn insert(&mut self, key: Key, cached: Cached) {
        self.remove(&key);
        let weight = weight(&key, &cached.artifact);
        if weight > self.limit {
            return;
        }
        while self.weight + weight > self.limit {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.remove(&oldest);
        }
        self.clock += 1;
        self.weight += weight;
        self.entries.insert(
            key,
            Entry {
                cached,
                weight,
                used: self.clock,
            },
        );
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.weight -= entry.weight;
        }
    }
}

fn weight(key: &Key, artifact: &Artifact) -> usize {
    let paths: usize = artifact
        .files
        .iter()
        .map(|(path, _)| path.len() + FILE_BYTES)
        .sum();
    ENTRY_BYTES + key.url.len() + paths + artifact.files.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whipstaff_generator::FileTree;

    fn key(url: &str, identity: &str) -> Key {
        Key {
            url: url.to_owned(),
            identity: Digest::of(identity.as_bytes()),
        }
    }

    fn cached(name: &str, bytes: usize) -> Cached {
        let mut files = FileTree::new();
        files.insert(name, vec![0; bytes]).unwrap();
        let digest = Digest::of(name.as_bytes());
        let (revision, url) = (digest.to_string(), String::new());
        let artifact = Arc::new(Artifact {
            files,
            revision,
            digest,
            url,
        });
        Cached {
            artifact,
            validators: Validators::default(),
        }
    }

    const KIB: usize = 1024;

    #[test]
    fn least_recently_used_artifact_is_dropped_first() {
        let mut cache = Cache::new(300 * KIB);
        cache.insert(key("a", ""), cached("a", 100 * KIB));
        cache.insert(key("b", ""), cached("b", 100 * KIB));
        assert!(cache.get(&key("a", "")).is_some());
        cache.insert(key("c", ""), cached("c", 100 * KIB));
        let held = ["a", "b", "c"].map(|url| cache.get(&key(url, "")).is_some());
        assert_eq!(held, [true, false, true]);
        assert!(cache.weight <= cache.limit);
    }

    #[test]
    fn artifact_over_the_limit_is_not_kept_and_drops_nothing_else() {
        let mut cache = Cache::new(100 * KIB);
        cache.insert(key("a", ""), cached("a", KIB));
        cache.insert(key("b", ""), cached("b", 100 * KIB));
        assert!(cache.get(&key("a", "")).is_some());
        assert!(cache.get(&key("b", "")).is_none());
    }

    #[test]
    fn replacing_an_artifact_counts_it_once() {
        let mut cache = Cache::new(1000 * KIB);
        cache.insert(key("a", ""), cached("a", KIB));
        let weight = cache.weight;
        cache.insert(key("a", ""), cached("a", KIB));
        assert_eq!(cache.weight, weight);
        cache.remove(&key("a", ""));
        assert_eq!(cache.weight, 0);
    }

    #[test]
    fn pinned_artifact_is_found_under_another_address_but_not_by_another_identity() {
        let mut cache = Cache::new(100 * KIB);
        cache.insert(key("a", "me"), cached("x", KIB));
        let digest = Digest::of(b"x");
        assert!(cache.get_pinned(&digest, &Digest::of(b"me")).is_some());
        assert!(cache.get_pinned(&digest, &Digest::of(b"you")).is_none());
        assert!(
            cache
                .get_pinned(&Digest::of(b"y"), &Digest::of(b"me"))
                .is_none()
        );
    }
}
