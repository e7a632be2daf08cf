//! How many requests are under way at once: what the API server of one cluster bears, as it says itself.
//!
//! Every client of a cluster shares one [`FlowControl`], whatever its identity. A request that is refused with 429 was not looked at:
//! it is sent again when the API server wants it to be, no other to the same API group is sent before, and fewer are sent at once
//! from then on. Every request that succeeds makes room for a little more. Groups have a pace each, because another API server may be
//! behind one, which must not hold up the rest. Watches take no room, since they last; and a request that is not answered for long
//! gives its room back, within bounds, so that those that hang hold nobody up.

use crate::metrics::{Metrics, RequestAnswer, RequestMethod};
use futures::future::BoxFuture;
use http::header::RETRY_AFTER;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config};
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};
use tower::{Layer, Service};

/// Most requests under way at once in all. HTTP/1 takes a connection for each.
const MOST_CONNECTIONS: usize = 64;
/// Most API groups that have a pace of their own; all others share one.
const MOST_GROUPS: usize = 256;
/// Most requests to one API group under way at once: never all connections.
const MOST_REQUESTS: f64 = 32.0;
/// Requests under way at once in the beginning.
const FIRST_REQUESTS: f64 = 16.0;
/// Requests that are under way at once however often the API server refuses: something must go on.
const FEWEST_REQUESTS: f64 = 1.0;
/// What is left of the number of requests after a refusal.
const DECREASE: f64 = 0.5;
/// Refusals that come shortly after another are answers to requests that were sent before it was heard.
const ONE_REFUSAL: Duration = Duration::from_secs(1);
/// How long to wait after a refusal that does not say.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause that is heeded: an API server that asks for more is asked again nevertheless.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// How long a request takes room when no answer comes.
const PROMPT: Duration = Duration::from_secs(2);
/// Most requests that wait for their answers without taking room.
const MOST_UNANSWERED: usize = 64;
/// How long one request is sent again and again before its refusal is passed on.
const PATIENCE: Duration = Duration::from_secs(25);

/// A client that heeds a flow control. Retries are made by the flow control and by whoever wanted the request, not by the client.
///
/// # Errors
/// [`kube::Error`] when the configuration makes no client.
pub(crate) fn connect(mut config: Config, flow: &FlowControl) -> Result<Client, kube::Error> {
    config.default_retry = false;
    Ok(ClientBuilder::try_from(config)?.with_layer(flow).build())
}

/// Counts the requests that are under way to one cluster. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlowControl {
    shared: Arc<Shared>,
    metrics: Option<Metrics>,
}

#[derive(Debug)]
struct Shared {
    groups: Mutex<HashMap<String, Arc<Group>>>,
    connections: Arc<Semaphore>,
    unanswered: Semaphore,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            groups: Mutex::default(),
            connections: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            unanswered: Semaphore::new(MOST_UNANSWERED),
        }
    }
}

/// The requests to one API group.
#[derive(Debug, Default)]
struct Group {
    pace: Mutex<Pace>,
    freed: Notify,
}

/// The arithmetic of flow control: no clock and no waiting of its own.
#[derive(Debug)]
struct Pace {
    /// Requests that may be under way; a fraction is room that is still being earned.
    limit: f64,
    under_way: usize,
    paused_until: Option<Instant>,
    refused_at: Option<Instant>,
}

/// Whether a request may be sent.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Now,
    /// When another one is done.
    Later,
    /// Not before this time.
    At(Instant),
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            limit: FIRST_REQUESTS,
            under_way: 0,
            paused_until: None,
            refused_at: None,
        }
    }
}

impl Pace {
    fn begin(&mut self, now: Instant) -> Turn {
        if let Some(until) = self.paused_until.filter(|until| now < *until) {
            return Turn::At(until);
        }
        self.paused_until = None;
        if !self.has_room() {
            return Turn::Later;
        }
        self.under_way += 1;
        Turn::Now
    }

    fn has_room(&self) -> bool {
        self.under_way < self.limit as usize
    }

    fn end(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Room for one more is earned by as many successes as there is room for, and only while the room is needed.
    fn succeeded(&mut self) {
        if !self.has_room() {
            self.limit = (self.limit + 1.0 / self.limit).min(MOST_REQUESTS);
        }
    }

    fn refused(&mut self, pause: Duration, now: Instant) {
        let pause = pause.min(LONGEST_PAUSE);
        self.paused_until = self.paused_until.max(Some(now + pause));
        let is_first = self
            .refused_at
            .is_none_or(|at| now.saturating_duration_since(at) >= ONE_REFUSAL);
        if is_first {
            self.refused_at = Some(now);
            self.limit = (self.limit * DECREASE).max(FEWEST_REQUESTS);
        }
    }
}

impl FlowControl {
    /// A flow control that also tells of every request.
    pub(crate) fn counted(metrics: Metrics) -> Self {
        Self {
            shared: Arc::default(),
            metrics: Some(metrics),
        }
    }

