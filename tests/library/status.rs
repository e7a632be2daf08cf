//! What is stored, and in which order.

use crate::world::World;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use whipstaff::Reconciler;
use whipstaff::api::v1alpha1::{Component, Phase, State};
use whipstaff_test_support::shared;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n";

/// Scenario 1. Finalizer and inventory are stored before the object is created, and a further run writes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn inventory_is_stored_before_the_first_object_and_nothing_is_written_twice() {
    let world = World::new("first").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    let plane = shared().await;
    let mark = plane.audit_log().mark().await.unwrap();
    world.install("c", &url).await;
    let ready = world.ready("c").await;
    let status = ready.status.as_ref().unwrap();
    assert_eq!(status.inventory[0].phase, Phase::Ready);
    assert_eq!(status.processing_since, None);
    let writes = |entries: Vec<whipstaff_test_support::AuditEntry>| {
        let ours = entries.into_iter().filter(|e| {
            let by_us = e.is_write() && !e.is_by_control_plane() && e.namespace == world.namespace;
            by_us
                && e.resource != "events"
                && e.user_agent != "test"
                && e.name != "kube-root-ca.crt"
        });
        let names = ours.map(|e| {
            format!("{} {}", e.resource, e.subresource)
                .trim()
                .to_owned()
        });
        names.collect::<Vec<_>>()
    };
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let expected = [
        "components",
        "components",
        "components status",
        "configmaps",
        "components status",
    ];
    assert_eq!(writes(entries), expected);

    let mark = plane.audit_log().mark().await.unwrap();
    let reconciler = Reconciler::<Component>::default();
    let reconciler = reconciler.connect(plane.config()).await.unwrap();
    reconciler.reconcile(ready).await;
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    assert_eq!(writes(entries), [""; 0]);
}

/// Scenario 23. Suspension is reported once, and what is suspended can go on.
#[tokio::test(flavor = "multi_thread")]
async fn suspended_component_goes_on_where_it_was() {
    let world = World::new("paused").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    let spec = |suspend: bool| json!({"source": {"url": {"url": url}}, "suspend": suspend});
    world.component("c", spec(true)).await;
    let paused = world
        .wait("c", |c| {
            c.status.as_ref().and_then(|s| s.state) == Some(State::Pending)
        })
        .await;
    assert!(paused.status.unwrap().inventory.is_empty());
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("made")
            .await
            .unwrap()
            .is_none()
    );
    world.component("c", spec(false)).await;
    world.ready("c").await;
}
