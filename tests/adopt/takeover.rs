use crate::fleet::{Fleet, Maker, NAME, adoption};
use crate::world::{condition, item};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use whipstaff::api::v1alpha1::AdoptionPhase;
use whipstaff_test_support::eventually;

#[tokio::test(flavor = "multi_thread")]
async fn release_of_helm_3_becomes_a_component_and_nothing_restarts() {
    Box::pin(takes_over(Maker::Helm3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn release_that_helm_4_patched_becomes_a_component_and_nothing_restarts() {
    Box::pin(takes_over(Maker::Helm4Client)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn release_that_helm_4_applied_becomes_a_component_and_nothing_restarts() {
    Box::pin(takes_over(Maker::Helm4Server)).await;
}

async fn takes_over(maker: Maker) {
    let fleet = Fleet::install("takeover", maker).await;
    let before = fleet.identities().await;
    let password = fleet.secret(NAME, "password").await;
    let kept = fleet.secret("web-kept", "password").await;
    let begin = fleet.mark().await;

    fleet.component("adopted", json!({})).await;
    let proof = fleet.verified("adopted").await;
    assert_eq!(proof.phase, AdoptionPhase::ReadyToAdopt, "{proof:?}");
    assert!(proof.identical, "{}", proof.message);
    assert_eq!(fleet.writes(begin).await, [], "a proof writes nothing");

    let component = fleet.approve("adopted").await;
    let adoption = adoption(&component).unwrap();
    assert_eq!((adoption.revision, adoption.objects), (1, Some(8)));
    assert_eq!(fleet.identities().await, before);
    let writes = fleet.writes(begin).await;
    let other: Vec<_> = writes
        .iter()
        .filter(|w| w.verb != "patch" && !w.name.starts_with("whipstaff-"))
        .collect();
    assert!(other.is_empty(), "{other:?}");

    assert_eq!(fleet.secret(NAME, "password").await, password);
    assert_eq!(fleet.secret("web-kept", "password").await, kept);
    for (kind, plural, group) in [
        ("Deployment", "deployments", "apps"),
        ("Secret", "secrets", ""),
    ] {
        let managers = fleet.managers(kind, plural, group).await;
        assert!(
            managers.contains(&"whipstaff Apply".to_owned()),
            "{managers:?}"
        );
        let of_helm = managers.iter().any(|manager| manager.starts_with("helm"));
        assert!(!of_helm, "{managers:?}");
    }
    let deployment = fleet.world.api::<Deployment>().get(NAME).await.unwrap();
    let annotations = deployment.annotations();
    assert_eq!(annotations["meta.helm.sh/release-name"], NAME);
    assert_eq!(deployment.labels()["app.kubernetes.io/managed-by"], "Helm");

    // Another look writes nothing.
    let quiet = fleet.mark().await;
    let again = json!({"metadata": {"annotations": {"whipstaff.dev/reconcile-at": "now"}}});
    fleet.world.merge("adopted", again).await;
    let heeded = |c: &whipstaff::api::v1alpha1::Component| {
        let status = c.status.as_ref();
        status.and_then(|s| s.last_handled_reconcile_at.as_deref()) == Some("now")
    };
    fleet.world.wait("adopted", heeded).await;
    fleet.world.ready("adopted").await;
    assert_eq!(fleet.writes(quiet).await, []);

    // Other values upgrade it, and values that are made anew stay.
    let values = json!({"values": {"greeting": "good day"}});
    fleet.component("adopted", values).await;
    let upgraded = fleet.world.ready("adopted").await;
    assert_eq!(upgraded.status.unwrap().revision, Some(2));
    let map = fleet.world.api::<ConfigMap>().get(NAME).await.unwrap();
    assert_eq!(map.data.unwrap()["greeting"], "good day");
    assert_eq!(fleet.secret(NAME, "password").await, password);
    let history = fleet.helm(&["history", NAME]).await.unwrap();
    assert!(history.contains("deployed"), "{history}");
}

#[tokio::test(flavor = "multi_thread")]
async fn identical_release_needs_no_approval_and_claims_outlive_the_component() {
    let fleet = Fleet::install("automatic", Maker::Helm4Server).await;
    let hook = fleet.world.api::<Job>().get("web-hook").await.unwrap();
    let approval = json!({"adopt": {"helmRelease": {"approval": "AutomaticIfIdentical"}}});
    fleet.component("auto", approval.clone()).await;
    let component = fleet.adopted("auto").await;
    let pinned = adoption(&component).unwrap().pinned_secret.clone().unwrap();
    let status = component.status.unwrap();
    assert!(status.inventory.iter().all(|item| item.name != "web-hook"));
    let after = fleet.world.api::<Job>().get("web-hook").await.unwrap();
    assert_eq!(after.uid(), hook.uid(), "a hook has run");

    // Another component is refused.
    fleet.component("second", approval).await;
    let message = fleet.world.reason("second", "ReleaseClaimed").await;
    assert!(message.contains("/auto`"), "{message}");

    let components = fleet.world.components();
    let params = DeleteParams::default();
    components.delete("auto", &params).await.unwrap();
    eventually(&components, "auto", |c| c.is_none()).await;
    let claims = fleet.world.api::<PersistentVolumeClaim>();
    let claim = claims.get("web-files").await.unwrap();
    assert_eq!(claim.metadata.deletion_timestamp, None);
    assert!(!claim.labels().contains_key("whipstaff.dev/owner-id"));
    let secrets = fleet.world.api::<Secret>();
    assert!(secrets.get_opt(&pinned).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_changed_is_told_and_left_by_choice() {
    let fleet = Fleet::install("drifted", Maker::Helm3).await;
    let deployments = fleet.world.api::<Deployment>();
    let scale = json!({"spec": {"replicas": 3}});
    let params = PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..PatchParams::default()
    };
    deployments
        .patch(NAME, &params, &Patch::Merge(&scale))
        .await
        .unwrap();

    // With drift put right something would change.
    fleet.component("adopted", json!({})).await;
    let proof = fleet.verified("adopted").await;
    assert!(!proof.identical);
    assert!(
        proof.message.contains("Deployment") && proof.message.contains("/spec/replicas"),
        "{}",
        proof.message
    );
    let waiting = fleet.world.reason("adopted", "ReadyToAdopt").await;
    assert!(waiting.contains("approve-adoption"), "{waiting}");

    let report = json!({"policies": {"drift": {"mode": "Report"}}});
    fleet.component("adopted", report).await;
    fleet
        .world
        .wait("adopted", |c| adoption(c).is_some_and(|a| a.identical))
        .await;
    let component = fleet.approve("adopted").await;
    let drift = &item(&component, "Deployment", NAME).drift;
    assert!(
        drift.contains("/spec/replicas") && drift.contains("somebody"),
        "{drift}"
    );
    let deployment = deployments.get(NAME).await.unwrap();
    assert_eq!(deployment.spec.unwrap().replicas, Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn chart_that_is_not_the_one_of_the_release_is_not_identical_and_nothing_is_written() {
    let fleet = Fleet::install("tampered", Maker::Helm4Client).await;
    let mut files = crate::fleet::chart();
    files[3].1 = files[3].1.replace("greeting: {{", "greeting: x{{");
    let packed = whipstaff_test_support::pack_files(&files).unwrap();
    fleet.world.charts.put("/web.tgz", packed);
    let begin = fleet.mark().await;
    let approval = json!({"adopt": {"helmRelease": {"approval": "AutomaticIfIdentical"}}});
    fleet.component("adopted", approval).await;
    let proof = fleet.verified("adopted").await;
    assert!(!proof.identical);
    assert!(
        proof.message.contains("/data/greeting"),
        "{}",
        proof.message
    );
    assert_eq!(fleet.writes(begin).await, []);
    let component = fleet.world.components().get("adopted").await.unwrap();
    assert_eq!(condition(&component).unwrap().0, "ReadyToAdopt");
}
