use crate::fleet::{Fleet, Maker, NAME, adoption};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use kube::api::{ObjectMeta, PostParams};
use serde_json::json;
use whipstaff::api::v1alpha1::AdoptionPhase;

#[tokio::test(flavor = "multi_thread")]
async fn deployed_revision_counts_among_failed_ones() {
    let fleet = Fleet::install("revisions", Maker::Helm3).await;
    // A port that no Service can have.
    let given = "given=hunter22";
    let impossible = ["--set", "port=0", "--set", given];
    let bad = fleet.helm_with_chart("upgrade", &impossible);
    bad.await.unwrap_err();
    let good = ["--set", "greeting=third", "--set", given];
    fleet.helm_with_chart("upgrade", &good).await.unwrap();
    let bad = fleet.helm_with_chart("upgrade", &impossible);
    bad.await.unwrap_err();

    // What failed last has changed some objects all the same.
    let values =
        json!({"values": {"greeting": "third"}, "policies": {"drift": {"mode": "Report"}}});
    let password = fleet.secret(NAME, "password").await;
    fleet.component("adopted", values).await;
    let proof = fleet.verified("adopted").await;
    assert_eq!(proof.revision, 3);
    assert!(proof.identical, "{}", proof.message);
    assert!(
        proof.message.contains("somebody changed 2"),
        "{}",
        proof.message
    );
    let component = fleet.approve("adopted").await;
    let status = component.status.unwrap();
    assert_eq!(status.revision, Some(3));
    assert_eq!(fleet.secret(NAME, "password").await, password);
    let map = fleet.world.api::<ConfigMap>().get(NAME).await.unwrap();
    assert_eq!(map.data.unwrap()["greeting"], "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_revision_is_waited_for_or_passed_over_by_choice() {
    let fleet = Fleet::install("pending", Maker::Helm4Server).await;
    let secrets = fleet.world.api::<Secret>();
    let first = secrets.get("sh.helm.release.v1.web.v1").await.unwrap();
    // What an interrupted Helm leaves.
    let mut labels = first.labels().clone();
    labels.insert("status".to_owned(), "pending-upgrade".to_owned());
    labels.insert("version".to_owned(), "2".to_owned());
    let second = Secret {
        metadata: ObjectMeta {
            name: Some("sh.helm.release.v1.web.v2".to_owned()),
            labels: Some(labels),
            ..ObjectMeta::default()
        },
        data: first.data.clone(),
        type_: first.type_.clone(),
        ..Secret::default()
    };
    secrets
        .create(&PostParams::default(), &second)
        .await
        .unwrap();

    fleet.component("adopted", json!({})).await;
    let message = fleet.world.reason("adopted", "ReleasePending").await;
    assert!(
        message.contains("revision 2 is pending-upgrade"),
        "{message}"
    );

    let pending =
        json!({"adopt": {"helmRelease": {"pending": "Adopt", "approval": "AutomaticIfIdentical"}}});
    fleet.component("adopted", pending).await;
    let component = fleet.adopted("adopted").await;
    assert_eq!(adoption(&component).unwrap().revision, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn later_revision_is_followed_by_choice_with_the_values_that_it_made() {
    let fleet = Fleet::install("follow", Maker::Helm4Client).await;
    let follow = json!({"adopt": {"helmRelease": {"approval": "AutomaticIfIdentical", "laterRevisions": "Follow"}}});
    fleet.component("adopted", follow).await;
    fleet.adopted("adopted").await;
    let password = fleet.secret(NAME, "password").await;
    let values = ["--set", "given=hunter22"];
    fleet.helm_with_chart("upgrade", &values).await.unwrap();
    let followed = |c: &whipstaff::api::v1alpha1::Component| {
        adoption(c).is_some_and(|a| a.revision == 2 && a.phase == AdoptionPhase::Adopted)
    };
    fleet.world.wait("adopted", followed).await;
    fleet.world.ready("adopted").await;
    assert_ne!(
        fleet.secret(NAME, "password").await,
        password,
        "Helm made another one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn later_revision_is_seen_and_refused_by_choice() {
    let fleet = Fleet::install("later", Maker::Helm3).await;
    let refuse = json!({"adopt": {"helmRelease": {"approval": "AutomaticIfIdentical", "laterRevisions": "Refuse"}}});
    fleet.component("adopted", refuse).await;
    fleet.adopted("adopted").await;
    let values = ["--set", "greeting=by-hand", "--set", "given=hunter22"];
    fleet.helm_with_chart("upgrade", &values).await.unwrap();
    let message = fleet.world.reason("adopted", "LaterRevision").await;
    assert!(message.contains("revision 2"), "{message}");
    let map = fleet.world.api::<ConfigMap>().get(NAME).await.unwrap();
    assert_eq!(map.data.unwrap()["greeting"], "by-hand");

    let report = json!({"adopt": {"helmRelease": {"approval": "AutomaticIfIdentical", "laterRevisions": "Report"}}});
    fleet.component("adopted", report).await;
    let component = fleet.world.ready("adopted").await;
    assert_eq!(adoption(&component).unwrap().later_revision, Some(2));
    let map = fleet.world.api::<ConfigMap>().get(NAME).await.unwrap();
    assert_eq!(map.data.unwrap()["greeting"], "hello");
}
