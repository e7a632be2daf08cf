//! The order in which objects come and go, on a real API server.

use crate::world::{World, condition, inventory, item, state};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use whipstaff::api::v1alpha1::{Component, InventoryItem, Phase, State};
use whipstaff_test_support::eventually;
use whipstaff_test_support::pods::{NEVER_READY, OUTCOME, READY, READY_DELAY};

async fn want(world: &World, name: &str, objects: &[Value], policies: Value) {
    let texts: Vec<_> = objects.iter().map(Value::to_string).collect();
    let url = world.chart(name, &[("templates/all.yaml", &texts.join("\n---\n"))]);
    let spec =
        json!({"source": {"url": {"url": url}}, "retryInterval": "1s", "policies": policies});
    world.component("c", spec).await;
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

fn with(mut object: Value, annotations: &[(&str, &str)]) -> Value {
    for (suffix, value) in annotations {
        object["metadata"]["annotations"][format!("whipstaff.dev/{suffix}")] = json!(value);
    }
    object
}

fn deployment(name: &str, pod: Value) -> Value {
    let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": "example.org/web:1"}]}}}});
    object["spec"]["template"]["metadata"]["annotations"] = pod;
    object
}

fn widgets(group: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
}

fn widget(group: &str, name: &str) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": name}})
}

fn widget_api(world: &World, group: &str) -> (Api<DynamicObject>, ApiResource) {
    let kind = GroupVersionKind::gvk(group, "v1", "Widget");
    let resource = ApiResource::from_gvk(&kind);
    let api = Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
    (api, resource)
}

/// Scenario 2.
#[tokio::test(flavor = "multi_thread")]
async fn missing_namespace_is_made_and_stays_or_is_refused() {
    let world = World::new("namespaces").await;
    let other = format!("{}-other", world.namespace);
    let mut object = map("m");
    object["metadata"]["namespace"] = json!(other);
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let refused = json!({"missingNamespaces": "DoNotCreate"});
    want(&world, "a", &[object.clone()], refused).await;
    world.reason("c", "NamespaceMissing").await;
    assert!(namespaces.get_opt(&other).await.unwrap().is_none());

    want(&world, "a", &[object], json!({})).await;
    let component = world.ready("c").await;
    assert_eq!(inventory(&component), ["ConfigMap m"]);
    let labels = namespaces.get(&other).await.unwrap().metadata.labels;
    let is_ours = |key: &String| key.starts_with("whipstaff.dev");
    assert!(!labels.unwrap_or_default().keys().any(is_ours));
    world
        .components()
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&world.components(), "c", |c| c.is_none()).await;
    let left = namespaces.get(&other).await.unwrap();
    assert!(left.metadata.deletion_timestamp.is_none());
    namespaces
        .delete(&other, &DeleteParams::default())
        .await
        .unwrap();
}

/// Scenario 2, and what a namespace without an owner cannot have: an end.
#[tokio::test(flavor = "multi_thread")]
async fn namespace_that_was_created_goes_with_the_component_unless_others_use_it() {
    let world = World::new("made").await;
    let name = |suffix: &str| format!("{}-{suffix}", world.namespace);
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let foreign: Namespace =
        serde_json::from_value(json!({"metadata": {"name": name("theirs")}})).unwrap();
    let params = PostParams::default();
    namespaces.create(&params, &foreign).await.unwrap();
    let inside = |suffix: &str| {
        let mut object = map("m");
        object["metadata"]["namespace"] = json!(name(suffix));
        object
    };
    // Deleted before anything else of the component, it leaves pods behind for a moment: they do not count.
    let mut web = deployment("web", json!({}));
    web["metadata"]["namespace"] = json!(name("empty"));
    let objects = [
        inside("empty"),
        inside("shared"),
        inside("theirs"),
        map("own"),
        web,
    ];
    let policies = json!({"missingNamespaces": "CreateAndRemove"});
    want(&world, "a", &objects, policies.clone()).await;
    let component = world.ready("c").await;
    let is_made = |i: &&InventoryItem| i.made;
    let made: Vec<_> = component
        .status
        .as_ref()
        .unwrap()
        .inventory
        .iter()
        .filter(is_made)
        .collect();
    let made: Vec<_> = made.iter().map(|item| item.name.clone()).collect();
    assert_eq!(made, [name("empty"), name("shared")]);

    // Without need it stays, because its kind is protected.
    want(&world, "b", &objects[1..4], policies).await;
    let is_kept = |c: &Component| {
        let items = &c.status.as_ref().unwrap().inventory;
        let kept = |i: &InventoryItem| i.kind == "Namespace" && i.phase == Phase::Kept;
        state(c) == Some(State::Ready) && items.iter().any(kept) && items.len() == 5
    };
    world.wait("c", is_kept).await;
    let theirs: Api<ConfigMap> = Api::namespaced(world.client.clone(), &name("shared"));
    let data = serde_json::from_value(map("precious")).unwrap();
    theirs.create(&params, &data).await.unwrap();

    let components = world.components();
    components
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "c", |c| c.is_none()).await;
    eventually(&namespaces, &name("empty"), |n| n.is_none()).await;
    let told = world.event("c", "NamespaceKept").await;
    assert!(
        told.contains("ConfigMap precious") && told.contains(&name("shared")),
        "{told}"
    );
    for suffix in ["shared", "theirs"] {
        let left = namespaces.get(&name(suffix)).await.unwrap().metadata;
        assert!(left.deletion_timestamp.is_none());
        let mut labels = left.labels.iter().flatten();
        assert!(!labels.any(|(key, _)| key.starts_with("whipstaff.dev")));
        namespaces
            .delete(&name(suffix), &DeleteParams::default())
            .await
            .unwrap();
    }
}

