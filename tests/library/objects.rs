//! Objects without a custom resource.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use whipstaff::api::v1alpha1::{InventoryItem, Policies};
use whipstaff::generator::{Generated, Object};
use whipstaff::{ObjectAction, ObjectReconciler};
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

    it.delete("other", &namespace, &mut other).await.unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn sets_heed_policies_of_drift_and_hand_objects_over() {
    let plane = shared().await;
    let namespace = namespace("sets").await;
    let live: Api<ConfigMap> = Api::namespaced(plane.client(), &namespace);
    let connect = async |policies: Value| {
        let it = ObjectReconciler::connect("sets.example.org", plane.config());
        let policies: Policies = serde_json::from_value(policies).unwrap();
        it.await.unwrap().policies(policies)
    };
    let text = async || live.get("a").await.unwrap().data.unwrap()["text"].clone();
    let edit = async |text: &str| {
        let params = PatchParams::default();
        let patch = Patch::Merge(json!({"data": {"text": text}}));
        live.patch("a", &params, &patch).await.unwrap();
    };
    let both = maps(&["a", "b"], "one");
    let mut inventory = Vec::new();
    let reports = connect(json!({"drift": {"mode": "Report"}})).await;
    for _ in 0..2 {
        let set = reports.apply("from", &namespace, &both, &mut inventory);
        set.await.unwrap();
    }
    edit("edited").await;
    let set = reports
        .apply("from", &namespace, &both, &mut inventory)
        .await
        .unwrap();
    assert!(set.changes.is_empty() && set.drifted.len() == 1, "{set:?}");
    assert!(set.drifted[0].contains("/data/text"), "{set:?}");
    assert_eq!(text().await, "edited");
    let set = reports.apply("from", &namespace, &both, &mut inventory);
    let set = set.await.unwrap();
    assert!(set.changes.is_empty() && set.drifted.is_empty(), "{set:?}");

    let rule = json!({"drift": {"ignore": [{"kind": "ConfigMap", "name": "a", "pointers": ["/data/text"]}]}});
    let ignores = connect(rule).await;
    edit("again").await;
    let set = ignores.apply("from", &namespace, &both, &mut inventory);
    assert!(set.await.unwrap().changes.is_empty());
    assert_eq!(text().await, "again");

    // Who asks for an object gets it when its owner no longer wants it.
    let before = live.get("a").await.unwrap().uid();
    let (mut other, taken) = (Vec::new(), maps(&["a"], "two"));
    let set = ignores.apply("to", &namespace, &taken, &mut other);
    set.await.unwrap();
    let refused = ignores.apply("to", &namespace, &taken, &mut other).await;
    assert!(refused.unwrap_err().to_string().contains("belongs to"));
    let rest = maps(&["b"], "one");
    let set = ignores
        .apply("from", &namespace, &rest, &mut inventory)
        .await
        .unwrap();
    let actions: Vec<_> = set.changes.iter().map(|change| change.action).collect();
    assert_eq!(actions, [ObjectAction::Released]);
    let set = ignores.apply("to", &namespace, &taken, &mut other);
    assert!(set.await.unwrap().is_done());
    assert_eq!(live.get("a").await.unwrap().uid(), before);
    for (owner, inventory) in [("from", &mut inventory), ("to", &mut other)] {
        let set = ignores.delete(owner, &namespace, inventory);
        set.await.unwrap();
        assert!(inventory.is_empty());
    }
}
