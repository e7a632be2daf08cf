//! Several operators on one cluster.

use crate::world::{Phase, World, is_ready};
use futures::TryStreamExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::ComponentStatus;
use whipstaff::{LeaseOptions, OperatorError, OperatorOptions, run_operator};
use whipstaff_test_support::shared;

/// An operator in this process.
struct Operator {
    stop: CancellationToken,
    task: JoinHandle<Result<(), OperatorError>>,
}

impl Operator {
    async fn start(shard: &str, lease: Option<LeaseOptions>) -> Self {
        let stop = CancellationToken::new();
        let mut options = OperatorOptions::default();
        options.shard = Some(shard.to_owned());
        options.leader_election = lease;
        let operator = run_operator(shared().await.config(), options, stop.clone());
        let task = tokio::spawn(Box::pin(operator));
        Self { stop, task }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

/// Counts how often each ConfigMap of a namespace was created and deleted.
struct Births {
    counts: Arc<Mutex<BTreeMap<String, (usize, usize)>>>,
    task: JoinHandle<()>,
}

impl Births {
    async fn watch(world: &World) -> Self {
        let counts: Arc<Mutex<BTreeMap<String, (usize, usize)>>> = Arc::default();
        let (ready, is_ready) = tokio::sync::oneshot::channel();
        let api: Api<ConfigMap> = Api::namespaced(world.client.clone(), &world.namespace);
        let (shared, mut ready) = (Arc::clone(&counts), Some(ready));
        let task = tokio::spawn(async move {
            let mut uids = BTreeMap::new();
            let mut events = std::pin::pin!(watcher(api, watcher::Config::default()));
            while let Ok(Some(event)) = events.try_next().await {
                let mut counts = shared.lock().unwrap();
                match event {
                    Event::InitDone => drop(ready.take().map(|ready| ready.send(()))),
                    Event::InitApply(object) => drop(uids.insert(object.name_any(), object.uid())),
                    Event::Apply(object) => {
                        let (name, uid) = (object.name_any(), object.uid());
                        if uids.insert(name.clone(), uid.clone()) != Some(uid) {
                            counts.entry(name).or_default().0 += 1;
                        }
                    }
                    Event::Delete(object) => counts.entry(object.name_any()).or_default().1 += 1,
                    Event::Init => {}
                }
            }
        });
        is_ready.await.unwrap();
        Self { counts, task }
    }

    fn of(&self, name: &str) -> (usize, usize) {
        self.counts
            .lock()
            .unwrap()
            .get(name)
            .copied()
            .unwrap_or_default()
    }
}

impl Drop for Births {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_operators_at_once_end_where_one_ends() {
    let mut ends = Vec::new();
    for operators in [1, 2] {
        let world = World::new("two").await;
        let births = Births::watch(&world).await;
        let mut running = Vec::new();
        for _ in 0..operators {
            running.push(Operator::start(&world.shard, None).await);
        }
        let mut snapshots = Vec::new();
        for phase in Phase::ALL {
            world.begin(phase).await;
            world.end(phase).await;
            // The slower of the two may still be at it: what it does comes to nothing.
            tokio::time::sleep(Duration::from_secs(2)).await;
            if phase != Phase::Delete {
                world.ready("all").await;
            }
            snapshots.push(world.snapshot().await);
        }
        for name in ["changes", "old", "new"] {
            // `new` is in the namespace from the move on, and everything is deleted in the end.
            assert_eq!(births.of(name), (1, 1), "{name} with {operators} operators");
        }
        for operator in running {
            operator.stop().await;
        }
        ends.push(snapshots);
    }
    assert_eq!(ends[0], ends[1]);
}

fn lease(world: &World, identity: &str) -> LeaseOptions {
    LeaseOptions {
        lease_duration: Duration::from_secs(3),
        renew_deadline: Duration::from_secs(2),
        retry_period: Duration::from_millis(500),
        ..LeaseOptions::new(&world.namespace, "leader", identity)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn leader_that_loses_its_lease_alive_is_followed_without_loss() {
    let world = World::new("leader").await;
    let births = Births::watch(&world).await;
    let first = Operator::start(&world.shard, Some(lease(&world, "first"))).await;
    world.begin(Phase::Install).await;
    world.end(Phase::Install).await;
    let second = Operator::start(&world.shard, Some(lease(&world, "second"))).await;

    // In the middle of an upgrade the lease is somebody else's, who gives it up at once.
    let leases: Api<Lease> = Api::namespaced(world.client.clone(), &world.namespace);
    world.begin(Phase::Upgrade).await;
    let stolen = json!({"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 1}});
    let params = PatchParams::default();
    leases
        .patch("leader", &params, &Patch::Merge(&stolen))
        .await
        .unwrap();
    let lost = first.task.await.unwrap();
    assert!(matches!(lost, Err(OperatorError::LeaseLost)), "{lost:?}");
    world.end(Phase::Upgrade).await;
    world.begin(Phase::Move).await;
    world.end(Phase::Move).await;
    for name in ["changes", "new"] {
        assert_eq!(births.of(name), (1, 0), "{name}");
    }
    assert_eq!(births.of("old"), (1, 1));
    world.begin(Phase::Delete).await;
    world.end(Phase::Delete).await;
    assert!(world.snapshot().await.is_empty());
    second.stop().await;
}

/// Section 7.2 of the original: an inventory grows without bounds.
#[tokio::test(flavor = "multi_thread")]
async fn inventory_that_is_too_large_for_a_status_is_kept_in_a_secret() {
    const OBJECTS: usize = 1500;
    let world = World::new("large").await;
    let template = "{{- range until (int .Values.count) }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"NAME{{ . }}\"}\n{{- end }}\n";
    let mut spec = world.chart("many", &template.replace("NAME", &"a".repeat(230)));
    spec["values"] = json!({"count": OBJECTS});
    let first = Operator::start(&world.shard, None).await;
    world.apply("many", world.labels(), spec.clone()).await;
    world.ready("many").await;
    let status = reported(&world, "many").await;
    assert!(status.inventory.is_empty());
    // A person sees all of it.
    let mut component = world.components().get("many").await.unwrap();
    let status_of_many = component.status.as_mut().unwrap();
    let loaded = whipstaff::load_inventory(world.client.clone(), &world.namespace, status_of_many);
    loaded.await.unwrap();
    let lines = whipstaff::tree(&component).lines().count();
    assert_eq!(lines, 1 + 1 + OBJECTS);
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), &world.namespace);
    let name = status.inventory_secret.unwrap();
    let secret = secrets.get(&name).await.unwrap();
    assert_eq!(secret.owner_references()[0].name, "many");
    first.stop().await;

    // The next operator knows from there what to delete.
    let _second = Operator::start(&world.shard, None).await;
    spec["values"] = json!({"count": 10});
    world.apply("many", world.labels(), spec).await;
    world.ready("many").await;
    assert_eq!(world.snapshot().await.len(), 10);
    let status = reported(&world, "many").await;
    assert_eq!(
        (status.inventory.len(), status.inventory_secret),
        (10, None)
    );
    assert_eq!(secrets.get_opt(&name).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn component_is_reconciled_by_its_shard_and_changes_hands_with_its_label() {
    let mut world = World::new("shard").await;
    let one = world.shard.clone();
    let two = format!("{one}-2");
    let first = Operator::start(&one, None).await;
    world.begin(Phase::Install).await;
    world.end(Phase::Install).await;

    // Nobody has the other shard: nothing happens, and nothing is undone.
    let labels = json!({"whipstaff.dev/shard": two});
    let spec = |text: &str| {
        let template =
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {text: TEXT}\n";
        world.chart("mine", &template.replace("TEXT", text))
    };
    world.apply("mine", labels.clone(), spec("one")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mine = world.components().get("mine").await.unwrap();
    assert_eq!(mine.status.and_then(|status| status.state), None);
    let second = Operator::start(&two, None).await;
    world.ready("mine").await;

    // The component changes hands: the one that had it is told of nothing any more.
    let births = Births::watch(&world).await;
    world.shard = two.clone();
    world.begin(Phase::Upgrade).await;
    world.end(Phase::Upgrade).await;
    first.stop().await;
    world.begin(Phase::Move).await;
    world.end(Phase::Move).await;
    assert_eq!(births.of("changes"), (0, 0));
    world.begin(Phase::Delete).await;
    world.end(Phase::Delete).await;
    assert!(is_ready(&world.components().get("mine").await.unwrap()));
    second.stop().await;
}

/// What a component reports.
async fn reported(world: &World, name: &str) -> ComponentStatus {
    let component = world.components().get(name).await.unwrap();
    component.status.unwrap()
}
