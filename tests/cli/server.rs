//! Rendering for a real API server: `--validate`, `--dry-run=server`.

use crate::program::{chart, whipstaff, write};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use whipstaff_test_support::{namespace, shared};

const LOOKUP: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: found}
data:
  live: {{ lookup \"v1\" \"ConfigMap\" .Release.Namespace \"live\" | dig \"data\" \"a\" \"none\" }}
  served: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}
  made-up: {{ .Capabilities.APIVersions.Has \"example.org/v1\" | quote }}
";

#[tokio::test]
async fn cluster_gives_capabilities_and_objects_and_checks_manifests() {
    let plane = shared().await;
    let namespace = namespace("cli").await;
    let maps: Api<ConfigMap> = Api::namespaced(plane.client(), &namespace);
    let live = json!({"metadata": {"name": "live"}, "data": {"a": "here"}});
    let live = serde_json::from_value(live).unwrap();
    maps.create(&PostParams::default(), &live).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let mut files = chart("shop", "1.0.0", "");
    files.push(("shop/templates/lookup.yaml".to_owned(), LOOKUP.to_owned()));
    write(folder.path(), &files);
    let kubeconfig = plane.kubeconfig_path().to_str().unwrap();
    let render = |arguments: &[&str]| {
        let shared = [
            "template",
            "rel",
            "shop",
            "-n",
            &namespace,
            "--kubeconfig",
            kubeconfig,
        ];
        whipstaff(folder.path(), &[&shared, arguments].concat())
    };
    let asked = |output: &str, live: &str, made_up: &str| {
        assert!(output.contains(&format!("live: {live}\n")), "{output}");
        assert!(
            output.contains(&format!("made-up: \"{made_up}\"")),
            "{output}"
        );
    };
    let made_up = ["-a", "example.org/v1"];
    asked(&render(&made_up).output(), "none", "true");
    for flag in ["--dry-run=server", "--validate"] {
        asked(
            &render(&[&made_up[..], &[flag]].concat()).output(),
            "here",
            "false",
        );
    }
    let v3 = ["-a", "example.org/v1", "--dialect", "v3"];
    asked(
        &render(&[&v3[..], &["--validate"]].concat()).output(),
        "none",
        "false",
    );
    asked(
        &render(&[&v3[..], &["--dry-run=server"]].concat()).output(),
        "here",
        "true",
    );
    assert!(
        maps.get_opt("found").await.unwrap().is_none(),
        "nothing is stored"
    );

    let wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong}\ndatum: {a: b}\n";
    let unknown = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: t}\n";
    files.push(("shop/templates/wrong.yaml".to_owned(), wrong.to_owned()));
    write(folder.path(), &files);
    let error = render(&["--validate"]).failure();
    assert!(
        error.contains("ConfigMap `wrong` is refused") && error.contains("datum"),
        "{error}"
    );
    render(&["--validate", "--disable-openapi-validation"]).output();
    files.push(("shop/templates/unknown.yaml".to_owned(), unknown.to_owned()));
    write(folder.path(), &files);
    let error = render(&["--validate", "--disable-openapi-validation"]).failure();
    assert!(
        error.contains("no matches for kind \"Thing\" in version \"example.org/v1\""),
        "{error}"
    );
    render(&[]).output();
}
