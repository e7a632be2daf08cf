//! An operator that is killed in the middle of its work, and the next one that goes on.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod every_write;
mod hooks;
#[path = "../faults/world.rs"]
mod world;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{ChartServer, ControlPlane, eventually, pack_files, shared};

/// Objects in the chart: enough that a kill comes before the last one.
const OBJECTS: usize = 200;

/// An operator in a process of its own, killed when it is dropped.
struct Operator(Child);

impl Operator {
    fn start(plane: &ControlPlane) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_whipstaff"))
            .arg("operator")
            .env("KUBECONFIG", plane.kubeconfig_path())
            .stdin(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    /// An operator of one shard, on the cluster of a kubeconfig.
    fn of_shard(kubeconfig: &Path, shard: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_whipstaff"))
            .args(["operator", "--log", "error", "--shard", shard])
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn install_definitions(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in whipstaff::crds() {
        let params = PatchParams::apply("test").force();
        definitions
            .patch(&crd.name_any(), &params, &Patch::Apply(&crd))
            .await
            .unwrap();
        await_condition(definitions.clone(), &crd.name_any(), is_crd_established())
            .await
            .unwrap();
    }
}

fn state(component: Option<&Component>) -> Option<State> {
    component?.status.as_ref()?.state
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_operator_is_followed_by_one_that_finishes_cleanly() {
    let plane = shared().await;
    let client = plane.client();
    install_definitions(&client).await;
    let namespace = whipstaff_test_support::namespace("crash").await;
    let charts = ChartServer::start().unwrap();
    let template = "{{- range until (int .Values.count) }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"c{{ . }}\"}\ndata: {text: {{ $.Values.text | quote }}}\n{{- end }}\n";
    let files = [
        (
            "many/Chart.yaml".to_owned(),
            "apiVersion: v2\nname: many\nversion: 1.0.0\n".to_owned(),
        ),
        ("many/templates/all.yaml".to_owned(), template.to_owned()),
    ];
    charts.put("/many.tgz", pack_files(&files).unwrap());
    let url = charts.url("/many.tgz");
    let components: Api<Component> = Api::namespaced(client.clone(), &namespace);
    let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let apply = |text: &'static str| {
        let object = json!({"apiVersion": "whipstaff.dev/v1alpha1", "kind": "Component",
            "metadata": {"name": "many"},
            "spec": {"source": {"url": {"url": url}}, "values": {"count": OBJECTS, "text": text}}});
        let components = components.clone();
        async move {
            let params = PatchParams::apply("test").force();
            components
                .patch("many", &params, &Patch::Apply(&object))
                .await
                .unwrap();
        }
    };
    let ours = ListParams::default().labels("whipstaff.dev/owner-id");
    let applied = |text: &'static str| {
        let (config_maps, ours) = (config_maps.clone(), ours.clone());
        async move {
            let found = config_maps.list(&ours).await.unwrap();
            let is = |c: &&ConfigMap| c.data.as_ref().is_some_and(|data| data["text"] == text);
            found.items.iter().filter(is).count()
        }
    };

    // Twice: in the middle of an installation, and in the middle of an upgrade.
    for text in ["one", "two"] {
        let operator = Operator::start(plane);
        apply(text).await;
        while applied(text).await == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        operator.kill();
        let done = applied(text).await;
        assert!(done < OBJECTS, "the kill came too late to show anything");
        let recorded = components
            .get("many")
            .await
            .unwrap()
            .status
            .unwrap()
            .inventory;
        assert_eq!(
            recorded.len(),
            OBJECTS,
            "everything is recorded before the first creation"
        );

        let _next = Operator::start(plane);
        eventually(&components, "many", |c| {
            let generation = c.and_then(|c| c.metadata.generation);
            let applied = c.and_then(|c| c.status.as_ref()?.applied_generation);
            state(c) == Some(State::Ready) && applied == generation
        })
        .await;
        assert_eq!(applied(text).await, OBJECTS);
    }

    // In the middle of the deletion, too.
    let operator = Operator::start(plane);
    components
        .delete("many", &DeleteParams::default())
        .await
        .unwrap();
    while config_maps.list(&ours).await.unwrap().items.len() == OBJECTS {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    operator.kill();
    let _next = Operator::start(plane);
    eventually(&components, "many", |c| c.is_none()).await;
    assert!(config_maps.list(&ours).await.unwrap().items.is_empty());
}
