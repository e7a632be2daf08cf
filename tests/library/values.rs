//! Parameters out of ConfigMaps and Secrets.

use crate::world::{World, condition};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams};
use serde_json::json;
use whipstaff::api::v1alpha1::Component;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata:\n  {{- range $k, $v := .Values.words }}\n  {{ $k }}: {{ $v | quote }}\n  {{- end }}\n{{- if .Values.fails }}{{ fail .Values.words.c }}{{ end }}";

async fn words(world: &World) -> serde_json::Value {
    let map = world.api::<ConfigMap>().get("made").await.unwrap();
    json!(map.data)
}

/// Scenario 22. What is referred to is waited for, merged in its order, watched, and kept out of messages.
#[tokio::test(flavor = "multi_thread")]
async fn values_are_merged_in_order_follow_their_sources_and_stay_secret() {
    let world = World::new("values").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"},
        "data": {"values.yaml": "words: {a: map, b: map, c: map}"}});
    world.create::<ConfigMap>(map).await;
    let spec = |fails: bool| {
        json!({"source": {"url": {"url": url}}, "values": {"words": {"b": "spec"}, "fails": fails},
            "valuesFrom": [{"kind": "ConfigMap", "name": "shared"}, {"kind": "Secret", "name": "own", "key": "more"},
                {"kind": "Secret", "name": "none", "optional": true}]})
    };
    world.component("c", spec(false)).await;
    let message = world.reason("c", "Retrying").await;
    assert!(
        message.contains("the Secret `own` does not exist"),
        "{message}"
    );
    let secret = |text: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "own"}, "stringData": {"more": text}});
    world.create::<Secret>(secret("words: {c: hunter2}")).await;
    world.ready("c").await;
    assert_eq!(
        words(&world).await,
        json!({"a": "map", "b": "spec", "c": "hunter2"})
    );

    let params = PatchParams::default();
    let secrets = world.api::<Secret>();
    let patch = Patch::Merge(secret("words: {c: hunter3-and-more}"));
    secrets.patch("own", &params, &patch).await.unwrap();
    let is_next = |component: &Component| component.status.as_ref().unwrap().revision == Some(2);
    world.wait("c", is_next).await;
    world.ready("c").await;
    assert_eq!(words(&world).await["c"], "hunter3-and-more");

    world.component("c", spec(true)).await;
    let message = world.reason("c", "InvalidParameters").await;
    assert!(
        message.contains("***") && !message.contains("hunter3"),
        "{message}"
    );
    let patch = Patch::Merge(secret("- hunter4"));
    secrets.patch("own", &params, &patch).await.unwrap();
    let is_named = |component: &Component| {
        let message = condition(component).unwrap_or_default().1;
        message.contains("the Secret `own` are not YAML of a map") && !message.contains("hunter4")
    };
    world.wait("c", is_named).await;
}
