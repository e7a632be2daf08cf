use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::{ControlPlane, Error, access};

/// A body that may come in pieces.
pub(crate) type ServedBody = UnsyncBoxBody<Bytes, std::convert::Infallible>;
pub(crate) type Served = Response<ServedBody>;

/// A server behind TLS on a free loopback port, with a certificate that the control plane's authority has signed for `localhost`.
///
/// It refuses everything with 503 while it is closed, as it is at first. It runs on the Tokio runtime on which it was started and
/// ends when it is dropped.
#[derive(Debug)]
pub(crate) struct HttpsServer {
    port: u16,
    open: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl HttpsServer {
    pub(crate) async fn start<F, T>(plane: &ControlPlane, handle: F) -> Result<Self, Error>
    where
        F: Fn(Request<Incoming>) -> T + Send + Sync + 'static,
        T: Future<Output = Served> + Send + 'static,
    {
        access::install_crypto();
        let acceptor = acceptor(plane).map_err(Error::Listen)?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(Error::Listen)?;
        let port = listener.local_addr().map_err(Error::Listen)?.port();
        let open = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(accept(
            listener,
            acceptor,
            Arc::clone(&open),
            Arc::new(handle),
        ));
        Ok(Self { port, open, task })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::SeqCst);
    }
}

impl Drop for HttpsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The API server's own certificate: it is good for any server on this machine.
fn acceptor(plane: &ControlPlane) -> std::io::Result<TlsAcceptor> {
    let read = |name: &str| std::fs::read(plane.data_folder().join(name));
    let certificates: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(&read("serving.crt")?).collect();
    let certificates = certificates.map_err(std::io::Error::other)?;
    let key = PrivateKeyDer::from_pem_slice(&read("serving.key")?);
    let key = key.map_err(std::io::Error::other)?;
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(std::io::Error::other)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn accept<F, T>(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    open: Arc<AtomicBool>,
    handle: Arc<F>,
) where
    F: Fn(Request<Incoming>) -> T + Send + Sync + 'static,
    T: Future<Output = Served> + Send + 'static,
{
    // The connections are tasks of this one, and end with it.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((connection, _)) = listener.accept().await {
        let (acceptor, open, handle) = (acceptor.clone(), Arc::clone(&open), Arc::clone(&handle));
        connections.spawn(serve(connection, acceptor, open, handle));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve<F, T>(
    connection: TcpStream,
    acceptor: TlsAcceptor,
    open: Arc<AtomicBool>,
    handle: Arc<F>,
) where
    F: Fn(Request<Incoming>) -> T + Send + Sync + 'static,
    T: Future<Output = Served> + Send + 'static,
{
    let Ok(connection) = acceptor.accept(connection).await else {
        return;
    };
    let service = hyper::service::service_fn(|request| {
        let answer = open.load(Ordering::SeqCst).then(|| handle(request));
        async move {
            Ok::<_, std::convert::Infallible>(match answer {
                Some(answer) => answer.await,
                None => json_answer(503, &status(503, "ServiceUnavailable", "closed")),
            })
        }
    });
    // A client that went away is its own affair.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(connection), service)
        .await;
}

/// An answer of JSON.
pub(crate) fn json_answer(code: u16, value: &serde_json::Value) -> Served {
    let body = Full::new(Bytes::from(value.to_string())).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::IM_A_TEAPOT);
    answer.headers_mut().insert(
        CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/json"),
    );
    answer
}

/// What API servers answer when something is wrong.
pub(crate) fn status(code: u16, reason: &str, message: &str) -> serde_json::Value {
    serde_json::json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
        "reason": reason, "message": message, "code": code})
}

/// The body of a request as JSON.
pub(crate) async fn read_json(request: Request<Incoming>) -> Option<serde_json::Value> {
    let body = request.into_body().collect().await.ok()?;
    serde_json::from_slice(&body.to_bytes()).ok()
}
