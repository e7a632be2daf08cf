use crate::world::{World, condition, item, state};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use whipstaff::Status;
use whipstaff::api::v1alpha1::{Phase, State};
use whipstaff_test_support::pods;

fn deployment(wave: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations: {{whipstaff.dev/apply-order: '{wave}'}}\nspec:\n  replicas: 1\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata:\n      labels: {{app: web}}\n      annotations:\n        {}: {{{{ .Values.outcome }}}}\n    spec:\n      containers:\n        - {{name: main, image: example.org/web:1}}\n",
        pods::OUTCOME
    )
}

const LATER: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: later\n  annotations: {whipstaff.dev/apply-order: '1'}\n";

#[tokio::test(flavor = "multi_thread")]
async fn object_that_never_gets_ready_is_named_and_recovers() {
    let world = World::new("unready").await;
    let deployment = deployment("0");
    let url = world.chart(
        "web",
        &[
            ("templates/d.yaml", &deployment),
            ("templates/l.yaml", LATER),
        ],
    );
    let spec = |outcome: &str| json!({"source": {"url": {"url": url}}, "timeout": "3s", "values": {"outcome": outcome}});
    world.component("web", spec(pods::NEVER_READY)).await;

    let waiting = world
        .wait("web", |c| {
            condition(c).is_some_and(|(r, _)| r == "Progressing")
        })
        .await;
    assert_eq!(state(&waiting), Some(State::Processing));
    let (_, message) = condition(&waiting).unwrap();
    let named = format!("waiting for Deployment {}/web: ", world.namespace);
    assert!(
        message.starts_with(&named) && message.contains("(since "),
        "{message}"
    );
    let web = item(&waiting, "Deployment", "web");
    assert_eq!(
        (web.phase, web.status),
        (Phase::Applied, Status::InProgress)
    );
    assert!(web.since.is_some() && !web.message.is_empty());
    let later = world.api::<ConfigMap>();
    assert!(
        later.get_opt("later").await.unwrap().is_none(),
        "the later wave must wait"
    );

    let late = world.wait("web", |c| state(c) == Some(State::Error)).await;
    assert_eq!(condition(&late).unwrap().0, "Timeout");
    assert!(world.event("web", "Timeout").await.contains("Deployment"));

    world.component("web", spec(pods::READY)).await;
    world.ready("web").await;
    assert!(later.get_opt("later").await.unwrap().is_some());
}

