//! `whipstaff lint`: what it prints and when it fails, as recorded from `helm lint`.

use crate::program::{chart, packed, whipstaff, write};
use std::fs;
use std::path::Path;

#[test]
fn several_charts_are_examined_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &chart("good", "1.0.0", "icon: https://example.org/i\n"),
    );
    write(folder.path(), &chart("iconless", "1.0.0", ""));
    write(folder.path(), &chart("warned", "v1.0", ""));
    let lint = |arguments: &[&str]| whipstaff(folder.path(), &[&["lint"], arguments].concat());

    let values = "[INFO] values.yaml: file does not exist\n";
    let iconless =
        format!("==> Linting iconless\n[INFO] Chart.yaml: icon is recommended\n{values}\n");
    let said = lint(&["iconless", "nothing"]);
    assert_eq!(
        said.out,
        format!(
            "{iconless}==> Linting nothing\nError unable to check Chart.yaml file in chart: stat nothing/Chart.yaml: no such file or directory\n\n"
        )
    );
    assert_eq!(
        said.failure(),
        "Error: 2 chart(s) linted, 1 chart(s) failed\n"
    );
    assert_eq!(
        lint(&["good"]).output(),
        format!("==> Linting good\n{values}\n1 chart(s) linted, 0 chart(s) failed\n")
    );
    assert_eq!(lint(&["--quiet", "good", "iconless"]).output(), "");
    let warning =
        "==> Linting warned\n[WARNING] Chart.yaml: version 'v1.0' is not a valid SemVerV2\n\n";
    assert_eq!(
        lint(&["--quiet", "good", "warned"]).output(),
        format!("{warning}2 chart(s) linted, 0 chart(s) failed\n")
    );
    let strict = lint(&["--quiet", "--strict", "good", "warned"]);
    assert_eq!(
        strict.failure(),
        "Error: 2 chart(s) linted, 1 chart(s) failed\n"
    );
}

#[test]
fn packed_charts_and_subcharts_are_examined() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &chart(
            "shop",
            "1.0.0",
            "dependencies: [{name: sub, version: 1.0.0}]\n",
        ),
    );
    fs::create_dir_all(folder.path().join("shop/charts")).unwrap();
    fs::write(
        folder.path().join("shop/charts/sub-1.0.0.tgz"),
        packed("sub", "1.0.0"),
    )
    .unwrap();
    let output = whipstaff(folder.path(), &["lint", "shop", "--with-subcharts"]).output();
    assert!(output.contains("==> Linting shop\n"), "{output}");
    assert!(
        output.contains("==> Linting shop/charts/sub-1.0.0.tgz\n"),
        "{output}"
    );
    assert!(
        output.ends_with("2 chart(s) linted, 0 chart(s) failed\n"),
        "{output}"
    );
}

#[test]
fn findings_of_our_own_fail_only_when_denied() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = chart("shop", "1.0.0", "");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: \"{{ randAlphaNum 5 }}\"}\n";
    files.push(("shop/templates/b.yaml".to_owned(), secret.to_owned()));
    write(folder.path(), &files);
    let lint =
        |arguments: &[&str]| whipstaff(folder.path(), &[&["lint", "shop"], arguments].concat());
    let output = lint(&["--strict"]).output();
    assert!(
        output.contains("[WARNING] templates/b.yaml: [rotates] Secret `s`"),
        "{output}"
    );
    assert!(!lint(&["--helm-only"]).output().contains("[rotates]"));
    let error = lint(&["--deny", "rotates"]).failure();
    assert_eq!(error, "Error: 1 chart(s) linted, 1 chart(s) failed\n");
    lint(&["--deny", "number-as-float,dialect"]).output();
    assert!(
        lint(&["--deny", "x"])
            .failure()
            .contains("unknown code `x`")
    );
}

#[test]
fn own_chart_has_no_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts");
    let output = whipstaff(&folder, &["lint", "whipstaff"]).output();
    assert!(
        !output.contains("[WARNING]") && !output.contains("[ERROR]"),
        "{output}"
    );
}