/// Scenario 3.
#[tokio::test(flavor = "multi_thread")]
async fn scopes_are_put_right() {
    let world = World::new("scopes").await;
    let role = format!("{}-role", world.namespace);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": role, "namespace": "stray"}, "rules": []});
    want(&world, "a", &[role, map("m")], json!({})).await;
    let component = world.ready("c").await;
    let namespaces = component.status.unwrap().inventory;
    let namespaces: Vec<_> = namespaces.iter().map(|item| &*item.namespace).collect();
    assert_eq!(namespaces, [&*world.namespace, ""]);
}

/// Scenario 4.
#[tokio::test(flavor = "multi_thread")]
async fn later_wave_waits_for_the_earlier_ones_and_for_what_depends_on_it() {
    let world = World::new("waves").await;
    let never = deployment("slow", json!({READY_DELAY: "1h"}));
    let objects = [
        with(map("before"), &[("apply-order", "-1")]),
        never,
        with(map("dependant"), &[("depends-on", "apps/Deployment/slow")]),
        with(map("after"), &[("apply-order", "5")]),
    ];
    want(&world, "a", &objects, json!({})).await;
    let message = world.reason("c", "Progressing").await;
    assert!(message.contains("waits for Deployment"), "{message}");
    let maps = world.api::<ConfigMap>();
    assert!(maps.get_opt("before").await.unwrap().is_some());
    for name in ["dependant", "after"] {
        assert!(maps.get_opt(name).await.unwrap().is_none(), "{name}");
    }
    let mut ready = objects;
    ready[1] = deployment("slow", json!({}));
    want(&world, "b", &ready, json!({})).await;
    let component = world.ready("c").await;
    assert_eq!(item(&component, "ConfigMap", "after").phase, Phase::Ready);
}

/// Scenario 4, its second half.
#[tokio::test(flavor = "multi_thread")]
async fn wave_that_falters_later_holds_back_what_comes_after_it() {
    let world = World::new("faltering").await;
    let early = [("apply-order", "-1")];
    let mut objects = vec![
        with(deployment("early", json!({})), &early),
        with(map("sibling"), &early),
    ];
    want(&world, "a", &objects, json!({})).await;
    world.ready("c").await;
    let pods = world.api::<Pod>();
    let all = pods.list(&ListParams::default()).await.unwrap().items;
    let pod = all[0].metadata.name.clone().unwrap();
    let outcome = async |value: &str| {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {OUTCOME: value}}}));
        let params = PatchParams::default();
        pods.patch(&pod, &params, &patch).await.unwrap();
    };
    outcome(NEVER_READY).await;
    world
        .wait("c", |c| state(c) == Some(State::Processing))
        .await;

    objects.push(with(map("late"), &[("apply-order", "5")]));
    want(&world, "b", &objects, json!({})).await;
    let is_recorded = |c: &Component| {
        let status = c.status.as_ref().unwrap();
        status.inventory.len() == 3
            && condition(c).is_some_and(|(reason, _)| reason == "Progressing")
    };
    let held = world.wait("c", is_recorded).await;
    assert_eq!(item(&held, "ConfigMap", "sibling").phase, Phase::Ready);
    assert_eq!(item(&held, "Deployment", "early").phase, Phase::Ready);
    assert_eq!(item(&held, "ConfigMap", "late").phase, Phase::Scheduled);
    let maps = world.api::<ConfigMap>();
    assert!(maps.get_opt("late").await.unwrap().is_none());
    outcome(READY).await;
    world.ready("c").await;
    assert!(maps.get_opt("late").await.unwrap().is_some());
}

