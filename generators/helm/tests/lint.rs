//! What `lint` finds, compared with the real `helm lint`, and what only comparing renderings can find.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

use serde_json::Value as Json;
use std::{fmt::Write as _, fs, path::Path};
use whipstaff_generator::{FileTree, Limits};
use whipstaff_helm::{
    Assignment, Dialect, Finding, LINT_CODES, LintInput, Map, RenderKubeVersion, Severity, assign,
    lint, lint_rendering, values_from_json, without_ignored,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/helm-lint");
const CHART: &str = "apiVersion: v2\nname: shop\nversion: 1.0.0\nicon: https://example.org/i.svg\n";

fn read_folder(folder: &Path, below: &str, files: &mut FileTree) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), files);
        } else {
            files
                .insert(&name, fs::read(entry.path()).unwrap())
                .unwrap();
        }
    }
}

fn no_values() -> Map {
    values_from_json(&serde_json::Map::new())
}

fn input<'a>(files: &'a FileTree, values: &'a Map, dialect: Dialect) -> LintInput<'a> {
    LintInput {
        files,
        place: "{place}",
        values,
        namespace: "default",
        kube_version: None,
        dialect,
        skip_schema_validation: false,
        limits: Limits::default(),
    }
}

fn case(folder: &Path, dialect: Dialect) -> String {
    let case: Json = serde_json::from_slice(&fs::read(folder.join("case.json")).unwrap()).unwrap();
    let mut files = FileTree::new();
    read_folder(&folder.join("chart"), "", &mut files);
    let files = without_ignored(&files).unwrap();
    let values = no_values();
    for text in case["set"].as_array().into_iter().flatten() {
        assign(text.as_str().unwrap(), &values, Assignment::Typed, dialect).unwrap();
    }
    let kube_version = case["kubeVersion"]
        .as_str()
        .map(|version| RenderKubeVersion::parse(version, dialect).unwrap());
    let mut input = input(&files, &values, dialect);
    input.kube_version = kube_version.as_ref();
    input.namespace = case["namespace"].as_str().unwrap_or("default");
    input.skip_schema_validation = case["skipSchemaValidation"].as_bool().unwrap_or_default();
    let mut text = String::new();
    for finding in lint(&input) {
        writeln!(text, "{finding}").unwrap();
    }
    // What a schema objects to ends with a line feed of its own, which is no finding.
    text.trim_end_matches('\n').to_owned()
}

#[test]
fn findings_are_those_of_helm() {
    let mut cases = 0;
    let mut wrong = String::new();
    for entry in fs::read_dir(FIXTURES).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        for dialect in ["v3", "v4.3"] {
            let expected = folder.join(format!("expected/{dialect}.txt"));
            let expected = fs::read_to_string(expected).unwrap();
            let found = case(&folder, dialect.parse().unwrap());
            cases += 1;
            if found != expected.trim_end_matches('\n') {
                let name = folder.file_name().unwrap().display();
                writeln!(
                    wrong,
                    "{name} {dialect}\nfound:\n{found}\nHelm:\n{expected}"
                )
                .unwrap();
            }
        }
    }
    assert!(cases >= 80, "only {cases} cases were found");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Our own findings for a chart of these files.
fn own(files: &[(&str, &str)], dialect: Dialect) -> Vec<Finding> {
    let mut tree = FileTree::new();
    tree.insert("Chart.yaml", CHART.as_bytes()).unwrap();
    for (path, text) in files {
        tree.insert(*path, text.as_bytes()).unwrap();
    }
    let values = no_values();
    lint_rendering(&input(&tree, &values, dialect))
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

fn secret(data: &str) -> String {
    format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\ndata: {{password: {data}}}\n")
}

fn config(data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: {data}}}\n")
}

#[test]
fn large_numbers_are_reported_where_they_are_rendered_with_an_exponent() {
    let template = config("\"{{ .Values.a.max }} {{ int64 .Values.fine }} {{ .Values.small }}\"");
    let values =
        "a: {max: 1048576}\nfine: 2000000\nsmall: 999999\nunused: 3000000\ntext: '4000000'\n";
    let files = [
        ("templates/a.yaml", template.as_str()),
        ("values.yaml", values),
    ];
    assert_eq!(
        shown(&own(&files, Dialect::V4_3)),
        [
            "[WARNING] templates/a.yaml: [number-as-float] `.Values.a.max` is 1048576 and is rendered as `1.048576e+06` in \
             ConfigMap `c`: convert it with `int64`, or quote it in the values"
        ]
    );
    let list = config("\"{{ (index .Values.a 1).b }}\"");
    let files = [
        ("templates/a.yaml", list.as_str()),
        ("values.yaml", "a: [1, {b: 1000000, c: 2}]"),
    ];
    let found = own(&files, Dialect::V3);
    assert_eq!(found.len(), 1);
    assert!(found[0].message.starts_with("`.Values.a[1].b` is 1000000"));
}

