//! Components that bring an extension API server, or a webhook, and objects that need it.

use crate::server::Operator;
use crate::world::World;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use std::time::Duration;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{ExtensionServer, WebhookServer, eventually, shared};

fn workload() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "backend"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "backend"}},
            "template": {"metadata": {"labels": {"app": "backend"}},
                "spec": {"containers": [{"name": "c", "image": "example.org/backend:1"}]}}}})
}

fn spec(world: &World, chart: &str, objects: &[Value]) -> Value {
    let texts: Vec<_> = objects.iter().map(Value::to_string).collect();
    world.chart(chart, &texts.join("\n---\n"))
}

async fn delete(world: &World, name: &str) {
    let params = DeleteParams::default();
    world.components().delete(name, &params).await.unwrap();
}

fn message(component: &Component) -> String {
    let conditions = component
        .status
        .iter()
        .flat_map(|status| &status.conditions);
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
    ready.next().map_or_else(String::new, |c| c.message.clone())
}

/// Opens an extension API server, and has the API server look at it at once instead of within half a minute.
async fn open(extension: &ExtensionServer, services: &Api<APIService>, name: &str) {
    extension.set_open(true);
    let now = format!("{:?}", std::time::SystemTime::now());
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"example.org/look": now}}}));
    let params = PatchParams::default();
    let patched = services.patch(name, &params, &patch);
    patched.await.unwrap();
}

/// Scenario 6.
#[tokio::test(flavor = "multi_thread")]
async fn instance_comes_after_its_extension_api_server_and_goes_before_it() {
    let plane = shared().await;
    let world = World::new("extension").await;
    let operator = Operator::start(&world.namespace).await;
    let group = format!("{}.example.org", world.namespace);
    let extension = ExtensionServer::start(plane, &group).await.unwrap();
    let [service, api_service] = extension.registration(&world.namespace, "extension");
    let thing = |colour: &str| {
        json!({"apiVersion": format!("{group}/v1"), "kind": "Thing",
            "metadata": {"name": "thing", "namespace": world.namespace}, "spec": {"colour": colour}})
    };
    let objects = |colour: &str| {
        [
            thing(colour),
            api_service.clone(),
            service.clone(),
            workload(),
        ]
    };
    let mark = plane.audit_log().mark().await.unwrap();
    let first = spec(&world, "red", &objects("red"));
    world.apply("c", world.labels(), first).await;
    // The APIService is there, and not available: the instance waits, and the status says for what.
    let waits = |c: Option<&Component>| c.is_some_and(|c| message(c).contains("APIService"));
    world.until("c", waits).await;
    let services: Api<APIService> = Api::all(world.client.clone());
    let name = format!("v1.{group}");
    open(&extension, &services, &name).await;
    world.ready("c").await;
    let colour = || {
        let thing = extension.object(&world.namespace, "thing")?;
        Some(thing["spec"]["colour"].clone())
    };
    assert_eq!(colour(), Some(json!("red")));
    let second = spec(&world, "blue", &objects("blue"));
    world.apply("c", world.labels(), second).await;
    world.ready("c").await;
    assert_eq!(colour(), Some(json!("blue")));

    // It is gone when its objects are to be deleted: that is told, and holds up nobody else.
    extension.set_open(false);
    delete(&world, "c").await;
    let is_held = |c: Option<&Component>| {
        let state = c.and_then(|c| c.status.as_ref()?.state);
        matches!(
            state,
            Some(State::DeletionPending | State::Deleting | State::Error)
        ) && c.is_some_and(|c| message(c).contains("Thing") || message(c).contains(&name))
    };
    world.until("c", is_held).await;
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n";
    let other = world.chart("other", other);
    world.apply("other", world.labels(), other).await;
    world.ready("other").await;
    let left = services.get(&name).await.unwrap();
    assert!(left.metadata.deletion_timestamp.is_none());
    open(&extension, &services, &name).await;
    world.until("c", |c| c.is_none()).await;
    assert_eq!(colour(), None);
    assert!(services.get_opt(&name).await.unwrap().is_none());

    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let first = |verb: &str, resource: &str| {
        let is = |e: &whipstaff_test_support::AuditEntry| {
            e.verb == verb
                && e.resource == resource
                && e.uri.contains(&*world.namespace)
                && e.code < 300
        };
        entries
            .iter()
            .position(is)
            .unwrap_or_else(|| panic!("no {verb} of {resource}"))
    };
    assert!(first("patch", "deployments") < first("patch", "apiservices"));
    assert!(first("patch", "apiservices") < first("patch", "things"));
    assert!(first("delete", "things") < first("delete", "apiservices"));
    assert!(first("delete", "apiservices") < first("delete", "deployments"));
    operator.stop().await;
}

/// Section 7.2 of the original: a webhook configuration before its workload lets nothing be created any more, and after it nothing
/// be deleted. The webhook of this test never answers while the component comes and goes.
#[tokio::test(flavor = "multi_thread")]
async fn webhook_configuration_comes_after_its_workload_and_goes_before_it() {
    let plane = shared().await;
    let world = World::new("webhook").await;
    let operator = Operator::start(&world.namespace).await;
    let webhook = WebhookServer::start(plane).await.unwrap();
    let namespace = &world.namespace;
    let rule = |operation: &str, group: &str, resource: &str| json!({"operations": [operation], "apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]});
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": namespace},
        "webhooks": [{"name": "guard.example.org", "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": webhook.client_config(),
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "rules": [rule("CREATE", "", "pods"), rule("CREATE", "", "secrets"),
                rule("DELETE", "apps", "deployments"), rule("DELETE", "", "services")]}]});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "backend"},
        "spec": {"selector": {"app": "backend"}, "ports": [{"port": 443}]}});
    let objects = [configuration, service, workload()];
    let spec = spec(&world, "guarded", &objects);
    world.apply("c", world.labels(), spec).await;
    world.ready("c").await;
    let pods: Api<Pod> = Api::namespaced(world.client.clone(), namespace);
    assert_eq!(
        pods.list(&ListParams::default()).await.unwrap().items.len(),
        1
    );

    // The webhook is really asked, and lets everything pass once it answers.
    let secrets: Api<Secret> = Api::namespaced(world.client.clone(), namespace);
    let secret: Secret = serde_json::from_value(json!({"metadata": {"name": "s"}})).unwrap();
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let passes = async || secrets.create(&dry, &secret).await.is_ok();
    let until = async |wanted: bool| {
        while passes().await != wanted {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, until(false)).await.unwrap();
    webhook.set_open(true);
    tokio::time::timeout(patience, until(true)).await.unwrap();
    webhook.set_open(false);

    delete(&world, "c").await;
    world.until("c", |c| c.is_none()).await;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(world.client.clone());
    assert!(configurations.get_opt(namespace).await.unwrap().is_none());
    let deployments: Api<Deployment> = Api::namespaced(world.client.clone(), namespace);
    eventually(&deployments, "backend", |d| d.is_none()).await;
    operator.stop().await;
}
