use crate::world::{World, item};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use whipstaff::api::v1alpha1::Phase;

fn job(name: &str, hook: &str, policy: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    helm.sh/hook: {hook}\n    helm.sh/hook-delete-policy: {policy}\nspec:\n  template:\n    metadata: {{annotations: {{text: {{{{ .Values.text | quote }}}}}}}}\n    spec:\n      restartPolicy: Never\n      containers: [{{name: main, image: example.org/job:1}}]\n"
    )
}

const MAIN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: main}\ndata: {text: {{ .Values.text | quote }}}\n";

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_once_per_revision_and_go_when_they_are_done() {
    let world = World::new("hooks").await;
    let (before, kept) = (
        job(
            "before",
            "pre-install,pre-upgrade",
            "before-hook-creation,hook-succeeded",
        ),
        job("kept", "post-upgrade", "before-hook-creation"),
    );
    let url = world.chart(
        "hooks",
        &[
            ("templates/b.yaml", &before),
            ("templates/k.yaml", &kept),
            ("templates/m.yaml", MAIN),
        ],
    );
    let spec = |text: &str| json!({"source": {"url": {"url": url}}, "values": {"text": text}});
    world.component("hooks", spec("one")).await;
    let first = world.ready("hooks").await;
    assert_eq!(item(&first, "Job", "before").phase, Phase::Completed);
    let jobs = world.api::<Job>();
    assert!(jobs.get_opt("before").await.unwrap().is_none());
    assert!(
        jobs.get_opt("kept").await.unwrap().is_none(),
        "it runs on upgrades only"
    );

    world.component("hooks", spec("two")).await;
    let second = world.ready("hooks").await;
    assert_eq!(item(&second, "Job", "before").phase, Phase::Completed);
    let uid = jobs.get("kept").await.unwrap().metadata.uid;
    let main = world.api::<ConfigMap>().get("main").await.unwrap();
    assert_eq!(main.data.unwrap()["text"], "two");

    world.component("hooks", spec("three")).await;
    world.ready("hooks").await;
    assert_ne!(
        jobs.get("kept").await.unwrap().metadata.uid,
        uid,
        "each revision runs it anew"
    );
}
