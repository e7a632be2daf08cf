use super::super::ArchiveError;
use super::*;
use crate::causes::on_one_line;
use crate::class::Class;
use flate2::{Compression, write::GzEncoder};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

/// A request as the server saw it: the path with its query, and the headers by their lower-case name.
#[derive(Debug, Clone)]
struct Seen {
    path: String,
    headers: BTreeMap<String, String>,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// An HTTP server on the loopback address that answers each request on a connection of its own.
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Some((request, mut stream)) = stream.ok().and_then(read_request) else {
                    continue;
                };
                log.lock().unwrap().push(request.clone());
                let bytes = answer(&request);
                // The client may have gone by design.
                let _ = stream.write_all(&bytes);
            }
        });
        Self { address, seen }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn read_request(stream: TcpStream) -> Option<(Seen, TcpStream)> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    Some((Seen { path, headers }, stream))
}

fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    [text.as_bytes(), b"\r\n", body].concat()
}

fn ok(body: &[u8]) -> Vec<u8> {
    answer("200 OK", &[("Content-Type", "application/gzip")], body)
}

fn redirect(location: &str) -> Vec<u8> {
    answer("302 Found", &[("Location", location)], b"")
}

fn chart(content: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, "shop/Chart.yaml", content.as_bytes())
        .unwrap();
    tar.into_inner().unwrap().finish().unwrap()
}

fn options() -> FetchOptions {
    FetchOptions {
        use_proxy: false,
        ..FetchOptions::default()
    }
}

fn fetcher() -> Fetcher {
    Fetcher::new(options()).unwrap()
}

fn plain(url: impl Into<String>) -> FetchRequest {
    FetchRequest {
        url: url.into(),
        digest: None,
        credentials: None,
    }
}

fn token() -> Credentials {
    Credentials::Bearer {
        token: "t0ken".to_owned(),
    }
}

#[tokio::test]
async fn archive_is_downloaded_and_unpacked() {
    let archive = chart("name: shop");
    let digest = Digest::of(&archive);
    let server = Server::start(move |_| ok(&archive));
    let artifact = fetcher()
        .fetch(&plain(server.url("/shop.tgz?key=1")))
        .await
        .unwrap();
    assert_eq!(&**artifact.files.get("Chart.yaml").unwrap(), b"name: shop");
    assert_eq!(artifact.digest, digest);
    assert_eq!(artifact.revision, digest.to_string());
    assert_eq!(artifact.url, server.url("/shop.tgz"));
    let [request] = &server.seen()[..] else {
        panic!("one request")
    };
    assert_eq!(request.path, "/shop.tgz?key=1");
    assert_eq!(request.header("authorization"), None);
    assert!(
        request
            .header("user-agent")
            .unwrap()
            .starts_with("whipstaff/")
    );
}

#[tokio::test]
async fn unchanged_archive_is_not_downloaded_again() {
    let archive = chart("name: shop");
    let headers = [
        ("ETag", "\"one\""),
        ("Last-Modified", "Fri, 20 Nov 2026 10:00:00 GMT"),
    ];
    let server = Server::start(move |request| match request.header("if-none-match") {
        Some("\"one\"") => answer("304 Not Modified", &[], b""),
        _ => answer("200 OK", &headers, &archive),
    });
    let metrics = Metrics::new();
    let fetcher = Fetcher::new(FetchOptions {
        metrics: Some(metrics.clone()),
        ..options()
    })
    .unwrap();
    let request = plain(server.url("/shop.tgz"));
    let first = fetcher.fetch(&request).await.unwrap();
    let second = fetcher.fetch(&request).await.unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        seen[1].header("if-modified-since"),
        Some("Fri, 20 Nov 2026 10:00:00 GMT")
    );
    let text = metrics.encode();
    assert!(
        text.contains("whipstaff_fetch_total{outcome=\"downloaded\"} 1\n"),
        "{text}"
    );
    assert!(
        text.contains("whipstaff_fetch_total{outcome=\"not_modified\"} 1\n"),
        "{text}"
    );
}

#[tokio::test]
async fn changed_archive_replaces_the_cached_one() {
    let server = Server::start(move |request| match request.header("if-none-match") {
        None => answer("200 OK", &[("ETag", "\"one\"")], &chart("one")),
        Some(_) => answer("200 OK", &[("ETag", "\"two\"")], &chart("two")),
    });
    let fetcher = fetcher();
    let request = plain(server.url("/shop.tgz"));
    let first = fetcher.fetch(&request).await.unwrap();
    let second = fetcher.fetch(&request).await.unwrap();
    assert_ne!(first.digest, second.digest);
    fetcher.fetch(&request).await.unwrap();
    assert_eq!(server.seen()[2].header("if-none-match"), Some("\"two\""));
}

