//! Helm's hooks beside Helm itself: the same chart, the same steps, one namespace each.

use crate::world::{World, condition, fixture, state};
use futures::StreamExt;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::DeleteParams;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use whipstaff::api::v1alpha1::State;
use whipstaff_test_support::{Helm, eventually, pack_folder, shared};

/// Longest that a watch may lag behind.
const LAG: Duration = Duration::from_secs(30);

/// What happened to the objects of hooks in a namespace, in the API server's order.
#[derive(Clone, Default)]
struct Diary {
    entries: Arc<Mutex<BTreeMap<(u64, bool), String>>>,
    living: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Diary {
    async fn of(client: &Client, namespace: &str) -> Self {
        let diary = Self::default();
        diary.follow::<Job>("Job", client, namespace).await;
        diary.follow::<Pod>("Pod", client, namespace).await;
        diary
            .follow::<ConfigMap>("ConfigMap", client, namespace)
            .await;
        diary
    }

    async fn follow<K>(&self, kind: &'static str, client: &Client, namespace: &str)
    where
        K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned
            + Send
            + 'static,
    {
        let api: Api<PartialObjectMeta<K>> = Api::namespaced(client.clone(), namespace);
        let mut changes = Box::pin(watcher(api, Config::default()));
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let diary = self.clone();
        tokio::spawn(async move {
            let mut begun = Some(begun);
            while let Some(change) = changes.next().await {
                match change {
                    Ok(Event::Apply(object) | Event::InitApply(object)) => {
                        diary.note(kind, &object, false);
                    }
                    Ok(Event::Delete(object)) => diary.note(kind, &object, true),
                    Ok(Event::InitDone) => drop(begun.take().map(|begun| begun.send(()))),
                    Ok(Event::Init) | Err(_) => {}
                }
            }
        });
        has_begun.await.unwrap();
    }

    fn note(&self, kind: &str, object: &impl ResourceExt, gone: bool) {
        if !object.annotations().contains_key("helm.sh/hook") {
            return;
        }
        let name = format!("{kind} {}", object.name_any());
        let version = object.resource_version().unwrap().parse().unwrap();
        let uid = object.uid().unwrap();
        let mut living = self.living.lock().unwrap();
        let what = if gone {
            living.remove(&name);
            "-"
        } else if living.insert(name.clone(), uid.clone()) == Some(uid) {
            return;
        } else {
            "+"
        };
        let mut entries = self.entries.lock().unwrap();
        entries.insert((version, gone), format!("{what} {name}"));
    }

    /// What happened since the last time.
    fn take(&self) -> Vec<String> {
        let entries = std::mem::take(&mut *self.entries.lock().unwrap());
        entries.into_values().collect()
    }

    fn len(&self) -> usize {
        self.entries.lock().unwrap().len()
    }

    /// What is there.
    fn left(&self) -> Vec<String> {
        self.living.lock().unwrap().keys().cloned().collect()
    }
}

/// Both sides.
struct Pair {
    helm: Diary,
    ours: Diary,
    their_namespace: String,
    chart: String,
}

impl Pair {
    async fn helm(&self, arguments: &[&str]) -> bool {
        let kubeconfig = shared().await.kubeconfig();
        let run = Helm::V4.run_aside(kubeconfig, &self.their_namespace, arguments);
        let output = run.await.unwrap();
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.contains("hook"), "{arguments:?}: {errors}");
        }
        output.status.success()
    }

