use crate::world::World;
use k8s_openapi::api::core::v1::Secret;
use serde_json::json;
use std::collections::BTreeMap;
use whipstaff::Reconciler;
use whipstaff::api::v1alpha1::Component;
use whipstaff_test_support::shared;

const TEMPLATE: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Release.Name }}}\nstringData:\n  password: {{ randAlphaNum 24 }}\n  id: {{ uuidv4 }}\n  time: {{ now | date \"2006-01-02T15:04:05\" | quote }}\n  revision: {{ .Release.Revision | quote }}\n  note: {{ .Values.note | default \"none\" }}\n";

type Data = BTreeMap<String, String>;

async fn data(world: &World, name: &str) -> Data {
    let secret = world.api::<Secret>().get(name).await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let data = secret.data.unwrap().into_iter();
    data.map(|(key, value)| (key, text(value.0))).collect()
}

/// Defect 3: what is drawn does not change from run to run, so that charts with passwords come to rest.
#[tokio::test(flavor = "multi_thread")]
async fn random_values_stay_when_something_else_changes() {
    let world = World::new("random").await;
    let url = world.chart("random", &[("templates/s.yaml", TEMPLATE)]);
    let spec = |note: &str| json!({"source": {"url": {"url": url}}, "values": {"note": note}});
    world.component("one", spec("first")).await;
    world.component("two", spec("first")).await;
    world.ready("one").await;
    world.ready("two").await;
    let first = data(&world, "one").await;
    let other = data(&world, "two").await;
    assert_eq!(first["password"].len(), 24);
    assert_ne!(first["password"], other["password"]);
    assert_ne!(first["id"], other["id"]);

    world.component("one", spec("second")).await;
    let component = world.ready("one").await;
    let second = data(&world, "one").await;
    assert_eq!(
        (second["note"].as_str(), second["revision"].as_str()),
        ("second", "2")
    );
    assert_eq!(
        (&second["password"], &second["id"]),
        (&first["password"], &first["id"])
    );

    let shown = serde_json::to_string(&component).unwrap();
    assert!(!shown.contains(&first["password"]), "{shown}");
    let events = world.events("one", "Ready").await.concat();
    assert!(!events.contains(&first["password"]), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn restarted_operator_renders_the_same_bytes() {
    let world = World::new("restart").await;
    let url = world.chart("random", &[("templates/s.yaml", TEMPLATE)]);
    world.install("kept", &url).await;
    world.ready("kept").await;
    let before = world.api::<Secret>().get("kept").await.unwrap();
    // A reconciler of its own knows nothing but what is stored.
    let component = world.components().get("kept").await.unwrap();
    let reconciler = Reconciler::<Component>::default().connect(shared().await.config());
    reconciler.await.unwrap().reconcile(component).await;
    let after = world.api::<Secret>().get("kept").await.unwrap();
    assert_eq!(
        after.metadata.resource_version,
        before.metadata.resource_version
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fidelity_makes_new_values_with_each_revision_and_no_sooner() {
    let world = World::new("fidelity").await;
    let url = world.chart("random", &[("templates/s.yaml", TEMPLATE)]);
    let spec = |note: &str| {
        json!({"source": {"url": {"url": url}}, "values": {"note": note},
            "helm": {"randomness": "fidelity"}})
    };
    world.component("fresh", spec("first")).await;
    world.ready("fresh").await;
    let first = data(&world, "fresh").await;
    let component = world.components().get("fresh").await.unwrap();
    let reconciler = Reconciler::<Component>::default().connect(shared().await.config());
    reconciler.await.unwrap().reconcile(component).await;
    assert_eq!(data(&world, "fresh").await, first);
    world.component("fresh", spec("second")).await;
    world.ready("fresh").await;
    let second = data(&world, "fresh").await;
    assert_ne!(second["password"], first["password"]);
    assert_ne!(second["id"], first["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn seed_is_kept_in_a_secret_that_goes_with_the_component() {
    let world = World::new("seed").await;
    let url = world.chart("random", &[("templates/s.yaml", TEMPLATE)]);
    world.install("seeded", &url).await;
    let component = world.ready("seeded").await;
    let name = component.status.unwrap().seed_secret.unwrap();
    let seed = world.api::<Secret>().get(&name).await.unwrap();
    assert_eq!(seed.type_.as_deref(), Some("whipstaff.dev/seed"));
    assert_eq!(seed.immutable, Some(true));

    world
        .components()
        .delete("seeded", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    let gone = |component: Option<&whipstaff::api::v1alpha1::Component>| component.is_none();
    whipstaff_test_support::eventually(&world.components(), "seeded", gone).await;
    assert!(
        world
            .api::<Secret>()
            .get_opt(&name)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_seed_is_made_for_charts_that_draw_nothing_and_none_is_taken_from_others() {
    let world = World::new("no-seed").await;
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    let url = world.chart("plain", &[("templates/c.yaml", plain)]);
    world.install("plain", &url).await;
    assert_eq!(world.ready("plain").await.status.unwrap().seed_secret, None);
    let seeds = world.api::<Secret>();
    assert!(
        seeds
            .get_opt("whipstaff-seed-plain")
            .await
            .unwrap()
            .is_none()
    );

    let _: Secret = world
        .create(json!({"metadata": {"name": "whipstaff-seed-taken"}, "stringData": {"seed": "x"}}))
        .await;
    let url = world.chart("random", &[("templates/s.yaml", TEMPLATE)]);
    world.install("taken", &url).await;
    let message = world.reason("taken", "SeedUnavailable").await;
    assert!(message.contains("whipstaff-seed-taken"), "{message}");
}