#[tokio::test]
async fn pinned_archive_that_is_cached_needs_no_request() {
    let archive = chart("name: shop");
    let digest = Some(Digest::of(&archive));
    let server = Server::start(move |_| ok(&archive));
    let fetcher = fetcher();
    let mut request = plain(server.url("/shop.tgz"));
    fetcher.fetch(&request).await.unwrap();
    request.digest = digest;
    fetcher.fetch(&request).await.unwrap();
    request.url = server.url("/mirror/shop.tgz");
    assert_eq!(fetcher.fetch(&request).await.unwrap().url, request.url);
    assert_eq!(server.seen().len(), 1);
    request.credentials = Some(token());
    fetcher.fetch(&request).await.unwrap();
    assert_eq!(
        server.seen().len(),
        2,
        "another identity has to show that it may have it"
    );
}

#[tokio::test]
async fn archive_with_another_digest_is_refused_downloaded_or_cached() {
    let archive = chart("name: shop");
    let digest = Digest::of(&archive);
    let server = Server::start(move |request| match request.header("if-none-match") {
        Some(_) => answer("304 Not Modified", &[], b""),
        None => answer("200 OK", &[("ETag", "\"one\"")], &archive),
    });
    let fetcher = fetcher();
    let mut request = plain(server.url("/shop.tgz"));
    let pin = Digest::of(b"something else");
    for cached in [false, true] {
        request.digest = Some(pin);
        let error = fetcher.fetch(&request).await.unwrap_err();
        assert_eq!(error.class(), Class::Invalid);
        let SourceError::Digest {
            expected, actual, ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!((expected, actual), (pin, digest), "cached: {cached}");
        request.digest = None;
        fetcher.fetch(&request).await.unwrap();
    }
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn fetches_at_the_same_time_share_one_download() {
    let server = Server::start(|request| match request.path.as_str() {
        "/missing.tgz" => answer("404 Not Found", &[], b""),
        _ => ok(&chart("name: shop")),
    });
    let fetcher = fetcher();
    let request = plain(server.url("/shop.tgz"));
    let (one, two) = tokio::join!(fetcher.fetch(&request), fetcher.fetch(&request));
    assert!(Arc::ptr_eq(&one.unwrap(), &two.unwrap()));
    assert_eq!(server.seen().len(), 1);
    let missing = plain(server.url("/missing.tgz"));
    let (one, two) = tokio::join!(fetcher.fetch(&missing), fetcher.fetch(&missing));
    assert_eq!(
        (one.unwrap_err().class(), two.unwrap_err().class()),
        (Class::NotReady, Class::NotReady)
    );
    assert_eq!(server.seen().len(), 2);
    assert!(lock(&fetcher.inner.flights).is_empty());
}

#[tokio::test]
async fn download_goes_on_when_the_fetch_that_began_it_is_dropped() {
    let server = Server::start(|_| ok(&chart("name: shop")));
    let fetcher = fetcher();
    let request = plain(server.url("/shop.tgz"));
    let mut first = Box::pin(fetcher.fetch(&request));
    assert!(futures::poll!(first.as_mut()).is_pending());
    let mut second = Box::pin(fetcher.fetch(&request));
    assert!(futures::poll!(second.as_mut()).is_pending());
    drop(first);
    second.await.unwrap();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_origin() {
    let other = Server::start(|request| match request.path.as_str() {
        "/shop.tgz" => ok(&chart("name: shop")),
        path => panic!("{path}"),
    });
    let target = other.url("/shop.tgz");
    let server = Server::start(move |request| match request.path.as_str() {
        "/same" => redirect("/away"),
        "/away" => redirect(&target),
        path => panic!("{path}"),
    });
    let mut request = plain(server.url("/same"));
    request.credentials = Some(token());
    fetcher().fetch(&request).await.unwrap();
    let sent: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("authorization").is_some())
        .collect();
    assert_eq!(sent, [true, true]);
    assert_eq!(other.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn redirects_are_counted() {
    let server = Server::start(|request| {
        let left: usize = request.path.trim_start_matches('/').parse().unwrap();
        if left == 0 {
            ok(&chart("name: shop"))
        } else {
            redirect(&format!("/{}", left - 1))
        }
    });
    fetcher().fetch(&plain(server.url("/5"))).await.unwrap();
    let error = fetcher().fetch(&plain(server.url("/6"))).await.unwrap_err();
    assert!(matches!(error, SourceError::Redirect { .. }), "{error:?}");
    let cases = ["file:///etc/passwd", "http://user:pass@127.0.0.1/", ""];
    for location in cases {
        let server = Server::start(move |_| match location {
            "" => answer("302 Found", &[], b""),
            location => redirect(location),
        });
        let error = fetcher().fetch(&plain(server.url("/"))).await.unwrap_err();
        assert!(
            matches!(error, SourceError::Redirect { .. }),
            "{location}: {error:?}"
        );
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
}

#[tokio::test]
async fn archive_over_the_limit_is_refused_with_and_without_a_length() {
    let server = Server::start(|request| {
        let body = [0; 2000];
        match request.path.as_str() {
            "/length" => ok(&body),
            _ => [
                b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(),
                &body,
            ]
            .concat(),
        }
    });
    let fetcher = Fetcher::new(FetchOptions {
        max_archive_bytes: 1999,
        ..options()
    })
    .unwrap();
    for path in ["/length", "/stream"] {
        let error = fetcher.fetch(&plain(server.url(path))).await.unwrap_err();
        assert!(
            matches!(error, SourceError::Size { limit: 1999, .. }),
            "{path}: {error:?}"
        );
    }
}

#[tokio::test]
async fn connection_that_breaks_or_hangs_is_transient() {
    let server = Server::start(|_| {
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\npart".to_vec()
    });
    let error = fetcher()
        .fetch(&plain(server.url("/?key=s3cret")))
        .await
        .unwrap_err();
    assert!(matches!(error, SourceError::Request { .. }), "{error:?}");
    assert_eq!(error.class(), Class::Transient);
    assert!(
        !format!("{} {error:?}", on_one_line(&error)).contains("s3cret"),
        "{error:?}"
    );

    // A listener that never accepts: the connection stands, and no answer comes.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/?key=s3cret", listener.local_addr().unwrap());
    let short = Duration::from_millis(50);
    for limits in [
        FetchOptions {
            timeout: short,
            ..options()
        },
        FetchOptions {
            read_timeout: short,
            ..options()
        },
    ] {
        let fetcher = Fetcher::new(limits).unwrap();
        let error = fetcher.fetch(&plain(url.clone())).await.unwrap_err();
        assert!(matches!(error, SourceError::Timeout { .. }), "{error:?}");
        assert!(!on_one_line(&error).contains("s3cret"), "{error:?}");
    }
    drop(listener);
    let error = fetcher().fetch(&plain(url)).await.unwrap_err();
    assert_eq!(error.class(), Class::Transient);
    assert!(
        !format!("{} {error:?}", on_one_line(&error)).contains("s3cret"),
        "{error:?}"
    );
}

#[tokio::test]
async fn statuses_are_classified_and_a_wait_is_passed_on() {
    let server = Server::start(|request| match request.path.as_str() {
        "/busy" => answer("503 Service Unavailable", &[("Retry-After", "7")], b""),
        "/forever" => answer("429 Too Many Requests", &[("Retry-After", "99999999")], b""),
        "/denied" => answer("403 Forbidden", &[], b"s3cret"),
        "/unasked" => answer("304 Not Modified", &[], b""),
        _ => answer(
            "404 Not Found",
            &[("Retry-After", "Fri, 20 Nov 2026 10:00:00 GMT")],
            b"",
        ),
    });
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let cases = [
        ("/busy", Class::Transient, seconds(7)),
        ("/forever", Class::Transient, seconds(3600)),
        ("/denied", Class::Denied, None),
        ("/unasked", Class::Invalid, None),
        ("/missing", Class::NotReady, None),
    ];
    for (path, class, retry_after) in cases {
        let error = fetcher().fetch(&plain(server.url(path))).await.unwrap_err();
        assert_eq!(
            (error.class(), error.retry_after()),
            (class, retry_after),
            "{path}"
        );
        assert!(!on_one_line(&error).contains("s3cret"), "{path}");
    }
}

#[tokio::test]
async fn page_instead_of_an_archive_is_named() {
    let server = Server::start(|_| {
        answer(
            "200 OK",
            &[("Content-Type", "text/html")],
            b"<!DOCTYPE html><p>Sign in",
        )
    });
    let error = fetcher()
        .fetch(&plain(server.url("/shop.tgz?a=b")))
        .await
        .unwrap_err();
    let expected = format!(
        "cannot unpack `{}` (content type: text/html): not a gzip archive: looks like HTML",
        server.url("/shop.tgz")
    );
    assert_eq!(on_one_line(&error), expected);
    assert!(
        matches!(
            error,
            SourceError::Archive {
                source: ArchiveError::Format { .. },
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn requests_that_cannot_be_sent_are_invalid() {
    let mut request = plain("http://127.0.0.1:1/");
    request.credentials = Some(Credentials::Bearer {
        token: "line\nbreak".to_owned(),
    });
    let error = fetcher().fetch(&request).await.unwrap_err();
    assert_eq!(error.class(), Class::Invalid);
    let error = fetcher()
        .fetch(&plain("oci://host/shop"))
        .await
        .unwrap_err();
    assert_eq!(error.class(), Class::Invalid);
}
