use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::Error;

/// A client that neither sends nor takes anything for this long is given up.
const IDLE_LIMIT: Duration = Duration::from_secs(30);
/// Request line and headers may be this long together.
const HEAD_LIMIT: u64 = 64 * 1024;

/// How a [`ChartServer`] serves one path. The default is status 200 with the content as it is.
#[derive(Debug, Clone, Default)]
pub struct Serving {
    status: Option<u16>,
    headers: Vec<(String, String)>,
    authorization: Option<String>,
    truncate_at: Option<usize>,
    slow: Option<(usize, Duration)>,
    failures: usize,
}

impl Serving {
    /// With this status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// With one more header, `Content-Type` for example.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// As a temporary redirection to another address.
    #[must_use]
    pub fn redirect_to(self, url: &str) -> Self {
        self.status(302).header("Location", url)
    }

    /// Only to those who give this name and password; others get 401.
    #[must_use]
    pub fn basic_auth(mut self, user: &str, password: &str) -> Self {
        let pair = STANDARD.encode(format!("{user}:{password}"));
        self.authorization = Some(format!("Basic {pair}"));
        self
    }

    /// Only to those who give this token; others get 401, with the `WWW-Authenticate` header if one was added.
    #[must_use]
    pub fn bearer_auth(mut self, token: &str) -> Self {
        self.authorization = Some(format!("Bearer {token}"));
        self
    }

    /// Announced in full, but cut off after so many bytes.
    #[must_use]
    pub fn truncated_at(mut self, bytes: usize) -> Self {
        self.truncate_at = Some(bytes);
        self
    }

    /// In chunks of so many bytes, with a pause before each.
    #[must_use]
    pub fn slowly(mut self, chunk: usize, pause: Duration) -> Self {
        self.slow = Some((chunk.max(1), pause));
        self
    }

    /// Only after so many requests got 503.
    #[must_use]
    pub fn failing_first(mut self, requests: usize) -> Self {
        self.failures = requests;
        self
    }
}

/// A request that a [`ChartServer`] got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// `GET` for example.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
}

/// An HTTP server on a free loopback port that serves what it was given, with an `ETag`, well or
/// badly. It needs no runtime, and ends when it is dropped.
#[derive(Debug)]
pub struct ChartServer {
    address: SocketAddr,
    state: Arc<State>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    files: Mutex<HashMap<String, (Vec<u8>, Serving)>>,
    requests: Mutex<Vec<ReceivedRequest>>,
    ended: AtomicBool,
}

impl ChartServer {
    /// Starts a server that has nothing yet and answers 404.
    ///
    /// # Errors
    ///
    /// When there is no free port.
    pub fn start() -> Result<Self, Error> {
        let listen = || {
            let listener = TcpListener::bind(("127.0.0.1", 0))?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = listen().map_err(Error::Listen)?;
        let state = Arc::new(State::default());
        let accepting = Arc::clone(&state);
        let thread = std::thread::spawn(move || accept(&listener, &accepting));
        Ok(Self {
            address,
            state,
            listener: Some(thread),
        })
    }

    /// The address of a path, which need not begin with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{}", self.address, absolute(path))
    }

    /// Serves content under a path from now on.
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.put_with(path, content, Serving::default());
    }

    /// Serves content under a path in a special way from now on.
    pub fn put_with(&self, path: &str, content: impl Into<Vec<u8>>, serving: Serving) {
        lock(&self.state.files).insert(absolute(path), (content.into(), serving));
    }

    /// Answers 404 from now on.
    pub fn remove(&self, path: &str) {
        lock(&self.state.files).remove(&absolute(path));
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.state.requests).clone()
    }

    /// How often a path was asked for, whatever the answer and the query.
    pub fn count(&self, path: &str) -> usize {
        let path = absolute(path);
        let asked = |request: &&ReceivedRequest| without_query(&request.path) == path;
        lock(&self.state.requests).iter().filter(asked).count()
    }
}

impl Drop for ChartServer {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::SeqCst);
        // The listener looks at the flag when someone comes.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            let _ = listener.join();
        }
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for connection in listener.incoming().map_while(Result::ok) {
        if state.ended.load(Ordering::SeqCst) {
            return;
        }
        let state = Arc::clone(state);
        // A client that went away is its own affair.
        std::thread::spawn(move || drop(serve(&connection, &state)));
    }
}

fn serve(connection: &TcpStream, state: &State) -> io::Result<()> {
    connection.set_read_timeout(Some(IDLE_LIMIT))?;
    connection.set_write_timeout(Some(IDLE_LIMIT))?;
    let request = read_request(connection)?;
    let answer = answer(&request, state);
    lock(&state.requests).push(request.clone());
    write_answer(connection, &answer, request.method == "HEAD")
}

fn read_request(connection: &TcpStream) -> io::Result<ReceivedRequest> {
    let mut lines = BufReader::new(connection.take(HEAD_LIMIT)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let mut headers = HashMap::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    Ok(ReceivedRequest {
        method,
        path,
        headers,
    })
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    serving: Serving,
}

impl Answer {
    fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            serving: Serving::default(),
        }
    }
}

fn answer(request: &ReceivedRequest, state: &State) -> Answer {
    if request.method != "GET" && request.method != "HEAD" {
        return Answer::empty(405);
    }
    let mut files = lock(&state.files);
    let Some((content, serving)) = files.get_mut(without_query(&request.path)) else {
        return Answer::empty(404);
    };
    if serving.failures > 0 {
        serving.failures -= 1;
        return Answer::empty(503);
    }
    if serving.authorization.is_some()
        && serving.authorization.as_ref() != request.headers.get("authorization")
    {
        let name = "WWW-Authenticate";
        let own = serving.headers.iter().find(|(header, _)| header == name);
        let challenge = own.map_or("Basic realm=\"test\"", |(_, challenge)| challenge);
        let mut refusal = Answer::empty(401);
        refusal
            .headers
            .push((name.to_owned(), challenge.to_owned()));
        return refusal;
    }
    let tag = entity_tag(content);
    let mut headers = serving.headers.clone();
    headers.push(("ETag".to_owned(), tag.clone()));
    if request.headers.get("if-none-match") == Some(&tag) {
        return Answer {
            headers,
            ..Answer::empty(304)
        };
    }
    let status = serving.status.unwrap_or(200);
    Answer {
        status,
        headers,
        body: content.clone(),
        serving: serving.clone(),
    }
}

fn write_answer(mut connection: &TcpStream, answer: &Answer, head: bool) -> io::Result<()> {
    let mut text = format!("HTTP/1.1 {} Test\r\n", answer.status);
    for (name, value) in &answer.headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let length = answer.body.len();
    let _ = write!(
        text,
        "Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    connection.write_all(text.as_bytes())?;
    if head {
        return Ok(());
    }
    let length = answer
        .serving
        .truncate_at
        .unwrap_or(usize::MAX)
        .min(answer.body.len());
    let body = answer.body.get(..length).unwrap_or_default();
    let (chunk, pause) = answer.serving.slow.unwrap_or((usize::MAX, Duration::ZERO));
    for piece in body.chunks(chunk) {
        std::thread::sleep(pause);
        connection.write_all(piece)?;
        connection.flush()?;
    }
    Ok(())
}

fn entity_tag(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    format!("\"{}\"", STANDARD.encode(digest))
}

fn absolute(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

/// A test that failed with the lock held has said so already.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
