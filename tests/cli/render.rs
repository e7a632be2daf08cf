//! `whipstaff render`: what the operator would apply.

use crate::program::{Said, whipstaff, write};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;
use whipstaff_test_support::{namespace, shared};

const SOURCE: &str = "  source: {url: {url: 'https://nowhere.invalid/a.tgz'}}\n";
const MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {text: \"${word}\"}\n";

fn files(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    write(folder.path(), &files);
    folder
}

fn component(more: &str) -> String {
    format!(
        "apiVersion: whipstaff.dev/v1alpha1\nkind: Component\nmetadata: {{name: shop}}\nspec:\n{SOURCE}{more}"
    )
}

fn offline(folder: &Path, arguments: &[&str]) -> Said {
    let shared = ["render", "-f", "component.yaml", "--offline"];
    whipstaff(folder, &[&shared, arguments].concat())
}

#[test]
fn objects_are_printed_as_they_would_be_applied() {
    let spec = component(
        "  namePrefix: my-\n  targetNamespace: shop\n  substitute: {variables: {word: hello}}\n",
    );
    let folder = files(&[
        ("component.yaml", &spec),
        ("src/kustomization.yaml", "resources: [a.yaml, role.yaml]\n"),
        ("src/a.yaml", MAP),
        (
            "src/role.yaml",
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: x}\n",
        ),
    ]);
    let said = offline(folder.path(), &["--source", "src"]).output();
    let again = offline(folder.path(), &["--source", "src"]).output();
    assert_eq!(said, again);
    for line in [
        "# wave 0",
        "  name: my-a",
        "  namespace: shop",
        "  text: hello",
        "  name: my-r",
    ] {
        assert!(said.lines().any(|found| found == line), "{line}: {said}");
    }
    assert!(said.contains("whipstaff.dev/digest: "), "{said}");
    assert!(!said.contains("namespace: x"), "{said}");
}

#[test]
fn random_values_and_the_time_are_fixed_and_missing_objects_are_told() {
    let spec = component("");
    let folder = files(&[
        ("component.yaml", &spec),
        (
            "src/Chart.yaml",
            "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
        ),
        (
            "src/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  password: {{ randAlphaNum 12 }}\n  year: {{ now | date \"2006\" | quote }}\n  live: {{ lookup \"v1\" \"ConfigMap\" \"x\" \"y\" | len | quote }}\n  kube: {{ .Capabilities.KubeVersion.Version }}\n",
        ),
    ]);
    let arguments = ["--source", "src", "--kube-version", "1.33"];
    let said = offline(folder.path(), &arguments);
    assert!(
        said.error.contains("look 1 live objects up"),
        "{}",
        said.error
    );
    let said = said.output();
    assert!(
        said.contains("year: \"2025\"") && said.contains("live: \"0\""),
        "{said}"
    );
    assert!(said.contains("kube: v1.33.0"), "{said}");
    assert!(
        said.contains("# wave 0, from templates/a.yaml") || said.contains("a.yaml"),
        "{said}"
    );
    assert_eq!(said, offline(folder.path(), &arguments).output());
}

#[test]
fn several_generators_have_files_of_their_own() {
    let spec = component(
        "  generators:\n  - {name: one, path: one}\n  - {name: two, source: {url: {url: 'https://nowhere.invalid/b.tgz'}}}\n",
    );
    let folder = files(&[
        ("component.yaml", &spec),
        ("src/one/a.yaml", &MAP.replace("${word}", "1")),
        ("other/a.yaml", &MAP.replace("${word}", "2")),
    ]);
    let arguments = ["--source", "src", "--source", "two=other"];
    let error = offline(folder.path(), &arguments).failure();
    assert!(
        error.contains("generated twice: by `one` (`a.yaml`) and by `two` (`a.yaml`)"),
        "{error}"
    );
    let renamed = MAP.replace("${word}", "2").replace("name: a", "name: b");
    std::fs::write(folder.path().join("other/a.yaml"), renamed).unwrap();
    let said = offline(folder.path(), &arguments).output();
    assert!(said.contains("# wave 0, from one/a.yaml"), "{said}");
    assert!(said.contains("# wave 0, from two/a.yaml"), "{said}");
}

#[test]
fn encrypted_files_need_their_key_and_are_printed_in_plain_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sops");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let secret = |key: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"k.agekey": read(key)}})
            .to_string()
    };
    let spec = component("  decryption: {secretRef: {name: keys}}\n");
    let env = read("encrypted/age/app.env");
    let folder = files(&[
        ("component.yaml", &spec),
        ("right.yaml", &secret("keys/test-one.agekey")),
        ("wrong.yaml", &secret("keys/test-stranger.agekey")),
        (
            "src/kustomization.yaml",
            "configMapGenerator: [{name: a, envs: [app.env]}]\n",
        ),
        ("src/app.env", &env),
    ]);
    let error = offline(folder.path(), &["--source", "src"]).failure();
    assert!(error.contains("the Secret `keys`"), "{error}");
    let error = offline(
        folder.path(),
        &["--source", "src", "--secret", "wrong.yaml"],
    )
    .failure();
    assert!(
        error.contains("`app.env` cannot be decrypted: no key for it"),
        "{error}"
    );
    let arguments = ["--source", "src", "--secret", "right.yaml"];
    let said = offline(folder.path(), &arguments).output();
    assert!(said.contains("NUMBER: \"5432\""), "{said}");
}

