use crate::world::{World, condition, inventory};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use whipstaff_test_support::{eventually, shared};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.org/web:1
        envFrom: [{configMapRef: {name: settings}}]
";
const SETTINGS: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {region: '${region}', size: small}
";
const FILES: &[(&str, &str)] = &[
    (
        "base/kustomization.yaml",
        "resources: [web.yaml, settings.yaml]\n",
    ),
    ("base/web.yaml", DEPLOYMENT),
    ("base/settings.yaml", SETTINGS),
    (
        "overlays/prod/kustomization.yaml",
        "resources: [../../base]\nnameSuffix: -prod\n",
    ),
];

fn spec(url: &str, replicas: u32, region: &str) -> Value {
    json!({
        "source": {"url": {"url": url}},
        "path": "overlays/prod",
        "patches": [
            {"patch": format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-prod}}\nspec: {{replicas: {replicas}}}\n")},
            {"target": {"kind": "ConfigMap", "name": "settings.*"},
             "patch": "- {op: replace, path: /data/size, value: large}"},
        ],
        "namePrefix": "shop-",
        "images": [{"name": "example.org/web", "newName": "mirror.example.org/web", "newTag": "2"}],
        "labels": {"team": "sales"},
        "annotations": {"note": "in ${region}"},
        "substitute": {"variables": {"region": region}},
    })
}

