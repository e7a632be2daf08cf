use crate::fleet::{Fleet, Maker, NAME, adoption};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use std::process::Command;
use whipstaff_test_support::shared;

/// What the program printed, and whether it succeeded.
async fn whipstaff(fleet: &Fleet, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whipstaff"));
    command.args(arguments);
    command.args(["-n", &fleet.world.namespace]);
    command.arg("--kubeconfig");
    command.arg(shared().await.kubeconfig_path());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn command_lists_proves_writes_and_applies() {
    let fleet = Fleet::install("command", Maker::Helm4Client).await;
    let (succeeded, list, error) = whipstaff(&fleet, &["releases"]).await;
    assert!(succeeded, "{error}");
    let line = list.lines().nth(1).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    assert_eq!(
        &cells[1..],
        [NAME, "1", "deployed", "web-1.2.3", "v4.3", "yes"]
    );

    let before = fleet.identities().await;
    let (succeeded, proof, error) = whipstaff(&fleet, &["adopt", NAME]).await;
    assert!(succeeded, "{proof}{error}");
    for part in [
        "NOTHING CHANGES",
        "/data/password (random)",
        "Job ",
        "web-files",
        "(time)",
    ] {
        assert!(proof.contains(part), "{part}: {proof}");
    }
    let password = fleet.secret(NAME, "password").await;
    assert!(!proof.contains(&password), "{proof}");

    let (succeeded, manifests, error) = whipstaff(&fleet, &["adopt", NAME, "--write"]).await;
    assert!(succeeded, "{error}");
    let component = manifests.split("kind: Component").nth(1).unwrap();
    assert!(!component.contains("hunter22"), "{component}");
    assert!(component.contains("dialect: v4.3"), "{component}");

    let (succeeded, proof, error) = whipstaff(&fleet, &["adopt", NAME, "--apply"]).await;
    assert!(succeeded, "{proof}{error}");
    let component = fleet.adopted(NAME).await;
    assert_eq!(adoption(&component).unwrap().pinned_secret, None);
    assert_eq!(fleet.secret(NAME, "password").await, password);
    let mut after = fleet.identities().await;
    after.retain(|key, _| key != "Secret web-values");
    assert_eq!(after, before);
    let secrets = fleet.world.api::<Secret>();
    let pinned = secrets.get("whipstaff-pinned-web").await.unwrap();
    assert!(pinned.annotations().contains_key("whipstaff.dev/note"));
    let (_, list, _) = whipstaff(&fleet, &["releases"]).await;
    assert!(list.contains("done: the Component"), "{list}");
}
