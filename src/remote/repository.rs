//! Git repositories by address.

use super::download::{Downloaded, download};
use super::walk::GitFiles;
use super::with_causes;
use gix::{ObjectId, ThreadSafeRepository};
use std::{sync::Arc, time::Duration};
use whipstaff_kustomize::{RepoSpec, without_credentials};

/// What the default branch is called.
const HEAD: &str = "HEAD";
/// Largest object of a repository, in bytes.
const MAX_OBJECT_BYTES: usize = 64 * 1024 * 1024;

/// Why a repository cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    #[error(
        "repositories behind `ssh` are not fetched: that takes an `ssh` program, and none is run; use an `https://` address"
    )]
    Ssh,
    #[error("only `https://`, `http://` and `file://` repositories are fetched")]
    Scheme,
    #[error("{0}")]
    Fetch(String),
    #[error("the repository has no branch, tag or commit `{name}`")]
    Reference { name: String },
    #[error("`{name}` is no commit: {reason}")]
    NoCommit { name: String, reason: String },
    #[error(
        "fetching takes longer than {} s; `timeout=…` in the address allows more",
        timeout.as_secs_f32()
    )]
    Timeout { timeout: Duration },
    #[error(
        "the commit is larger than {} MiB or has more than {objects} objects",
        bytes / (1024 * 1024)
    )]
    TooLarge { bytes: usize, objects: usize },
    #[error("no temporary folder")]
    Folder(#[source] std::io::Error),
    #[error("no thread")]
    Thread(#[source] std::io::Error),
    #[error("fetching was cut short")]
    Interrupted,
}

impl GitError {
    pub(super) fn reference(name: &str) -> Self {
        Self::Reference {
            name: name.to_owned(),
        }
    }
}

impl From<gix::Error> for GitError {
    fn from(error: gix::Error) -> Self {
        Self::Fetch(with_causes(&error))
    }
}

/// Nothing but what is in the repository counts: no configuration of the machine or the user, no environment.
pub(super) fn open_options() -> gix::open::Options {
    let limit = format!("gitoxide.objects.allocLimit={MAX_OBJECT_BYTES}");
    gix::open::Options::isolated().config_overrides([limit])
}

/// The files of a repository at the revision that is asked for.
///
/// # Errors
/// When it cannot be fetched or opened, or has no such revision.
pub(super) fn open(spec: &RepoSpec) -> Result<Arc<GitFiles>, GitError> {
    let url = spec.clone_url();
    let reference = match spec.reference() {
        "" => HEAD,
        reference => reference,
    };
    let submodules = spec.submodules().then(|| spec.timeout());
    let files = match scheme(&url)? {
        Scheme::File(path) => {
            let repository = ThreadSafeRepository::open_opts(path, open_options())?;
            let id = local_reference(&repository, reference)?;
            GitFiles::new(repository, id, None, &url, submodules)
        }
        Scheme::Http => fetched(&url, reference, spec.timeout(), submodules),
    };
    files.map(Arc::new)
}

/// A repository that is fetched; `submodules` is how long each of them may take, if they are wanted.
pub(super) fn fetched(
    url: &str,
    reference: &str,
    timeout: Duration,
    submodules: Option<Duration>,
) -> Result<GitFiles, GitError> {
    tracing::debug!(url = without_credentials(url), reference, "fetching");
    let Downloaded {
        repository,
        id,
        folder,
    } = download(url, reference, timeout)?;
    GitFiles::new(repository, id, Some(folder), url, submodules)
}

pub(super) enum Scheme<'a> {
    File(&'a str),
    Http,
}

/// How an address is reached.
///
/// # Errors
/// When it is not.
pub(super) fn scheme(url: &str) -> Result<Scheme<'_>, GitError> {
    match url.split_once("://") {
        Some(("file", path)) => Ok(Scheme::File(path)),
        Some(("https" | "http", _)) => Ok(Scheme::Http),
        Some(("ssh", _)) => Err(GitError::Ssh),
        // `git@host:path`.
        None if url.contains(':') => Err(GitError::Ssh),
        _ => Err(GitError::Scheme),
    }
}

/// A whole hash, or a name that is looked for as `git` looks.
fn local_reference(repository: &ThreadSafeRepository, name: &str) -> Result<ObjectId, GitError> {
    if let Ok(id) = ObjectId::from_hex(name.as_bytes()) {
        return Ok(id);
    }
    let repository = repository.to_thread_local();
    let found = repository.try_find_reference(name).ok().flatten();
    let mut found = found.ok_or_else(|| GitError::reference(name))?;
    let id = found.peel_to_id().map_err(|_| GitError::reference(name))?;
    Ok(id.detach())
}
