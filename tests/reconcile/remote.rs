use crate::world::{World, condition};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::Component;
use whipstaff::{OperatorOptions, default_generators_with_remote, run_operator};
use whipstaff_test_support::{eventually, shared};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fetched}\n";

/// A component whose kustomization names something by address, in a shard.
async fn component(world: &World, name: &str, address: &str, shard: Option<&str>) {
    let kustomization = format!("resources: [\"{address}\"]\n");
    let url = world.archive(name, &[("kustomization.yaml", &kustomization)]);
    let labels = shard.map(|shard| json!({"whipstaff.dev/shard": shard}));
    let object = json!({
        "apiVersion": "whipstaff.dev/v1alpha1",
        "kind": "Component",
        "metadata": {"name": name, "labels": labels.unwrap_or(json!({}))},
        "spec": {"source": {"url": {"url": url}}},
    });
    let params = PatchParams::apply("test").force();
    let components = world.components();
    components
        .patch(name, &params, &Patch::Apply(&object))
        .await
        .unwrap();
}

async fn message(world: &World, name: &str) -> String {
    let failed = |(reason, _): (String, String)| reason == "RenderFailed";
    let components = world.components();
    let has_failed = |c: Option<&Component>| c.and_then(condition).is_some_and(failed);
    let component = eventually(&components, name, has_failed).await;
    condition(&component.unwrap()).unwrap().1
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_resources_are_fetched_only_by_an_operator_that_may() {
    let world = World::new("remote").await;
    world.charts.put("/map.yaml", MAP);
    let address = world.charts.url("/map.yaml");
    component(&world, "off", &address, None).await;
    let refusal = message(&world, "off").await;
    assert!(refusal.contains("remote sources are off here"), "{refusal}");
    assert_eq!(world.charts.count("/map.yaml"), 0);

    let mut options = OperatorOptions::default();
    options.generators = default_generators_with_remote().unwrap();
    options.shard = Some(world.namespace.clone());
    let stop = CancellationToken::new();
    let running = run_operator(shared().await.config(), options, stop.clone());
    let running = tokio::spawn(running);
    component(&world, "on", &address, Some(&world.namespace)).await;
    let maps: Api<ConfigMap> = world.api();
    eventually(&maps, "fetched", |map| map.is_some()).await;

    let local = "file:///repository//base";
    component(&world, "local", local, Some(&world.namespace)).await;
    let refusal = message(&world, "local").await;
    assert!(refusal.contains("not for components"), "{refusal}");
    stop.cancel();
    running.await.unwrap().unwrap();
}
