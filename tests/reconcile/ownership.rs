use crate::world::{World, state};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use whipstaff::api::v1alpha1::State;

const TWO: &[(&str, &str)] = &[(
    "templates/all.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\ndata: {a: ours}\n",
)];

#[tokio::test(flavor = "multi_thread")]
async fn object_of_another_component_is_not_touched() {
    let world = World::new("owned").await;
    let url = world.chart("two", TWO);
    world.install("owner", &url).await;
    world.ready("owner").await;
    world.install("thief", &url).await;
    let message = world.reason("thief", "OwnedByOthers").await;
    let owner = format!("belongs to the Component `{}/owner`", world.namespace);
    assert!(message.contains(&owner), "{message}");
    assert_eq!(world.event("thief", "OwnedByOthers").await, message);
    world.ready("owner").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn object_of_a_helm_release_is_not_touched() {
    let world = World::new("helm").await;
    let _: ConfigMap = world
        .create(json!({"metadata": {"name": "second", "annotations": {
            "meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "apps"}},
            "data": {"a": "theirs"}}))
        .await;
    let url = world.chart("two", TWO);
    world.install("c", &url).await;
    let message = world.reason("c", "OwnedByOthers").await;
    assert!(message.contains("the Helm release `apps/web`"), "{message}");
    let config_maps = world.api::<ConfigMap>();
    assert_eq!(
        config_maps.get("second").await.unwrap().data.unwrap()["a"],
        "theirs"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unowned_object_is_taken_over_and_a_policy_forbids_it() {
    let world = World::new("adopt").await;
    let _: ConfigMap = world
        .create(json!({"metadata": {"name": "second"}, "data": {"a": "nobody's"}}))
        .await;
    let url = world.chart("two", TWO);
    let spec = |policy: &str| json!({"source": {"url": {"url": url}}, "policies": {"adoption": policy}, "retryInterval": "1s"});
    world.component("c", spec("Never")).await;
    world.wait("c", |c| state(c) == Some(State::Error)).await;
    world.component("c", spec("IfUnowned")).await;
    world.ready("c").await;
    let adopted = world.api::<ConfigMap>().get("second").await.unwrap();
    assert_eq!(adopted.data.unwrap()["a"], "ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn service_account_may_do_only_what_it_is_allowed_to() {
    let world = World::new("tenant").await;
    let _: k8s_openapi::api::core::v1::ServiceAccount =
        world.create(json!({"metadata": {"name": "tenant"}})).await;
    let url = world.chart("two", TWO);
    let spec = json!({"source": {"url": {"url": url}}, "serviceAccountName": "tenant", "retryInterval": "1s"});
    world.component("c", spec).await;
    let message = world.reason("c", "Denied").await;
    assert!(
        message.contains("forbidden") && message.contains("tenant"),
        "{message}"
    );

    let _: k8s_openapi::api::rbac::v1::Role = world
        .create(json!({"metadata": {"name": "tenant"}, "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]}))
        .await;
    let _: k8s_openapi::api::rbac::v1::RoleBinding = world
        .create(json!({"metadata": {"name": "tenant"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
            "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": world.namespace}]}))
        .await;
    world.ready("c").await;
}
