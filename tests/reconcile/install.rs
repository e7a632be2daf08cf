use crate::world::{World, fixture, inventory, item};
use serde_json::json;
use whipstaff::api::v1alpha1::Phase;
use whipstaff_test_support::{pack_folder, shared};

#[tokio::test(flavor = "multi_thread")]
async fn chart_from_a_url_becomes_ready_with_everything_recorded() {
    let world = World::new("install").await;
    world
        .charts
        .put("/shop.tgz", pack_folder(&fixture("shop"), "shop").unwrap());
    world.install("shop", &world.charts.url("/shop.tgz")).await;
    let component = world.ready("shop").await;

    let status = component.status.as_ref().unwrap();
    assert!(status.inventory.len() > 25, "{:?}", inventory(&component));
    assert_eq!(status.generator.as_ref().unwrap().name, "helm");
    assert_eq!(status.revision, Some(1));
    assert!(
        status
            .source
            .as_ref()
            .unwrap()
            .digest
            .starts_with("sha256:")
    );
    let database = item(&component, "StatefulSet", "shop-database");
    assert_eq!(database.phase, Phase::Ready);
    assert!(!database.digest.is_empty() && database.since.is_some());
    assert!(world.event("shop", "Ready").await.contains("ready"));
}

#[tokio::test(flavor = "multi_thread")]
async fn second_run_writes_nothing() {
    let world = World::new("quiet").await;
    world
        .charts
        .put("/shop.tgz", pack_folder(&fixture("shop"), "shop").unwrap());
    // The definitions of the chart are the cluster's: another test installs the same chart.
    let url = world.charts.url("/shop.tgz");
    let spec = json!({"source": {"url": {"url": url}}, "interval": "1s",
        "helm": {"includeCRDs": false}, "values": {"discounts": []}});
    world.component("shop", spec).await;
    world.ready("shop").await;

    // Each look at the source is a run; the first ones may still see the last of the rollout.
    let runs = |count: usize| {
        let world = &world;
        async move {
            let start = world.charts.count("/shop.tgz");
            while world.charts.count("/shop.tgz") < start + count {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    };
    runs(3).await;
    let audit = shared().await.audit_log();
    let mark = audit.mark().await.unwrap();
    runs(3).await;
    let writes: Vec<_> = audit
        .entries_since(mark)
        .await
        .unwrap()
        .into_iter()
        .filter(|e| e.namespace == world.namespace && e.is_write() && !e.is_by_control_plane())
        .collect();
    assert!(writes.is_empty(), "{writes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pinned_digest_is_fetched_once() {
    let world = World::new("pinned").await;
    // Its own name makes it an archive that no other test has brought into the cache.
    let archive = pack_folder(&fixture("small"), "pinned").unwrap();
    let digest = whipstaff::generator::Digest::of(&archive).to_string();
    world.charts.put("/small.tgz", archive);
    let source = json!({"url": {"url": world.charts.url("/small.tgz"), "digest": digest}});
    world
        .component("small", json!({"source": source, "interval": "1s"}))
        .await;
    world.ready("small").await;
    let other = json!({"url": {"url": world.charts.url("/small.tgz"), "digest": digest}});
    world
        .component("again", json!({"source": other, "targetName": "again"}))
        .await;
    world.ready("again").await;
    assert_eq!(world.charts.count("/small.tgz"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_manifests_are_detected_and_applied() {
    let world = World::new("plain").await;
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: b}\n";
    let files = [("top/manifest.yaml".to_owned(), manifest.to_owned())];
    world.charts.put(
        "/plain.tgz",
        whipstaff_test_support::pack_files(&files).unwrap(),
    );
    world
        .install("plain", &world.charts.url("/plain.tgz"))
        .await;
    let component = world.ready("plain").await;
    assert_eq!(
        component
            .status
            .as_ref()
            .unwrap()
            .generator
            .as_ref()
            .unwrap()
            .name,
        "directory"
    );
    assert_eq!(inventory(&component), ["ConfigMap plain"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_from_a_secret_open_the_source() {
    let world = World::new("login").await;
    let archive = pack_folder(&fixture("small"), "small").unwrap();
    let serving = whipstaff_test_support::Serving::default().basic_auth("me", "secret");
    world.charts.put_with("/small.tgz", archive, serving);
    let source =
        json!({"url": {"url": world.charts.url("/small.tgz"), "credentials": {"name": "login"}}});
    world
        .component("small", json!({"source": source, "retryInterval": "1s"}))
        .await;
    let message = world.reason("small", "CredentialsUnavailable").await;
    assert_eq!(
        message,
        "the Secret `login` with the credentials does not exist"
    );

    let _: k8s_openapi::api::core::v1::Secret = world
        .create(json!({"metadata": {"name": "login"},
            "stringData": {"username": "me", "password": "secret"}}))
        .await;
    world.ready("small").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chart_that_installs_the_operator_becomes_ready() {
    let world = World::new("self").await;
    let chart = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("charts/whipstaff");
    world
        .charts
        .put("/whipstaff.tgz", pack_folder(&chart, "whipstaff").unwrap());
    // The definitions are those that this operator lives on: deleting the component must not take them.
    let url = world.charts.url("/whipstaff.tgz");
    let spec = json!({"source": {"url": {"url": url}}, "helm": {"includeCRDs": false}});
    world.component("whipstaff", spec).await;
    let component = world.ready("whipstaff").await;
    assert!(inventory(&component).contains(&"Deployment whipstaff".to_owned()));
}
