use crate::world::{World, condition, inventory, state};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, ListParams};
use serde_json::{Value, json};
use std::process::Command;
use whipstaff::api::v1alpha1::{Component, HookPhase, State};
use whipstaff_test_support::{eventually, shared};

/// A hook that is a Job; it fails as the value `fail` names it.
pub(crate) fn job(name: &str, hook: &str, policy: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    helm.sh/hook: {hook}\n    helm.sh/hook-delete-policy: {policy}\nspec:\n  backoffLimit: 0\n  template:\n    metadata: {{annotations: {{kwok.whipstaff.dev/outcome: {{{{ eq .Values.fail \"{name}\" | ternary \"fail\" \"finish\" }}}}}}}}\n    spec:\n      restartPolicy: Never\n      containers: [{{name: main, image: example.org/job:1}}]\n"
    )
}

const MAIN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: main}\ndata: {text: {{ .Values.text | quote }}}\n";

/// A chart with `main` and hooks, and a function that makes specs of values.
fn chart(world: &World, name: &str, hooks: &[String]) -> impl Fn(&str, &str) -> Value + use<> {
    let paths: Vec<_> = (0..hooks.len())
        .map(|n| format!("templates/h{n}.yaml"))
        .collect();
    let mut templates: Vec<(&str, &str)> = vec![("templates/m.yaml", MAIN)];
    templates.extend(
        paths
            .iter()
            .zip(hooks)
            .map(|(path, text)| (&**path, &**text)),
    );
    let url = world.chart(name, &templates);
    move |text, fail| json!({"source": {"url": {"url": url}}, "values": {"text": text, "fail": fail}})
}

/// How the hooks of the event that ran last are: `name phase`, with `gone` for those that were deleted.
fn ran(component: &Component) -> Vec<String> {
    let hooks = component.status.as_ref().unwrap().hooks.as_ref().unwrap();
    let items = hooks.run.hooks.iter();
    items
        .map(|hook| {
            let gone = if hook.deleted { " gone" } else { "" };
            format!("{} {}{gone}", hook.name, hook.phase)
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_once_per_revision_and_go_when_they_are_done() {
    let world = World::new("hooks").await;
    let hooks = [
        job(
            "before",
            "pre-install,pre-upgrade",
            "before-hook-creation,hook-succeeded",
        ),
        job("kept", "post-upgrade", "before-hook-creation"),
    ];
    let spec = chart(&world, "hooks", &hooks);
    world.component("hooks", spec("one", "")).await;
    let first = world.ready("hooks").await;
    assert_eq!(ran(&first), ["before Succeeded gone"]);
    assert_eq!(inventory(&first), ["ConfigMap main"]);
    let jobs = world.api::<Job>();
    assert!(jobs.get_opt("before").await.unwrap().is_none());
    assert!(
        jobs.get_opt("kept").await.unwrap().is_none(),
        "it runs on upgrades only"
    );

    world.component("hooks", spec("two", "")).await;
    let second = world.ready("hooks").await;
    assert_eq!(ran(&second), ["kept Succeeded"]);
    let uid = jobs.get("kept").await.unwrap().metadata.uid;
    let main = world.api::<ConfigMap>().get("main").await.unwrap();
    assert_eq!(main.data.unwrap()["text"], "two");

    // A run that changes nothing runs no hooks, even if somebody cleans up behind them.
    jobs.delete("kept", &DeleteParams::background())
        .await
        .unwrap();
    let asked = json!({"metadata": {"annotations": {"whipstaff.dev/reconcile-at": "now"}}});
    world.merge("hooks", asked).await;
    world
        .wait("hooks", |c| {
            let status = c.status.as_ref().unwrap();
            status.last_handled_reconcile_at.as_deref() == Some("now")
        })
        .await;
    world.component("hooks", spec("three", "")).await;
    let third = world.ready("hooks").await;
    let again = jobs.get("kept").await.unwrap().metadata.uid;
    assert_ne!(again, uid, "each revision runs it anew");
    let revisions = third
        .status
        .unwrap()
        .history
        .into_iter()
        .map(|entry| entry.revision);
    assert_eq!(revisions.collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_that_fails_stops_everything_until_somebody_asks_again() {
    let world = World::new("hook-fails").await;
    let spec = chart(
        &world,
        "fails",
        &[job("check", "pre-install", "before-hook-creation")],
    );
    world.component("fails", spec("one", "check")).await;
    let message = world.reason("fails", "HookFailed").await;
    assert!(message.contains("pre-install hook Job"), "{message}");
    assert!(message.contains("/check failed"), "{message}");
    let maps = world.api::<ConfigMap>();
    assert!(maps.get_opt("main").await.unwrap().is_none());
    let jobs = world.api::<Job>();
    let uid = jobs.get("check").await.unwrap().metadata.uid;

    let asked = json!({"metadata": {"annotations": {"whipstaff.dev/reconcile-at": "now"}}});
    world.merge("fails", asked).await;
    let again = eventually(&jobs, "check", |job| {
        job.is_some_and(|job| job.metadata.uid != uid)
    })
    .await;
    let uid = again.unwrap().metadata.uid;

    world.component("fails", spec("one", "")).await;
    let ready = world.ready("fails").await;
    assert_eq!(ran(&ready), ["check Succeeded"]);
    assert_ne!(jobs.get("check").await.unwrap().metadata.uid, uid);
    assert_eq!(
        ready.status.unwrap().revision,
        Some(1),
        "nothing was there before"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_the_deletion_run_although_the_source_is_gone() {
    let world = World::new("hook-leave").await;
    let hooks = [
        job("farewell", "pre-delete", "before-hook-creation"),
        job("last", "post-delete", "hook-succeeded"),
    ];
    let spec = chart(&world, "leaves", &hooks);
    world.component("leaves", spec("one", "farewell")).await;
    let ready = world.ready("leaves").await;
    let kept = ready.status.unwrap().hooks_secret.unwrap();
    world.charts.remove("/leaves.tgz");

    let components = world.components();
    components
        .delete("leaves", &DeleteParams::default())
        .await
        .unwrap();
    let failed = eventually(&components, "leaves", |c| {
        c.and_then(condition)
            .is_some_and(|(reason, _)| reason == "HookFailed")
    })
    .await;
    assert_eq!(state(&failed.unwrap()), Some(State::Error));
    let maps = world.api::<ConfigMap>();
    assert!(
        maps.get_opt("main").await.unwrap().is_some(),
        "nothing goes before"
    );

    // Who has no use for them does without.
    world
        .merge("leaves", json!({"spec": {"helm": {"hooks": false}}}))
        .await;
    eventually(&components, "leaves", |c| c.is_none()).await;
    assert!(maps.get_opt("main").await.unwrap().is_none());
    let left = world.api::<Job>().get("farewell").await.unwrap();
    let labels = left.metadata.labels.unwrap_or_default();
    assert!(
        !labels.contains_key("whipstaff.dev/owner-id"),
        "what stays is nobody's"
    );
    let secrets = world.api::<Secret>();
    eventually(&secrets, &kept, |secret| secret.is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hook_that_fails_after_everything_is_deleted_is_told_and_holds_nothing_up() {
    let world = World::new("hook-last").await;
    let spec = chart(&world, "ends", &[job("last", "post-delete", "hook-failed")]);
    world.component("ends", spec("one", "last")).await;
    world.ready("ends").await;
    let components = world.components();
    components
        .delete("ends", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "ends", |c| c.is_none()).await;
    let note = world.event("ends", "HookFailed").await;
    assert!(note.contains("post-delete hook Job"), "{note}");
    assert!(world.api::<Job>().get_opt("last").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn test_hooks_run_when_somebody_asks() {
    let world = World::new("hook-test").await;
    let hooks = [job("probe", "test", "before-hook-creation")];
    let spec = chart(&world, "tested", &hooks);
    world.component("tested", spec("one", "")).await;
    world.ready("tested").await;
    assert!(
        world
            .api::<Job>()
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let test = |world: &World| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whipstaff"));
        command.args(["test", "tested", "--timeout", "1m", "-n", &world.namespace]);
        command
    };
    let kubeconfig = shared().await.kubeconfig_path();
    let run = |mut command: Command| {
        command.env("KUBECONFIG", kubeconfig);
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let passed = run(test(&world)).await.unwrap();
    let told = String::from_utf8(passed.stdout).unwrap();
    assert!(
        passed.status.success(),
        "{}",
        String::from_utf8_lossy(&passed.stderr)
    );
    assert!(
        told.contains("/probe  Succeeded\n1 hooks succeeded\n"),
        "{told}"
    );
    world.event("tested", "TestSucceeded").await;

    world.component("tested", spec("one", "probe")).await;
    world.ready("tested").await;
    let failed = run(test(&world)).await.unwrap();
    let told = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(told.contains("/probe failed"), "{told}");
    let component = world.ready("tested").await;
    let test = component.status.unwrap().test.unwrap();
    assert_eq!(test.run.phase, HookPhase::Failed);
}
