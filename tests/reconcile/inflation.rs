//! Charts that kustomizations name, and what is remote.

use crate::world::{World, inventory};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use kube::api::PostParams;
use serde_json::{Value, json};
use whipstaff_test_support::eventually;

const KUSTOMIZATION: &str = "namePrefix: my-
helmGlobals: {chartHome: parts}
helmCharts:
- {name: c, releaseName: one, valuesInline: {word: first}}
- {name: c, releaseName: two, repo: 'https://example.invalid', valuesFile: two.yaml}
";
const TEMPLATE: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ .Release.Name }}'}
data:
  word: {{ .Values.word }}
  live: '{{ (lookup \"v1\" \"ConfigMap\" .Values.namespace \"live\").data.text }}'
  served: '{{ .Capabilities.APIVersions.Has \"whipstaff.dev/v1alpha1/Component\" }}'
---
apiVersion: v1
kind: Secret
metadata: {name: '{{ .Release.Name }}'}
stringData: {password: '{{ randAlphaNum 20 }}'}
";

fn files(namespace: &str, word: &str) -> Vec<(&'static str, String)> {
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    vec![
        ("kustomization.yaml", KUSTOMIZATION.to_owned()),
        (
            "two.yaml",
            format!("word: {word}\nnamespace: {namespace}\n"),
        ),
        ("parts/c/Chart.yaml", chart.to_owned()),
        (
            "parts/c/values.yaml",
            format!("word: none\nnamespace: {namespace}\n"),
        ),
        ("parts/c/.helmignore", "left-out.yaml\n".to_owned()),
        (
            "parts/c/templates/left-out.yaml",
            "{{ fail \"read\" }}".to_owned(),
        ),
        ("parts/c/templates/a.yaml", TEMPLATE.to_owned()),
    ]
}

fn archive(world: &World, name: &str, files: &[(&'static str, String)]) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    world.archive(name, &files)
}

async fn password(world: &World, name: &str) -> Vec<u8> {
    let secret = world.api::<Secret>().get(name).await.unwrap();
    secret.data.unwrap()["password"].0.clone()
}

/// The spec of a component that may render charts.
fn with_charts(url: &str) -> Value {
    json!({"source": {"url": {"url": url}}, "kustomize": {"enableHelm": true}})
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_of_a_kustomization_are_rendered_only_when_that_is_asked_for() {
    let world = World::new("inflation-off").await;
    let url = archive(&world, "off", &files(&world.namespace, "second"));
    let spec = json!({"source": {"url": {"url": url}}});
    world.component("off", spec).await;
    let message = world.reason("off", "RenderFailed").await;
    assert!(
        message.contains("the option `enableHelm` turns them on"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_of_a_kustomization_see_the_cluster_and_keep_their_passwords() {
    let world = World::new("inflation").await;
    let live: ConfigMap = world
        .create(json!({"metadata": {"name": "live"}, "data": {"text": "before"}}))
        .await;
    let url = archive(&world, "inflation", &files(&world.namespace, "second"));
    world.component("inflation", with_charts(&url)).await;
    let component = world.ready("inflation").await;
    let mut owned = inventory(&component);
    owned.sort();
    let expected = [
        "ConfigMap my-one",
        "ConfigMap my-two",
        "Secret my-one",
        "Secret my-two",
    ];
    assert_eq!(owned, expected);
    let shows = async |name: &str, word: &str, live: &str| {
        let is_so = |map: Option<&ConfigMap>| {
            let data = map.and_then(|map| map.data.as_ref());
            data.is_some_and(|data| {
                data["word"] == word && data["live"] == live && data["served"] == "true"
            })
        };
        eventually(&world.api::<ConfigMap>(), name, is_so).await;
    };
    shows("my-one", "first", "before").await;
    shows("my-two", "second", "before").await;
    let (one, two) = (
        password(&world, "my-one").await,
        password(&world, "my-two").await,
    );
    assert_eq!((one.len(), two.len()), (20, 20));
    assert_ne!(one, two);

    // What was looked up changes, then the values of one release.
    let mut changed = live.clone();
    changed.data = Some([("text".to_owned(), "after".to_owned())].into());
    let maps = world.api::<ConfigMap>();
    maps.replace("live", &PostParams::default(), &changed)
        .await
        .unwrap();
    shows("my-one", "first", "after").await;
    shows("my-two", "second", "after").await;
    let before = maps.get("my-one").await.unwrap();
    let url = archive(&world, "inflation-2", &files(&world.namespace, "third"));
    world.component("inflation", with_charts(&url)).await;
    shows("my-two", "third", "after").await;
    world.ready("inflation").await;
    let after = maps.get("my-one").await.unwrap();
    assert_eq!(before.resource_version(), after.resource_version());
    assert_eq!(password(&world, "my-one").await, one);
    assert_eq!(password(&world, "my-two").await, two);
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_that_are_not_in_the_source_and_what_is_remote_are_refused() {
    let world = World::new("far").await;
    let cases = [
        (
            "helmCharts: [{name: c, releaseName: r, repo: 'https://example.invalid'}]\n",
            "the source has no chart in `charts/c`, and charts of repositories are not fetched here",
        ),
        (
            "resources: ['https://example.invalid/a.yaml']\n",
            "remote sources are off",
        ),
        (
            "resources: ['https://github.com/org/repo//a?ref=v1']\n",
            "remote sources are off",
        ),
    ];
    for (number, (kustomization, expected)) in cases.into_iter().enumerate() {
        let name = format!("far-{number}");
        let url = world.archive(&name, &[("kustomization.yaml", kustomization)]);
        world.component(&name, with_charts(&url)).await;
        let failed = |component: &whipstaff::api::v1alpha1::Component| {
            crate::world::condition(component)
                .is_some_and(|(_, message)| message.contains(expected))
        };
        world.wait(&name, failed).await;
    }
}
