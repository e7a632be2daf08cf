//! How long the reconciliation of an unchanged component takes, on a real API server.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a benchmark that cannot run says so"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, ResourceExt};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff::{Connected, Reconciler, crds};
use whipstaff_test_support::{ChartServer, ControlPlane, ControlPlaneOptions, pack_folder};

/// Runs until the component must be ready; between them its pods start.
const MOST_RUNS: usize = 200;

async fn ready(reconciler: &Connected, components: &Api<Component>) -> Component {
    for _ in 0..MOST_RUNS {
        let component = components.get("shop").await.unwrap();
        reconciler.reconcile(component).await;
        let component = components.get("shop").await.unwrap();
        if component.status.as_ref().and_then(|status| status.state) == Some(State::Ready) {
            return component;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the component did not get ready");
}

fn reconcile(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let charts = ChartServer::start().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/charts/shop");
    charts.put("/shop.tgz", pack_folder(&folder, "shop").unwrap());
    let url = charts.url("/shop.tgz");
    let (plane, reconciler, component) = runtime.block_on(async {
        let plane = ControlPlane::start(ControlPlaneOptions::default()).await.unwrap();
        let client = plane.client();
        for crd in crds() {
            let (definitions, name) = (Api::all(client.clone()), crd.name_any());
            definitions.create(&PostParams::default(), &crd).await.unwrap();
            await_condition(definitions, &name, is_crd_established()).await.unwrap();
        }
        let components: Api<Component> = Api::namespaced(client, "default");
        let object = json!({"apiVersion": "whipstaff.dev/v1alpha1", "kind": "Component",
            "metadata": {"name": "shop"}, "spec": {"source": {"url": {"url": url}}, "interval": "1h"}});
        let params = PatchParams::apply("bench");
        components.patch("shop", &params, &Patch::Apply(&object)).await.unwrap();
        let reconciler = Reconciler::<Component>::default().connect(plane.config()).await.unwrap();
        let component = ready(&reconciler, &components).await;
        (plane, reconciler, component)
    });
    criterion.bench_function("unchanged component", |bencher| {
        bencher.iter(|| runtime.block_on(reconciler.reconcile(component.clone())));
    });
    runtime.block_on(plane.stop());
}

criterion_group!(benches, reconcile);
criterion_main!(benches);
