//! The servers that fail on demand.
#![allow(
    clippy::expect_used,
    reason = "functions that tests share are tests, too"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ObjectMeta, PostParams, WatchEvent, WatchParams};
use whipstaff_test_support::{
    ChartServer, Effect, FaultProxy, ProxiedRequest, Serving, namespace, shared,
};

/// Status code, headers and body, read until the server closes.
fn get(url: &str, headers: &[&str]) -> (u16, String, String) {
    let rest = url.strip_prefix("http://").expect("an address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut connection = TcpStream::connect(host).expect("a connection");
    let headers: String = headers
        .iter()
        .flat_map(|header| [*header, "\r\n"])
        .collect();
    write!(
        connection,
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"
    )
    .expect("sent");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let code = head
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .expect("a status");
    (code, head.to_owned(), body.to_owned())
}

#[test]
fn chart_server_serves_as_it_is_told() {
    let server = ChartServer::start().expect("a server");
    let cases: [(Serving, &[&str], u16, &str); 8] = [
        (Serving::default(), &[], 200, "chart"),
        (Serving::default().status(500), &[], 500, "chart"),
        (Serving::default().basic_auth("me", "secret"), &[], 401, ""),
        (
            Serving::default().basic_auth("me", "secret"),
            &["Authorization: Basic bWU6c2VjcmV0"],
            200,
            "chart",
        ),
        (
            Serving::default().bearer_auth("token"),
            &["authorization: Bearer token"],
            200,
            "chart",
        ),
        (Serving::default().truncated_at(2), &[], 200, "ch"),
        (
            Serving::default().slowly(2, Duration::from_millis(1)),
            &[],
            200,
            "chart",
        ),
        (Serving::default().failing_first(1), &[], 503, ""),
    ];
    for (number, (serving, headers, code, body)) in cases.into_iter().enumerate() {
        let path = format!("charts/{number}.tgz");
        server.put_with(&path, "chart", serving.clone());
        let answer = get(&server.url(&path), headers);
        assert_eq!((answer.0, answer.2.as_str()), (code, body), "{serving:?}");
    }
    assert_eq!(
        get(&server.url("charts/7.tgz?again"), &[]).0,
        200,
        "it failed once only"
    );
    assert_eq!(server.count("charts/7.tgz"), 2);
    assert_eq!(get(&server.url("none"), &[]).0, 404);
    assert_eq!(
        server
            .requests()
            .last()
            .map(|it| it.path.clone())
            .as_deref(),
        Some("/none")
    );
}

#[test]
fn chart_server_redirects_and_answers_conditional_requests() {
    let server = ChartServer::start().expect("a server");
    server.put("index.yaml", "entries: {}");
    server.put_with(
        "old.yaml",
        "",
        Serving::default().redirect_to(&server.url("index.yaml")),
    );
    let (code, head, _) = get(&server.url("old.yaml"), &[]);
    assert_eq!(code, 302);
    assert!(
        head.contains(&format!("Location: {}", server.url("index.yaml"))),
        "{head}"
    );

    let (_, head, _) = get(&server.url("index.yaml"), &[]);
    let tag = head
        .lines()
        .find_map(|line| line.strip_prefix("ETag: "))
        .expect("a tag");
    let condition = format!("If-None-Match: {tag}");
    assert_eq!(get(&server.url("index.yaml"), &[&condition]).0, 304);
    server.put("index.yaml", "entries: { shop: [] }");
    assert_eq!(get(&server.url("index.yaml"), &[&condition]).0, 200);
    server.remove("index.yaml");
    assert_eq!(get(&server.url("index.yaml"), &[]).0, 404);
}

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn proxy_passes_on_counts_and_refuses() {
    let namespace = namespace("proxy").await;
    let proxy = FaultProxy::start(shared().await.admin())
        .await
        .expect("a proxy");
    let config_maps: Api<ConfigMap> = Api::namespaced(proxy.access().client(), &namespace);
    let create = PostParams::default();
    config_maps
        .create(&create, &config_map("one"))
        .await
        .expect("it is passed on");
    assert_eq!(proxy.count(ProxiedRequest::is_write), 1);

    proxy.inject(1, Effect::Refuse(409, None), |request| {
        request.method == "POST"
    });
    proxy.inject(
        9,
        Effect::Refuse(429, Some(Duration::from_secs(7))),
        |request| request.method == "POST",
    );
    let conflict = config_maps
        .create(&create, &config_map("two"))
        .await
        .expect_err("refused");
    assert!(
        matches!(&conflict, kube::Error::Api(status) if status.is_conflict()),
        "{conflict}"
    );
    let limited = config_maps
        .create(&create, &config_map("two"))
        .await
        .expect_err("refused");
    assert!(
        matches!(&limited, kube::Error::Api(status) if status.code == 429),
        "{limited}"
    );
    assert!(
        config_maps
            .get_opt("two")
            .await
            .expect("reads go on")
            .is_none()
    );
    assert_eq!(proxy.clear(), 8);
    config_maps
        .create(&create, &config_map("two"))
        .await
        .expect("it is passed on again");

    proxy.forget_requests();
    assert_eq!(proxy.requests(), []);
}

#[tokio::test]
async fn write_is_done_though_its_answer_is_lost() {
    let namespace = namespace("proxy-lost").await;
    let proxy = FaultProxy::start(shared().await.admin())
        .await
        .expect("a proxy");
    let config_maps: Api<ConfigMap> = Api::namespaced(proxy.access().client(), &namespace);
    let cases = [(Effect::LoseAnswer, true), (Effect::Disconnect, false)];
    for (effect, done) in cases {
        let name = format!("done-{done}");
        proxy.inject(1, effect, |request| request.method == "POST");
        let error = config_maps
            .create(&PostParams::default(), &config_map(&name))
            .await;
        let error = error.expect_err("there is no answer");
        assert!(!matches!(error, kube::Error::Api(_)), "{error}");
        assert_eq!(
            config_maps
                .get_opt(&name)
                .await
                .expect("an answer")
                .is_some(),
            done
        );
    }
}

#[tokio::test]
async fn open_watches_end_when_the_proxy_ends_them() {
    let namespace = namespace("proxy-watch").await;
    let proxy = FaultProxy::start(shared().await.admin())
        .await
        .expect("a proxy");
    let config_maps: Api<ConfigMap> = Api::namespaced(proxy.access().client(), &namespace);
    let only_one = WatchParams::default()
        .fields("metadata.name=one")
        .disable_bookmarks();
    let mut events = Box::pin(config_maps.watch(&only_one, "0").await.expect("a watch"));
    config_maps
        .create(&PostParams::default(), &config_map("one"))
        .await
        .expect("made");
    let first = events.try_next().await.expect("an event");
    assert!(matches!(first, Some(WatchEvent::Added(_))), "{first:?}");

    proxy.end_watches();
    assert!(events.try_next().await.expect("an orderly end").is_none());
    assert_eq!(proxy.count(ProxiedRequest::is_watch), 1);
    config_maps.get("one").await.expect("other requests go on");
}
