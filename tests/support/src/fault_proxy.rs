use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{Access, Error, access};

type Answer = Response<Either<Full<Bytes>, UntilCut>>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Selector = dyn Fn(&ProxiedRequest) -> bool + Send + Sync;
type Rule = dyn FnMut(&ProxiedRequest) -> Option<Effect> + Send;

/// A request on its way to the API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxiedRequest {
    /// `GET` for example.
    pub method: String,
    /// Path without query.
    pub path: String,
    /// Query, empty if there is none.
    pub query: String,
    /// The client program.
    pub user_agent: String,
}

impl ProxiedRequest {
    /// Whether it asks for a stream of changes.
    pub fn is_watch(&self) -> bool {
        self.query
            .split('&')
            .any(|pair| pair == "watch=true" || pair == "watch=1")
    }

    /// Whether it is meant to change anything.
    pub fn is_write(&self) -> bool {
        matches!(self.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE")
    }
}

/// What happens to a request instead of the usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It is passed on later.
    Delay(Duration),
    /// It is not passed on; the answer is a `Status` with this code and, for 429 and 503, the time
    /// to wait before the next attempt.
    Refuse(u16, Option<Duration>),
    /// It is not passed on, and the connection ends without an answer.
    Disconnect,
    /// It is passed on and done, but the connection ends without an answer.
    LoseAnswer,
    /// It is not passed on, and there is never an answer.
    Hang,
    /// It is passed on and done, and there is never an answer.
    Swallow,
}

struct Fault {
    selector: Box<Selector>,
    effect: Effect,
    left: usize,
}

/// A plain HTTP proxy before an API server that counts requests and makes them fail on demand.
///
/// It runs on the Tokio runtime on which it was started and ends when it is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    access: Access,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    client: kube::Client,
    faults: Mutex<Vec<Fault>>,
    rule: Mutex<Option<Box<Rule>>>,
    requests: Mutex<Vec<ProxiedRequest>>,
    watches: watch::Sender<()>,
    silent: watch::Sender<usize>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Shared")
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

