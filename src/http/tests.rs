use super::*;
use crate::metrics::Operation;
use reqwest::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinHandle,
};

const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

async fn start(endpoints: Endpoints) -> Running {
    let server = AdminServer::bind(LOOPBACK, endpoints).await.unwrap();
    let (address, stop) = (server.address(), CancellationToken::new());
    let task = tokio::spawn(server.run(stop.clone()));
    Running {
        address,
        stop,
        task,
    }
}

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let client = Client::builder().no_proxy().build().unwrap();
    let response = client
        .get(format!("http://{address}{path}"))
        .send()
        .await
        .unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

fn both() -> (Metrics, Readiness, Endpoints) {
    let (metrics, readiness) = (Metrics::new(), Readiness::new());
    let endpoints = Endpoints {
        metrics: Some(metrics.clone()),
        readiness: Some(readiness.clone()),
    };
    (metrics, readiness, endpoints)
}

#[test]
fn each_path_has_its_answer() {
    let (_, readiness, all) = both();
    let none = Endpoints::default();
    let status = |method: &Method, path: &str, endpoints: &Endpoints| {
        respond(method, path, endpoints).status().as_u16()
    };
    let cases = [
        (Method::GET, "/metrics", 200),
        (Method::HEAD, "/metrics", 200),
        (Method::POST, "/metrics", 405),
        (Method::GET, "/healthz", 200),
        (Method::GET, "/readyz", 503),
        (Method::GET, "/", 404),
        (Method::GET, "/metrics/", 404),
    ];
    for (method, path, expected) in cases {
        assert_eq!(status(&method, path, &all), expected, "{method} {path}");
        assert_eq!(status(&method, path, &none), 404, "{method} {path}");
    }
    readiness.set(true);
    assert_eq!(status(&Method::GET, "/readyz", &all), 200);
    readiness.set(false);
    assert_eq!(status(&Method::GET, "/readyz", &all), 503);
}

#[tokio::test]
async fn metrics_and_readiness_are_served_as_they_are_now() {
    let (metrics, readiness, endpoints) = both();
    let server = start(endpoints).await;
    assert_eq!(
        get(server.address, "/readyz").await,
        (503, "not ready\n".to_owned())
    );
    readiness.set(true);
    assert_eq!(
        get(server.address, "/readyz").await,
        (200, "ok\n".to_owned())
    );
    metrics.operated(Operation::Create);
    let (status, text) = get(server.address, "/metrics").await;
    assert_eq!(status, 200);
    assert!(
        text.contains("whipstaff_operations_total{action=\"create\"} 1\n"),
        "{text}"
    );
    server.stop.cancel();
    server.task.await.unwrap();
}

#[tokio::test]
async fn stopping_closes_idle_connections_and_the_listener() {
    let server = start(both().2).await;
    let mut idle = TcpStream::connect(server.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let mut start = [0; 15];
    idle.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200 OK");
    server.stop.cancel();
    server.task.await.unwrap();
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"ok\n"), "{rest:?}");
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn address_in_use_is_an_error_that_names_it() {
    let first = AdminServer::bind(LOOPBACK, Endpoints::default())
        .await
        .unwrap();
    let error = AdminServer::bind(first.address(), Endpoints::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot listen on `{}`", first.address())
    );
}

#[tokio::test]
async fn same_address_is_one_server_and_another_address_is_another() {
    let (metrics, readiness, _) = both();
    let free = AdminServer::bind(LOOPBACK, Endpoints::default())
        .await
        .unwrap();
    let address = free.address();
    drop(free);
    let one = AdminServer::bind_all(
        Some((address, metrics.clone())),
        Some((address, readiness.clone())),
    );
    let [one] = &one.await.unwrap()[..] else {
        panic!("one server")
    };
    assert!(one.endpoints.metrics.is_some() && one.endpoints.readiness.is_some());
    let two = AdminServer::bind_all(Some((LOOPBACK, metrics)), Some((LOOPBACK, readiness)));
    let [metrics, health] = &two.await.unwrap()[..] else {
        panic!("two servers")
    };
    assert!(metrics.endpoints.readiness.is_none() && health.endpoints.metrics.is_none());
    assert!(AdminServer::bind_all(None, None).await.unwrap().is_empty());
}
