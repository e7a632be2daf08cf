//! Variables out of `ConfigMaps` and Secrets.

use crate::world::World;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use whipstaff_test_support::eventually;

const FILES: &[(&str, &str)] = &[(
    "a.yaml",
    "apiVersion: v1
kind: ConfigMap
metadata: {name: region}
data: {region: '${region}', zone: '${zone:-none}'}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {key: '${key}'}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: plain}
data: {a: b}
",
)];

async fn write(world: &World, kind: &str, name: &str, data: Value) {
    let field = if kind == "Secret" {
        "stringData"
    } else {
        "data"
    };
    let object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, field: data});
    let params = PatchParams::apply("test").force();
    let patch = Patch::Apply(&object);
    match kind {
        "Secret" => drop(
            world
                .api::<Secret>()
                .patch(name, &params, &patch)
                .await
                .unwrap(),
        ),
        _ => drop(
            world
                .api::<ConfigMap>()
                .patch(name, &params, &patch)
                .await
                .unwrap(),
        ),
    }
}

fn spec(url: &str) -> Value {
    json!({
        "source": {"url": {"url": url}},
        // Nothing but a watch tells of changes in time.
        "interval": "1h",
        "retryInterval": "1h",
        "substitute": {"from": [
            {"kind": "ConfigMap", "name": "place"},
            {"kind": "Secret", "name": "keys"},
            {"kind": "ConfigMap", "name": "more", "optional": true},
        ]},
    })
}

/// The resource versions of what was made.
async fn versions(world: &World) -> [String; 3] {
    let maps = world.api::<ConfigMap>();
    let version = |object: &ConfigMap| object.resource_version().unwrap();
    let secret = world.api::<Secret>().get("key").await.unwrap();
    [
        version(&maps.get("region").await.unwrap()),
        secret.resource_version().unwrap(),
        version(&maps.get("plain").await.unwrap()),
    ]
}

async fn region_is(world: &World, region: &str, zone: &str) {
    let is_so = |map: Option<&ConfigMap>| {
        let data = map.and_then(|map| map.data.as_ref());
        data.is_some_and(|data| data["region"] == region && data["zone"] == zone)
    };
    eventually(&world.api::<ConfigMap>(), "region", is_so).await;
}

async fn key_is(world: &World, key: &str) {
    let is_so = |secret: Option<&Secret>| {
        let data = secret.and_then(|secret| secret.data.as_ref());
        data.is_some_and(|data| data["key"].0 == key.as_bytes())
    };
    eventually(&world.api::<Secret>(), "key", is_so).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_follow_the_config_maps_and_secrets_of_their_variables_and_nothing_else_changes() {
    let world = World::new("variables").await;
    let url = world.archive("variables", FILES);
    world.component("variables", spec(&url)).await;
    let message = world.reason("variables", "VariablesUnavailable").await;
    assert_eq!(
        message,
        "the ConfigMap `place` with variables does not exist"
    );
    // What is missing is waited for.
    write(&world, "ConfigMap", "place", json!({"region": "north"})).await;
    write(&world, "Secret", "keys", json!({"key": "hunter2"})).await;
    let component = world.ready("variables").await;
    region_is(&world, "north", "none").await;
    key_is(&world, "hunter2").await;
    let shown = serde_json::to_string(&component).unwrap();
    assert!(!shown.contains("hunter2"), "{shown}");

    let before = versions(&world).await;
    write(&world, "ConfigMap", "place", json!({"region": "south"})).await;
    region_is(&world, "south", "none").await;
    let after = versions(&world).await;
    assert_ne!(before[0], after[0]);
    assert_eq!(before[1..], after[1..]);

    write(&world, "Secret", "keys", json!({"key": "hunter3"})).await;
    key_is(&world, "hunter3").await;
    let last = versions(&world).await;
    assert_eq!(last[0], after[0]);
    assert_ne!(last[1], after[1]);
    assert_eq!(last[2], after[2]);

    // One that may be missing counts as soon as it is there, and no longer when it is gone.
    write(&world, "ConfigMap", "more", json!({"zone": "a"})).await;
    region_is(&world, "south", "a").await;
    let maps = world.api::<ConfigMap>();
    maps.delete("more", &DeleteParams::default()).await.unwrap();
    region_is(&world, "south", "none").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_neither_in_status_nor_in_events() {
    let world = World::new("variables-told").await;
    let told = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'not ${key} a name'}\n";
    let url = world.archive("told", &[("a.yaml", told)]);
    write(&world, "Secret", "keys", json!({"key": "Hunter/two"})).await;
    write(&world, "ConfigMap", "place", json!({})).await;
    world.component("told", spec(&url)).await;
    let failed = |component: &whipstaff::api::v1alpha1::Component| {
        crate::world::condition(component).is_some_and(|(_, message)| message.contains("***"))
    };
    let component = world.wait("told", failed).await;
    let mut shown = serde_json::to_string(&component).unwrap();
    let events = world.api::<Event>();
    for event in events.list(&ListParams::default()).await.unwrap() {
        shown.push_str(&event.message.unwrap_or_default());
    }
    assert!(!shown.contains("Hunter/two"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_another_generator_are_refused() {
    let world = World::new("unused-options").await;
    let url = world.archive(
        "unused",
        &[(
            "a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        )],
    );
    let source = json!({"url": {"url": url}});
    let cases = [
        (
            json!({"source": source, "kustomize": {"reorder": "none"}}),
            "`spec.kustomize` is set, and the generator is `directory`",
        ),
        (
            json!({"source": source, "options": {"a": 1}}),
            "`spec.options` is set, and the generator is `directory`",
        ),
        (
            json!({"source": source, "generators": [{"name": "one", "helm": {"includeCRDs": true}}]}),
            "`helm` of the generator `one` is set, and the generator is `directory`",
        ),
    ];
    for (spec, expected) in cases {
        world.component("unused", spec).await;
        let is_so = |component: &whipstaff::api::v1alpha1::Component| {
            crate::world::condition(component).is_some_and(|(_, message)| message == expected)
        };
        world.wait("unused", is_so).await;
    }
    let message = world.reason("unused", "InvalidSpec").await;
    assert!(message.contains("generator"), "{message}");
    // Hooks and randomness are the Component's, whatever renders.
    let spec = json!({"source": source, "helm": {"randomness": "fidelity"}, "kustomize": {}});
    world.component("unused", spec).await;
    world.ready("unused").await;
}
