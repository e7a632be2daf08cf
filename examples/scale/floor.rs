//! What the writes alone cost.

use crate::report::{self, print};
use crate::{Bench, CONCURRENCY};
use anyhow::Result;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::time::Instant;

/// Writes of a small object beside the four.
const SMALL_WRITES: usize = 3;

/// Makes the writes for so many components, and says what they cost.
pub(crate) async fn run(bench: &Bench, client: Client, components: usize) -> Result<()> {
    let namespace = bench.plane.namespace("floor").await?;
    print(&format!(
        "\nfloor: the writes of {components} components alone\n"
    ));
    let server = bench.api_server()?;
    let began = Instant::now();
    stream::iter(0..components)
        .map(|number| component(&client, &namespace, number))
        .buffer_unordered(CONCURRENCY)
        .try_collect::<Vec<_>>()
        .await?;
    let took = began.elapsed().as_secs_f64();
    let cpu = bench.api_server()?.cpu.saturating_sub(server.cpu);
    report::line(
        "rate",
        &format!("{:.1} components/s", components as f64 / took),
    );
    report::line(
        "CPU per component",
        &format!(
            "API server {:.1} ms",
            cpu.as_secs_f64() * 1e3 / components as f64
        ),
    );
    Ok(())
}

async fn component(client: &Client, namespace: &str, number: usize) -> Result<()> {
    let name = format!("c{number}");
    let params = PatchParams::apply("floor").force();
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let [account, config, secret, service] = objects(&name);
    accounts
        .patch(&name, &params, &Patch::Apply(&account))
        .await?;
    config_maps
        .patch(&name, &params, &Patch::Apply(&config))
        .await?;
    secrets
        .patch(&name, &params, &Patch::Apply(&secret))
        .await?;
    services
        .patch(&name, &params, &Patch::Apply(&service))
        .await?;
    for write in 0..SMALL_WRITES {
        let small_name = format!("{name}-small");
        let small = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": small_name}, "data": {"write": write.to_string()}});
        config_maps
            .patch(&small_name, &params, &Patch::Apply(&small))
            .await?;
    }
    Ok(())
}

/// The objects of the chart.
fn objects(name: &str) -> [Value; 4] {
    let metadata = json!({"name": name, "labels": {"app": name}});
    [
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": "as written"}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"word": "secret"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
    ]
}
