//! The admin endpoints: metrics for Prometheus, health for the kubelet.
//!
//! | path | answer |
//! |---|---|
//! | `/metrics` | all metrics |
//! | `/healthz` | 200 as long as the process answers |
//! | `/readyz` | 200 once the operator says that it is ready, 503 before and while it stops |

use crate::metrics::{CONTENT_TYPE, Metrics};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{self, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time,
};
use tokio_util::sync::CancellationToken;

/// Most connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 64;
/// Longest time that a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest life of a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_mins(5);
/// Longest time that open connections are waited for when the server stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Wait after a connection could not be accepted, which is when file descriptors run out.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);
/// Most bytes that are buffered of a request.
const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// Whether the operator is ready. Clones are cheap and share the answer, which is no at first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Not ready yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Says whether the operator is ready.
    pub(crate) fn set(&self, ready: bool) {
        self.0.store(ready, Ordering::Relaxed);
    }

    /// Whether the operator is ready.
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a server answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Endpoints {
    /// Served under `/metrics`.
    pub metrics: Option<Metrics>,
    /// Served under `/healthz` and `/readyz`.
    pub readiness: Option<Readiness>,
}

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on `{address}`")]
pub struct ListenError {
    address: SocketAddr,
    source: io::Error,
}

/// An HTTP/1 server that is bound to its address and not running yet.
#[derive(Debug)]
pub(crate) struct AdminServer {
    listener: TcpListener,
    address: SocketAddr,
    endpoints: Endpoints,
}

impl AdminServer {
    /// Binds a server to an address. Port 0 takes a free one; see [`AdminServer::address`].
    ///
    /// # Errors
    /// [`ListenError`] when the address is taken or may not be used.
    pub(crate) async fn bind(
        address: SocketAddr,
        endpoints: Endpoints,
    ) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            endpoints,
        })
    }

    /// Binds metrics and health each to its address, or both to one server when the addresses are the same.
    ///
    /// # Errors
    /// [`ListenError`] when an address is taken or may not be used.
    pub(crate) async fn bind_all(
        metrics: Option<(SocketAddr, Metrics)>,
        health: Option<(SocketAddr, Readiness)>,
    ) -> Result<Vec<Self>, ListenError> {
        let mut wanted: Vec<(SocketAddr, Endpoints)> = Vec::new();
        if let Some((address, metrics)) = metrics {
            wanted.push((
                address,
                Endpoints {
                    metrics: Some(metrics),
                    readiness: None,
                },
            ));
        }
        if let Some((address, readiness)) = health {
            match wanted
                .iter_mut()
                .find(|(taken, _)| *taken == address && address.port() != 0)
            {
                Some((_, endpoints)) => endpoints.readiness = Some(readiness),
                None => wanted.push((
                    address,
                    Endpoints {
                        metrics: None,
                        readiness: Some(readiness),
                    },
                )),
            }
        }
        let mut servers = Vec::new();
        for (address, endpoints) in wanted {
            servers.push(Self::bind(address, endpoints).await?);
        }
        Ok(servers)
    }

    /// The address that the server is bound to, with the port that it got.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until it is told to stop, then lets open connections finish their answer.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        tracing::info!(address = %self.address(), "admin server listens");
        while let Some(stream) = self.accept(&stop, &slots).await {
            while connections.try_join_next().is_some() {}
            let (stream, slot) = stream;
            let (endpoints, stop) = (self.endpoints.clone(), stop.clone());
            connections.spawn(async move {
                serve(stream, endpoints, stop).await;
                drop(slot);
            });
        }
        let drained = async { while connections.join_next().await.is_some() {} };
        if time::timeout(DRAIN_TIMEOUT, drained).await.is_err() {
            tracing::debug!(address = %self.address, "connections are cut off");
        }
    }

    /// The next connection, and its place among those that are allowed. None when the server is to stop.
    async fn accept(
        &self,
        stop: &CancellationToken,
        slots: &Arc<Semaphore>,
    ) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
        let next = async {
            let slot = Arc::clone(slots).acquire_owned().await.ok()?;
            loop {
                match self.listener.accept().await {
                    Ok((stream, _)) => return Some((stream, slot)),
                    Err(error) => {
                        tracing::debug!(error = %error, "connection is not accepted");
                        time::sleep(ACCEPT_BACKOFF).await;
                    }
                }
            }
        };
        stop.run_until_cancelled(next).await.flatten()
    }
}

async fn serve(stream: TcpStream, endpoints: Endpoints, stop: CancellationToken) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = respond(request.method(), request.uri().path(), &endpoints);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(MAX_REQUEST_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    );
    let served = time::timeout(CONNECTION_TIMEOUT, async {
        tokio::select! {
            served = connection.as_mut() => return served,
            () = stop.cancelled() => {}
        }
        connection.as_mut().graceful_shutdown();
        connection.await
    });
    if let Ok(Err(error)) = served.await {
        tracing::debug!(error = %error, "admin connection failed");
    }
}

fn respond(method: &Method, path: &str, endpoints: &Endpoints) -> Response<Full<Bytes>> {
    let answer = match (path, &endpoints.metrics, &endpoints.readiness) {
        ("/metrics", Some(metrics), _) => Some((StatusCode::OK, CONTENT_TYPE, metrics.encode())),
        ("/healthz", _, Some(_)) => Some(plain(StatusCode::OK, "ok")),
        ("/readyz", _, Some(readiness)) if readiness.get() => Some(plain(StatusCode::OK, "ok")),
        ("/readyz", _, Some(_)) => Some(plain(StatusCode::SERVICE_UNAVAILABLE, "not ready")),
        _ => None,
    };
    let (status, content_type, body) = match answer {
        None => plain(StatusCode::NOT_FOUND, "not found"),
        Some(_) if !matches!(*method, Method::GET | Method::HEAD) => {
            plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
        }
        Some(answer) => answer,
    };
    // Hyper leaves out the body of an answer to HEAD.
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn plain(status: StatusCode, text: &str) -> (StatusCode, &'static str, String) {
    (status, "text/plain; charset=utf-8", format!("{text}\n"))
}

#[cfg(test)]
mod tests;
