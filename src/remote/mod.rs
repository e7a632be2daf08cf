//! What kustomizations name by address: files behind `http` and `https`, and folders of git repositories.
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
    sync::{Arc, Mutex, PoisonError},
    thread,
};
use whipstaff_kustomize::{FileSystem, RemoteSource, RepoSpec, without_credentials};

/// Largest file behind an address, in bytes.
const MAX_FILE_BYTES: usize = 32 * 1024 * 1024;

type Failure = Box<dyn Error + Send + Sync>;
type Known<K, V> = Mutex<HashMap<K, Result<V, String>>>;
type Files = Arc<dyn FileSystem + Send + Sync>;

/// Fetches what one build asks for, each address and revision once.
#[derive(Debug)]
pub(crate) struct Remote {
    fetcher: FileFetcher,
    files: Known<String, Arc<[u8]>>,
    repositories: Known<RepositoryKey, Files>,
}

/// Address, revision, and whether there are submodules.
type RepositoryKey = (String, String, bool);

impl Remote {
    /// # Errors
    /// [`SourceError::Client`] when the HTTP client cannot be built.
    pub(crate) fn new() -> Result<Self, SourceError> {
        Ok(Self {
            fetcher: FileFetcher::new(&Trust::default())?,
            files: Mutex::default(),
            repositories: Mutex::default(),
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
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let known = files
            .entry(url.to_owned())
            .or_insert_with(|| self.fetch(url));
        Ok(known.clone()?)
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Files, Failure> {
        let key = (
            spec.clone_url(),
            spec.reference().to_owned(),
            spec.submodules(),
        );
        let repositories = self.repositories.lock();
        let mut repositories = repositories.unwrap_or_else(PoisonError::into_inner);
        let known = repositories.entry(key).or_insert_with(|| open(spec));
        Ok(known.clone()?)
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
