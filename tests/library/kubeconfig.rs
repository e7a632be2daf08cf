//! Objects on another cluster.

use crate::world::{World, condition};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{ControlPlane, ControlPlaneOptions, eventually};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {a: b}\n";

async fn secret(world: &World, kubeconfig: &str) {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cluster"},
        "stringData": {"value.yaml": kubeconfig}});
    let params = PatchParams::apply("test").force();
    let secrets = world.api::<Secret>();
    let patch = Patch::Apply(&secret);
    secrets.patch("cluster", &params, &patch).await.unwrap();
}

fn spec(url: &str) -> Value {
    json!({"source": {"url": {"url": url}}, "kubeConfig": {"secretRef": {"name": "cluster"}}, "retryInterval": "1s"})
}

/// Scenario 25. A kubeconfig leads to a second API server: objects, corrections and deletion.
#[tokio::test(flavor = "multi_thread")]
async fn objects_are_kept_on_another_cluster_and_a_lost_secret_holds_deletion_up() {
    let world = World::new("elsewhere").await;
    let other = ControlPlane::start(ControlPlaneOptions::default())
        .await
        .unwrap();
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some(world.namespace.clone()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    let namespaces: Api<Namespace> = Api::all(other.client());
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(other.client(), &world.namespace);

    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    world.component("c", spec(&url)).await;
    let waiting = world.reason("c", "Retrying").await;
    assert!(
        waiting.contains("the Secret `cluster` does not exist"),
        "{waiting}"
    );
    secret(&world, other.kubeconfig()).await;
    world.ready("c").await;
    let made = maps.get("made").await.unwrap();
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("made")
            .await
            .unwrap()
            .is_none()
    );
    let own: Api<Namespace> = Api::all(world.client.clone());
    let own = own.get("kube-system").await.unwrap().uid().unwrap();
    assert!(made.annotations()["whipstaff.dev/owner-id"].starts_with(&own));

    let params = PatchParams::default();
    let patch = Patch::Merge(json!({"data": {"a": "changed"}}));
    maps.patch("made", &params, &patch).await.unwrap();
    let is_right = |map: Option<&ConfigMap>| {
        let data = map.and_then(|map| map.data.as_ref());
        data.is_some_and(|data| data["a"] == "b")
    };
    eventually(&maps, "made", is_right).await;

    let secrets = world.api::<Secret>();
    secrets
        .delete("cluster", &DeleteParams::default())
        .await
        .unwrap();
    let components = world.components();
    components
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    let is_held = |component: &Component| {
        crate::world::state(component) == Some(State::DeletionPending)
            && condition(component).is_some_and(|(_, message)| message.contains("`cluster`"))
    };
    world.wait("c", is_held).await;
    assert!(maps.get_opt("made").await.unwrap().is_some());
    secret(&world, other.kubeconfig()).await;
    eventually(&components, "c", |c: Option<&Component>| c.is_none()).await;
    assert!(maps.get_opt("made").await.unwrap().is_none());
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kubeconfig_that_runs_a_program_is_refused_and_the_field_named() {
    let world = World::new("programs").await;
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "c", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch"}}}]});
    secret(&world, &kubeconfig.to_string()).await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    world.component("c", spec(&url)).await;
    let message = world.reason("c", "InvalidKubeConfig").await;
    assert!(
        message.contains("`user.exec`") && message.contains("`cluster`"),
        "{message}"
    );

    let params = PatchParams::default();
    let patch = Patch::Merge(json!({"spec": {"kubeConfig": null}}));
    let answer = world.components().patch("c", &params, &patch).await;
    let error = answer.unwrap_err().to_string();
    assert!(
        error.contains("kubeConfig cannot be added or removed"),
        "{error}"
    );
}
