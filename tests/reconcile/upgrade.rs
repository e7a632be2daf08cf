use crate::world::{World, inventory};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

const TEMPLATES: &[(&str, &str)] = &[(
    "templates/all.yaml",
    "{{- range .Values.names }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ . }}\ndata:\n  text: {{ $.Values.text | quote }}\n  revision: {{ $.Release.Revision | quote }}\n  upgrade: {{ $.Release.IsUpgrade | quote }}\n{{- end }}\n",
)];

#[tokio::test(flavor = "multi_thread")]
async fn upgrade_adds_changes_and_removes_objects() {
    let world = World::new("upgrade").await;
    let url = world.chart("names", TEMPLATES);
    let spec = |names: &[&str], text: &str| json!({"source": {"url": {"url": url}}, "values": {"names": names, "text": text}});
    world
        .component("names", spec(&["kept", "removed"], "one"))
        .await;
    let first = world.ready("names").await;
    assert_eq!(inventory(&first), ["ConfigMap kept", "ConfigMap removed"]);
    let kept = world.api::<ConfigMap>().get("kept").await.unwrap();
    assert_eq!(kept.data.as_ref().unwrap()["upgrade"], "false");

    world
        .component("names", spec(&["added", "kept"], "two"))
        .await;
    let second = world.ready("names").await;
    assert_eq!(inventory(&second), ["ConfigMap added", "ConfigMap kept"]);
    let changed = world.api::<ConfigMap>().get("kept").await.unwrap();
    let data = changed.data.unwrap();
    assert_eq!(
        (data["text"].as_str(), data["upgrade"].as_str()),
        ("two", "true")
    );
    assert_eq!(data["revision"], "2");
    assert_eq!(changed.metadata.uid, kept.metadata.uid);
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("removed")
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn new_archive_at_the_same_address_is_an_upgrade() {
    let world = World::new("archive").await;
    let manifest = |text: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{text: {text}}}\n")
    };
    let url = world.chart("moving", &[("templates/c.yaml", &manifest("one"))]);
    world
        .component(
            "moving",
            json!({"source": {"url": {"url": url}}, "interval": "1s"}),
        )
        .await;
    let first = world
        .ready("moving")
        .await
        .status
        .unwrap()
        .source
        .unwrap()
        .digest;
    world.chart("moving", &[("templates/c.yaml", &manifest("two"))]);
    let changed = |c: Option<&ConfigMap>| {
        c.and_then(|c| c.data.as_ref())
            .is_some_and(|data| data["text"] == "two")
    };
    whipstaff_test_support::eventually(&world.api::<ConfigMap>(), "c", changed).await;
    let second = world
        .wait("moving", |c| {
            c.status
                .as_ref()
                .and_then(|s| s.source.as_ref())
                .is_some_and(|s| s.digest != first)
        })
        .await;
    assert_eq!(second.status.unwrap().revision, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn suspended_component_is_left_alone_until_it_is_resumed() {
    let world = World::new("suspend").await;
    let url = world.chart("names", TEMPLATES);
    let spec = |suspend: bool, text: &str| {
        json!({"source": {"url": {"url": url}}, "suspend": suspend,
            "values": {"names": ["a"], "text": text}})
    };
    world.component("names", spec(false, "one")).await;
    world.ready("names").await;
    world.component("names", spec(true, "two")).await;
    assert_eq!(
        world.reason("names", "Suspended").await,
        "reconciliation is suspended"
    );
    let text = || async {
        world
            .api::<ConfigMap>()
            .get("a")
            .await
            .unwrap()
            .data
            .unwrap()["text"]
            .clone()
    };
    assert_eq!(text().await, "one");
    world.component("names", spec(false, "two")).await;
    world.ready("names").await;
    assert_eq!(text().await, "two");
}
