//! Everything once: a control plane, a chart behind a URL, and an operator that joins them.
//!
//! `cargo run --example quickstart` needs Rust, Go and a C compiler, and no cluster.

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::discovery::ApiGroup;
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff::{OperatorOptions, crds, headline, run_operator, tree};
use whipstaff_test_support::{ChartServer, ControlPlane, ControlPlaneOptions, pack_folder};

/// Namespace that everything happens in.
const NAMESPACE: &str = "quickstart";
/// Longest that one step may take.
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::main]
async fn main() -> Result<()> {
    step("starting a real control plane (the first time it is built, which takes some minutes)");
    let plane = ControlPlane::start(ControlPlaneOptions::default()).await?;
    let client = plane.client();
    prepare(&client).await?;

    step("serving the chart `fixtures/charts/shop` over HTTP");
    let charts = ChartServer::start()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/charts/shop");
    charts.put("/shop.tgz", pack_folder(&folder, "shop")?);
    let url = charts.url("/shop.tgz");

    step("running the operator in this process");
    let stop = CancellationToken::new();
    let operator = tokio::spawn(run_operator(
        plane.config(),
        OperatorOptions::default(),
        stop.clone(),
    ));

    let components: Api<Component> = Api::namespaced(client.clone(), NAMESPACE);
    step(&format!("creating a Component that points at {url}"));
    apply(&components, &url, json!({})).await?;
    let component = follow(&components, |state| state == State::Ready).await?;
    print(&tree(&component));

    undo_an_edit(&client).await?;
    undo_a_deletion(&client).await?;
    upgrade(&client, &components, &url).await?;
    delete(&client, &components).await?;

    step("stopping");
    stop.cancel();
    operator.await??;
    plane.stop().await;
    step("done: installed, ready, corrected twice, upgraded, and removed without a trace");
    Ok(())
}

async fn prepare(client: &Client) -> Result<()> {
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}}))?;
    Api::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await?;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds() {
        definitions.create(&PostParams::default(), &crd).await?;
        await_condition(definitions.clone(), &crd.name_any(), is_crd_established()).await?;
    }
    Ok(())
}

async fn apply(components: &Api<Component>, url: &str, values: Value) -> Result<()> {
    let object = json!({
        "apiVersion": "whipstaff.dev/v1alpha1",
        "kind": "Component",
        "metadata": {"name": "shop"},
        "spec": {"source": {"url": {"url": url}}, "values": values},
    });
    let params = PatchParams::apply("quickstart").force();
    components
        .patch("shop", &params, &Patch::Apply(&object))
        .await?;
    Ok(())
}

/// Prints each change of the component until its present generation is as wanted.
async fn follow(components: &Api<Component>, wanted: impl Fn(State) -> bool) -> Result<Component> {
    let config = watcher::Config::default().fields("metadata.name=shop");
    let mut changes = pin!(
        watcher(components.clone(), config)
            .default_backoff()
            .applied_objects()
    );
    let mut shown = String::new();
    let following = async {
        while let Some(component) = changes.try_next().await? {
            let line = headline(&component);
            if line != shown {
                print(&format!("  {line}\n"));
                shown = line;
            }
            let status = component.status.clone().unwrap_or_default();
            let is_current = status.observed_generation == component.metadata.generation;
            if is_current && status.state.is_some_and(&wanted) {
                return Ok(component);
            }
        }
        bail!("the watch ended")
    };
    tokio::time::timeout(PATIENCE, following)
        .await
        .context("the component did not get there")?
}

async fn undo_an_edit(client: &Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let replicas = |deployment: &Deployment| deployment.spec.as_ref().and_then(|s| s.replicas);
    let before = replicas(&deployments.get("shop-frontend").await?);
    step("scaling the Deployment `shop-frontend` to 7 by hand");
    let patch = json!({"spec": {"replicas": 7}});
    let params = PatchParams {
        field_manager: Some("somebody".into()),
        ..PatchParams::default()
    };
    deployments
        .patch("shop-frontend", &params, &Patch::Merge(&patch))
        .await?;
    let start = Instant::now();
    let undone = await_condition(
        deployments,
        "shop-frontend",
        |deployment: Option<&Deployment>| {
            deployment.is_some_and(|deployment| replicas(deployment) == before)
        },
    );
    tokio::time::timeout(PATIENCE, undone)
        .await
        .context("the edit was not undone")??;
    print(&format!(
        "  back at {} replicas after {} ms\n",
        before.unwrap_or_default(),
        start.elapsed().as_millis()
    ));
    Ok(())
}

async fn undo_a_deletion(client: &Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let uid = deployments.get("shop-worker").await?.metadata.uid;
    step("deleting the Deployment `shop-worker` by hand");
    deployments
        .delete("shop-worker", &DeleteParams::default())
        .await?;
    let start = Instant::now();
    let back = await_condition(
        deployments,
        "shop-worker",
        |deployment: Option<&Deployment>| {
            deployment.is_some_and(|deployment| deployment.metadata.uid != uid)
        },
    );
    tokio::time::timeout(PATIENCE, back)
        .await
        .context("the object did not come back")??;
    print(&format!(
        "  created anew after {} ms\n",
        start.elapsed().as_millis()
    ));
    Ok(())
}

async fn upgrade(client: &Client, components: &Api<Component>, url: &str) -> Result<()> {
    step("upgrading: 4 frontend replicas, an Ingress, no cache");
    let values = json!({
        "frontend": {"replicas": 4, "ingress": {"enabled": true}},
        "cache": {"enabled": false},
    });
    apply(components, url, values).await?;
    let component = follow(components, |state| state == State::Ready).await?;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = deployments
        .get("shop-frontend")
        .await?
        .spec
        .unwrap_or_default();
    if spec.replicas != Some(4) {
        bail!("the upgrade is not there: {:?} replicas", spec.replicas);
    }
    print(&tree(&component));
    Ok(())
}

async fn delete(client: &Client, components: &Api<Component>) -> Result<()> {
    step("deleting the Component");
    components.delete("shop", &DeleteParams::default()).await?;
    let gone = await_condition(components.clone(), "shop", |c: Option<&Component>| {
        c.is_none()
    });
    tokio::time::timeout(PATIENCE, gone)
        .await
        .context("the component did not go")??;
    let left = left_over(client).await?;
    if !left.is_empty() {
        bail!("these objects are left: {}", left.join(", "));
    }
    print("  nothing that carries its label is left, of any kind\n");
    Ok(())
}

/// Every object of any kind that carries an owner label.
async fn left_over(client: &Client) -> Result<Vec<String>> {
    let discovery = kube::discovery::Discovery::new(client.clone())
        .run_aggregated()
        .await?;
    let kinds = discovery.groups().flat_map(ApiGroup::recommended_resources);
    let listable = kinds.filter(|(_, can)| can.supports_operation("list"));
    let selector = ListParams::default().labels("whipstaff.dev/owner-id");
    let lists = futures::stream::iter(listable.map(|(resource, _)| {
        let api: Api<kube::core::DynamicObject> = Api::all_with(client.clone(), &resource);
        let selector = selector.clone();
        async move {
            let found = api.list_metadata(&selector).await?;
            let names = found
                .items
                .iter()
                .map(|o| format!("{} {}", resource.kind, o.name_any()));
            Ok::<_, kube::Error>(names.collect::<Vec<_>>())
        }
    }));
    let found: Vec<Vec<String>> = lists.buffered(8).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

fn step(text: &str) {
    print(&format!("\n=> {text}\n"));
}

#[expect(clippy::print_stdout, reason = "what the example has to say")]
fn print(text: &str) {
    print!("{text}");
}
