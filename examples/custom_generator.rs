//! An operator of one's own: a kind `Cache`, a generator in Rust that makes its objects, and Whipstaff for all the rest.
//!
//! `cargo run --example custom_generator` runs it against the current kubeconfig; `cargo run --example custom_generator -- crd` prints
//! the definition of its kind, for `kubectl apply -f -`.

use kube::{CustomResource, CustomResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::io::Write as _;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::ComponentStatus;
use whipstaff::generator::{
    Error, FileTree, Generated, Generator, Input, Object, Prepared, Registry,
};
use whipstaff::{Component, OperatorOptions, run_operator_for};

/// What a user asks for.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "example.org",
    version = "v1",
    kind = "Cache",
    namespaced,
    status = "ComponentStatus"
)]
pub struct CacheSpec {
    /// Image to run.
    pub image: String,
    /// How many of it.
    pub replicas: u32,
}

impl Component for Cache {
    fn status(&self) -> Option<&ComponentStatus> {
        self.status.as_ref()
    }

    fn parameters(&self) -> Cow<'_, Map<String, Value>> {
        let CacheSpec { image, replicas } = &self.spec;
        let parameters = [("image", json!(image)), ("replicas", json!(replicas))];
        Cow::Owned(
            parameters
                .map(|(key, value)| (key.to_owned(), value))
                .into_iter()
                .collect(),
        )
    }

    fn generator(&self) -> Option<&str> {
        Some("cache")
    }
}

/// Makes a Deployment of the parameters.
#[derive(Debug, Clone, Copy)]
struct CacheGenerator;

impl Generator for CacheGenerator {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn detects(&self, _: &FileTree) -> Option<String> {
        None
    }

    fn prepare(&self, _: &FileTree, _: &Value) -> Result<Box<dyn Prepared>, Error> {
        Ok(Box::new(*self))
    }
}

impl Prepared for CacheGenerator {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let labels = json!({"app": input.name});
        let deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": input.name, "labels": labels},
            "spec": {
                "replicas": input.parameters["replicas"],
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "cache", "image": input.parameters["image"]}]},
                },
            },
        });
        let mut generated = Generated::default();
        generated
            .objects
            .push(Object::from_value(deployment)?, "cache");
        Ok(generated)
    }
}

/// Runs the operator until it is told to stop.
pub async fn run(config: kube::Config, stop: CancellationToken) -> anyhow::Result<()> {
    let mut options = OperatorOptions::default();
    options.name = String::from("cache-operator");
    options.generators = Registry::new();
    options.generators.register(Arc::new(CacheGenerator));
    Ok(run_operator_for::<Cache>(config, options, stop).await?)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("crd") {
        writeln!(
            std::io::stdout(),
            "{}",
            serde_json::to_string_pretty(&Cache::crd())?
        )?;
        return Ok(());
    }
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        // Without a signal to wait for there is nothing that would stop it.
        let _ = tokio::signal::ctrl_c().await;
        stopped.cancel();
    });
    run(kube::Config::infer().await?, stop).await
}
