//! Hooks run once, at whichever write the operator is killed.

use crate::Operator;
use crate::every_write::{Moment, deadly};
use crate::world::World;
use futures::StreamExt;
use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::DeleteParams;
use kube::runtime::watcher::{Config, Event, watcher};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use whipstaff_test_support::{FaultProxy, pack_files, shared};

/// How many operators are killed side by side.
const PARALLEL: usize = 8;

/// Jobs that run before, after and at the end, some of which go when they are done.
const HOOKS: [(&str, &str, &str); 4] = [
    ("first", "pre-install", "hook-succeeded"),
    ("second", "pre-install", "before-hook-creation"),
    ("after", "post-install", "hook-succeeded"),
    ("farewell", "pre-delete", "hook-succeeded"),
];

fn chart() -> Vec<(String, String)> {
    let metadata = "apiVersion: v2\nname: once\nversion: 1.0.0\n".to_owned();
    let mut files = vec![("once/Chart.yaml".to_owned(), metadata)];
    for (name, event, policy) in HOOKS {
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "annotations": {
                "helm.sh/hook": event, "helm.sh/hook-delete-policy": policy}},
            "spec": {"template": {"spec": {"restartPolicy": "Never",
                "containers": [{"name": "main", "image": "example.org/job:1"}]}}},
        });
        files.push((format!("once/templates/{name}.yaml"), job.to_string()));
    }
    files
}

/// Installs and deletes a component with hooks; gives how often each ran, and the writes of the operator until it was killed.
async fn run_and_die(death: Option<usize>) -> (BTreeMap<String, usize>, usize) {
    let world = World::new("once").await;
    world.charts.put("/once.tgz", pack_files(&chart()).unwrap());
    let runs: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let seen = Arc::clone(&runs);
    let jobs: Api<Job> = Api::namespaced(world.client.clone(), &world.namespace);
    let watching = tokio::spawn(async move {
        let mut changes = Box::pin(watcher(jobs, Config::default()));
        while let Some(change) = changes.next().await {
            if let Ok(Event::Apply(job) | Event::InitApply(job)) = change {
                let name = job.metadata.name.unwrap();
                seen.lock().unwrap().insert(job.metadata.uid.unwrap(), name);
            }
        }
    });
    let proxy = FaultProxy::start(shared().await.admin()).await.unwrap();
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(kubeconfig.path(), proxy.access().kubeconfig()).unwrap();
    let start = || Operator::of_shard(kubeconfig.path(), &world.shard);
    let writes = Arc::new(AtomicUsize::new(0));
    let mut silent = proxy.silent();
    let before = *silent.borrow_and_update();
    let death = death.map(|number| (number, Moment::After));
    proxy.govern(deadly(death, Arc::clone(&writes)));
    let operator = start();
    let life = async {
        let url = world.charts.url("/once.tgz");
        let spec = json!({"source": {"url": {"url": url}}, "retryInterval": "1s"});
        world.apply("once", world.labels(), spec).await;
        world.ready("once").await;
        let components = world.components();
        components
            .delete("once", &DeleteParams::default())
            .await
            .unwrap();
        world.until("once", |component| component.is_none()).await;
    };
    let succession = async {
        if silent.wait_for(|count| *count > before).await.is_ok() {
            operator.kill();
            proxy.govern_no_more();
            return start();
        }
        operator
    };
    let mut life = std::pin::pin!(life);
    tokio::select! {
        () = &mut life => {}
        _next = async {
            let next = succession.await;
            std::future::pending::<()>().await;
            next
        } => {}
    }
    watching.abort();
    let mut counts = BTreeMap::new();
    for name in runs.lock().unwrap().values() {
        *counts.entry(name.clone()).or_default() += 1;
    }
    (counts, writes.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_once_at_whichever_write_the_operator_is_killed() {
    let once: BTreeMap<_, _> = HOOKS.map(|(name, ..)| (name.to_owned(), 1)).into();
    let (runs, writes) = run_and_die(None).await;
    assert_eq!(runs, once, "undisturbed");
    futures::stream::iter(1..=writes)
        .for_each_concurrent(PARALLEL, |death| {
            let once = &once;
            async move {
                let (runs, _) = run_and_die(Some(death)).await;
                assert_eq!(&runs, once, "killed after write {death}");
            }
        })
        .await;
    println!("{writes} operators were killed, one at each write");
    assert!(writes >= HOOKS.len() * 2, "only {writes} writes");
}
