use super::*;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode, body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kube::Config;
use serde_json::Value;
use std::convert::Infallible;
use tokio::net::TcpListener;

#[test]
fn text_is_cut_on_a_character_boundary() {
    let cases = [
        ("", 10, ""),
        ("0123456789", 10, "0123456789"),
        ("0123456789a", 10, "0123456…"),
        ("01234äöü89", 10, "01234ä…"),
        ("äöüäöü", 10, "äöü…"),
        ("012345😀😀", 10, "012345…"),
    ];
    for (text, limit, expected) in cases {
        let short = cut(text, limit);
        assert_eq!(short, expected);
        assert!(short.len() <= limit, "{short}");
    }
}

type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// An API server that takes every event, or none, and remembers them.
async fn api_server(status: StatusCode) -> (Client, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let log = Arc::clone(&log);
            let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                let log = Arc::clone(&log);
                async move {
                    let call = format!("{} {}", request.method(), request.uri().path());
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let event = serde_json::from_slice(&body).unwrap();
                    log.lock().unwrap().push((call, event));
                    let mut response = Response::new(Full::<Bytes>::new(body));
                    *response.status_mut() = status;
                    Ok::<_, Infallible>(response)
                }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    let mut config = Config::new(url.parse().unwrap());
    config.proxy_url = None;
    (Client::try_from(config).unwrap(), seen)
}

fn shop() -> ObjectReference {
    ObjectReference {
        api_version: Some("whipstaff.dev/v1alpha1".to_owned()),
        kind: Some("Component".to_owned()),
        namespace: Some("apps".to_owned()),
        name: Some("shop".to_owned()),
        uid: Some("1".to_owned()),
        ..ObjectReference::default()
    }
}

fn failed(note: &str) -> Notice<'_> {
    Notice {
        severity: EventType::Warning,
        reason: "RenderFailed",
        action: "Render",
        note,
    }
}

#[tokio::test]
async fn every_note_is_published_once() {
    let (client, seen) = api_server(StatusCode::CREATED).await;
    let events = Events::new(client, "whipstaff", Some("whipstaff-0".to_owned()));
    for note in ["no chart", "no chart", "no values", "no chart"] {
        events.publish(&shop(), &failed(note)).await;
    }
    let seen = seen.lock().unwrap();
    let notes: Vec<_> = seen
        .iter()
        .map(|(_, event)| event["note"].as_str().unwrap())
        .collect();
    assert_eq!(notes, ["no chart", "no values"]);
    for (call, event) in &*seen {
        assert_eq!(call, "POST /apis/events.k8s.io/v1/namespaces/apps/events");
        assert_eq!(event["reason"], "RenderFailed");
        assert_eq!(event["type"], "Warning");
        assert_eq!(event["regarding"]["name"], "shop");
        assert_eq!(event["reportingController"], "whipstaff");
        assert_eq!(event["reportingInstance"], "whipstaff-0");
    }
    assert_eq!(seen[0].1["action"], "Render");
    let apart = format!(
        "Render-{}",
        &Digest::of_parts([b"no values".as_slice()]).hex()[..8]
    );
    assert_eq!(seen[1].1["action"], apart);
}

#[tokio::test]
async fn long_texts_stay_within_the_limits_of_the_server() {
    let (client, _) = api_server(StatusCode::CREATED).await;
    let events = Events::new(client, "whipstaff", None);
    let long = "ä".repeat(2000);
    for end in ["", "x"] {
        let note = format!("{end}{long}");
        let notice = Notice {
            severity: EventType::Normal,
            reason: &long,
            action: &long,
            note: &note,
        };
        let event = events.prepare(&shop(), &notice, Instant::now()).unwrap();
        assert!(event.note.is_some_and(|note| note.len() <= MAX_NOTE_BYTES));
        assert!(event.reason.len() <= MAX_NAME_BYTES);
        assert!(event.action.len() <= MAX_NAME_BYTES, "{}", event.action);
    }
}

#[tokio::test]
async fn event_that_is_refused_fails_nothing() {
    let (client, seen) = api_server(StatusCode::FORBIDDEN).await;
    let events = Events::new(client, "whipstaff", None);
    events.publish(&shop(), &failed("no chart")).await;
    assert_eq!(seen.lock().unwrap().len(), 1);
}
