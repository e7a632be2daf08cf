//! Taking over survives an operator that is killed at any of its writes.

use crate::fleet::adoption;
use crate::world::World;
use futures::StreamExt;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use whipstaff::api::v1alpha1::{AdoptionPhase, Component, State};
use whipstaff_test_support::{
    Effect, FaultProxy, Helm, ProxiedRequest, eventually, pack_files, shared,
};

const TEMPLATE: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {seed: {{ randAlphaNum 8 }}}}
    spec: {containers: [{name: main, image: example.org/web:1}]}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: {{ randAlphaNum 24 }}}
";
/// How many operators are killed side by side.
const PARALLEL: usize = 4;

/// An operator in a process of its own.
struct Operator(Child);

impl Operator {
    fn start(kubeconfig: &std::path::Path, shard: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_whipstaff"))
            .args(["operator", "--log", "error", "--shard", shard])
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// From a certain write on, no request of the operator has any effect: that write itself does on every other one.
fn deadly(death: usize, writes: Arc<AtomicUsize>) -> impl FnMut(&ProxiedRequest) -> Option<Effect> {
    let mut is_dead = false;
    move |request| {
        if is_dead {
            return Some(Effect::Hang);
        }
        if !request.is_write() || request.query.contains("dryRun") {
            return None;
        }
        let number = writes.fetch_add(1, Ordering::SeqCst) + 1;
        is_dead = number == death;
        let reaches = death.is_multiple_of(2);
        is_dead.then_some(if reaches {
            Effect::Swallow
        } else {
            Effect::Hang
        })
    }
}

async fn identities<K>(world: &World) -> Vec<(String, String)>
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let found = world.api::<K>().list(&ListParams::default()).await.unwrap();
    let found = found.items.iter();
    found.map(|o| (o.name_any(), o.uid().unwrap())).collect()
}

async fn untouched(world: &World) -> (Vec<(String, String)>, Vec<u8>) {
    let mut all = identities::<Deployment>(world).await;
    all.extend(identities::<ReplicaSet>(world).await);
    all.extend(identities::<Pod>(world).await);
    let secret = world.api::<Secret>().get("web").await.unwrap();
    all.push((secret.name_any(), secret.uid().unwrap()));
    (all, secret.data.unwrap()["password"].0.clone())
}

/// Takes a release over, with an operator that dies at a write; gives the number of its writes.
async fn take_over(death: usize) -> usize {
    let world = World::new("killed").await;
    let files = [
        (
            "web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("web/templates/all.yaml", TEMPLATE),
    ];
    let packed = pack_files(&files.map(|(path, text)| (path.to_owned(), text.to_owned()))).unwrap();
    let archive = tempfile::NamedTempFile::with_suffix(".tgz").unwrap();
    std::fs::write(archive.path(), &packed).unwrap();
    world.charts.put("/web.tgz", packed);
    let install = ["install", "web", archive.path().to_str().unwrap()];
    let plane = shared().await;
    let helm = if death.is_multiple_of(3) {
        Helm::V3
    } else {
        Helm::V4
    };
    let installed = helm.run_aside(plane.kubeconfig(), &world.namespace, &install);
    assert!(installed.await.unwrap().status.success());
    let available = |d: Option<&Deployment>| {
        let status = d.and_then(|d| d.status.as_ref());
        status.is_some_and(|s| s.available_replicas == Some(1))
    };
    let deployments: Api<Deployment> = world.api();
    eventually(&deployments, "web", available).await.unwrap();
    let before = untouched(&world).await;

    let proxy = FaultProxy::start(plane.admin()).await.unwrap();
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(kubeconfig.path(), proxy.access().kubeconfig()).unwrap();
    let writes = Arc::new(AtomicUsize::new(0));
    let mut silent = proxy.silent();
    let begin = *silent.borrow_and_update();
    proxy.govern(deadly(death, Arc::clone(&writes)));
    let operator = Operator::start(kubeconfig.path(), &world.namespace);
    let component = json!({
        "apiVersion": "whipstaff.dev/v1alpha1",
        "kind": "Component",
        "metadata": {"name": "web", "labels": {"whipstaff.dev/shard": world.namespace}},
        "spec": {
            "source": {"url": {"url": world.charts.url("/web.tgz")}},
            "adopt": {"helmRelease": {"name": "web", "approval": "AutomaticIfIdentical"}},
        },
    });
    let params = PatchParams::apply("test").force();
    let components = world.components();
    components
        .patch("web", &params, &Patch::Apply(&component))
        .await
        .unwrap();
    let is_done = |component: Option<&Component>| {
        component.is_some_and(|component| {
            let state = component.status.as_ref().and_then(|status| status.state);
            state == Some(State::Ready)
                && adoption(component).is_some_and(|a| a.phase == AdoptionPhase::Adopted)
        })
    };
    let is_killed = tokio::select! {
        _ = eventually(&components, "web", is_done) => false,
        silent = silent.wait_for(|count| *count > begin) => silent.is_ok(),
    };
    if is_killed {
        drop(operator);
        proxy.govern_no_more();
        let _next = Operator::start(kubeconfig.path(), &world.namespace);
        eventually(&components, "web", is_done).await.unwrap();
    }
    assert_eq!(untouched(&world).await, before, "killed at write {death}");
    let deployment = deployments.get("web").await.unwrap();
    let managers = deployment.managed_fields().iter();
    let managers: Vec<_> = managers.filter_map(|e| e.manager.as_deref()).collect();
    assert!(
        managers.contains(&"whipstaff") && !managers.contains(&"helm"),
        "{managers:?}"
    );
    writes.load(Ordering::SeqCst)
}

#[tokio::test(flavor = "multi_thread")]
async fn operator_that_is_killed_at_any_write_is_followed_by_one_that_goes_on() {
    let writes = take_over(usize::MAX).await;
    futures::stream::iter(1..=writes)
        .for_each_concurrent(PARALLEL, |death| async move {
            take_over(death).await;
        })
        .await;
    assert!(writes >= 10, "{writes}");
}