    fn count(&self, method: RequestMethod, status: Option<StatusCode>) {
        if let Some(metrics) = &self.metrics {
            metrics.requested(method, answer_label(status));
        }
    }

    /// The pace of the API group that a request is for.
    fn group(&self, path: &str) -> Arc<Group> {
        // Nothing that holds the lock can leave the map half changed.
        let mut groups = self
            .shared
            .groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let name = group_of(path);
        if let Some(group) = groups.get(name) {
            return Arc::clone(group);
        }
        let name = if groups.len() < MOST_GROUPS { name } else { "" };
        Arc::clone(groups.entry(name.to_owned()).or_default())
    }

    async fn begin(&self, group: &Arc<Group>) -> UnderWay {
        group.turn().await;
        // From here on whoever drops this request gives its room back.
        let mut under_way = UnderWay {
            group: Arc::clone(group),
            connection: None,
        };
        let connection = Arc::clone(&self.shared.connections).acquire_owned().await;
        // The semaphore is never closed.
        under_way.connection = connection.ok();
        under_way
    }

    /// Waits for an answer. The room that the request takes is given along with it, unless the answer was long in coming: then it was
    /// given back.
    async fn answer<T>(
        &self,
        answer: impl Future<Output = T>,
        under_way: UnderWay,
    ) -> (T, Option<UnderWay>) {
        let mut answer = pin!(answer);
        if let Ok(answer) = timeout(PROMPT, &mut answer).await {
            return (answer, Some(under_way));
        }
        let Ok(_unanswered) = self.shared.unanswered.try_acquire() else {
            return (answer.await, Some(under_way));
        };
        drop(under_way);
        (answer.await, None)
    }
}

/// The API group of a path such as `/apis/apps/v1/deployments`; the core group, and everything that is no resource, share one.
fn group_of(path: &str) -> &str {
    let group = path.strip_prefix("/apis/");
    group
        .and_then(|group| group.split('/').next())
        .unwrap_or_default()
}

impl Group {
    async fn turn(&self) {
        loop {
            let freed = self.freed.notified();
            let (turn, has_room) = {
                let mut pace = self.pace();
                (pace.begin(Instant::now()), pace.has_room())
            };
            match turn {
                Turn::Now => {
                    // Whoever waits may have been passed over while nothing was sent.
                    if has_room {
                        self.freed.notify_one();
                    }
                    return;
                }
                Turn::Later => freed.await,
                Turn::At(time) => sleep_until(time).await,
            }
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        // Nothing that holds the lock can leave the numbers half changed.
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is under way, until it is answered or dropped.
struct UnderWay {
    group: Arc<Group>,
    connection: Option<OwnedSemaphorePermit>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        drop(self.connection.take());
        self.group.pace().end();
        self.group.freed.notify_one();
    }
}

impl<S> Layer<S> for FlowControl {
    type Service = Controlled<S>;

    fn layer(&self, service: S) -> Controlled<S> {
        Controlled {
            // The client's service cannot be cloned, and a request that is sent again needs it twice.
            service: Arc::new(tokio::sync::Mutex::new(service)),
            flow: self.clone(),
        }
    }
}

/// A client's service under flow control.
#[derive(Debug)]
pub(crate) struct Controlled<S> {
    service: Arc<tokio::sync::Mutex<S>>,
    flow: FlowControl,
}

impl<S, B> Service<Request<Body>> for Controlled<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send,
    S::Error: Send,
    B: Send,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (service, flow) = (Arc::clone(&self.service), self.flow.clone());
        let method = method_label(request.method());
        if is_watch(&request) {
            return Box::pin(async move {
                let answer = send(&service, request).await;
                flow.count(method, answer.as_ref().ok().map(Response::status));
                answer
            });
        }
        Box::pin(async move {
            let deadline = Instant::now() + PATIENCE;
            let group = flow.group(request.uri().path());
            let mut request = request;
            loop {
                let again = copy(&request);
                let under_way = flow.begin(&group).await;
                let answer = flow.answer(send(&service, request), under_way);
                let (answer, under_way) = answer.await;
                flow.count(method, answer.as_ref().ok().map(Response::status));
                let answer = answer?;
                let now = Instant::now();
                let Some(pause) = refusal(&answer) else {
                    group.pace().succeeded();
                    drop(under_way);
                    return Ok(answer);
                };
                group.pace().refused(pause, now);
                drop(under_way);
                match again {
                    Some(again) if now + pause < deadline => {
                        request = again;
                    }
                    _ => return Ok(answer),
                }
            }
        })
    }
}

async fn send<S>(
    service: &tokio::sync::Mutex<S>,
    request: Request<Body>,
) -> Result<S::Response, S::Error>
where
    S: Service<Request<Body>>,
{
    let answer = {
        let mut service = service.lock().await;
        poll_fn(|context| service.poll_ready(context)).await?;
        service.call(request)
    };
    answer.await
}

fn is_watch(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    query
        .split('&')
        .any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

/// The same request once more, if its body is at hand.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    Some(copy)
}

/// How long to wait after an answer that says that the request was not looked at.
fn refusal<B>(answer: &Response<B>) -> Option<Duration> {
    let pause = retry_after(answer.headers());
    match answer.status() {
        StatusCode::TOO_MANY_REQUESTS => Some(pause.unwrap_or(DEFAULT_PAUSE)),
        StatusCode::SERVICE_UNAVAILABLE => pause,
        _ => None,
    }
}

fn method_label(method: &Method) -> RequestMethod {
    match *method {
        Method::GET => RequestMethod::Get,
        Method::POST => RequestMethod::Post,
        Method::PUT => RequestMethod::Put,
        Method::PATCH => RequestMethod::Patch,
        Method::DELETE => RequestMethod::Delete,
        _ => RequestMethod::Other,
    }
}

fn answer_label(status: Option<StatusCode>) -> RequestAnswer {
    match status {
        None => RequestAnswer::None,
        Some(StatusCode::TOO_MANY_REQUESTS) => RequestAnswer::Throttled,
        Some(status) if status.is_server_error() => RequestAnswer::Failed,
        Some(status) if status.is_client_error() => RequestAnswer::Refused,
        Some(_) => RequestAnswer::Success,
    }
}

/// API servers give seconds, never dates.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(pace: &mut Pace, now: Instant) -> usize {
        let mut begun = 0;
        while pace.begin(now) == Turn::Now {
            begun += 1;
        }
        begun
    }

    #[test]
    fn refusal_halves_what_is_under_way_and_successes_earn_it_back() {
        let now = Instant::now();
        let mut pace = Pace::default();
        assert_eq!(begun(&mut pace, now), 16);
        pace.refused(Duration::from_secs(2), now);
        // The others that were sent before are refused too, and count once.
        pace.refused(DEFAULT_PAUSE, now + Duration::from_millis(10));
        (0..16).for_each(|_| pace.end());
        let later = now + Duration::from_secs(2);
        assert_eq!(
            pace.begin(now + Duration::from_secs(1)),
            Turn::At(later),
            "nothing is sent before the API server wants it"
        );
        assert_eq!(begun(&mut pace, later), 8);
        (0..9).for_each(|_| pace.succeeded());
        assert_eq!(begun(&mut pace, later), 1);
    }

    #[test]
    fn something_goes_on_however_often_the_api_server_refuses() {
        let mut now = Instant::now();
        let mut pace = Pace::default();
        for _ in 0..100 {
            pace.refused(Duration::from_hours(1), now);
            now += LONGEST_PAUSE;
        }
        assert_eq!(begun(&mut pace, now), 1);
        pace.end();
        assert_eq!(pace.begin(now), Turn::Now);
    }

    #[test]
    fn there_is_a_limit_to_what_successes_earn() {
        let now = Instant::now();
        let mut pace = Pace::default();
        for _ in 0..10_000 {
            begun(&mut pace, now);
            pace.succeeded();
        }
        assert_eq!(pace.under_way, MOST_REQUESTS as usize);
    }

    #[test]
    fn unused_room_does_not_grow() {
        let mut pace = Pace::default();
        (0..1000).for_each(|_| pace.succeeded());
        assert_eq!(begun(&mut pace, Instant::now()), 16);
    }

    #[test]
    fn groups_have_a_pace_each() {
        let cases = [
            ("/api/v1/namespaces/apps/services/shop", ""),
            ("/apis/apps/v1/namespaces/apps/deployments", "apps"),
            ("/apis/metrics.k8s.io", "metrics.k8s.io"),
            ("/version", ""),
        ];
        for (path, group) in cases {
            assert_eq!(group_of(path), group, "{path}");
        }
        let flow = FlowControl::default();
        for number in 0..2 * MOST_GROUPS {
            flow.group(&format!("/apis/g{number}.example.org/v1/things"));
        }
        assert!(flow.shared.groups.lock().unwrap().len() <= MOST_GROUPS + 1);
    }

    #[test]
    fn pause_is_read_from_the_answer() {
        let answer = |code: u16, header: Option<&str>| {
            let mut answer = Response::new(());
            *answer.status_mut() = StatusCode::from_u16(code).unwrap();
            if let Some(header) = header {
                answer
                    .headers_mut()
                    .insert(RETRY_AFTER, header.parse().unwrap());
            }
            refusal(&answer)
        };
        let seconds = Duration::from_secs;
        assert_eq!(answer(429, Some("3")), Some(seconds(3)));
        assert_eq!(answer(429, None), Some(DEFAULT_PAUSE));
        assert_eq!(answer(429, Some("soon")), Some(DEFAULT_PAUSE));
        assert_eq!(answer(503, Some("1")), Some(seconds(1)));
        assert_eq!(answer(503, None), None);
        assert_eq!(answer(500, Some("1")), None);
        assert_eq!(answer(200, Some("1")), None);
    }
}
