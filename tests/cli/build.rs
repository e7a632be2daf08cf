//! Kustomizations that name charts.

use crate::program::{packed, whipstaff};
use std::{fs, path::Path};
use whipstaff_test_support::ChartServer;

/// Recorded from kustomize 5.8.1 with Helm 4.3.1.
const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/kustomize-charts/values_are_merged"
);

#[test]
fn charts_in_folders_are_inflated() {
    let folder = Path::new(RECORDED);
    let output = whipstaff(folder, &["build", "--enable-helm", "input"]).output();
    assert_eq!(
        output,
        fs::read_to_string(folder.join("expected.yaml")).unwrap()
    );
}

#[test]
fn charts_of_repositories_are_fetched_and_inflated() {
    let server = ChartServer::start().unwrap();
    server.put("/stable/shop-1.0.0.tgz", packed("shop", "1.0.0"));
    let index = "apiVersion: v1\nentries:\n  shop:\n  - {name: shop, version: 1.0.0, urls: [shop-1.0.0.tgz]}\n";
    server.put("/stable/index.yaml", index.as_bytes().to_vec());
    let folder = tempfile::tempdir().unwrap();
    let kustomization = format!(
        "namePrefix: my-\nhelmCharts:\n- {{name: shop, repo: \"{}\", version: 1.0.0, releaseName: shop}}\n",
        server.url("/stable")
    );
    fs::write(folder.path().join("kustomization.yaml"), kustomization).unwrap();
    let output = whipstaff(folder.path(), &["build", "--enable-helm"]).output();
    assert!(output.contains("name: my-"), "{output}");
    assert!(!folder.path().join("charts").exists());
}

#[test]
fn charts_that_are_nowhere_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let kustomization = "helmCharts:\n- {name: shop, releaseName: shop}\n";
    fs::write(folder.path().join("kustomization.yaml"), kustomization).unwrap();
    let error = whipstaff(folder.path(), &["build", "--enable-helm"]).failure();
    assert!(
        error.contains("chart `shop`") && error.contains("no chart found at"),
        "{error}"
    );
}
