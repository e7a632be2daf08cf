//! Fetching one commit over HTTP, without its history.

use super::meter::{Counted, MAX_OBJECTS, MAX_PACK_BYTES, Meter};
use super::repository::GitError;
use gix::{
    ObjectId, ThreadSafeRepository,
    bstr::ByteSlice as _,
    protocol::transport::client::blocking_io::http,
    remote::{Direction, fetch, ref_map},
};
use std::{
    any::Any,
    num::NonZeroU32,
    path::Path,
    sync::{Arc, Mutex, atomic::Ordering, mpsc},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// What the names of temporary folders begin with.
const FOLDER_PREFIX: &str = "whipstaff-";
/// Longest wait for a connection, or for the next bytes of an answer.
const STALL_TIMEOUT: Duration = Duration::from_secs(20);

/// A fetched commit.
#[derive(Debug)]
pub(super) struct Downloaded {
    pub(super) repository: ThreadSafeRepository,
    /// What was asked for: a commit, or a tag that leads to one.
    pub(super) id: ObjectId,
    /// Where it is until this is dropped.
    pub(super) folder: TempDir,
}

/// Fetches the commit that a name or hash stands for; `HEAD` is the default branch.
///
/// # Errors
/// When the server does not answer, has no such thing, or takes too long.
pub(super) fn download(
    url: &str,
    reference: &str,
    timeout: Duration,
) -> Result<Downloaded, GitError> {
    // Held here, so that nothing is left behind of a fetch that takes too long.
    let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir();
    let folder = folder.map_err(GitError::Folder)?;
    let counted = Arc::new(Counted::default());
    let (send, receive) = mpsc::channel();
    let work = {
        let counted = Arc::clone(&counted);
        let (url, reference) = (url.to_owned(), reference.to_owned());
        let path = folder.path().to_owned();
        move || {
            // Nobody waits any more once the time is up.
            let _ = send.send(fetch_into(&path, &url, &reference, &counted));
        }
    };
    thread::Builder::new()
        .name("git".to_owned())
        .spawn(work)
        .map_err(GitError::Thread)?;
    let result = receive.recv_timeout(timeout);
    counted.stop.store(true, Ordering::Relaxed);
    match result {
        Ok(Err(_)) if counted.is_too_large() => Err(GitError::TooLarge {
            bytes: MAX_PACK_BYTES,
            objects: MAX_OBJECTS,
        }),
        Ok(result) => {
            let (repository, id) = result?;
            Ok(Downloaded {
                repository,
                id,
                folder,
            })
        }
        Err(mpsc::RecvTimeoutError::Timeout) => Err(GitError::Timeout { timeout }),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(GitError::Interrupted),
    }
}

fn fetch_into(
    folder: &Path,
    url: &str,
    reference: &str,
    counted: &Arc<Counted>,
) -> Result<(ThreadSafeRepository, ObjectId), GitError> {
    let repository = ThreadSafeRepository::init_opts(
        folder,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        super::repository::open_options(),
    )?;
    let id = fetch(&repository.to_thread_local(), url, reference, counted)?;
    Ok((repository, id))
}

fn fetch(
    repository: &gix::Repository,
    url: &str,
    reference: &str,
    counted: &Arc<Counted>,
) -> Result<ObjectId, GitError> {
    let remote = repository
        .remote_at_without_url_rewrite(url)?
        .with_fetch_tags(fetch::Tags::None)
        .with_refspecs([reference], Direction::Fetch)
        .map_err(|_| GitError::reference(reference))?;
    let connection = remote
        .connect(Direction::Fetch)?
        .with_credentials(|_| Ok(None))
        .with_transport_options(transport_options());
    let prepared = connection
        .prepare_fetch(Meter::new(Arc::clone(counted)), ref_map::Options::default())?
        .with_shallow(fetch::Shallow::DepthAtRemote(NonZeroU32::MIN));
    let id = wanted(prepared.ref_map(), reference).ok_or_else(|| GitError::reference(reference))?;
    prepared.receive(Meter::new(Arc::clone(counted)), &counted.stop)?;
    Ok(id)
}

/// The client's own limits of time, the same whatever the environment says.
fn transport_options() -> Box<dyn Any> {
    let client = http::reqwest::Options {
        configure_client: Some(Box::new(|client| {
            Ok(client
                .user_agent(concat!("git/2 whipstaff/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(STALL_TIMEOUT)
                .timeout(STALL_TIMEOUT))
        })),
        configure_request: None,
    };
    let options = http::Options {
        backend: Some(Arc::new(Mutex::new(client))),
        ..http::Options::default()
    };
    Box::new(options)
}

/// The object behind a name: where a name has several meanings, `git` takes the first of these.
fn wanted(refs: &fetch::RefMap, reference: &str) -> Option<ObjectId> {
    let names = [
        reference.to_owned(),
        format!("refs/{reference}"),
        format!("refs/tags/{reference}"),
        format!("refs/heads/{reference}"),
        format!("refs/remotes/{reference}"),
    ];
    let position = |source: &fetch::refmap::Source| {
        let name = source.as_name()?.to_str().ok()?;
        names.iter().position(|known| known == name)
    };
    let mappings = refs.mappings.iter().map(|mapping| &mapping.remote);
    let best = mappings.min_by_key(|source| position(source).unwrap_or(names.len()))?;
    best.as_id().map(ToOwned::to_owned)
}
