//! What becomes of workloads on the control plane.
#![allow(
    clippy::expect_used,
    reason = "functions that tests share are tests, too"
)]

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume, Pod, Service};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use whipstaff_test_support::{eventually, namespace, pods, shared};

fn read<K: serde::de::DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).expect("an object of its kind")
}

/// Pod spec and metadata with annotations, as a template for workloads or as part of a pod.
fn template(restart: &str, annotations: &[(&str, &str)]) -> Value {
    let annotations: serde_json::Map<String, Value> = annotations
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    json!({
        "metadata": { "labels": { "app": "web" }, "annotations": annotations },
        "spec": {
            "restartPolicy": restart,
            "initContainers": [{ "name": "prepare", "image": "prepare:1" }],
            "containers": [{ "name": "web", "image": "web:1" }, { "name": "log", "image": "log:1" }],
        },
    })
}

fn deployment(replicas: u32, annotations: &[(&str, &str)]) -> Deployment {
    read(json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "template": template("Always", annotations),
        },
    }))
}

fn job(annotations: &[(&str, &str)]) -> Job {
    read(json!({
        "metadata": { "name": "task" },
        "spec": { "backoffLimit": 0, "template": template("Never", annotations) },
    }))
}

async fn create<K>(api: &Api<K>, object: &K)
where
    K: Clone + std::fmt::Debug + serde::Serialize + serde::de::DeserializeOwned,
{
    api.create(&PostParams::default(), object)
        .await
        .expect("the API server takes the object");
}

fn job_has(condition: &'static str) -> impl Fn(Option<&Job>) -> bool {
    move |job| {
        let conditions = job.and_then(|job| job.status.as_ref()?.conditions.as_ref());
        conditions
            .into_iter()
            .flatten()
            .any(|it| it.type_ == condition && it.status == "True")
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|it| it.type_ == "Ready" && it.status == "True")
}

fn phase(pod: &Pod) -> &str {
    pod.status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        .unwrap_or_default()
}

fn waiting_reason(pod: &Pod) -> Option<&str> {
    let containers = pod.status.as_ref()?.container_statuses.as_ref()?;
    containers
        .first()?
        .state
        .as_ref()?
        .waiting
        .as_ref()?
        .reason
        .as_deref()
}

async fn pod_eventually(
    restart: &str,
    annotations: &[(&str, &str)],
    wanted: impl Fn(&Pod) -> bool,
) -> Pod {
    let namespace = namespace("pod").await;
    let pods: Api<Pod> = Api::namespaced(shared().await.client(), &namespace);
    let mut pod = template(restart, annotations);
    pod["metadata"]["name"] = json!("web");
    create(&pods, &read(pod)).await;
    eventually(&pods, "web", |pod| pod.is_some_and(&wanted))
        .await
        .expect("the pod is there")
}

#[tokio::test]
async fn deployment_of_three_replicas_becomes_available() {
    let namespace = namespace("deployment").await;
    let client = shared().await.client();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    create(&deployments, &deployment(3, &[])).await;
    let available = |deployment: &Deployment| deployment.status.as_ref()?.available_replicas;
    eventually(&deployments, "web", |it| it.and_then(available) == Some(3)).await;

    let pods: Api<Pod> = Api::namespaced(client, &namespace);
    let pods = pods
        .list(&ListParams::default())
        .await
        .expect("pods are listed")
        .items;
    assert_eq!(pods.len(), 3);
    assert!(pods.iter().all(is_ready));
    let mut addresses: Vec<_> = pods
        .iter()
        .filter_map(|pod| pod.status.as_ref()?.pod_ip.clone())
        .collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 3, "every pod has an address of its own");
}

#[tokio::test]
async fn deleted_deployment_takes_its_pods_with_it() {
    let namespace = namespace("garbage").await;
    let client = shared().await.client();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    create(&deployments, &deployment(1, &[])).await;
    let ready = |it: Option<&Deployment>| {
        it.and_then(|it| it.status.as_ref()?.ready_replicas)
            .is_some_and(|ready| ready == 1)
    };
    eventually(&deployments, "web", ready).await;
    let pods: Api<Pod> = Api::namespaced(client, &namespace);
    let pod = pods
        .list(&ListParams::default())
        .await
        .expect("pods are listed")
        .items
        .remove(0);

    deployments
        .delete("web", &DeleteParams::foreground())
        .await
        .expect("it is deleted");

    eventually(&pods, &pod.metadata.name.expect("a name"), |pod| {
        pod.is_none()
    })
    .await;
    eventually(&deployments, "web", |it| it.is_none()).await;
}

#[tokio::test]
async fn job_completes_unless_its_pods_are_told_to_fail() {
    let cases: [(&[(&str, &str)], &str); 3] = [
        (&[], "Complete"),
        (&[(pods::RUN_TIME, "300ms")], "Complete"),
        (&[(pods::OUTCOME, pods::FAIL)], "Failed"),
    ];
    for (annotations, condition) in cases {
        let namespace = namespace("job").await;
        let jobs: Api<Job> = Api::namespaced(shared().await.client(), &namespace);
        create(&jobs, &job(annotations)).await;
        eventually(&jobs, "task", job_has(condition)).await;
    }
}

#[tokio::test]
async fn pod_gets_ready_after_its_delay() {
    let pod = pod_eventually("Always", &[(pods::READY_DELAY, "1s")], is_ready).await;
    let created = pod.metadata.creation_timestamp.expect("a time").0;
    let started = pod
        .status
        .and_then(|status| status.start_time)
        .expect("a time")
        .0;
    assert!(started > created, "created {created}, started {started}");
}

