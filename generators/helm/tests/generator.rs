//! [`HelmGenerator`] as its host uses it.

#![allow(clippy::unwrap_used)]

use serde_json::{Map, Value, json};
use std::{sync::Arc, thread};
use whipstaff_generator::{
    Capabilities, ErrorKind, FileTree, Generated, Generator, HookDeletePolicy, HookEvent, Input,
    KubeVersion, LookupQuestion, LookupSnapshot, Prepared, Seed,
};
use whipstaff_helm::HelmGenerator;

const CHART: &str = "apiVersion: v2\nname: shop\nversion: 1.0.0\n";

fn tree(files: &[(&str, &str)]) -> FileTree {
    let mut tree = FileTree::new();
    for (path, content) in files {
        tree.insert(*path, content.as_bytes()).unwrap();
    }
    tree
}

fn prepare(files: &[(&str, &str)], options: &Value) -> Box<dyn Prepared> {
    HelmGenerator.prepare(&tree(files), options).unwrap()
}

fn capabilities() -> Capabilities {
    let kube_version: KubeVersion = "v1.34.1-gke.7".parse().unwrap();
    Capabilities {
        kube_version,
        api_versions: ["v1", "apps/v1"].map(String::from).into(),
    }
}

fn generate(
    prepared: &dyn Prepared,
    parameters: &Value,
    change: impl FnOnce(&mut Input<'_>),
) -> Result<Generated, whipstaff_generator::Error> {
    let (lookups, capabilities) = (LookupSnapshot::new(), capabilities());
    let parameters: Map<String, Value> = parameters.as_object().cloned().unwrap();
    let mut input = Input::new("apps", "rel", &parameters, &capabilities, &lookups);
    change(&mut input);
    prepared.generate(&input)
}

fn names(generated: &Generated) -> Vec<String> {
    generated
        .objects
        .iter()
        .map(|item| item.object.describe())
        .collect()
}

const OBJECTS: &[(&str, &str)] = &[
    ("Chart.yaml", CHART),
    (
        "crds/a.yaml",
        "apiVersion: v1\nkind: CRD\nmetadata: {name: a}\n---\napiVersion: v1\nkind: CRD\nmetadata: {name: b}\n",
    ),
    (
        "templates/a.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\n---\n# nothing\n---\n\
         apiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\n\
         apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]\n",
    ),
    (
        "templates/hook.yaml",
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: pre-install, \
         helm.sh/hook-weight: \"-2\", helm.sh/hook-delete-policy: hook-failed}\n",
    ),
    (
        "templates/tests/t.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n",
    ),
    ("templates/NOTES.txt", "in {{ .Release.Namespace }}"),
];

#[test]
fn objects_come_crds_first_and_then_in_helms_order() {
    assert_eq!(
        HelmGenerator.detects(&tree(OBJECTS)).as_deref(),
        Some("found `Chart.yaml`")
    );
    let generated = generate(&*prepare(OBJECTS, &Value::Null), &json!({}), |_| {}).unwrap();
    assert_eq!(
        names(&generated),
        [
            "CRD a",
            "CRD b",
            "Service s",
            "Deployment rel",
            "ConfigMap c"
        ]
    );
    assert_eq!(generated.notes, "in apps");
    assert_eq!(generated.dialect.as_deref(), Some("v4.3"));
    let hooks: Vec<_> = generated
        .hooks
        .iter()
        .map(|hook| hook.object.name())
        .collect();
    assert_eq!(hooks, ["t", "h"]);
    let hook = &generated.hooks[1];
    assert_eq!(
        (hook.events.as_slice(), hook.weight),
        (&[HookEvent::PreInstall][..], -2)
    );
    assert_eq!(hook.delete_policies, [HookDeletePolicy::HookFailed]);
    assert_eq!(hook.source, "shop/templates/hook.yaml");
}

#[test]
fn options_leave_out_crds_and_hooks() {
    let render =
        |options: Value| generate(&*prepare(OBJECTS, &options), &json!({}), |_| {}).unwrap();
    assert_eq!(names(&render(json!({"includeCRDs": false}))).len(), 3);
    assert_eq!(render(json!({"skipTests": true})).hooks.len(), 1);
    assert!(render(json!({"disableHooks": true})).hooks.is_empty());
    let named = render(json!({"releaseName": "other", "dialect": "v3"}));
    assert!(names(&named).contains(&"Deployment other".to_owned()));
    assert_eq!(named.dialect.as_deref(), Some("v3"));
}

#[test]
fn options_and_charts_that_cannot_be_used_are_refused_early() {
    let refuse = |chart: &str, options: Value| {
        let files = tree(&[("Chart.yaml", chart)]);
        HelmGenerator
            .prepare(&files, &options)
            .map(|_| ())
            .unwrap_err()
            .report()
    };
    assert!(refuse(CHART, json!({"unknown": 1})).contains("unknown field `unknown`"));
    assert_eq!(
        refuse(&format!("{CHART}type: library\n"), Value::Null),
        "Chart.yaml: library charts are not installable"
    );
    assert_eq!(
        refuse(
            &format!("{CHART}dependencies: [{{name: x, version: 1.0.0}}]\n"),
            Value::Null
        ),
        "found in Chart.yaml, but missing in charts/ directory: x"
    );
    let none = HelmGenerator
        .prepare(&FileTree::new(), &Value::Null)
        .unwrap_err();
    assert_eq!(none.report(), "Chart.yaml file is missing");
}

#[test]
fn errors_have_a_kind_and_a_place() {
    let fail = |template: &str, parameters: Value| {
        let files = [("Chart.yaml", CHART), ("templates/a.yaml", template)];
        generate(&*prepare(&files, &Value::Null), &parameters, |_| {}).unwrap_err()
    };
    let place = |error: &whipstaff_generator::Error| error.location().unwrap().to_string();

    let parse = fail("a: 1\n{{ if }}", json!({}));
    assert_eq!(
        (parse.kind(), place(&parse)),
        (ErrorKind::Source, "templates/a.yaml:2".to_owned())
    );
    let missing = fail("a: 1\nb: {{ required \"b!\" .Values.b }}", json!({}));
    assert_eq!(missing.kind(), ErrorKind::Parameters);
    assert_eq!(place(&missing), "templates/a.yaml:2:7");
    assert_eq!(
        missing.report(),
        "execution error at (shop/templates/a.yaml:2:6): b!"
    );
    let render = fail("a: {{ .Values.b.c }}", json!({}));
    assert_eq!(render.kind(), ErrorKind::Render);
    let output = fail("a: b: c", json!({}));
    assert_eq!(output.kind(), ErrorKind::Output);
    assert!(
        output
            .report()
            .contains("YAML parse error on shop/templates/a.yaml: error converting")
    );
    let object = fail("kind: Service", json!({}));
    assert_eq!(object.kind(), ErrorKind::Output);
    let mut deep = json!(1);
    for _ in 0..600 {
        deep = json!({ "a": deep });
    }
    assert_eq!(fail("a: 1", deep).kind(), ErrorKind::Parameters);
}

#[test]
fn limits_stop_a_rendering() {
    let files = [
        ("Chart.yaml", CHART),
        ("templates/a.yaml", "{{ range until 100000000 }}{{ end }}"),
    ];
    let prepared = prepare(&files, &Value::Null);
    let error = generate(&*prepared, &json!({}), |input| input.limits.steps = 1_000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{}", error.report());
}

#[test]
fn lookups_are_answered_from_the_snapshot_and_recorded() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n\
                    data: {x: {{ dig \"data\" \"x\" \"none\" (lookup \"v1\" \"Secret\" \"apps\" \"s\") }}}\n";
    let prepared = prepare(
        &[("Chart.yaml", CHART), ("templates/a.yaml", template)],
        &Value::Null,
    );
    let data = |generated: &Generated| {
        let item = generated.objects.iter().next().unwrap();
        item.object.pointer(&["data", "x"]).cloned().unwrap()
    };
    let question = LookupQuestion {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: "apps".to_owned(),
        name: "s".to_owned(),
        ..LookupQuestion::default()
    };
    let first = generate(&*prepared, &json!({}), |_| {}).unwrap();
    assert_eq!(
        (data(&first), &first.consulted.lookups),
        (json!("none"), &vec![question.clone()])
    );

    let (capabilities, parameters) = (capabilities(), Map::new());
    let mut snapshot = LookupSnapshot::new();
    snapshot.insert(question, json!({"kind": "Secret", "data": {"x": "found"}}));
    let input = Input::new("apps", "rel", &parameters, &capabilities, &snapshot);
    assert_eq!(data(&prepared.generate(&input).unwrap()), json!("found"));
}

#[test]
fn a_prepared_chart_renders_the_same_on_many_threads() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n\
                    data: {x: {{ randAlphaNum 12 }}, t: {{ now | unixEpoch | quote }}, {{ set .Values \"a\" 1 | toJson | quote }}: x}\n";
    let prepared: Arc<dyn Prepared> = prepare(
        &[("Chart.yaml", CHART), ("templates/a.yaml", template)],
        &Value::Null,
    )
    .into();
    let render = |prepared: &dyn Prepared, key: u8| {
        let seed = Seed::Stable {
            key: [key; 32],
            now: 1_000,
        };
        let generated = generate(prepared, &json!({"b": 2}), |input| input.seed = seed).unwrap();
        generated
            .objects
            .iter()
            .next()
            .unwrap()
            .object
            .fields()
            .clone()
    };
    let expected = render(&*prepared, 1);
    assert_eq!(expected["data"]["t"], json!("1000"));
    assert_ne!(expected, render(&*prepared, 2));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let prepared = Arc::clone(&prepared);
            thread::spawn(move || render(&*prepared, 1))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

#[test]
fn what_the_cluster_offers_is_seen_by_templates() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n\
                    \x20 version: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion }}\n\
                    \x20 apps: \"{{ .Capabilities.APIVersions.Has \"apps/v1\" }} {{ .Capabilities.APIVersions.Has \"x/v1\" }}\"\n";
    let files = [("Chart.yaml", CHART), ("templates/a.yaml", template)];
    let data = |options: Value| {
        let generated = generate(&*prepare(&files, &options), &json!({}), |_| {}).unwrap();
        generated
            .objects
            .iter()
            .next()
            .unwrap()
            .object
            .pointer(&["data"])
            .cloned()
            .unwrap()
    };
    assert_eq!(
        data(Value::Null),
        json!({"version": "v1.34.1-gke.7 v1.34.1", "apps": "true false"})
    );
    assert_eq!(
        data(json!({"kubeVersion": "1.30.0", "apiVersions": ["x/v1"]})),
        json!({"version": "v1.30.0 v1.30.0", "apps": "true true"})
    );
}
