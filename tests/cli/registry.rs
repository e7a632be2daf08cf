//! Charts in OCI registries.

use crate::program::{packed, refused, template};
use serde_json::json;
use std::path::Path;
use whipstaff_generator::Digest;
use whipstaff_test_support::{ChartServer, Serving};

/// A registry with one chart under two tags, which wants a token.
fn registry() -> ChartServer {
    let server = ChartServer::start().unwrap();
    let realm = format!(
        "Bearer realm=\"{}\",service=\"r\",scope=\"pull\"",
        server.url("/token")
    );
    let guarded = || {
        Serving::default()
            .bearer_auth("t0ken")
            .header("WWW-Authenticate", &realm)
    };
    for version in ["1.0.0", "1.1.0"] {
        let archive = packed("shop", version);
        let digest = Digest::of(&archive).to_string();
        let manifest = json!({"layers": [{
            "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            "digest": digest,
        }]});
        server.put_with(
            &format!("/v2/charts/shop/blobs/{digest}"),
            archive,
            guarded(),
        );
        let path = format!("/v2/charts/shop/manifests/{version}");
        server.put_with(&path, manifest.to_string(), guarded());
    }
    let tags = json!({"tags": ["1.0.0", "latest", "1.1.0"]});
    server.put_with("/v2/charts/shop/tags/list", tags.to_string(), guarded());
    let token = json!({"token": "t0ken"}).to_string();
    server.put_with("/token", token, Serving::default().basic_auth("me", "word"));
    server
}

#[test]
fn chart_is_pulled_with_a_token() {
    let server = registry();
    let url = server.url("/charts/shop").replace("http://", "oci://");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let flags = ["--plain-http", "--username", "me", "--password", "word"];
    let tagged = format!("{url}:1.0.0");
    for (chart, more, version) in [
        (&url, &["--version", "1.0.0"][..], "1.0.0"),
        (&url, &["--version", "^1.0"][..], "1.1.0"),
        (&url, &[][..], "1.1.0"),
        (&tagged, &[][..], "1.0.0"),
    ] {
        let output = template(folder, &[&[chart.as_str()], &flags[..], more].concat());
        assert!(
            output.contains(&format!("version: \"{version}\"")),
            "{output}"
        );
    }
    let error = refused(folder, &[&url, "--plain-http", "--version", "1.0.0"]);
    assert!(error.contains("does not know this user"), "{error}");
}