/// What has failed is not waited for until the time is over, and is all right again when the object is.
#[tokio::test(flavor = "multi_thread")]
async fn failed_object_fails_the_component_at_once_and_until_it_recovers() {
    let world = World::new("failed").await;
    let web = deployment("0").replace(
        "  replicas: 1\n",
        "  replicas: 1\n  progressDeadlineSeconds: 1\n",
    );
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job, annotations: {whipstaff.dev/update-policy: recreate}}\nspec:\n  backoffLimit: 0\n  template:\n    metadata:\n      annotations: {kwok.whipstaff.dev/outcome: {{ .Values.outcome }}}\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: example.org/job:1}]\n";
    let spec = |chart: &str, template: &str, outcome: &str| {
        let url = world.chart(chart, &[("templates/t.yaml", template)]);
        json!({"source": {"url": {"url": url}}, "timeout": "1h", "values": {"outcome": outcome}})
    };
    world
        .component("web", spec("web", &web, pods::NEVER_READY))
        .await;
    world.component("job", spec("job", job, pods::FAIL)).await;
    for (name, kind) in [("web", "Deployment"), ("job", "Job")] {
        let failed = world.wait(name, |c| state(c) == Some(State::Error)).await;
        let (reason, message) = condition(&failed).unwrap();
        assert_eq!(reason, "ObjectFailed");
        let object = format!("{kind} {}/{name}", world.namespace);
        assert!(message.contains(&object), "{message}");
        let conditions = &failed.status.as_ref().unwrap().conditions;
        assert_eq!(conditions[0].status, "False");
        assert_eq!(item(&failed, kind, name).status, Status::Failed);
    }
    // The object recovers by itself.
    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = world.api();
    let of_web = kube::api::ListParams::default().labels("app=web");
    let pod = pods.list(&of_web).await.unwrap().items[0]
        .metadata
        .name
        .clone();
    let heal = json!({"metadata": {"annotations": {pods::OUTCOME: pods::READY}}});
    let params = kube::api::PatchParams::default();
    pods.patch(&pod.unwrap(), &params, &kube::api::Patch::Merge(heal))
        .await
        .unwrap();
    world.ready("web").await;
    // A better one takes its place.
    world.component("job", spec("job", job, pods::FINISH)).await;
    world.ready("job").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn object_that_falters_later_is_reported_and_recovers_by_itself() {
    let world = World::new("falter").await;
    let deployment = deployment("0");
    let url = world.chart("web", &[("templates/d.yaml", &deployment)]);
    let values = json!({"outcome": pods::READY});
    world
        .component(
            "web",
            json!({"source": {"url": {"url": url}}, "values": values}),
        )
        .await;
    world.ready("web").await;

    let pods: kube::Api<k8s_openapi::api::core::v1::Pod> = world.api();
    let of_web = kube::api::ListParams::default().labels("app=web");
    let name = pods.list(&of_web).await.unwrap().items[0]
        .metadata
        .name
        .clone()
        .unwrap();
    let outcome = |value: &str| {
        let patch = json!({"metadata": {"annotations": {pods::OUTCOME: value}}});
        let (pods, name) = (pods.clone(), name.clone());
        async move {
            let patch = kube::api::Patch::Merge(&patch);
            pods.patch(&name, &kube::api::PatchParams::default(), &patch)
                .await
                .unwrap();
        }
    };
    outcome(pods::NEVER_READY).await;
    let faltering = world
        .wait("web", |c| state(c) == Some(State::Processing))
        .await;
    assert_eq!(item(&faltering, "Deployment", "web").phase, Phase::Ready);
    outcome(pods::READY).await;
    world.ready("web").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kind_with_a_status_of_its_own_is_ready_when_its_expression_says_so() {
    let world = World::new("health").await;
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {phase: {{ .Values.phase }}}\n";
    let url = world.chart(
        "settings",
        &[("templates/s.yaml", settings), ("templates/l.yaml", LATER)],
    );
    let spec = |phase: &str, ready: &str| {
        let check = json!({"kind": "ConfigMap", "ready": ready, "failed": "has(data.phase) && data.phase == 'Broken'"});
        json!({"source": {"url": {"url": url}}, "values": {"phase": phase}, "health": [check]})
    };
    let up = "object.metadata.name != 'settings' || data.phase == 'Up'";
    world.component("settings", spec("Starting", up)).await;
    let message = world.reason("settings", "Progressing").await;
    assert!(
        message.contains("data.phase == 'Up'` is false"),
        "{message}"
    );
    let later = world.api::<ConfigMap>();
    assert!(later.get_opt("later").await.unwrap().is_none());

    world.component("settings", spec("Broken", up)).await;
    let failed = world
        .wait("settings", |c| {
            condition(c).is_some_and(|(reason, _)| reason == "ObjectFailed")
        })
        .await;
    assert!(condition(&failed).unwrap().1.contains("'Broken'` is true"));

    world.component("settings", spec("Up", "status.")).await;
    let invalid = world
        .wait("settings", |c| state(c) == Some(State::Error))
        .await;
    let (reason, message) = condition(&invalid).unwrap();
    assert_eq!(reason, "InvalidSpec");
    assert!(
        message.starts_with("`spec.health[0].ready` cannot be used"),
        "{message}"
    );

    world.component("settings", spec("Up", up)).await;
    world.ready("settings").await;
    assert!(later.get_opt("later").await.unwrap().is_some());
}
