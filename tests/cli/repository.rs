//! Charts behind addresses and in repositories.

use crate::program::{packed, refused, template};
use std::fmt::Write as _;
use std::path::Path;
use whipstaff_generator::Digest;
use whipstaff_test_support::{ChartServer, Serving};

/// A repository below `/stable` with two versions and a development version.
fn repository() -> ChartServer {
    let server = ChartServer::start().unwrap();
    let mut index = "apiVersion: v1\nentries:\n  shop:\n".to_owned();
    for version in ["1.0.0", "1.2.0", "2.0.0-rc.1"] {
        let archive = packed("shop", version);
        let digest = Digest::of(&archive).to_string();
        let digest = digest.trim_start_matches("sha256:");
        writeln!(
            index,
            "  - {{name: shop, version: {version}, urls: [shop-{version}.tgz], digest: {digest}}}"
        )
        .unwrap();
        server.put(&format!("/stable/shop-{version}.tgz"), archive);
    }
    server.put("/stable/index.yaml", index);
    server
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn newest_chart_that_satisfies_a_range_is_rendered() {
    let server = repository();
    let url = server.url("/stable");
    let cases: &[(&[&str], &str)] = &[
        (&[], "1.2.0"),
        (&["--version", "1.0.0"], "1.0.0"),
        (&["--version", "<1.1"], "1.0.0"),
        (&["--devel"], "2.0.0-rc.1"),
        (&["--devel", "--version", "^1"], "1.2.0"),
    ];
    for (arguments, version) in cases {
        let arguments = [&["shop", "--repo", &url], *arguments].concat();
        let output = template(here(), &arguments);
        assert!(
            output.contains(&format!("version: \"{version}\"")),
            "{output}"
        );
    }
}

#[test]
fn what_a_repository_does_not_have_is_named() {
    let server = repository();
    let url = server.url("/stable");
    let error = refused(here(), &["shop", "--repo", &url, "--version", "^3"]);
    assert_eq!(
        error,
        format!("Error: chart \"shop\" version \"^3\" not found in {url} repository\n")
    );
    let other = server.url("/other");
    let error = refused(here(), &["shop", "--repo", &other]);
    assert!(
        error.contains(&format!(
            "looks like \"{other}\" is not a valid chart repository"
        )),
        "{error}"
    );
}

#[test]
fn chart_with_another_digest_than_the_index_says_is_refused() {
    let server = repository();
    server.put("/stable/shop-1.2.0.tgz", packed("shop", "6.6.6"));
    let error = refused(here(), &["shop", "--repo", &server.url("/stable")]);
    assert!(error.contains("but the repository's index says"), "{error}");
}

#[test]
fn credentials_go_to_other_servers_only_when_told_so() {
    let charts = ChartServer::start().unwrap();
    charts.put("/shop.tgz", packed("shop", "1.0.0"));
    let server = ChartServer::start().unwrap();
    let index = format!(
        "apiVersion: v1\nentries: {{shop: [{{name: shop, version: 1.0.0, urls: ['{}']}}]}}\n",
        charts.url("/shop.tgz")
    );
    server.put_with(
        "/index.yaml",
        index,
        Serving::default().basic_auth("me", "word"),
    );
    let url = server.url("/");
    let arguments = [
        "shop",
        "--repo",
        &url,
        "--username",
        "me",
        "--password",
        "word",
    ];
    template(here(), &arguments);
    let sent = |charts: &ChartServer| {
        let requests = charts.requests();
        requests
            .last()
            .unwrap()
            .headers
            .contains_key("authorization")
    };
    assert!(!sent(&charts));
    template(here(), &[&arguments[..], &["--pass-credentials"]].concat());
    assert!(sent(&charts));
    let error = refused(here(), &["shop", "--repo", &url]);
    assert!(error.contains("401"), "{error}");
}

#[test]
fn charts_and_values_behind_addresses_are_rendered() {
    let server = repository();
    server.put("/values.yaml", "nameOverride: x\n");
    let (chart, values) = (
        server.url("/stable/shop-1.0.0.tgz"),
        server.url("/values.yaml"),
    );
    let output = template(here(), &["rel", &chart, "-f", &values]);
    assert!(output.contains("version: \"1.0.0\""), "{output}");
    assert_eq!(server.count("/values.yaml"), 1);
    let error = refused(here(), &[&server.url("/nothing.tgz")]);
    assert!(error.contains("404"), "{error}");
}

#[test]
fn names_in_helms_configuration_are_refused_with_advice() {
    let error = refused(here(), &["stable/shop"]);
    assert!(error.contains("use `--repo URL shop`"), "{error}");
    let error = refused(here(), &["./nothing"]);
    assert_eq!(error, "Error: path \"./nothing\" not found\n");
}
