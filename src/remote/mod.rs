//! What kustomizations name by address, where that is allowed: files behind `http` and `https`, and folders of git repositories.
//!
//! ```text
//! RemoteSource::file ──────► FileFetcher, with its limits and its rules for redirects
//! RemoteSource::repository ► file://…: opened where it is
//!                          └ https://…: one commit fetched into a temporary folder ─► files, read when they are asked for
//! ```
//!
//! No program is run: `ssh` is refused, and so is everything else that `git` would leave to one.

#[cfg(feature = "git")]
mod download;
#[cfg(feature = "git")]
mod meter;
#[cfg(feature = "git")]
mod modules;
#[cfg(feature = "git")]
mod repository;
#[cfg(feature = "git")]
mod walk;

use crate::causes::on_one_line;
use crate::source::{FileFetcher, SourceError, Trust};
use std::{
    collections::HashMap,
    error::Error,
    hash::Hash,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};
use whipstaff_kustomize::{FileSystem, RemoteSource, RepoSpec, without_credentials};

/// What addresses of repositories on this machine begin with.
const FILE_SCHEME: &str = "file://";
/// Largest file behind an address, in bytes.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;
/// How long an operator remembers what it fetched: long enough for one build.
const OPERATOR_MEMORY: Duration = Duration::from_mins(1);
/// Longest that an operator fetches a repository, whatever its address says.
const OPERATOR_TIMEOUT: Duration = Duration::from_mins(1);

type Failure = Box<dyn Error + Send + Sync>;
type Files = Arc<dyn FileSystem + Send + Sync>;

/// Fetches what builds ask for, each address and revision once.
#[derive(Debug)]
pub(crate) struct Remote {
    fetcher: FileFetcher,
    files: Known<String, Arc<[u8]>>,
    repositories: Known<RepositoryKey, Files>,
    /// Whether the builds are other people's: then this machine's files are none of their business, and nothing is remembered for
    /// longer than a build takes.
    for_others: bool,
}

/// Address, revision, and whether there are submodules.
type RepositoryKey = (String, String, bool);

impl Remote {
    /// For one build, by whoever runs the program.
    ///
    /// # Errors
    /// [`SourceError::Client`] when the HTTP client cannot be built.
    pub(crate) fn new() -> Result<Self, SourceError> {
        Ok(Self {
            fetcher: FileFetcher::new(&Trust::default())?,
            files: Known::remembered(Duration::MAX),
            repositories: Known::remembered(Duration::MAX),
            for_others: false,
        })
    }

    /// For the builds of an operator's components.
    ///
    /// # Errors
    /// [`SourceError::Client`] when the HTTP client cannot be built.
    pub(crate) fn for_components() -> Result<Self, SourceError> {
        Ok(Self {
            files: Known::remembered(OPERATOR_MEMORY),
            repositories: Known::remembered(OPERATOR_MEMORY),
            for_others: true,
            ..Self::new()?
        })
    }

    /// Why a repository is not fetched for a component, if it is not.
    fn refusal(&self, spec: &RepoSpec) -> Option<String> {
        if !self.for_others {
            return None;
        }
        if spec.clone_url().starts_with(FILE_SCHEME) {
            return Some(
                "repositories of the operator's machine are not for components".to_owned(),
            );
        }
        (spec.timeout() > OPERATOR_TIMEOUT).then(|| {
            let most = OPERATOR_TIMEOUT.as_secs();
            format!("`timeout` is more than the {most} s that an operator fetches for")
        })
    }

    fn fetch(&self, url: &str) -> Result<Arc<[u8]>, String> {
        let work = || -> Result<Vec<u8>, String> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| error.to_string())?;
            let fetched = self.fetcher.fetch(url, None, MAX_FILE_BYTES);
            runtime.block_on(fetched).map_err(|error| explain(&error))
        };
        // A thread of its own, for whoever builds may stand in a runtime.
        let joined = thread::scope(|scope| scope.spawn(work).join());
        let bytes = joined.map_err(|_| "fetching was cut short".to_owned())??;
        Ok(bytes.into())
    }
}

impl RemoteSource for Remote {
    fn file(&self, url: &str) -> Result<Arc<[u8]>, Failure> {
        Ok(self.files.get(url.to_owned(), || self.fetch(url))?)
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Files, Failure> {
        let key = (
            spec.clone_url(),
            spec.reference().to_owned(),
            spec.submodules(),
        );
        if let Some(refusal) = self.refusal(spec) {
            return Err(refusal.into());
        }
        Ok(self.repositories.get(key, || open(spec))?)
    }
}

/// An answer, and when it was asked for.
type Answer<V> = (Instant, Arc<OnceLock<Result<V, String>>>);

/// Answers that are remembered for a while. Whoever asks for one that is being fetched waits for it, and nobody else does.
#[derive(Debug)]
struct Known<K, V> {
    age: Duration,
    answers: Mutex<HashMap<K, Answer<V>>>,
}

impl<K: Eq + Hash, V: Clone> Known<K, V> {
    fn remembered(age: Duration) -> Self {
        Self {
            age,
            answers: Mutex::default(),
        }
    }

    fn get(&self, key: K, fetch: impl FnOnce() -> Result<V, String>) -> Result<V, String> {
        let answer = {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.retain(|_, (asked, _)| asked.elapsed() < self.age);
            let (_, answer) = answers
                .entry(key)
                .or_insert_with(|| (Instant::now(), Arc::default()));
            Arc::clone(answer)
        };
        answer.get_or_init(fetch).clone()
    }
}

#[cfg(feature = "git")]
fn open(spec: &RepoSpec) -> Result<Files, String> {
    match repository::open(spec) {
        Ok(files) => Ok(files),
        Err(error) => Err(with_causes(&error)),
    }
}

#[cfg(not(feature = "git"))]
fn open(_: &RepoSpec) -> Result<Files, String> {
    Err("this program was built without git".to_owned())
}

/// An error as kustomize has it, if kustomize has a text for it.
fn explain(error: &SourceError) -> String {
    if let SourceError::Status { status, .. } = error {
        let reason = status.canonical_reason().unwrap_or_default();
        return format!("HTTP Error: status code {} ({reason})", status.as_u16());
    }
    with_causes(error)
}

/// An error and its causes on one line, without passwords.
fn with_causes(error: &dyn Error) -> String {
    without_credentials(&on_one_line(error))
}