/// Scenario 5.
#[tokio::test(flavor = "multi_thread")]
async fn instance_comes_after_its_definition_and_the_workloads() {
    let world = World::new("instance").await;
    let group = format!("{}.example.org", world.namespace);
    let slow = deployment("operator", json!({READY_DELAY: "1h"}));
    let objects = [widget(&group, "w"), slow, widgets(&group)];
    want(&world, "a", &objects, json!({})).await;
    world.reason("c", "Progressing").await;
    let (api, _) = widget_api(&world, &group);
    assert!(api.get_opt("w").await.unwrap().is_none());
    let objects = [
        widget(&group, "w"),
        deployment("operator", json!({})),
        widgets(&group),
    ];
    want(&world, "b", &objects, json!({})).await;
    world.ready("c").await;
    let made = api.get("w").await.unwrap().metadata.creation_timestamp;
    let workloads = world.api::<Deployment>();
    let workload = workloads.get("operator").await.unwrap();
    assert!(workload.metadata.creation_timestamp <= made);
}

/// Scenario 8.
#[tokio::test(flavor = "multi_thread")]
async fn job_that_did_its_work_is_purged_before_the_next_wave_and_not_run_again() {
    let world = World::new("purge").await;
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
        "spec": {"template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "job", "image": "example.org/job:1"}]}}}});
    let job = with(job, &[("purge-order", "0")]);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    let secret = with(secret, &[("apply-order", "2")]);
    want(&world, "a", &[job.clone(), secret.clone()], json!({})).await;
    let component = world.ready("c").await;
    assert_eq!(item(&component, "Job", "job").phase, Phase::Completed);
    assert!(world.api::<Job>().get_opt("job").await.unwrap().is_none());
    assert!(world.api::<Secret>().get_opt("s").await.unwrap().is_some());
    want(&world, "b", &[job, secret, map("more")], json!({})).await;
    let component = world.ready("c").await;
    assert_eq!(item(&component, "Job", "job").phase, Phase::Completed);
    assert!(world.api::<Job>().get_opt("job").await.unwrap().is_none());
}

/// Defect 5: a definition that is no longer wanted is not deleted as long as others use it.
#[tokio::test(flavor = "multi_thread")]
async fn redundant_definition_with_instances_of_others_is_refused_before_it_is_deleted() {
    let world = World::new("crduse").await;
    let group = format!("{}.example.org", world.namespace);
    let kept = map("kept");
    let prunable = json!({"prune": {"protect": []}});
    let objects = [kept.clone(), widgets(&group)];
    want(&world, "a", &objects, prunable.clone()).await;
    world.ready("c").await;
    let (api, resource) = widget_api(&world, &group);
    let foreign = DynamicObject::new("foreign", &resource);
    api.create(&PostParams::default(), &foreign).await.unwrap();

    want(&world, "b", &[kept], prunable).await;
    let message = world.reason("c", "InUse").await;
    assert!(message.contains("foreign"), "{message}");
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let name = format!("widgets.{group}");
    let definition = definitions.get(&name).await.unwrap();
    assert!(definition.metadata.deletion_timestamp.is_none());
    api.delete("foreign", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&definitions, &name, |crd| crd.is_none()).await;
    world.ready("c").await;
}

/// Scenario 21, and 20 with definitions of the test's own: what is below a suffix blocks, the bare suffix does not.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_finalizers_and_instances_hold_the_deletion_up() {
    let world = World::new("guard").await;
    let bare = format!("{}.example.org", world.namespace);
    let group = format!("a.b.{bare}");
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    for group in [&bare, &group] {
        let definition = serde_json::from_value(widgets(group)).unwrap();
        definitions
            .create(&PostParams::default(), &definition)
            .await
            .unwrap();
        let established = kube::runtime::conditions::is_crd_established();
        let name = format!("widgets.{group}");
        kube::runtime::wait::await_condition(definitions.clone(), &name, established)
            .await
            .unwrap();
        let (api, resource) = widget_api(&world, group);
        let foreign = DynamicObject::new("foreign", &resource);
        api.create(&PostParams::default(), &foreign).await.unwrap();
    }
    let (api, _) = widget_api(&world, &group);

    let mut inside = map("inside");
    let other = format!("{}-in", world.namespace);
    inside["metadata"]["namespace"] = json!(other);
    inside["metadata"]["finalizers"] = json!(["example.org/hold"]);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}});
    let texts = [inside.to_string(), namespace.to_string()].join("\n---\n");
    let url = world.chart("a", &[("templates/all.yaml", &texts)]);
    let suffix = format!("*.{bare}");
    let spec = json!({"source": {"url": {"url": url}}, "retryInterval": "1s",
        "additionalManagedTypes": [{"group": suffix, "kind": "*"}]});
    world.component("c", spec).await;
    world.ready("c").await;
    finalizer(
        &world,
        json!(["example.org/foreign", "whipstaff.dev/finalizer"]),
    )
    .await;
    world
        .components()
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    let message = world.reason("c", "DeletionBlocked").await;
    assert!(message.contains("example.org/foreign"), "{message}");
    finalizer(&world, json!(["whipstaff.dev/finalizer"])).await;
    let message = world.reason("c", "InUse").await;
    assert!(message.contains("Widget"), "{message}");
    api.delete("foreign", &DeleteParams::default())
        .await
        .unwrap();

    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), &other);
    eventually(&maps, "inside", |m| {
        m.is_some_and(|m| m.metadata.deletion_timestamp.is_some())
    })
    .await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    world.wait("c", |c| state(c) == Some(State::Deleting)).await;
    let waiting = namespaces.get(&other).await.unwrap();
    assert!(waiting.metadata.deletion_timestamp.is_none());
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("inside", &PatchParams::default(), &patch)
        .await
        .unwrap();
    eventually(&world.components(), "c", |c| c.is_none()).await;
    let (api, _) = widget_api(&world, &bare);
    assert!(api.get_opt("foreign").await.unwrap().is_some());
    for group in [&bare, &group] {
        definitions
            .delete(&format!("widgets.{group}"), &DeleteParams::default())
            .await
            .unwrap();
    }
}

