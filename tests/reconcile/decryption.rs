use crate::world::{World, condition};
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Recipient of the key `test-one`.
const RECIPIENT: &str = "age174kassap9rnt035j8xr9wmlc6he8q8dkuu3yu2krdggjam07n96qx7smfl";

fn fixture(path: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sops");
    std::fs::read_to_string(root.join(path)).unwrap()
}

fn spec(url: &str) -> Value {
    json!({"source": {"url": {"url": url}}, "decryption": {"secretRef": {"name": "keys"}}, "retryInterval": "1s"})
}

async fn keys(world: &World, entry: &str, file: &str) {
    let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
        "stringData": {entry: fixture(file)}});
    let params = PatchParams::apply("test").force();
    world
        .api::<Secret>()
        .patch("keys", &params, &Patch::Apply(&object))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn encrypted_files_are_decrypted_once_the_right_key_is_there() {
    let world = World::new("sops").await;
    let env = fixture("encrypted/age/app.env");
    let url = world.archive(
        "secret",
        &[
            (
                "kustomization.yaml",
                "secretGenerator:\n- name: app\n  envs: [app.env]\n  options: {disableNameSuffixHash: true}\n",
            ),
            ("app.env", &env),
        ],
    );
    world.component("secret", spec(&url)).await;
    let message = world.reason("secret", "KeysUnavailable").await;
    assert!(message.contains("the Secret `keys`"), "{message}");
    keys(&world, "a.agekey", "keys/test-stranger.agekey").await;
    let message = world.reason("secret", "DecryptionFailed").await;
    assert!(
        message.contains("`app.env` cannot be decrypted") && message.contains(RECIPIENT),
        "{message}"
    );
    keys(&world, "a.agekey", "keys/test-one.agekey").await;
    world.ready("secret").await;
    let secret = world.api::<Secret>().get("app").await.unwrap();
    let data = secret.data.unwrap();
    assert_eq!(data["NUMBER"].0, b"5432");
    assert_eq!(data["DATABASE_URL"].0, b"postgres://user:pa=ss@host/db?x=y");
    let component = world.components().get("secret").await.unwrap();
    let shown = serde_json::to_string(&component).unwrap();
    assert!(!shown.contains("pa=ss"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_text_is_neither_in_status_nor_in_events_when_a_template_tells_it() {
    let world = World::new("sops-told").await;
    keys(&world, "curve.asc", "keys/test-curve.asc").await;
    let values = fixture("encrypted/pgp-curve/values.yaml");
    let telling = "{{ fail (printf \"no %s and %v and %s\" .Values.unicode .Values.big (.Values.unicode | b64enc)) }}";
    let url = world.chart(
        "told",
        &[("values.yaml", &values), ("templates/a.yaml", telling)],
    );
    world.component("told", spec(&url)).await;
    let message = world.reason("told", "InvalidParameters").await;
    assert!(message.contains("no *** and ***e+13 and ***"), "{message}");
    let component = world.components().get("told").await.unwrap();
    let mut shown = serde_json::to_string(&component).unwrap();
    let events = world
        .api::<Event>()
        .list(&ListParams::default())
        .await
        .unwrap();
    for event in events {
        shown.push_str(&event.message.unwrap_or_default());
    }
    for plain in ["grüße", "2345678901234"] {
        assert!(!shown.contains(plain), "{shown}");
    }
    assert!(condition(&component).is_some());

    // What is right with the chart is applied.
    let right = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\ndata: {word: {{ .Values.word }}}\n";
    let url = world.chart(
        "right",
        &[("values.yaml", &values), ("templates/a.yaml", right)],
    );
    world.component("told", spec(&url)).await;
    world.ready("told").await;
    let maps = world.api::<k8s_openapi::api::core::v1::ConfigMap>();
    let told = maps.get("told").await.unwrap();
    assert_eq!(
        told.data.as_ref().unwrap()["word"],
        "plain",
        "{}",
        told.name_any()
    );
}

/// Defect 11.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_an_included_kustomization_are_decrypted_too() {
    let world = World::new("included").await;
    let env = fixture("encrypted/age/app.env");
    let generator = "secretGenerator:\n- name: app\n  envs: [app.env]\n  options: {disableNameSuffixHash: true}\n";
    let url = world.archive(
        "included",
        &[
            ("kustomization.yaml", "resources: [base]\n"),
            ("base/kustomization.yaml", generator),
            ("base/app.env", &env),
        ],
    );
    keys(&world, "a.agekey", "keys/test-one.agekey").await;
    world.component("included", spec(&url)).await;
    world.ready("included").await;
    let secret = world.api::<Secret>().get("app").await.unwrap();
    assert_eq!(secret.data.unwrap()["NUMBER"].0, b"5432");
}
