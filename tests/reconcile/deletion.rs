use crate::world::{World, fixture, state};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use serde_json::json;
use whipstaff::api::v1alpha1::State;
use whipstaff_test_support::{eventually, pack_folder};

async fn count<K>(world: &World) -> usize
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    world
        .api::<K>()
        .list(&ListParams::default())
        .await
        .unwrap()
        .items
        .len()
}

#[tokio::test(flavor = "multi_thread")]
async fn deletion_leaves_nothing() {
    let world = World::new("delete").await;
    let ours = count::<ConfigMap>(&world).await;
    world
        .charts
        .put("/shop.tgz", pack_folder(&fixture("shop"), "shop").unwrap());
    // The definitions of the chart are the cluster's: another test installs the same chart.
    let url = world.charts.url("/shop.tgz");
    let spec = json!({"source": {"url": {"url": url}}, "helm": {"includeCRDs": false},
        "values": {"discounts": []}});
    world.component("shop", spec).await;
    world.ready("shop").await;
    assert!(count::<Deployment>(&world).await > 2);

    world
        .components()
        .delete("shop", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&world.components(), "shop", |c| c.is_none()).await;
    let deployments = count::<Deployment>(&world).await;
    let rest = count::<StatefulSet>(&world).await + count::<Service>(&world).await;
    assert_eq!(
        (deployments, rest, count::<Secret>(&world).await),
        (0, 0, 0)
    );
    // `kube-root-ca.crt` comes from the cluster whenever it likes.
    assert!(count::<ConfigMap>(&world).await <= ours.max(1));
    let pods: Api<Pod> = world.api();
    for pod in pods.list(&ListParams::default()).await.unwrap() {
        eventually(&pods, &pod.metadata.name.unwrap(), |p| p.is_none()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn suspended_component_can_be_deleted() {
    let world = World::new("sleeping").await;
    let url = world.chart(
        "c",
        &[(
            "templates/c.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
        )],
    );
    world.install("c", &url).await;
    world.ready("c").await;
    world
        .component(
            "c",
            json!({"source": {"url": {"url": url}}, "suspend": true}),
        )
        .await;
    world.reason("c", "Suspended").await;
    world
        .components()
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&world.components(), "c", |c| c.is_none()).await;
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("c")
            .await
            .unwrap()
            .is_none()
    );
}

/// Scenario 19.
#[tokio::test(flavor = "multi_thread")]
async fn definition_with_instances_of_others_is_not_deleted() {
    let world = World::new("inuse").await;
    let group = format!("{}.example.org", world.namespace);
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.{group}}}\nspec:\n  group: {group}\n  scope: Namespaced\n  names: {{kind: Widget, plural: widgets, singular: widget}}\n  versions:\n    - name: v1\n      served: true\n      storage: true\n      schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}\n"
    );
    let own = format!("apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: own}}\n");
    let url = world.chart(
        "c",
        &[("crds/widgets.yaml", &crd), ("templates/own.yaml", &own)],
    );
    let spec = json!({"source": {"url": {"url": url}}, "retryInterval": "1s"});
    world.component("c", spec).await;
    world.ready("c").await;

    let kind = kube::core::GroupVersionKind::gvk(&group, "v1", "Widget");
    let resource = kube::core::ApiResource::from_gvk(&kind);
    let widgets: Api<kube::core::DynamicObject> =
        Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
    let foreign = kube::core::DynamicObject::new("foreign", &resource);
    widgets
        .create(&PostParams::default(), &foreign)
        .await
        .unwrap();

    world
        .components()
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    let blocked = world
        .wait("c", |c| state(c) == Some(State::DeletionPending))
        .await;
    let message = crate::world::condition(&blocked).unwrap().1;
    assert!(message.contains("foreign"), "{message}");
    assert!(widgets.get_opt("foreign").await.unwrap().is_some());

    widgets
        .delete("foreign", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&world.components(), "c", |c| c.is_none()).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    eventually(&definitions, &format!("widgets.{group}"), |crd| {
        crd.is_none()
    })
    .await;
}