    /// Compares what happened on both sides since the last time, and what is left.
    async fn compare(&self, step: &str) -> usize {
        let deadline = Instant::now() + LAG;
        let same = || self.ours.len() == self.helm.len() && self.ours.left() == self.helm.left();
        while !same() && Instant::now() < deadline {
            sleep(Duration::from_millis(20)).await;
        }
        let (ours, theirs) = (self.ours.take(), self.helm.take());
        assert_eq!(ours, theirs, "{step}: what happened, ours and Helm's");
        assert_eq!(self.ours.left(), self.helm.left(), "{step}: what is left");
        assert!(!theirs.is_empty(), "{step}: nothing happened");
        theirs.len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_and_stay_as_with_helm_itself() {
    let world = World::new("hooks-ours").await;
    let their_namespace = whipstaff_test_support::namespace("hooks-helm").await;
    let folder = fixture("hooks");
    world
        .charts
        .put("/hooks.tgz", pack_folder(&folder, "hooks").unwrap());
    let url = world.charts.url("/hooks.tgz");
    let spec = |values: Value| json!({"source": {"url": {"url": url}}, "helm": {"onReturn": "Rollback"}, "values": values});
    let pair = Pair {
        helm: Diary::of(&world.client, &their_namespace).await,
        ours: Diary::of(&world.client, &world.namespace).await,
        their_namespace,
        chart: folder.to_str().unwrap().to_owned(),
    };
    let chart = pair.chart.as_str();
    let mut events = 0;

    let one = json!({"text": "one"});
    let install = ["install", "hooks", chart, "--wait", "--set", "text=one"];
    let ours = async {
        world.component("hooks", spec(one.clone())).await;
        world.ready("hooks").await
    };
    let (installed, _) = tokio::join!(pair.helm(&install), ours);
    assert!(installed);
    events += pair.compare("install").await;

    let upgrade = ["upgrade", "hooks", chart, "--wait", "--set", "text=two"];
    let ours = async {
        world.component("hooks", spec(json!({"text": "two"}))).await;
        world.ready("hooks").await
    };
    let (upgraded, _) = tokio::join!(pair.helm(&upgrade), ours);
    assert!(upgraded);
    events += pair.compare("upgrade").await;

    // One that runs and fails, and one that the API server refuses because it is written over another one.
    for name in ["may-fail", "kept-over"] {
        let set = format!("fail={name}");
        let broken = ["upgrade", "hooks", chart, "--wait", "--set", &set];
        let ours = async {
            let fail = json!({"text": "one", "fail": name});
            world.component("hooks", spec(fail)).await;
            let told = |message: &str| message.contains(&format!("/{name} "));
            world
                .wait("hooks", |c| {
                    let failed = condition(c).filter(|(reason, _)| reason == "HookFailed");
                    failed.is_some_and(|(_, message)| told(&message))
                })
                .await
        };
        let (upgraded, _) = tokio::join!(pair.helm(&broken), ours);
        assert!(!upgraded, "{name} fails with Helm, too");
        events += pair.compare(name).await;
    }

    let rollback = ["rollback", "hooks", "1", "--wait"];
    let ours = async {
        world.component("hooks", spec(one.clone())).await;
        world.ready("hooks").await
    };
    let (returned, _) = tokio::join!(pair.helm(&rollback), ours);
    assert!(returned);
    events += pair.compare("rollback").await;

    let ours = async {
        let asked = json!({"metadata": {"annotations": {"whipstaff.dev/test-at": "now"}}});
        world.merge("hooks", asked).await;
        let is_over = |c: &whipstaff::api::v1alpha1::Component| {
            let test = c.status.as_ref().and_then(|status| status.test.as_ref());
            test.is_some_and(|test| test.run.is_over())
        };
        world.wait("hooks", is_over).await
    };
    let (tested, component) = tokio::join!(pair.helm(&["test", "hooks"]), ours);
    assert!(tested);
    assert_eq!(state(&component), Some(State::Ready));
    events += pair.compare("test").await;

    let ours = async {
        let components = world.components();
        components
            .delete("hooks", &DeleteParams::default())
            .await
            .unwrap();
        eventually(&components, "hooks", |c| c.is_none()).await
    };
    let (deleted, _) = tokio::join!(pair.helm(&["uninstall", "hooks", "--wait"]), ours);
    assert!(deleted);
    events += pair.compare("deletion").await;
    assert!(events > 40, "only {events} objects came and went");
}
