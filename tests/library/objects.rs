//! Objects without a custom resource.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use whipstaff::ObjectReconciler;
use whipstaff::api::v1alpha1::InventoryItem;
use whipstaff::generator::{Generated, Object};
use whipstaff_test_support::{namespace, shared};

fn maps(names: &[&str], text: &str) -> Generated {
    let mut generated = Generated::default();
    for name in names {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": text}});
        generated
            .objects
            .push(Object::from_value(map).unwrap(), "maps.yaml");
    }
    generated
}

#[tokio::test(flavor = "multi_thread")]
async fn inventory_goes_in_changes_come_out_and_nothing_is_created_unrecorded() {
    let plane = shared().await;
    let namespace = namespace("objects").await;
    let live: Api<ConfigMap> = Api::namespaced(plane.client(), &namespace);
    let connect = || ObjectReconciler::connect("objects.example.org", plane.config());
    let it = connect().await.unwrap();
    let mut inventory = Vec::new();
    let both = maps(&["a", "b"], "one");
    let first = it
        .apply("set", &namespace, &both, &mut inventory)
        .await
        .unwrap();
    assert_eq!(
        (first.recorded, first.changes.len(), first.is_done()),
        (2, 0, false)
    );
    assert!(live.get_opt("a").await.unwrap().is_none());

    // Whoever comes next has nothing but the stored inventory.
    let stored = serde_json::to_string(&inventory).unwrap();
    let mut inventory: Vec<InventoryItem> = serde_json::from_str(&stored).unwrap();
    let it = connect().await.unwrap();
    let second = it
        .apply("set", &namespace, &both, &mut inventory)
        .await
        .unwrap();
    assert!(second.is_done() && second.changes.len() == 2, "{second:?}");
    let map = live.get("a").await.unwrap();
    assert!(map.labels().contains_key("objects.example.org/owner-id"));
    let third = it
        .apply("set", &namespace, &both, &mut inventory)
        .await
        .unwrap();
    assert!(third.is_done() && third.changes.is_empty(), "{third:?}");

    let params = PatchParams::default();
    let patch = Patch::Merge(json!({"data": {"text": "changed"}}));
    live.patch("a", &params, &patch).await.unwrap();
    let fourth = it
        .apply("set", &namespace, &both, &mut inventory)
        .await
        .unwrap();
    let told: Vec<_> = fourth
        .changes
        .iter()
        .map(|c| (c.id.name.as_str(), c.reason.as_str()))
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, "a");
    assert_eq!(live.get("a").await.unwrap().data.unwrap()["text"], "one");

    // Another owner may not have it.
    let mut other = Vec::new();
    let only = maps(&["a"], "two");
    it.apply("other", &namespace, &only, &mut other)
        .await
        .unwrap();
    let refused = it.apply("other", &namespace, &only, &mut other).await;
    assert!(refused.unwrap_err().to_string().contains("ConfigMap"));

    let fewer = maps(&["b"], "one");
    for _ in 0..20 {
        let set = it
            .apply("set", &namespace, &fewer, &mut inventory)
            .await
            .unwrap();
        if set.is_done() && inventory.len() == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    assert!(live.get_opt("a").await.unwrap().is_none());
    it.is_deletion_allowed("set", &namespace, &inventory)
        .await
        .unwrap();
    it.delete("set", &namespace, &mut inventory).await.unwrap();
    assert_eq!(json!(inventory), Value::Array(Vec::new()));
    assert!(live.get_opt("b").await.unwrap().is_none());
}
