//! Policies of components and of single objects, on a real API server.

use crate::world::{World, item, state};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret};
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use whipstaff::api::v1alpha1::{Component, Phase, State};
use whipstaff_test_support::eventually;

/// Serves objects as a chart of their own, and makes the component of all these tests want exactly them.
async fn want(world: &World, objects: &[Value], policies: Value) {
    let texts: Vec<_> = objects.iter().map(Value::to_string).collect();
    let name = format!("c{}", contents_name(&texts));
    let url = world.chart(&name, &[("templates/all.yaml", &texts.join("\n---\n"))]);
    let spec =
        json!({"source": {"url": {"url": url}}, "retryInterval": "1s", "policies": policies});
    world.component("c", spec).await;
}

/// A name that tells contents apart.
fn contents_name(texts: &[String]) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

async fn applied(world: &World, objects: &[Value], policies: Value) -> Component {
    want(world, objects, policies).await;
    world.ready("c").await
}

fn map(name: &str, data: Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    object["data"] = data;
    object
}

fn with(mut object: Value, annotations: &[(&str, &str)]) -> Value {
    for (suffix, value) in annotations {
        object["metadata"]["annotations"][format!("whipstaff.dev/{suffix}")] = json!(value);
    }
    object
}

async fn data(world: &World, name: &str) -> BTreeMap<String, String> {
    let map = world.api::<ConfigMap>().get(name).await.unwrap();
    map.data.unwrap_or_default()
}

async fn set(world: &World, manager: &str, name: &str, data: Value) {
    let params = PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({ "data": data }));
    let maps = world.api::<ConfigMap>();
    maps.patch(name, &params, &patch).await.unwrap();
}

/// Scenario 7.
#[tokio::test(flavor = "multi_thread")]
async fn sets_that_break_a_rule_are_refused_before_anything_is_written() {
    let world = World::new("rules").await;
    let good = map("good", json!({}));
    let cases = [
        with(map("bad", json!({})), &[("apply-order", "40000")]),
        with(map("bad", json!({})), &[("update-policy", "sometimes")]),
        with(map("bad", json!({})), &[("reapply-interval", "0s")]),
        with(map("bad", json!({})), &[("depends-on", "ConfigMap/bad")]),
        good.clone(),
    ];
    for bad in cases {
        want(&world, &[good.clone(), bad], json!({})).await;
        world.wait("c", |c| state(c) == Some(State::Error)).await;
        let maps = world.api::<ConfigMap>();
        assert!(maps.get_opt("good").await.unwrap().is_none());
    }
}

