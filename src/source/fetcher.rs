//! The fetcher: cache, coalescing and unpacking around a download.

use super::{
    Artifact, Credentials, FetchRequest, SourceError,
    address::Address,
    cache::{Cache, Cached, Key},
    download::{Answer, Download, download},
    unpack::unpack,
};
use crate::metrics::{FetchOutcome, Metrics};
use futures::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use reqwest::{Client, redirect::Policy};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::Semaphore, task, time};
use whipstaff_generator::Digest;

/// Largest archive in bytes, unless told otherwise.
const DEFAULT_MAX_ARCHIVE_BYTES: usize = 32 * 1024 * 1024;
/// Most bytes of unpacked files that are kept for the next fetch, unless told otherwise.
const DEFAULT_CACHE_BYTES: usize = 128 * 1024 * 1024;
/// Most archives that are unpacked at once; each may take as much memory as a full file tree.
const MAX_PARALLEL_UNPACKS: usize = 2;

/// Limits and settings of a [`Fetcher`].
#[derive(Debug, Clone)]
pub(crate) struct FetchOptions {
    /// Largest archive in bytes. Default: 32 MiB.
    pub max_archive_bytes: usize,
    /// Most bytes of unpacked files that are kept. Default: 128 MiB; zero keeps nothing.
    pub cache_bytes: usize,
    /// Longest wait for a connection. Default: 10 s.
    pub connect_timeout: Duration,
    /// Longest wait for the next bytes of an answer. Default: 30 s.
    pub read_timeout: Duration,
    /// Longest time for a whole download, with its redirects. Default: 2 min.
    pub timeout: Duration,
    /// Whether the proxy that the environment names (`HTTPS_PROXY`, `NO_PROXY`…) is used. Default: true.
    pub use_proxy: bool,
    /// Where fetches are counted. Default: nowhere.
    pub metrics: Option<Metrics>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            max_archive_bytes: DEFAULT_MAX_ARCHIVE_BYTES,
            cache_bytes: DEFAULT_CACHE_BYTES,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            timeout: Duration::from_mins(2),
            use_proxy: true,
            metrics: None,
        }
    }
}

/// Fetches archives over HTTP. Clones are cheap and share connections, cache and downloads.
#[derive(Clone)]
pub(crate) struct Fetcher {
    inner: Arc<Inner>,
}

type Outcome = Result<Arc<Artifact>, SourceError>;
type Flight = BoxFuture<'static, Outcome>;

struct Inner {
    client: Client,
    options: FetchOptions,
    cache: Mutex<Cache>,
    /// The downloads that somebody waits for.
    flights: Mutex<HashMap<FlightKey, WeakShared<Flight>>>,
    unpacking: Semaphore,
}

/// Fetches that have the same outcome. A pinned digest belongs to it: bytes are unpacked only once they match.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FlightKey {
    key: Key,
    digest: Option<Digest>,
}

/// A checked request.
#[derive(Clone)]
struct Target {
    address: Address,
    credentials: Option<Credentials>,
    flight: FlightKey,
}

