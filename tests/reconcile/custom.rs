use crate::world::World;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, CustomResourceExt, ResourceExt};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::State;
use whipstaff_test_support::{eventually, shared};

#[allow(dead_code, unreachable_pub, reason = "it is a program too")]
#[path = "../../examples/custom_generator.rs"]
mod custom_generator;

use custom_generator::{Cache, CacheSpec};

#[tokio::test(flavor = "multi_thread")]
async fn operator_of_another_kind_with_a_generator_of_its_own_keeps_its_objects() {
    let world = World::new("custom").await;
    let definition = Cache::crd();
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    definitions
        .create(&PostParams::default(), &definition)
        .await
        .unwrap();
    let name = definition.name_any();
    let established = await_condition(definitions, &name, is_crd_established());
    established.await.unwrap();
    let stop = CancellationToken::new();
    let operator = tokio::spawn(custom_generator::run(shared().await.config(), stop.clone()));

    let caches = world.api::<Cache>();
    let spec = CacheSpec {
        image: "cache:1".to_owned(),
        replicas: 2,
    };
    let cache = Cache::new("main", spec);
    caches.create(&PostParams::default(), &cache).await.unwrap();
    let is_ready = |cache: Option<&Cache>| {
        let status = cache.and_then(|cache| cache.status.as_ref());
        status.is_some_and(|status| status.state == Some(State::Ready))
    };
    let ready = eventually(&caches, "main", is_ready).await.unwrap();
    assert_eq!(ready.status.unwrap().generator.unwrap().name, "cache");
    let deployments = world.api::<Deployment>();
    let replicas = |wanted: i32| {
        move |deployment: Option<&Deployment>| {
            let spec = deployment.and_then(|deployment| deployment.spec.as_ref());
            spec.is_some_and(|spec| spec.replicas == Some(wanted))
        }
    };
    eventually(&deployments, "main", replicas(2)).await;

    // A change of the resource, and a change of what it owns.
    let params = PatchParams::default();
    let more = Patch::Merge(json!({"spec": {"replicas": 3}}));
    caches.patch("main", &params, &more).await.unwrap();
    eventually(&deployments, "main", replicas(3)).await;
    let fewer = Patch::Merge(json!({"spec": {"replicas": 1}}));
    deployments.patch("main", &params, &fewer).await.unwrap();
    eventually(&deployments, "main", replicas(3)).await;

    caches
        .delete("main", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&caches, "main", |cache: Option<&Cache>| cache.is_none()).await;
    assert!(deployments.get_opt("main").await.unwrap().is_none());
    stop.cancel();
    operator.await.unwrap().unwrap();
}