/// Scenarios 9 and 10: the operator creates objects without looking for them first, finds them there, and overwrites nothing.
#[tokio::test(flavor = "multi_thread")]
async fn adoption_follows_the_policy_of_each_object() {
    let world = World::new("adoption").await;
    let foreign =
        json!({"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "x"});
    let cases = [
        ("never", json!({}), false),
        ("never", foreign.clone(), false),
        ("if-unowned", json!({}), true),
        ("ifUnowned", foreign.clone(), false),
        ("always", json!({}), true),
        ("Always", foreign, true),
    ];
    for (position, (policy, annotations, adopted)) in cases.into_iter().enumerate() {
        let name = format!("m{position}");
        let _: ConfigMap = world
            .create(json!({"metadata": {"name": name, "annotations": annotations}, "data": {"a": "theirs"}}))
            .await;
        let object = with(
            map(&name, json!({"a": "ours"})),
            &[("adoption-policy", policy)],
        );
        want(&world, &[object], json!({})).await;
        let wanted = if adopted { State::Ready } else { State::Error };
        world.wait("c", |c| state(c) == Some(wanted)).await;
        let live = world.api::<ConfigMap>().get(&name).await.unwrap();
        let labels = live.metadata.labels.unwrap_or_default();
        assert_eq!(
            labels.contains_key("whipstaff.dev/owner-id"),
            adopted,
            "{position}"
        );
        let text = live.data.unwrap()["a"].clone();
        assert_eq!(text == "ours", adopted, "{position}");
    }
}

/// Scenario 11.
#[tokio::test(flavor = "multi_thread")]
async fn override_removes_what_kubectl_added_and_merge_leaves_it() {
    let world = World::new("override").await;
    for (policy, left) in [("SsaMerge", 3), ("SsaOverride", 1)] {
        let name = policy.to_lowercase();
        let policies = json!({"update": policy});
        applied(&world, &[map(&name, json!({"a": "1"}))], policies.clone()).await;
        set(&world, "kubectl", &name, json!({"k": "1"})).await;
        set(&world, "kubectl-edit", &name, json!({"e": "1"})).await;
        set(&world, "other", &name, json!({"o": "1"})).await;
        applied(&world, &[map(&name, json!({"a": "2"}))], policies).await;
        let data = data(&world, &name).await;
        assert_eq!(data["a"], "2");
        assert_eq!(data["o"], "1");
        assert_eq!(data.len(), left + 1, "{policy}: {data:?}");
    }
}

/// Scenario 12.
#[tokio::test(flavor = "multi_thread")]
async fn field_of_a_replaced_object_goes_after_a_change_to_apply() {
    let world = World::new("migrate").await;
    let replaced = json!({"update": "Replace"});
    let both = map("m", json!({"a": "1", "b": "1"}));
    applied(&world, &[both], replaced.clone()).await;
    set(&world, "other", "m", json!({"o": "1"})).await;
    let changed = map("m", json!({"a": "2", "b": "2"}));
    applied(&world, &[changed], replaced).await;
    let keys = |data: BTreeMap<String, String>| data.into_keys().collect::<Vec<_>>();
    assert_eq!(keys(data(&world, "m").await), ["a", "b"]);

    let less = map("m", json!({"a": "3"}));
    applied(&world, &[less], json!({"update": "SsaMerge"})).await;
    assert_eq!(keys(data(&world, "m").await), ["a"]);
}

/// Scenario 13.
#[tokio::test(flavor = "multi_thread")]
async fn recreated_object_is_deleted_waited_for_and_made_anew() {
    let world = World::new("recreate").await;
    let object = |text: &str| {
        let object = map("m", json!({"a": text}));
        let mut object = with(object, &[("update-policy", "recreate")]);
        object["metadata"]["finalizers"] = json!(["example.org/hold"]);
        object
    };
    let maps = world.api::<ConfigMap>();
    let uid = || async { maps.get("m").await.unwrap().metadata.uid };
    applied(&world, &[object("1")], json!({})).await;
    let first = uid().await;
    applied(&world, &[object("1"), map("beside", json!({}))], json!({})).await;
    assert_eq!(uid().await, first);

    want(&world, &[object("2")], json!({})).await;
    let going = |m: Option<&ConfigMap>| m.is_some_and(|m| m.metadata.deletion_timestamp.is_some());
    eventually(&maps, "m", going).await;
    assert_eq!(uid().await, first);
    release(&world, "m").await;
    world.ready("c").await;
    assert_ne!(uid().await, first);
    assert_eq!(data(&world, "m").await["a"], "2");
    world
        .components()
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&maps, "m", going).await;
    release(&world, "m").await;
}

async fn release(world: &World, name: &str) {
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let maps = world.api::<ConfigMap>();
    maps.patch(name, &PatchParams::default(), &patch)
        .await
        .unwrap();
}

/// Scenario 14.
#[tokio::test(flavor = "multi_thread")]
async fn object_that_is_applied_once_is_left_alone_and_comes_back() {
    let world = World::new("once").await;
    let object = |text: &str| {
        with(
            map("m", json!({"a": text})),
            &[("reconcile-policy", "once")],
        )
    };
    applied(&world, &[object("1")], json!({})).await;
    set(&world, "other", "m", json!({"a": "edited"})).await;
    applied(&world, &[object("2"), map("beside", json!({}))], json!({})).await;
    assert_eq!(data(&world, "m").await["a"], "edited");
    let maps = world.api::<ConfigMap>();
    maps.delete("m", &DeleteParams::default()).await.unwrap();
    let back =
        |m: Option<&ConfigMap>| m.is_some_and(|m| m.data.as_ref().is_some_and(|d| d["a"] == "2"));
    eventually(&maps, "m", back).await;
}

/// Scenario 16.
#[tokio::test(flavor = "multi_thread")]
async fn drift_is_put_right_reported_or_ignored_as_the_object_says() {
    let world = World::new("drift").await;
    let object = |mode: &str| with(map(mode, json!({"a": "1"})), &[("drift-mode", mode)]);
    let objects = ["correct", "report", "ignore"].map(object);
    applied(&world, &objects, json!({})).await;
    for mode in ["report", "ignore", "correct"] {
        set(&world, "tool", mode, json!({"a": "edited"})).await;
    }
    let maps = world.api::<ConfigMap>();
    let right =
        |m: Option<&ConfigMap>| m.is_some_and(|m| m.data.as_ref().is_some_and(|d| d["a"] == "1"));
    eventually(&maps, "correct", right).await;
    let told = |c: &Component| !item(c, "ConfigMap", "report").drift.is_empty();
    let component = world
        .wait("c", |c| state(c) == Some(State::Ready) && told(c))
        .await;
    assert_eq!(
        item(&component, "ConfigMap", "report").drift,
        "`/data/a` is \"edited\", wanted \"1\", set by `tool`"
    );
    assert!(item(&component, "ConfigMap", "ignore").drift.is_empty());
    assert_eq!(data(&world, "report").await["a"], "edited");
    assert_eq!(data(&world, "ignore").await["a"], "edited");
    let note = world.event("c", "Corrected").await;
    assert!(
        note.contains("`/data/a` is \"edited\", wanted \"1\", set by `tool`"),
        "{note}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_field_keeps_its_live_value_when_another_one_changes() {
    let world = World::new("ignore").await;
    let ignore = json!([{"kind": "ConfigMap", "pointers": ["/data/theirs"]}]);
    let policies = json!({"drift": {"ignore": ignore}});
    let object = |ours: &str| map("m", json!({"ours": ours, "theirs": "1"}));
    applied(&world, &[object("1")], policies.clone()).await;
    set(&world, "tool", "m", json!({"theirs": "2"})).await;
    applied(&world, &[object("2")], policies).await;
    let data = data(&world, "m").await;
    assert_eq!((&*data["ours"], &*data["theirs"]), ("2", "2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_not_told_in_events() {
    let world = World::new("hush").await;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "stringData": {"password": "hunter2"}});
    applied(&world, &[secret], json!({})).await;
    let patch = Patch::Merge(json!({"stringData": {"password": "letmein"}}));
    let secrets = world.api::<Secret>();
    secrets
        .patch("s", &PatchParams::default(), &patch)
        .await
        .unwrap();
    let note = world.event("c", "Corrected").await;
    assert!(
        note.contains("`/data/password` is ***, wanted ***"),
        "{note}"
    );
}

/// Scenario 17.
#[tokio::test(flavor = "multi_thread")]
async fn redundant_objects_go_wave_by_wave_and_orphans_stay() {
    let world = World::new("redundant").await;
    let object = |name: &str, policy: &str, order: &str| {
        let annotations = [("delete-policy", policy), ("delete-order", order)];
        with(map(name, json!({})), &annotations)
    };
    let mut held = object("delete", "delete", "-1");
    held["metadata"]["finalizers"] = json!(["example.org/hold"]);
    let kept = map("kept", json!({}));
    let objects = [
        held,
        object("orphan", "orphan", "0"),
        object("on-apply", "orphan-on-apply", "1"),
        object("on-delete", "orphan-on-delete", "2"),
        kept.clone(),
    ];
    applied(&world, &objects, json!({})).await;
    want(&world, &[kept], json!({})).await;
    let maps = world.api::<ConfigMap>();
    eventually(&maps, "delete", |m| {
        m.is_some_and(|m| m.metadata.deletion_timestamp.is_some())
    })
    .await;
    assert!(maps.get_opt("on-delete").await.unwrap().is_some());
    release(&world, "delete").await;
    world.ready("c").await;
    for (name, stays) in [
        ("delete", false),
        ("on-delete", false),
        ("orphan", true),
        ("on-apply", true),
        ("kept", true),
    ] {
        assert_eq!(maps.get_opt(name).await.unwrap().is_some(), stays, "{name}");
    }
    let orphan = maps.get("orphan").await.unwrap();
    assert!(orphan.metadata.labels.unwrap_or_default().is_empty());
}

/// Scenario 18.
#[tokio::test(flavor = "multi_thread")]
async fn object_that_somebody_took_over_is_not_deleted() {
    let world = World::new("taken").await;
    let kept = map("kept", json!({}));
    applied(&world, &[kept.clone(), map("m", json!({}))], json!({})).await;
    let patch =
        Patch::Merge(json!({"metadata": {"labels": {"whipstaff.dev/owner-id": "somebody"}}}));
    let maps = world.api::<ConfigMap>();
    want(&world, &[kept], json!({})).await;
    maps.patch("m", &PatchParams::default(), &patch)
        .await
        .unwrap();
    let component = world
        .wait("c", |c| {
            state(c) == Some(State::Ready)
                && c.status.as_ref().is_some_and(|s| s.inventory.len() == 1)
        })
        .await;
    assert_eq!(item(&component, "ConfigMap", "kept").phase, Phase::Ready);
    assert!(maps.get_opt("m").await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn object_moves_from_one_component_to_another_without_being_deleted() {
    let world = World::new("move").await;
    let url = |name: &str, objects: &[Value]| {
        let texts: Vec<_> = objects.iter().map(Value::to_string).collect();
        world.chart(name, &[("templates/all.yaml", &texts.join("\n---\n"))])
    };
    let (moved, own) = (map("moved", json!({"a": "1"})), map("own", json!({})));
    let spec = |url: String| json!({"source": {"url": {"url": url}}, "retryInterval": "1s"});
    let full = url("full", &[moved.clone(), own.clone()]);
    world.component("from", spec(full)).await;
    world.ready("from").await;
    let maps = world.api::<ConfigMap>();
    let before = maps.get("moved").await.unwrap().metadata.uid;

    world.component("to", spec(url("taken", &[moved]))).await;
    world.reason("to", "OwnedByOthers").await;
    world.component("from", spec(url("rest", &[own]))).await;
    world.ready("to").await;
    world.ready("from").await;
    let after = maps.get("moved").await.unwrap();
    assert_eq!(after.metadata.uid, before);
    let owner = after.metadata.annotations.unwrap()["whipstaff.dev/owner-id"].clone();
    assert!(owner.ends_with("/to"), "{owner}");
}

/// Defect 8: who lost an object to another component does not take it back.
#[tokio::test(flavor = "multi_thread")]
async fn object_that_another_component_took_over_is_not_fought_for() {
    let world = World::new("lost").await;
    let url = |name: &str, text: &str| {
        let object = map("m", json!({ "a": text })).to_string();
        world.chart(name, &[("templates/all.yaml", &object)])
    };
    let first = json!({"source": {"url": {"url": url("first", "1")}}, "retryInterval": "1s"});
    world.component("first", first).await;
    world.ready("first").await;
    let second = json!({"source": {"url": {"url": url("second", "2")}}, "retryInterval": "1s",
        "policies": {"adoption": "Always"}});
    world.component("second", second).await;
    world.ready("second").await;
    let message = world.reason("first", "OwnedByOthers").await;
    assert!(message.contains("/second`"), "{message}");
    assert_eq!(data(&world, "m").await["a"], "2");
    // Its deletion leaves the object alone.
    let components = world.components();
    components
        .delete("first", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "first", |c| c.is_none()).await;
    world.ready("second").await;
    assert_eq!(data(&world, "m").await["a"], "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn immutable_field_is_named_and_recreation_mends_it() {
    let world = World::new("immutable").await;
    let object = |label: &str| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": label}},
                "template": {"metadata": {"labels": {"app": label}},
                    "spec": {"containers": [{"name": "web", "image": "example.org/web:1"}]}}}})
    };
    applied(&world, &[object("a")], json!({})).await;
    let deployments = world.api::<Deployment>();
    let first = deployments.get("web").await.unwrap().metadata.uid;
    want(&world, &[object("b")], json!({})).await;
    let message = world.reason("c", "InvalidObject").await;
    assert!(
        message.contains("spec.selector") && message.contains("immutable: Recreate"),
        "{message}"
    );
    applied(&world, &[object("b")], json!({"immutable": "Recreate"})).await;
    assert_ne!(deployments.get("web").await.unwrap().metadata.uid, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_survive_pruning_and_mass_deletion_is_refused() {
    let world = World::new("prune").await;
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let kept = map("kept", json!({}));
    let objects = [
        kept.clone(),
        claim,
        map("b", json!({})),
        map("c", json!({})),
    ];
    applied(&world, &objects, json!({})).await;
    let claims = world.api::<PersistentVolumeClaim>();

    let limit = json!({"prune": {"maxPercent": 25}});
    want(&world, std::slice::from_ref(&kept), limit).await;
    let message = world.reason("c", "PruningRefused").await;
    assert!(message.contains("with 2 of all 4 objects"), "{message}");
    let component = applied(&world, &[kept], json!({})).await;
    assert_eq!(
        item(&component, "PersistentVolumeClaim", "data").phase,
        Phase::Kept
    );
    assert!(claims.get_opt("data").await.unwrap().is_some());
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("b")
            .await
            .unwrap()
            .is_none()
    );
}