impl Fetcher {
    /// A fetcher with an empty cache.
    ///
    /// # Errors
    /// [`SourceError::Client`] when the HTTP client cannot be built: no roots of trust, a malformed proxy.
    pub(crate) fn new(options: FetchOptions) -> Result<Self, SourceError> {
        let mut client = Client::builder()
            .user_agent(concat!("whipstaff/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout);
        if !options.use_proxy {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| SourceError::Client {
            source: Arc::new(error),
        })?;
        let inner = Inner {
            client,
            cache: Mutex::new(Cache::new(options.cache_bytes)),
            flights: Mutex::default(),
            unpacking: Semaphore::new(MAX_PARALLEL_UNPACKS),
            options,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Fetches an archive and unpacks it.
    ///
    /// A pinned digest that is cached is answered without a request. Otherwise the server is asked, and an archive that did not
    /// change is not downloaded again. Fetches of the same archive at the same time share one download and its outcome.
    ///
    /// # Errors
    /// [`SourceError`]; its class says whether a later attempt can succeed without a change of the request.
    ///
    /// # Cancel safety
    /// A download is dropped when the last fetch that waits for it is.
    pub(crate) async fn fetch(&self, request: &FetchRequest) -> Result<Arc<Artifact>, SourceError> {
        let target = Target::new(request)?;
        self.flight(target).await
    }

    /// Joins the download of a target that is under way, or starts one.
    fn flight(&self, target: Target) -> Shared<Flight> {
        let mut flights = lock(&self.inner.flights);
        if let Some(flight) = flights.get(&target.flight).and_then(WeakShared::upgrade) {
            return flight;
        }
        flights.retain(|_, flight| flight.upgrade().is_some());
        let key = target.flight.clone();
        let inner = Arc::clone(&self.inner);
        let flight = async move { inner.fly(&target).await }.boxed().shared();
        // Only a flight that has landed has no weak form; this one was not polled yet.
        if let Some(weak) = flight.downgrade() {
            flights.insert(key, weak);
        }
        flight
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}

impl Target {
    fn new(request: &FetchRequest) -> Result<Self, SourceError> {
        let address = Address::parse(&request.url)?;
        let key = Key {
            url: address.url().to_string(),
            identity: Credentials::fingerprint(request.credentials.as_ref()),
        };
        let flight = FlightKey {
            key,
            digest: request.digest,
        };
        Ok(Self {
            address,
            credentials: request.credentials.clone(),
            flight,
        })
    }

    fn check_digest(&self, actual: Digest) -> Result<(), SourceError> {
        match self.flight.digest {
            Some(expected) if expected != actual => Err(SourceError::Digest {
                url: self.address.printable(),
                expected,
                actual,
            }),
            _ => Ok(()),
        }
    }
}

impl Inner {
    async fn fly(&self, target: &Target) -> Outcome {
        let outcome = self.load(target).await;
        lock(&self.flights).remove(&target.flight);
        if let Some(metrics) = &self.options.metrics {
            let counted = outcome
                .as_ref()
                .map_or(FetchOutcome::Failed, |(_, counted)| *counted);
            metrics.fetched(counted);
        }
        outcome.map(|(artifact, _)| artifact)
    }

    async fn load(&self, target: &Target) -> Result<(Arc<Artifact>, FetchOutcome), SourceError> {
        if let Some(artifact) = self.pinned(target) {
            return Ok((artifact, FetchOutcome::Cached));
        }
        let known = lock(&self.cache).get(&target.flight.key);
        let get = download(
            &self.client,
            &target.address,
            target.credentials.as_ref(),
            known.as_ref().map(|known| &known.validators),
            self.options.max_archive_bytes,
        );
        let answer = time::timeout(self.options.timeout, get)
            .await
            .map_err(|_| SourceError::Timeout {
                url: target.address.printable(),
            })??;
        match (answer, known) {
            (Answer::Archive(archive), _) => {
                let artifact = self.unpack(target, archive).await?;
                Ok((artifact, FetchOutcome::Downloaded))
            }
            (Answer::NotModified, Some(known)) => {
                target.check_digest(known.artifact.digest)?;
                Ok((known.artifact, FetchOutcome::NotModified))
            }
            (Answer::NotModified, None) => Err(SourceError::Interrupted {
                url: target.address.printable(),
            }),
        }
    }

    /// The cached artifact with the pinned digest, under the address that was asked for.
    fn pinned(&self, target: &Target) -> Option<Arc<Artifact>> {
        let digest = target.flight.digest?;
        let artifact = lock(&self.cache).get_pinned(&digest, &target.flight.key.identity)?;
        let url = target.address.printable();
        if artifact.url == url {
            return Some(artifact);
        }
        Some(Arc::new(Artifact {
            url,
            ..(*artifact).clone()
        }))
    }

    async fn unpack(&self, target: &Target, archive: Download) -> Outcome {
        let url = target.address.printable();
        let interrupted = || SourceError::Interrupted { url: url.clone() };
        let _permit = self.unpacking.acquire().await.map_err(|_| interrupted())?;
        let checked = target.clone();
        let work = move || {
            let Download {
                bytes,
                content_type,
                validators,
            } = archive;
            let digest = Digest::of(&bytes);
            checked.check_digest(digest)?;
            let url = checked.address.printable();
            let files = unpack(&bytes).map_err(|source| SourceError::Archive {
                url: url.clone(),
                content_type,
                source,
            })?;
            Ok((
                Artifact {
                    files,
                    revision: digest.to_string(),
                    digest,
                    url,
                },
                validators,
            ))
        };
        let (artifact, validators) = task::spawn_blocking(work)
            .await
            .map_err(|_| interrupted())??;
        let artifact = Arc::new(artifact);
        let cached = Cached {
            artifact: Arc::clone(&artifact),
            validators,
        };
        lock(&self.cache).insert(target.flight.key.clone(), cached);
        Ok(artifact)
    }
}

/// No lock is held while something can panic, and a cache that was left half-changed would still be consistent.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
