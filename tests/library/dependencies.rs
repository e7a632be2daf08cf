//! Components that depend on others.

use crate::world::{World, condition, state};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{eventually, pods};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {a: {{ .Values.a | default 1 | quote }}}\n";

struct Components {
    world: World,
    url: String,
}

impl Components {
    async fn new(prefix: &str) -> Self {
        let world = World::new(prefix).await;
        let url = world.chart("c", &[("templates/m.yaml", MAP)]);
        Self { world, url }
    }

    /// The retry interval is long: whoever is not woken is not reconciled in time.
    async fn put(&self, name: &str, dependencies: Value, fields: Value) {
        let mut spec = json!({"source": {"url": {"url": self.url}}, "retryInterval": "1h", "dependsOn": dependencies});
        spec.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        self.world.component(name, spec).await;
    }
}

/// Scenario 25. One component waits for another, and is deleted before it.
#[tokio::test(flavor = "multi_thread")]
async fn component_waits_for_its_dependency_and_goes_before_it() {
    let it = Components::new("depends").await;
    let world = &it.world;
    it.put("a", json!([{"name": "b"}]), json!({})).await;
    let message = world.reason("a", "DependencyNotReady").await;
    let expected = format!(
        "waiting for Component {}/b: it does not exist",
        world.namespace
    );
    assert_eq!(message, expected);
    it.put("b", json!([]), json!({})).await;
    let ready = world.ready("a").await;
    assert_eq!(ready.status.unwrap().revision, Some(1));

    // A dependency that is not ready for its present generation.
    it.put("b", json!([]), json!({"suspend": true})).await;
    world.reason("b", "Suspended").await;
    it.put("a", json!([{"name": "b"}]), json!({"values": {"a": 2}}))
        .await;
    let message = world.reason("a", "DependencyNotReady").await;
    assert!(
        message.contains("`Ready` is Unknown (Suspended)"),
        "{message}"
    );
    it.put("b", json!([]), json!({})).await;
    world.ready("a").await;

    let components = world.components();
    components
        .delete("b", &DeleteParams::default())
        .await
        .unwrap();
    let is_held = |c: &Component| state(c) == Some(State::DeletionPending);
    let held = world.wait("b", is_held).await;
    let (reason, message) = condition(&held).unwrap();
    assert_eq!(reason, "DependedOn");
    assert!(
        message.contains(&format!("Component {}/a", world.namespace)),
        "{message}"
    );
    components
        .delete("a", &DeleteParams::default())
        .await
        .unwrap();
    for name in ["a", "b"] {
        eventually(&components, name, |c: Option<&Component>| c.is_none()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cycle_is_named_by_every_member_and_can_be_broken_and_deleted() {
    let it = Components::new("cycle").await;
    let (world, namespace) = (&it.world, &it.world.namespace);
    for (name, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
        it.put(name, json!([{"name": other}]), json!({})).await;
    }
    let messages = [("a", "a b c a"), ("b", "b c a b"), ("c", "c a b c")];
    for (name, members) in messages {
        let message = world.reason(name, "DependencyCycle").await;
        let members = members
            .split(' ')
            .map(|name| format!("Component {namespace}/{name}"));
        let members = members.collect::<Vec<_>>().join(" → ");
        assert_eq!(message, format!("it depends on itself: {members}"));
    }
    it.put("c", json!([]), json!({})).await;
    world.ready("a").await;
    it.put("c", json!([{"name": "a"}]), json!({})).await;
    world.reason("a", "DependencyCycle").await;
    let components = world.components();
    for name in ["a", "b", "c"] {
        components
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }
    for name in ["a", "b", "c"] {
        eventually(&components, name, |c: Option<&Component>| c.is_none()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_kind_with_conditions_can_be_depended_on() {
    let it = Components::new("anykind").await;
    let world = &it.world;
    let dependency = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "condition": "Available"}]);
    it.put("a", dependency, json!({})).await;
    world.reason("a", "DependencyNotReady").await;
    let deployment = |outcome: &str| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": {pods::OUTCOME: outcome}},
                "spec": {"containers": [{"name": "main", "image": "example.org/web:1"}]}}}})
    };
    let deployments = world.api::<Deployment>();
    let params = PatchParams::apply("test").force();
    let never = Patch::Apply(deployment(pods::NEVER_READY));
    deployments.patch("web", &params, &never).await.unwrap();
    let unavailable = |c: &Component| {
        condition(c).is_some_and(|(_, message)| message.contains("`Available` is False"))
    };
    world.wait("a", unavailable).await;
    let ready = Patch::Apply(deployment(pods::READY));
    deployments.patch("web", &params, &ready).await.unwrap();
    world.ready("a").await;
}