#[tokio::test]
async fn crashing_pod_waits_in_crash_loop_back_off() {
    // A pod that is restarted for ever cannot be `Failed`.
    for outcome in [pods::CRASH, pods::FAIL] {
        let crashes = |pod: &Pod| waiting_reason(pod) == Some("CrashLoopBackOff");
        let pod = pod_eventually("Always", &[(pods::OUTCOME, outcome)], crashes).await;
        assert_eq!((phase(&pod), is_ready(&pod)), ("Running", false));
    }
}

#[tokio::test]
async fn never_ready_pod_runs_without_being_ready() {
    let annotations = [(pods::OUTCOME, pods::NEVER_READY)];
    let pod = pod_eventually("Always", &annotations, |pod| phase(pod) == "Running").await;
    assert!(!is_ready(&pod));
    assert_eq!(waiting_reason(&pod), None);
}

#[tokio::test]
async fn pod_ends_as_its_outcome_says() {
    for (outcome, wanted) in [(pods::FAIL, "Failed"), (pods::FINISH, "Succeeded")] {
        let annotations = [(pods::OUTCOME, outcome)];
        let pod = pod_eventually("Never", &annotations, |pod| phase(pod) == wanted).await;
        assert!(!is_ready(&pod));
    }
}

#[tokio::test]
async fn running_pod_breaks_and_heals_when_its_annotation_changes() {
    let pod = pod_eventually("Always", &[], is_ready).await;
    let namespace = pod.metadata.namespace.expect("a namespace");
    let pods: Api<Pod> = Api::namespaced(shared().await.client(), &namespace);
    let annotate = async |outcome: Option<&str>| {
        let patch = json!({ "metadata": { "annotations": { (pods::OUTCOME): outcome } } });
        pods.patch("web", &PatchParams::default(), &Patch::Merge(patch))
            .await
            .expect("a patch");
    };

    annotate(Some(pods::CRASH)).await;
    let crashes = |pod: Option<&Pod>| pod.and_then(waiting_reason) == Some("CrashLoopBackOff");
    let broken = eventually(&pods, "web", crashes)
        .await
        .expect("the pod is there");
    assert!(!is_ready(&broken));

    annotate(None).await;
    eventually(&pods, "web", |pod| pod.is_some_and(is_ready)).await;
}

#[tokio::test]
async fn deleted_pod_with_a_finalizer_stays_until_that_is_removed() {
    let pod = pod_eventually("Always", &[], is_ready).await;
    let namespace = pod.metadata.namespace.expect("a namespace");
    let pods: Api<Pod> = Api::namespaced(shared().await.client(), &namespace);
    let finalizers = async |names: &[&str]| {
        let patch = json!({ "metadata": { "finalizers": names } });
        pods.patch("web", &PatchParams::default(), &Patch::Merge(patch))
            .await
            .expect("a patch");
    };
    finalizers(&["example.org/hold"]).await;
    pods.delete("web", &DeleteParams::default())
        .await
        .expect("it is deleted");
    // The simulated kubelet asks for the end with no grace; the finalizer is all that is left.
    let held = |pod: Option<&Pod>| {
        pod.is_some_and(|pod| pod.metadata.deletion_grace_period_seconds == Some(0))
    };
    eventually(&pods, "web", held).await;
    finalizers(&[]).await;
    eventually(&pods, "web", |pod| pod.is_none()).await;
}

#[tokio::test]
async fn stateful_set_with_claims_gets_volumes_that_go_with_the_namespace() {
    let namespace = namespace("stateful").await;
    let client = shared().await.client();
    let sets: Api<StatefulSet> = Api::namespaced(client.clone(), &namespace);
    let set = read(json!({
        "metadata": { "name": "db" },
        "spec": {
            "serviceName": "db",
            "replicas": 2,
            "selector": { "matchLabels": { "app": "web" } },
            "template": template("Always", &[]),
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "fast",
                    "resources": { "requests": { "storage": "1Gi" } },
                },
            }],
        },
    }));
    create(&sets, &set).await;
    let ready = |set: &StatefulSet| set.status.as_ref()?.ready_replicas;
    eventually(&sets, "db", |set| set.and_then(ready) == Some(2)).await;

    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let ours = |volume: &PersistentVolume| {
        let claim = volume
            .spec
            .as_ref()
            .and_then(|spec| spec.claim_ref.as_ref());
        claim.is_some_and(|claim| claim.namespace.as_deref() == Some(namespace.as_str()))
    };
    let mut bound = volumes
        .list(&ListParams::default())
        .await
        .expect("volumes")
        .items;
    bound.retain(ours);
    assert_eq!(bound.len(), 2);

    let namespaces: Api<Namespace> = Api::all(client);
    namespaces
        .delete(&namespace, &DeleteParams::default())
        .await
        .expect("it is deleted");
    eventually(&namespaces, &namespace, |it| it.is_none()).await;
    for volume in bound {
        eventually(&volumes, &volume.metadata.name.expect("a name"), |it| {
            it.is_none()
        })
        .await;
    }
}

#[tokio::test]
async fn load_balancer_gets_an_address() {
    let namespace = namespace("service").await;
    let services: Api<Service> = Api::namespaced(shared().await.client(), &namespace);
    let service = read(json!({
        "metadata": { "name": "web" },
        "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }] },
    }));
    create(&services, &service).await;
    let has_address = |service: &Service| {
        let ingress = service
            .status
            .as_ref()?
            .load_balancer
            .as_ref()?
            .ingress
            .as_ref()?;
        ingress.first()?.ip.clone()
    };
    eventually(&services, "web", |service| {
        service.and_then(has_address).is_some()
    })
    .await;
}