impl FaultProxy {
    /// Starts a proxy before the API server of this access. Requests keep the credentials that they
    /// come with.
    ///
    /// # Errors
    ///
    /// When there is no free port, or the access makes no client.
    pub async fn start(upstream: &Access) -> Result<Self, Error> {
        access::install_crypto();
        let client = kube::Client::try_from(upstream.anonymous_config());
        let client = client.map_err(Error::api("make a client of the proxy"))?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        let shared = Arc::new(Shared {
            client,
            faults: Mutex::default(),
            rule: Mutex::default(),
            requests: Mutex::default(),
            watches: watch::Sender::new(()),
            silent: watch::Sender::new(0),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self {
            access: upstream.with_server(&format!("http://{address}")),
            shared,
            task,
        })
    }

    /// The way through the proxy, for the user that it was started with. [`Access::with_token`] makes
    /// it another user's.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Makes the next so many requests that the selector takes suffer the effect. Of several faults
    /// that take a request, the oldest counts.
    pub fn inject(
        &self,
        times: usize,
        effect: Effect,
        selector: impl Fn(&ProxiedRequest) -> bool + Send + Sync + 'static,
    ) {
        let fault = Fault {
            selector: Box::new(selector),
            effect,
            left: times,
        };
        lock(&self.shared.faults).push(fault);
    }

    /// Asks a rule about every request that suffers no injected fault, until there is another rule.
    pub fn govern(&self, rule: impl FnMut(&ProxiedRequest) -> Option<Effect> + Send + 'static) {
        *lock(&self.shared.rule) = Some(Box::new(rule));
    }

    /// Asks no rule any more.
    pub fn govern_no_more(&self) {
        *lock(&self.shared.rule) = None;
    }

    /// How many requests will never be answered so far: those that hang, and those that were passed on, done and swallowed.
    pub fn silent(&self) -> watch::Receiver<usize> {
        self.shared.silent.subscribe()
    }

    /// Takes back all faults, and returns how many times in all they were still to happen.
    pub fn clear(&self) -> usize {
        lock(&self.shared.faults)
            .drain(..)
            .fold(0, |sum, fault| sum.saturating_add(fault.left))
    }

    /// Ends all watches that are open now, as the API server does when their time is up.
    pub fn end_watches(&self) {
        self.shared.watches.send_replace(());
    }

    /// All requests so far, in order of arrival, those that failed as well.
    pub fn requests(&self) -> Vec<ProxiedRequest> {
        lock(&self.shared.requests).clone()
    }

    /// How many requests the selector takes.
    pub fn count(&self, selector: impl Fn(&ProxiedRequest) -> bool) -> usize {
        lock(&self.shared.requests)
            .iter()
            .filter(|request| selector(request))
            .count()
    }

    /// Forgets all requests so far.
    pub fn forget_requests(&self) {
        lock(&self.shared.requests).clear();
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // The connections are tasks of this one, and end with it.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((connection, _)) = listener.accept().await {
        connections.spawn(serve(connection, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(connection: TcpStream, shared: Arc<Shared>) {
    let service = hyper::service::service_fn(|request| handle(request, &shared));
    let io = TokioIo::new(connection);
    // Broken connections are what a proxy for faults is about.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(io, service)
        .await;
}

async fn handle(request: Request<Incoming>, shared: &Shared) -> Result<Answer, BoxError> {
    let seen = describe(&request);
    let effect = shared.effect_on(&seen);
    lock(&shared.requests).push(seen.clone());
    match effect {
        None => shared.forward(request, seen.is_watch()).await,
        Some(Effect::Delay(time)) => {
            tokio::time::sleep(time).await;
            shared.forward(request, seen.is_watch()).await
        }
        Some(Effect::Refuse(code, retry_after)) => Ok(refusal(code, retry_after)),
        Some(Effect::Disconnect) => Err(disconnected()),
        Some(Effect::Hang) => shared.be_silent().await,
        Some(Effect::Swallow) => {
            let answer = shared.forward(request, false).await?;
            answer.into_body().collect().await?;
            shared.be_silent().await
        }
        Some(Effect::LoseAnswer) => {
            shared
                .forward(request, false)
                .await?
                .into_body()
                .collect()
                .await?;
            Err(disconnected())
        }
    }
}

fn describe(request: &Request<Incoming>) -> ProxiedRequest {
    let agent = request.headers().get(hyper::header::USER_AGENT);
    ProxiedRequest {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        user_agent: agent
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
    }
}

impl Shared {
    fn effect_on(&self, request: &ProxiedRequest) -> Option<Effect> {
        let mut faults = lock(&self.faults);
        let fault = faults
            .iter_mut()
            .find(|fault| fault.left > 0 && (fault.selector)(request));
        if let Some(fault) = fault {
            fault.left -= 1;
            return Some(fault.effect.clone());
        }
        lock(&self.rule).as_mut()?(request)
    }

    /// The client goes away one day, and with it this task.
    async fn be_silent(&self) -> Result<Answer, BoxError> {
        self.silent.send_modify(|count| *count += 1);
        std::future::pending().await
    }

    async fn forward(
        &self,
        request: Request<Incoming>,
        is_watch: bool,
    ) -> Result<Answer, BoxError> {
        // Whoever ends the watches ends this one too from here on.
        let mut cut = self.watches.subscribe();
        let (head, body) = request.into_parts();
        let body = body
            .collect()
            .await
            .map_err(kube::Error::HyperError)?
            .to_bytes();
        let request = Request::from_parts(head, kube::client::Body::from(body.to_vec()));
        let (mut head, body) = self.client.send(request).await?.into_parts();
        // These concern one connection only.
        head.headers.remove(CONNECTION);
        head.headers.remove(TRANSFER_ENCODING);
        let end: Pin<Box<dyn Future<Output = ()> + Send>> = if is_watch {
            Box::pin(async move { drop(cut.changed().await) })
        } else {
            Box::pin(std::future::pending())
        };
        Ok(Response::from_parts(
            head,
            Either::Right(UntilCut { body, end }),
        ))
    }
}

/// A body that ends when its own does, or before that when it is cut.
struct UntilCut {
    body: kube::client::Body,
    end: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Body for UntilCut {
    type Data = Bytes;
    type Error = kube::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, kube::Error>>> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }
}

/// The answer of an API server that does not want to.
fn refusal(code: u16, retry_after: Option<Duration>) -> Answer {
    let details = match retry_after {
        Some(time) => serde_json::json!({ "retryAfterSeconds": time.as_secs() }),
        None => serde_json::json!({}),
    };
    let status = serde_json::json!({
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason(code),
        "message": "injected by the test",
        "code": code,
        "details": details,
    });
    let mut answer = Response::new(Either::Left(Full::from(status.to_string())));
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::IM_A_TEAPOT);
    let headers = answer.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/json"),
    );
    if let Some(time) = retry_after {
        headers.insert(RETRY_AFTER, time.as_secs().into());
    }
    answer
}

fn reason(code: u16) -> &'static str {
    match code {
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        410 => "Expired",
        422 => "Invalid",
        429 => "TooManyRequests",
        500 => "InternalError",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "Unknown",
    }
}

/// hyper closes the connection when there is an error instead of an answer.
fn disconnected() -> BoxError {
    "disconnected as the test wants".into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
