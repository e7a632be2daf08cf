//! `--dependency-update`.

use crate::program::{chart, packed, refused, template, whipstaff, write};
use std::fs;
use whipstaff_test_support::ChartServer;

#[test]
fn missing_dependencies_are_fetched_and_locked() {
    let server = ChartServer::start().unwrap();
    let index =
        "apiVersion: v1\nentries: {far: [{name: far, version: 1.4.0, urls: [far-1.4.0.tgz]}]}\n";
    server.put("/index.yaml", index);
    server.put("/far-1.4.0.tgz", packed("far", "1.4.0"));
    let folder = tempfile::tempdir().unwrap();
    let dependencies = format!(
        "dependencies:\n- {{name: near, version: '>=1', repository: 'file://../near'}}\n- {{name: far, version: ^1.0, repository: '{}'}}\n",
        server.url("/")
    );
    write(folder.path(), &chart("shop", "1.0.0", &dependencies));
    write(folder.path(), &chart("near", "2.0.0", ""));
    let charts = folder.path().join("shop/charts");
    fs::create_dir_all(&charts).unwrap();
    fs::write(charts.join("old-1.0.0.tgz"), packed("old", "1.0.0")).unwrap();
    fs::write(charts.join("_notes.txt"), "kept").unwrap();

    let error = refused(folder.path(), &["shop"]);
    assert!(
        error.contains("missing in charts/ directory: near, far"),
        "{error}"
    );

    let said = whipstaff(folder.path(), &["template", "shop", "--dependency-update"]);
    assert!(said.error.contains("Saving 2 charts"), "{}", said.error);
    let output = said.output();
    for name in ["name: \"shop\"", "name: \"near\"", "name: \"far\""] {
        assert!(output.contains(name), "{output}");
    }
    assert!(output.starts_with("---\n"), "{output}");
    let mut files: Vec<_> = fs::read_dir(&charts)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["_notes.txt", "far-1.4.0.tgz", "near-2.0.0.tgz"]);
    let lock = fs::read_to_string(folder.path().join("shop/Chart.lock")).unwrap();
    assert!(
        lock.contains("version: 1.4.0") && lock.contains("version: 2.0.0"),
        "{lock}"
    );
    assert!(lock.contains("digest: sha256:"), "{lock}");

    // All is there now: nobody is asked.
    let asked = server.requests().len();
    assert_eq!(
        template(folder.path(), &["shop", "--dependency-update"]),
        output
    );
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn dependency_in_another_version_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let dependencies =
        "dependencies:\n- {name: near, version: ^3.0, repository: 'file://../near'}\n";
    write(folder.path(), &chart("shop", "1.0.0", dependencies));
    write(folder.path(), &chart("near", "2.0.0", ""));
    let error = refused(folder.path(), &["shop", "--dependency-update"]);
    assert!(
        error.contains("version 2.0.0 does not satisfy the constraint ^3.0"),
        "{error}"
    );
    assert!(!folder.path().join("shop/charts").exists());
    assert!(!folder.path().join("shop/Chart.lock").exists());
}
