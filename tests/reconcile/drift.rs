use crate::world::{World, condition, fixture};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use std::time::{Duration, Instant};
use whipstaff::api::v1alpha1::Component;
use whipstaff_test_support::{eventually, pack_folder};

/// How soon a manual change must be undone.
const LIMIT: Duration = Duration::from_secs(1);
/// A busy machine may delay one correction; it does not delay each of so many.
const TRIES: usize = 5;

async fn small(prefix: &str) -> World {
    let world = World::new(prefix).await;
    world.charts.put(
        "/small.tgz",
        pack_folder(&fixture("small"), "small").unwrap(),
    );
    let url = world.charts.url("/small.tgz");
    world
        .component(
            "small",
            json!({"source": {"url": {"url": url}}, "interval": "1h"}),
        )
        .await;
    world.ready("small").await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn manual_edit_is_undone_within_a_second() {
    let world = small("edit").await;
    let deployments = world.api::<Deployment>();
    let replicas = |d: &Deployment| d.spec.as_ref().and_then(|spec| spec.replicas);
    let wanted = replicas(&deployments.get("small").await.unwrap());
    let mut fastest = Duration::MAX;
    for _ in 0..TRIES {
        let patch = json!({"spec": {"replicas": 5}});
        let params = PatchParams {
            field_manager: Some("kubectl-edit".into()),
            ..PatchParams::default()
        };
        let edited = deployments
            .patch("small", &params, &Patch::Merge(&patch))
            .await
            .unwrap();
        assert_eq!(replicas(&edited), Some(5));
        let start = Instant::now();
        eventually(&deployments, "small", |d| {
            d.is_some_and(|d| replicas(d) == wanted)
        })
        .await;
        fastest = fastest.min(start.elapsed());
    }
    assert!(fastest < LIMIT, "{fastest:?}");
    world.ready("small").await;
    assert!(
        world
            .event("small", "Corrected")
            .await
            .contains("somebody changed it")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_object_comes_back_within_a_second() {
    let world = small("gone").await;
    let config_maps = world.api::<ConfigMap>();
    let mut fastest = Duration::MAX;
    for _ in 0..TRIES {
        let before = config_maps.get("small").await.unwrap().metadata.uid;
        config_maps
            .delete("small", &DeleteParams::default())
            .await
            .unwrap();
        let start = Instant::now();
        eventually(&config_maps, "small", |c| {
            c.is_some_and(|c| c.metadata.uid != before)
        })
        .await;
        fastest = fastest.min(start.elapsed());
    }
    assert!(fastest < LIMIT, "{fastest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_we_do_not_own_are_left_alone() {
    let world = small("others").await;
    let config_maps = world.api::<ConfigMap>();
    let patch = json!({"data": {"theirs": "1"}, "metadata": {"labels": {"team": "a"}}});
    config_maps
        .patch("small", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    // Our own field is put right, which shows that the operator has looked at the object after their change.
    let patch = json!({"data": {"greeting": "edited"}});
    config_maps
        .patch("small", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    let corrected = eventually(&config_maps, "small", |c| {
        c.and_then(|c| c.data.as_ref()?.get("greeting"))
            .is_some_and(|text| text != "edited")
    })
    .await
    .unwrap();
    assert_eq!(corrected.data.unwrap()["theirs"], "1");
    assert_eq!(corrected.metadata.labels.unwrap()["team"], "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn fight_over_a_field_is_reported_and_not_fought_for_ever() {
    let world = small("fight").await;
    let maps = world.api::<ConfigMap>();
    let theirs = |map: &ConfigMap| {
        let data = map.data.as_ref();
        data.is_some_and(|data| data["greeting"] == "theirs")
    };
    // Whenever the field is put right, it is set back.
    let fighting = maps.clone();
    let fight = tokio::spawn(async move {
        let patch = Patch::Merge(json!({"data": {"greeting": "theirs"}}));
        let params = PatchParams {
            field_manager: Some("stubborn".into()),
            ..PatchParams::default()
        };
        loop {
            fighting.patch("small", &params, &patch).await.unwrap();
            eventually(&fighting, "small", |map| {
                map.is_some_and(|map| !theirs(map))
            })
            .await;
        }
    });
    let is_told = |c: &Component| {
        condition(c).is_some_and(|(reason, message)| {
            reason == "ObjectFailed" && message.contains("somebody keeps changing it")
        })
    };
    let told = world.wait("small", is_told).await;
    let message = condition(&told).unwrap().1;
    assert!(
        message.contains("/data/greeting") && message.contains("`stubborn`"),
        "{message}"
    );
    // Nobody writes any more: the one waits for the other.
    let before = maps.get("small").await.unwrap();
    assert!(theirs(&before));
    tokio::time::sleep(LIMIT).await;
    let after = maps.get("small").await.unwrap();
    assert_eq!(
        after.metadata.resource_version,
        before.metadata.resource_version
    );
    fight.abort();
}