/// The container of a Deployment's pods.
fn container(deployment: &Deployment) -> &k8s_openapi::api::core::v1::Container {
    let spec = deployment.spec.as_ref().unwrap();
    &spec.template.spec.as_ref().unwrap().containers[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn kustomization_is_built_and_bent_as_the_spec_says_and_changes_only_what_changed() {
    let world = World::new("kustomization").await;
    let url = world.archive("shop", FILES);
    world.component("shop", spec(&url, 2, "north")).await;
    let component = world.ready("shop").await;
    let generator = component
        .status
        .as_ref()
        .unwrap()
        .generator
        .clone()
        .unwrap();
    assert_eq!(generator.name, "kustomize");
    assert_eq!(generator.reason, "found `kustomization.yaml`");
    let mut owned = inventory(&component);
    owned.sort();
    assert_eq!(
        owned,
        ["ConfigMap shop-settings-prod", "Deployment shop-web-prod"]
    );
    let deployments = world.api::<Deployment>();
    let web = deployments.get("shop-web-prod").await.unwrap();
    assert_eq!(web.spec.as_ref().unwrap().replicas, Some(2));
    assert_eq!(
        container(&web).image.as_deref(),
        Some("mirror.example.org/web:2")
    );
    let from = container(&web).env_from.as_ref().unwrap();
    assert_eq!(
        from[0].config_map_ref.as_ref().unwrap().name,
        "shop-settings-prod"
    );
    assert_eq!(web.labels()["team"], "sales");
    assert_eq!(web.annotations()["note"], "in north");
    let pods = web
        .spec
        .as_ref()
        .unwrap()
        .template
        .metadata
        .as_ref()
        .unwrap();
    assert!(!pods.labels.as_ref().unwrap().contains_key("team"));
    let settings = world
        .api::<ConfigMap>()
        .get("shop-settings-prod")
        .await
        .unwrap();
    let data = settings.data.clone().unwrap();
    assert_eq!(
        (data["region"].as_str(), data["size"].as_str()),
        ("north", "large")
    );

    // Another patch: the Deployment changes, and nothing else.
    world.component("shop", spec(&url, 3, "north")).await;
    world.ready("shop").await;
    let changed = deployments.get("shop-web-prod").await.unwrap();
    assert_eq!(changed.spec.as_ref().unwrap().replicas, Some(3));
    let same = world
        .api::<ConfigMap>()
        .get("shop-settings-prod")
        .await
        .unwrap();
    assert_eq!(same.resource_version(), settings.resource_version());

    world.component("shop", json!({"source": {"url": {"url": url}}, "path": "base", "images": [{"name": "x", "newTag": "1"}], "patches": [{"patch": "- {op: remove, path: /a}"}]})).await;
    let message = world.reason("shop", "InvalidParameters").await;
    assert!(message.contains("patch"), "{message}");
    world.component("shop", json!({"source": {"url": {"url": url}}, "path": "base", "substitute": {"variables": {"other": 1}}})).await;
    let message = world.reason("shop", "InvalidParameters").await;
    assert!(
        message.contains("the variable `region` is not defined"),
        "{message}"
    );
    assert!(
        deployments
            .get_opt("shop-web-prod")
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_see_the_component_and_are_rendered_again_when_it_changes() {
    let world = World::new("templated").await;
    let url = world.archive(
        "seen",
        &[
            (".component-config.yaml", "values: {size: small}"),
            (
                "seen.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen}\ndata:\n  label: {{ with component.metadata.labels }}{{ .tier }}{{ else }}none{{ end }}\n  size: {{ .size }}\n  revision: {{ component.status.revision | quote }}\n",
            ),
        ],
    );
    let spec = json!({"source": {"url": {"url": url}}, "values": {"size": "large"}});
    world.component("seen", spec).await;
    let component = world.ready("seen").await;
    assert_eq!(
        component.status.unwrap().generator.unwrap().name,
        "kustomize"
    );
    let shows = async |label: &str| {
        let shown = |map: Option<&ConfigMap>| {
            let data = map.and_then(|map| map.data.as_ref());
            data.is_some_and(|data| data["label"] == label && data["size"] == "large")
        };
        eventually(&world.api::<ConfigMap>(), "seen", shown).await;
    };
    shows("none").await;
    let labels = Patch::Merge(json!({"metadata": {"labels": {"tier": "gold"}}}));
    let params = PatchParams::default();
    world
        .components()
        .patch("seen", &params, &labels)
        .await
        .unwrap();
    shows("gold").await;
    let component = world.ready("seen").await;
    assert_eq!(component.status.unwrap().revision, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn render_prints_what_the_operator_applied() {
    let world = World::new("rendered").await;
    let password = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: '{{ randAlphaNum 20 }}'}\n";
    let looked = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: looked}\ndata: {found: '{{ (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"given\").data.text }}'}\n";
    let url = world.chart(
        "rendered",
        &[("templates/a.yaml", password), ("templates/b.yaml", looked)],
    );
    let _: ConfigMap = world
        .create(json!({"metadata": {"name": "given"}, "data": {"text": "live"}}))
        .await;
    let spec = json!({"source": {"url": {"url": url}}, "namePrefix": "my-", "labels": {"a": "b"}});
    let component = world.component("rendered", spec.clone()).await;
    world.ready("rendered").await;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("component.json");
    let manifest = json!({"apiVersion": "whipstaff.dev/v1alpha1", "kind": "Component",
        "metadata": {"name": component.name_any(), "namespace": world.namespace}, "spec": spec});
    std::fs::write(&file, manifest.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_whipstaff"))
        .args(["render", "-f", file.to_str().unwrap(), "--kubeconfig"])
        .arg(shared().await.kubeconfig_path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    let printed: BTreeMap<_, _> = whipstaff::generator::yaml::documents(&text)
        .unwrap()
        .into_iter()
        .map(|document| {
            let text = |pointer: &str| {
                let value = document.value.pointer(pointer).and_then(Value::as_str);
                value.unwrap_or_default().to_owned()
            };
            let digest = text("/metadata/annotations/whipstaff.dev~1digest");
            (text("/metadata/name"), digest)
        })
        .collect();
    let component = world.ready("rendered").await;
    let applied: BTreeMap<_, _> = component
        .status
        .unwrap()
        .inventory
        .into_iter()
        .map(|item| (item.name, item.digest))
        .collect();
    assert_eq!(printed, applied);
    assert_eq!(applied.len(), 2);
    assert!(text.contains("found: live"), "{text}");
    assert!(condition(&world.ready("rendered").await).is_some());
}