#[test]
fn random_values_are_reported_unless_they_are_looked_up() {
    let random = secret("\"{{ randAlphaNum 8 | b64enc }}\"");
    let found = own(&[("templates/a.yaml", &random)], Dialect::V4_3);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, Some("rotates"));
    assert_eq!(found[0].severity, Severity::Warning);
    assert!(
        found[0].message.contains("`/data/password`"),
        "{}",
        found[0]
    );

    let kept = secret(
        "\"{{ $s := lookup \"v1\" \"Secret\" .Release.Namespace \"s\" }}{{ if $s }}{{ $s.data.password }}{{ else }}{{ randAlphaNum 8 | b64enc }}{{ end }}\"",
    );
    assert_eq!(
        shown(&own(&[("templates/a.yaml", &kept)], Dialect::V4_3)),
        [""; 0]
    );
    let first_only = "{{ if .Release.IsInstall }}".to_owned() + &random + "{{ end }}";
    assert_eq!(
        shown(&own(&[("templates/a.yaml", &first_only)], Dialect::V3)),
        [""; 0]
    );
    let stamp = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {at: \"{{ now | unixEpoch }}\"}}\n";
    let found = own(&[("templates/a.yaml", stamp)], Dialect::V4_3);
    assert_eq!(found[0].severity, Severity::Info);
}

#[test]
fn nulls_that_only_one_dialect_keeps_are_reported() {
    let template = config("\"{{ hasKey .Values.a \"b\" }}\"");
    let files = [
        ("templates/a.yaml", template.as_str()),
        ("values.yaml", "a: {b: null, c: null, d: 1}\n"),
    ];
    for dialect in [Dialect::V3, Dialect::V4_3] {
        assert_eq!(
            shown(&own(&files, dialect)),
            [
                "[WARNING] templates/a.yaml: [dialect] Helm 3 and Helm 4 render ConfigMap `c` differently at `/data/a` because of null \
                 defaults, which only Helm 3 keeps: `.Values.a.b`"
            ]
        );
    }
}

#[test]
fn what_is_there_twice_is_reported() {
    let twice = config("x").replace("kind:", "apiVersion: v1\nkind:");
    let files = [
        ("templates/a.yaml", twice.as_str()),
        ("templates/b.yaml", &config("y")),
        ("values.yaml", "a: 1\nb: 2\na: 3\n"),
    ];
    assert_eq!(
        shown(&own(&files, Dialect::V4_3)),
        [
            "[WARNING] templates/a.yaml: [duplicate-key] ConfigMap `c` is rendered with key \"apiVersion\" twice (line 2 of it): the last \
             one wins, and strict readers refuse it",
            "[WARNING] templates/b.yaml: [duplicate-object] ConfigMap `c` is also rendered by templates/a.yaml",
            "[WARNING] values.yaml:3: [duplicate-key] key \"a\" is there twice, and the last one wins",
        ]
    );
}

#[test]
fn a_chart_that_needs_values_says_so_once() {
    let template = config("{{ required \"a is needed\" .Values.a }}{{ randAlpha 3 }}");
    assert_eq!(
        shown(&own(&[("templates/a.yaml", &template)], Dialect::V4_3)),
        ["[INFO] templates/a.yaml:4: [needs-values] a is needed"]
    );
}

#[test]
fn good_and_broken_charts_have_no_findings_of_our_own() {
    let good = config("\"{{ .Values.a }}{{ .Chart.Name }}{{ .Release.Revision }}\"");
    for files in [
        vec![
            ("templates/a.yaml", good.as_str()),
            ("values.yaml", "a: x\nb: null\nc: 5000000\n"),
        ],
        vec![("templates/a.yaml", "{{ if }}")],
        vec![("templates/a.yaml", "a: {{ .Values.b.c }}")],
        vec![("values.yaml", "a: b: c")],
    ] {
        assert_eq!(shown(&own(&files, Dialect::V4_3)), [""; 0]);
    }
}

#[test]
fn every_code_has_a_name_of_its_own() {
    let mut names: Vec<&str> = LINT_CODES.iter().map(|(code, _)| *code).collect();
    names.dedup();
    assert_eq!(names.len(), LINT_CODES.len());
}
