//! Runs that somebody asks for, and those that nobody does.

use crate::world::{World, item};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use serde_json::json;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff_test_support::{AuditEntry, eventually, shared};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {a: b}\n";

async fn annotate(world: &World, key: &str, value: &str) {
    let patch = json!({"metadata": {"annotations": {key: value}}});
    world.merge("c", patch).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn annotation_makes_the_source_be_looked_at_again() {
    let world = World::new("asked").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    world.install("c", &url).await;
    world.ready("c").await;
    let changed = MAP.replace("a: b", "a: c");
    world.chart("c", &[("templates/m.yaml", &changed)]);
    annotate(&world, "whipstaff.dev/reconcile-at", "now").await;
    let is_new = |map: Option<&ConfigMap>| {
        let data = map.and_then(|map| map.data.as_ref());
        data.is_some_and(|data| data["a"] == "c")
    };
    eventually(&world.api::<ConfigMap>(), "made", is_new).await;
    let heeded = |component: &Component| {
        let status = component.status.as_ref();
        let at = status.and_then(|status| status.last_handled_reconcile_at.as_deref());
        at == Some("now") && status.and_then(|status| status.state) == Some(State::Ready)
    };
    let component = world.wait("c", heeded).await;
    assert_eq!(component.status.unwrap().revision, Some(2));
}

/// Scenario 15. An annotation of the component alone is a change of the component.
#[tokio::test(flavor = "multi_thread")]
async fn annotation_of_the_component_is_a_new_revision_and_touches_no_object() {
    let world = World::new("annotated").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    world.install("c", &url).await;
    let before = world.ready("c").await;
    let map = world.api::<ConfigMap>().get("made").await.unwrap();
    let plane = shared().await;
    let mark = plane.audit_log().mark().await.unwrap();
    annotate(&world, "example.org/note", "changed").await;
    let is_next = |component: &Component| {
        let status = component.status.as_ref().unwrap();
        status.revision == Some(2) && status.state == Some(State::Ready)
    };
    let after = world.wait("c", is_next).await;
    let digest = |component: &Component| component.status.as_ref().unwrap().input_digest.clone();
    assert_ne!(digest(&before), digest(&after));
    let again = world.api::<ConfigMap>().get("made").await.unwrap();
    assert_eq!(again.resource_version(), map.resource_version());
    assert_eq!(
        item(&before, "ConfigMap", "made").digest,
        item(&after, "ConfigMap", "made").digest
    );
    // Restarting is told first, and Ready when it is over.
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let statuses = entries
        .iter()
        .filter(|e| e.namespace == world.namespace && e.subresource == "status");
    assert_eq!(statuses.count(), 2);
}

/// Scenario 15, for objects that follow every change of the component.
#[tokio::test(flavor = "multi_thread")]
async fn annotation_of_the_component_applies_objects_again_that_follow_it() {
    let world = World::new("following").await;
    let follows = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: follows\n  annotations: {whipstaff.dev/reconcile-policy: on-object-or-component-change}\n";
    let url = world.chart(
        "c",
        &[("templates/m.yaml", MAP), ("templates/f.yaml", follows)],
    );
    world.install("c", &url).await;
    let before = world.ready("c").await;
    let maps = world.api::<ConfigMap>();
    let version = async |name: &str| maps.get(name).await.unwrap().resource_version();
    let versions = (version("made").await, version("follows").await);
    annotate(&world, "example.org/note", "changed").await;
    let is_next = |component: &Component| {
        let status = component.status.as_ref().unwrap();
        status.revision == Some(2) && status.state == Some(State::Ready)
    };
    let after = world.wait("c", is_next).await;
    let digest = |c: &Component| item(c, "ConfigMap", "follows").digest.clone();
    let (was, is) = (digest(&before), digest(&after));
    let (was, is) = (was.split_once('@').unwrap(), is.split_once('@').unwrap());
    assert!(was.0 == is.0 && was.1 != is.1, "{was:?} {is:?}");
    assert_eq!(version("made").await, versions.0);
    assert_ne!(version("follows").await, versions.1);
}

/// Where others poll components that are suspended, and write their status each time.
#[tokio::test(flavor = "multi_thread")]
async fn suspended_and_ready_components_are_neither_read_nor_written() {
    let world = World::new("quiet").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    world.install("c", &url).await;
    world.ready("c").await;
    let spec = json!({"source": {"url": {"url": url}}, "suspend": true});
    world.component("d", spec).await;
    world.reason("d", "Suspended").await;
    let plane = shared().await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let mark = plane.audit_log().mark().await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let is_ours = |e: &&AuditEntry| {
        e.namespace == world.namespace && !e.is_by_control_plane() && e.verb != "watch"
    };
    let ours: Vec<_> = entries.iter().filter(is_ours).collect();
    assert!(ours.is_empty(), "{ours:?}");
}
