//! What must hold beside what the other tests show: who may have which object, when hinted objects are ready, and input that others
//! stumble over.

use crate::world::{World, condition, item, state};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use whipstaff::Status;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{eventually, pods};

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: ours}}\n")
}

/// Scenario 9.
#[tokio::test(flavor = "multi_thread")]
async fn adoption_policies_decide_about_objects_of_nobody_and_of_others() {
    let world = World::new("matrix").await;
    let policies = ["Never", "IfUnowned", "Always"];
    let taken = policies.map(|policy| map(&format!("owned-{}", policy.to_lowercase())));
    let url = world.chart("owner", &[("templates/all.yaml", &taken.join("---\n"))]);
    world.install("owner", &url).await;
    world.ready("owner").await;
    let maps = world.api::<ConfigMap>();
    for policy in policies {
        let policy = policy.to_lowercase();
        let theirs =
            json!({"metadata": {"name": format!("free-{policy}")}, "data": {"a": "theirs"}});
        world.create::<ConfigMap>(theirs).await;
    }
    let cases = [
        ("free", "Never", false),
        ("owned", "Never", false),
        ("free", "IfUnowned", true),
        ("owned", "IfUnowned", false),
        ("free", "Always", true),
        ("owned", "Always", true),
    ];
    for (kind, policy, _) in cases {
        let name = format!("{kind}-{}", policy.to_lowercase());
        let url = world.chart(&name, &[("templates/m.yaml", &map(&name))]);
        let spec = json!({"source": {"url": {"url": url}}, "policies": {"adoption": policy}});
        world.component(&name, spec).await;
    }
    for (kind, policy, adopted) in cases {
        let name = format!("{kind}-{}", policy.to_lowercase());
        let own = format!("/{}/{name}", world.namespace);
        let owner = async || {
            let map = maps.get(&name).await.unwrap();
            map.annotations().get("whipstaff.dev/owner-id").cloned()
        };
        if adopted {
            world.ready(&name).await;
            assert!(owner().await.unwrap().ends_with(&own), "{name}");
        } else {
            world.wait(&name, |c| state(c) == Some(State::Error)).await;
            assert!(
                owner().await.is_none_or(|owner| !owner.ends_with(&own)),
                "{name}"
            );
        }
    }
}

fn definition(group: &str, served: bool) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"},
            "versions": [{"name": "v1", "served": served, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
}

/// Scenario 24.
#[tokio::test(flavor = "multi_thread")]
async fn hinted_objects_and_running_jobs_are_not_ready_until_they_say_so() {
    let world = World::new("hinted").await;
    let group = format!("{}.example.org", world.namespace);
    let hints = [
        ("observed", "has-observed-generation"),
        ("ready", "has-ready-condition"),
        ("conditions", "conditions=Synced;Healthy"),
    ];
    let widget = |(name, hint): &(&str, &str)| {
        json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata":
            {"name": name, "annotations": {"whipstaff.dev/status-hint": hint}}})
    };
    let template = json!({"metadata": {"labels": {"app": "job"}, "annotations": {pods::OUTCOME: pods::READY}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "example.org/job:1"}]}});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
        "spec": {"template": template}});
    // Instances are looked at when the workloads are ready.
    let later = json!({"whipstaff.dev/apply-order": "1"});
    let mut job = job;
    job["metadata"]["annotations"] = later;
    let mut objects: Vec<_> = hints.iter().map(widget).collect();
    objects.extend([definition(&group, true), job]);
    let texts: Vec<_> = objects.iter().map(Value::to_string).collect();
    let url = world.chart("c", &[("templates/all.yaml", &texts.join("\n---\n"))]);
    world.install("c", &url).await;
    let waits = |kind: &'static str, name: &'static str| {
        move |c: &Component| {
            let items = c.status.iter().flat_map(|status| &status.inventory);
            let mut items = items.filter(|item| item.kind == kind && item.name == name);
            items.any(|item| item.status == Status::InProgress)
        }
    };
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(&group, "v1", "Widget"));
    let widgets: Api<DynamicObject> =
        Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
    let condition_of = |type_: &str| json!({"type": type_, "status": "True"});
    let answers = [
        // To write it is a change of this kind, which keeps its status beside everything else.
        ("observed", json!({"observedGeneration": 2})),
        ("ready", json!({"conditions": [condition_of("Ready")]})),
        (
            "conditions",
            json!({"conditions": [condition_of("Synced"), condition_of("Healthy")]}),
        ),
    ];
    for (name, status) in answers {
        let waiting = world.wait("c", waits("Widget", name)).await;
        assert!(condition(&waiting).unwrap().1.contains("Widget"));
        let patch = Patch::Merge(json!({ "status": status }));
        let params = PatchParams::default();
        widgets.patch(name, &params, &patch).await.unwrap();
    }
    world.wait("c", waits("Job", "job")).await;
    let running = world.api::<Pod>();
    let is_running = |pod: Option<&Pod>| {
        let status = pod.and_then(|pod| pod.status.as_ref());
        status.and_then(|status| status.phase.as_deref()) == Some("Running")
    };
    let all = running.list(&ListParams::default().labels("app=job")).await;
    let pod = all.unwrap().items[0].name_any();
    eventually(&running, &pod, is_running).await;
    world.wait("c", waits("Job", "job")).await;
    let patch = Patch::Merge(json!({"metadata": {"annotations": {pods::OUTCOME: pods::FINISH}}}));
    let params = PatchParams::default();
    running.patch(&pod, &params, &patch).await.unwrap();
    let component = world.ready("c").await;
    assert_eq!(item(&component, "Job", "job").status, Status::Current);
}

/// Defect 6, and the patch without a target of those beyond parity: what others panic on, or lose, is nothing special.
#[tokio::test(flavor = "multi_thread")]
async fn odd_input_is_rendered_applied_and_deleted_like_any_other() {
    let world = World::new("odd").await;
    let group = format!("{}.example.org", world.namespace);
    let lines = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata:\n  lines: {{ .Files.Lines \"empty.txt\" | len | quote }}\n  value: {{ .Values.map | quote }}\n";
    let unserved = definition(&group, false).to_string();
    let url = world.chart(
        "odd",
        &[
            ("values.yaml", "map: {a: b}\n"),
            ("empty.txt", ""),
            ("templates/m.yaml", lines),
            ("templates/d.yaml", &unserved),
        ],
    );
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndata: {patched: 'yes'}\n";
    let spec = json!({"source": {"url": {"url": url}}, "values": {"map": "text"}, "patches": [{"patch": patch}]});
    world.component("odd", spec).await;
    let maps = world.api::<ConfigMap>();
    let is_there = |map: Option<&ConfigMap>| map.is_some();
    let data = eventually(&maps, "odd", is_there)
        .await
        .unwrap()
        .data
        .unwrap();
    let expected = [("lines", "0"), ("patched", "yes"), ("value", "text")];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(data, expected.into());
    let components = world.components();
    components
        .delete("odd", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "odd", |c| c.is_none()).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let name = format!("widgets.{group}");
    assert!(definitions.get_opt(&name).await.unwrap().is_none());
}
