//! Everything that can be wrong with a component is said in its condition and in an event, and nothing is applied or lost.

use crate::world::{World, condition, fixture, inventory, state};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ListParams;
use serde_json::json;
use whipstaff::api::v1alpha1::State;
use whipstaff_test_support::{Serving, pack_folder};

const GOOD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\ndata: {a: b}\n";

/// Neither the good object nor anything else of ours is there.
async fn assert_nothing_applied(world: &World) {
    let ours = ListParams::default().labels("whipstaff.dev/owner-id");
    let found = world.api::<ConfigMap>().list(&ours).await.unwrap();
    assert!(found.items.is_empty());
}

async fn fails(world: &World, name: &str, reason: &str, stalled: bool) -> String {
    let message = world.reason(name, reason).await;
    let component = world.components().get(name).await.unwrap();
    let conditions = &component.status.as_ref().unwrap().conditions;
    assert_eq!(
        conditions.iter().any(|c| c.type_ == "Stalled"),
        stalled,
        "{conditions:?}"
    );
    assert_eq!(world.event(name, reason).await, message);
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn address_that_serves_nothing() {
    let world = World::new("missing").await;
    let url = world.charts.url("/missing.tgz");
    world.install("c", &url).await;
    let message = fails(&world, "c", "FetchFailed", false).await;
    assert!(
        message.contains("404") && message.contains("/missing.tgz"),
        "{message}"
    );
    assert_nothing_applied(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn archive_with_another_digest() {
    let world = World::new("digest").await;
    let url = world.chart("good", &[("templates/good.yaml", GOOD)]);
    let digest = format!("sha256:{}", "0".repeat(64));
    world
        .component(
            "c",
            json!({"source": {"url": {"url": url, "digest": digest}}}),
        )
        .await;
    let message = fails(&world, "c", "DigestMismatch", true).await;
    assert!(message.contains(&digest), "{message}");
    assert_nothing_applied(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn archive_that_is_cut_short() {
    let world = World::new("short").await;
    let archive = pack_folder(&fixture("small"), "small").unwrap();
    let half = archive[..archive.len() / 2].to_vec();
    world.charts.put("/short.tgz", half);
    world.install("c", &world.charts.url("/short.tgz")).await;
    let message = fails(&world, "c", "InvalidArchive", true).await;
    assert!(
        message.contains("truncated") || message.contains("damaged"),
        "{message}"
    );

    let size = archive.len() / 2;
    world.charts.put_with(
        "/broken.tgz",
        archive,
        Serving::default().truncated_at(size),
    );
    world.install("d", &world.charts.url("/broken.tgz")).await;
    fails(&world, "d", "FetchFailed", false).await;
    assert_nothing_applied(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn template_that_fails_names_file_and_line() {
    let world = World::new("template").await;
    world.charts.put(
        "/b.tgz",
        pack_folder(&fixture("broken-template"), "broken-template").unwrap(),
    );
    world.install("c", &world.charts.url("/b.tgz")).await;
    let message = fails(&world, "c", "RenderFailed", true).await;
    assert!(
        message.contains("templates/configmap.yaml:6:19"),
        "{message}"
    );
    assert_nothing_applied(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn object_that_the_api_server_refuses() {
    let world = World::new("invalid").await;
    let bad =
        "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999}]}\n";
    let url = world.chart(
        "c",
        &[("templates/a.yaml", GOOD), ("templates/b.yaml", bad)],
    );
    world.install("c", &url).await;
    let message = fails(&world, "c", "InvalidObject", true).await;
    assert!(
        message.contains("Service") && message.contains("99999"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn upgrade_that_the_api_server_refuses_changes_nothing() {
    let world = World::new("refused").await;
    let objects = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\ndata: {a: {{ .Values.port | quote }}}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: {{ .Values.port }}}]}\n";
    let url = world.chart("c", &[("templates/a.yaml", objects)]);
    let spec = |port: u32| json!({"source": {"url": {"url": url}}, "values": {"port": port}});
    world.component("c", spec(80)).await;
    world.ready("c").await;
    world.component("c", spec(99999)).await;
    let message = fails(&world, "c", "InvalidObject", true).await;
    assert!(message.contains("99999"), "{message}");
    let good = world.api::<ConfigMap>().get("good").await.unwrap();
    assert_eq!(good.data.unwrap()["a"], "80");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_upgrade_leaves_what_was_applied() {
    let world = World::new("keeps").await;
    let templates = [(
        "templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good}\ndata: {a: {{ required \"a is needed\" .Values.a }}}\n",
    )];
    let url = world.chart("c", &templates);
    let spec =
        |values: serde_json::Value| json!({"source": {"url": {"url": url}}, "values": values});
    world.component("c", spec(json!({"a": "b"}))).await;
    world.ready("c").await;
    world.component("c", spec(json!({}))).await;
    let failed = world.wait("c", |c| state(c) == Some(State::Error)).await;
    assert!(condition(&failed).unwrap().1.contains("a is needed"));
    assert_eq!(inventory(&failed), ["ConfigMap good"]);
    assert_eq!(
        world
            .api::<ConfigMap>()
            .get("good")
            .await
            .unwrap()
            .data
            .unwrap()["a"],
        "b"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kind_that_the_cluster_does_not_serve() {
    let world = World::new("kind").await;
    let gadget = "apiVersion: nowhere.example.org/v1\nkind: Gadget\nmetadata: {name: g}\n";
    let url = world.chart(
        "c",
        &[("templates/a.yaml", GOOD), ("templates/g.yaml", gadget)],
    );
    world.install("c", &url).await;
    let message = fails(&world, "c", "KindNotServed", false).await;
    assert!(
        message.contains("CustomResourceDefinition") && message.contains("g.yaml"),
        "{message}"
    );
    assert_nothing_applied(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_specs_are_refused_by_the_api_server() {
    let world = World::new("spec").await;
    let url = json!({"url": {"url": "https://example.org/c.tgz"}});
    let cases = [
        (json!({"source": {}}), "exactly one source"),
        (json!({"source": url, "interval": "soon"}), "interval"),
        (json!({"source": {"url": {"url": "ftp://x"}}}), "url"),
        (json!({"source": url, "helm": {"dialect": "v2"}}), "dialect"),
    ];
    for (spec, word) in cases {
        let object = json!({"apiVersion": "whipstaff.dev/v1alpha1", "kind": "Component",
            "metadata": {"name": "c"}, "spec": spec});
        let params = kube::api::PatchParams::apply("test");
        let answer = world
            .components()
            .patch("c", &params, &kube::api::Patch::Apply(&object))
            .await;
        let error = answer.unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Defect 12: templates see nothing of the operator itself. (`kubeconfig_that_runs_a_program_is_refused_and_the_field_named` has the
/// rest.)
#[tokio::test(flavor = "multi_thread")]
async fn templates_cannot_read_the_environment_of_the_operator() {
    let world = World::new("environment").await;
    for function in ["env", "expandenv"] {
        let template = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{path: {{{{ {function} \"PATH\" | quote }}}}}}\n"
        );
        let url = world.chart(function, &[("templates/m.yaml", &template)]);
        world.install(function, &url).await;
        let message = world.reason(function, "RenderFailed").await;
        let expected = format!("function \"{function}\" not defined");
        assert!(message.contains(&expected), "{message}");
    }
}