async fn finalizer(world: &World, finalizers: Value) {
    let patch = json!({"metadata": {"finalizers": finalizers}});
    world.merge("c", patch).await;
}

/// Defect 7: kinds whose objects cannot be listed hold nothing up.
#[tokio::test(flavor = "multi_thread")]
async fn virtual_kinds_do_not_hold_the_deletion_up() {
    let world = World::new("virtual").await;
    let url = world.chart("a", &[("templates/all.yaml", &map("m").to_string())]);
    let types = ["authorization.k8s.io", "authentication.k8s.io"]
        .map(|group| json!({"group": group, "kind": "*"}));
    let spec = json!({"source": {"url": {"url": url}}, "additionalManagedTypes": types});
    world.component("c", spec).await;
    world.ready("c").await;
    let components = world.components();
    components
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "c", |c| c.is_none()).await;
}

/// Scenario 19, its last sentence.
#[tokio::test(flavor = "multi_thread")]
async fn what_stays_anyway_is_not_guarded() {
    let world = World::new("staying").await;
    let group = format!("{}.example.org", world.namespace);
    let stays = json!({"delete": "OrphanOnDelete"});
    want(&world, "a", &[widgets(&group)], stays).await;
    world.ready("c").await;
    let (api, resource) = widget_api(&world, &group);
    let foreign = DynamicObject::new("foreign", &resource);
    api.create(&PostParams::default(), &foreign).await.unwrap();
    let components = world.components();
    components
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "c", |c| c.is_none()).await;
    assert!(api.get_opt("foreign").await.unwrap().is_some());
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let name = format!("widgets.{group}");
    definitions
        .delete(&name, &DeleteParams::default())
        .await
        .unwrap();
}

/// Defect 1: a `List` in a chart installs its items.
#[tokio::test(flavor = "multi_thread")]
async fn list_in_a_chart_installs_its_items() {
    let world = World::new("list").await;
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [map("a"), map("b")]});
    want(&world, "a", &[list], json!({})).await;
    let component = world.ready("c").await;
    assert_eq!(inventory(&component), ["ConfigMap a", "ConfigMap b"]);
}

/// Defects 2 and 13: recreated objects are exempt from being applied again, and no interval of zero keeps the operator busy.
#[tokio::test(flavor = "multi_thread")]
async fn recreated_object_outlives_the_reapply_interval() {
    let world = World::new("reapply").await;
    let recreated = with(map("recreated"), &[("update-policy", "recreate")]);
    let text = [recreated.to_string(), map("plain").to_string()].join("\n---\n");
    let url = world.chart("a", &[("templates/all.yaml", &text)]);
    let spec = |reapply: &str| {
        json!({"source": {"url": {"url": url}}, "retryInterval": "1s", "interval": "1s",
            "reapplyInterval": reapply})
    };
    world.component("c", spec("2s")).await;
    let first = world.ready("c").await;
    let maps = world.api::<ConfigMap>();
    let uid = maps.get("recreated").await.unwrap().metadata.uid;
    let at = |c: &whipstaff::api::v1alpha1::Component, name: &str| {
        item(c, "ConfigMap", name).applied_at.clone().unwrap().0
    };
    let before = at(&first, "plain");
    let later = world.wait("c", |c| at(c, "plain") > before).await;
    assert_eq!(at(&later, "recreated"), at(&first, "recreated"));
    assert_eq!(maps.get("recreated").await.unwrap().metadata.uid, uid);
    world.component("c", spec("0s")).await;
    world.reason("c", "InvalidSpec").await;
}
