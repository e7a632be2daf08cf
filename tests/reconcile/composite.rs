use crate::world::{World, inventory};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::{Value, json};

const KUSTOMIZATION: &[(&str, &str)] = &[
    ("k/kustomization.yaml", "resources: [a.yaml]\n"),
    (
        "k/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kustomized}\n",
    ),
    (
        "plain/b.yaml.gotmpl",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .name }}'}\ndata: {shared: '{{ .shared }}'}\n",
    ),
];
const CHART: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: charted}\ndata: {shared: '{{ .Values.shared }}', own: '{{ .Values.own }}'}\n";

fn spec(files: &str, chart: &str, plain: &str) -> Value {
    json!({
        "source": {"url": {"url": files}},
        "values": {"shared": "all"},
        "generators": [
            {"name": "overlay", "path": "k"},
            {"name": "chart", "source": {"url": {"url": chart}}, "values": {"own": "mine"}},
            {"name": "plain", "path": "plain", "generator": "directory",
             "directory": {"templates": ["go"]}, "values": {"name": plain}},
        ],
        "labels": {"from": "all"},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_several_generators_and_sources_are_kept_together() {
    let world = World::new("composite").await;
    let files = world.archive("files", KUSTOMIZATION);
    let chart = world.chart("chart", &[("templates/c.yaml", CHART)]);
    world.component("all", spec(&files, &chart, "plain")).await;
    let component = world.ready("all").await;
    let mut owned = inventory(&component);
    owned.sort();
    assert_eq!(
        owned,
        [
            "ConfigMap charted",
            "ConfigMap kustomized",
            "ConfigMap plain"
        ]
    );
    let generator = component.status.unwrap().generator.unwrap();
    assert_eq!(generator.name, "composite");
    assert_eq!(
        generator.reason,
        "overlay: `kustomize`, found `kustomization.yaml`; chart: `helm`, found `Chart.yaml`; plain: `directory`, named"
    );
    let maps: Api<ConfigMap> = world.api();
    let charted = maps.get("charted").await.unwrap();
    let data = charted.data.unwrap();
    assert_eq!(
        (data["shared"].as_str(), data["own"].as_str()),
        ("all", "mine")
    );
    assert_eq!(charted.metadata.labels.unwrap()["from"], "all");

    world
        .component("all", spec(&files, &chart, "charted"))
        .await;
    let message = world.reason("all", "InvalidOutput").await;
    assert!(
        message.contains("`chart`") && message.contains("`plain`"),
        "{message}"
    );
    assert!(message.contains("ConfigMap charted"), "{message}");
    // Another name takes the place of the old one.
    world.component("all", spec(&files, &chart, "other")).await;
    let component = world.ready("all").await;
    assert!(inventory(&component).contains(&"ConfigMap other".to_owned()));
    assert!(maps.get_opt("plain").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn options_beside_generators_are_refused_by_the_api_server() {
    let world = World::new("composite-rule").await;
    let object = json!({
        "apiVersion": "whipstaff.dev/v1alpha1",
        "kind": "Component",
        "metadata": {"name": "wrong"},
        "spec": {"source": {"url": {"url": "https://example.org/a.tgz"}}, "path": "a",
            "generators": [{"name": "one"}]},
    });
    let object = serde_json::from_value(object).unwrap();
    let refused = world
        .components()
        .create(&kube::api::PostParams::default(), &object)
        .await;
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("must be left out"), "{message}");
}