#[test]
fn variables_come_from_manifests_where_there_is_no_cluster() {
    let spec = component(
        "  substitute:\n    variables: {own: mine}\n    from:\n    - {kind: ConfigMap, name: place}\n    - {kind: Secret, name: keys, optional: true}\n",
    );
    let folder = files(&[
        ("component.yaml", &spec),
        (
            "place.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: place}\ndata: {word: one, own: theirs}\n",
        ),
        (
            "keys.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {word: two}\n",
        ),
        (
            "src/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {text: \"${word} ${own}\"}\n",
        ),
    ]);
    let error = offline(folder.path(), &["--source", "src"]).failure();
    let expected = "the ConfigMap `place` with variables is not given";
    assert!(error.contains(expected), "{error}");
    let place = ["--source", "src", "--config-map", "place.yaml"];
    let said = offline(folder.path(), &place).output();
    assert!(said.contains("text: one mine"), "{said}");
    let both = [&place[..], &["--secret", "keys.yaml"]].concat();
    let said = offline(folder.path(), &both).output();
    assert!(said.contains("text: two mine"), "{said}");
    let wrong = ["--source", "src", "--config-map", "keys.yaml"];
    let error = offline(folder.path(), &wrong).failure();
    assert!(error.contains("something else than ConfigMaps"), "{error}");
}

#[test]
fn charts_of_a_kustomization_are_rendered_when_they_are_asked_for() {
    let spec = component("  kustomize: {enableHelm: true}\n");
    let folder = files(&[
        ("component.yaml", &spec),
        (
            "src/kustomization.yaml",
            "helmCharts: [{name: c, releaseName: r}]\n",
        ),
        (
            "src/charts/c/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        ),
        ("src/charts/c/values.yaml", "word: hello\n"),
        (
            "src/charts/c/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {text: '{{ .Values.word }}', key: '{{ randAlphaNum 8 }}'}\n",
        ),
    ]);
    let said = offline(folder.path(), &["--source", "src"]).output();
    assert!(
        said.contains("text: hello") && said.contains("name: r\n"),
        "{said}"
    );
    assert_eq!(said, offline(folder.path(), &["--source", "src"]).output());
}

#[test]
fn what_is_no_component_is_refused() {
    let folder = files(&[
        ("component.yaml", "apiVersion: v1\nkind: Pod\n"),
        ("empty.yaml", "---\n"),
    ]);
    let error = offline(folder.path(), &[]).failure();
    assert!(error.contains("expected a Component"), "{error}");
    let error = whipstaff(folder.path(), &["render", "-f", "empty.yaml", "--offline"]).failure();
    assert!(error.contains("holds no Component"), "{error}");
    let misspelt =
        component("  suspend: false\n  generators: [{name: a, values: {x: {y: 1}}, pfad: b}]\n");
    std::fs::write(folder.path().join("component.yaml"), misspelt).unwrap();
    let error = offline(folder.path(), &[]).failure();
    assert!(
        error.contains("unknown field `spec.generators[0].pfad`"),
        "{error}"
    );
    let error = whipstaff(folder.path(), &["render", "-f", "none.yaml", "--offline"]).failure();
    assert!(error.contains("cannot read none.yaml"), "{error}");
}

#[tokio::test]
async fn cluster_answers_and_stays_as_it_is() {
    let plane = shared().await;
    let namespace = namespace("render").await;
    let maps: Api<ConfigMap> = Api::namespaced(plane.client(), &namespace);
    let live = json!({"metadata": {"name": "live"}, "data": {"a": "here"}});
    let live = serde_json::from_value(live).unwrap();
    maps.create(&PostParams::default(), &live).await.unwrap();
    let spec = component("");
    let folder = files(&[
        ("component.yaml", &spec),
        (
            "src/a.yaml.gotmpl",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {found: '{{ (lookup \"v1\" \"ConfigMap\" namespace \"live\").data.a }}'}\n",
        ),
    ]);
    let spec = component("  generator: directory\n  directory: {templates: [go]}\n");
    std::fs::write(folder.path().join("component.yaml"), spec).unwrap();
    let before = maps.list(&ListParams::default()).await.unwrap().items.len();
    let said = whipstaff(
        folder.path(),
        &[
            "render",
            "-f",
            "component.yaml",
            "--source",
            "src",
            "-n",
            &namespace,
            "--kubeconfig",
            plane.kubeconfig_path().to_str().unwrap(),
        ],
    );
    let said = said.output();
    assert!(said.contains("found: here"), "{said}");
    assert!(said.contains(&format!("namespace: {namespace}")), "{said}");
    let after = maps.list(&ListParams::default()).await.unwrap().items.len();
    assert_eq!(before, after);
}
