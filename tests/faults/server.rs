//! What the API server does.

use crate::world::{Phase, World};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, ResourceExt};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use whipstaff::{OperatorOptions, run_operator};
use whipstaff_test_support::{Effect, FaultProxy, ProxiedRequest, shared};

/// Of a hundred calls, so many fail.
const FAILING: u8 = 15;
/// How often all watches end.
const WATCHES_END: Duration = Duration::from_millis(700);

/// An operator behind a proxy, for as long as it lives.
pub(crate) struct Operator {
    proxy: FaultProxy,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Operator {
    /// Only for the components of one shard: every test has one of its own.
    pub(crate) async fn start(shard: &str) -> Self {
        let proxy = FaultProxy::start(shared().await.admin()).await.unwrap();
        let stop = CancellationToken::new();
        let mut options = OperatorOptions::default();
        options.shard = Some(shard.to_owned());
        let operator = run_operator(proxy.access().config(), options, stop.clone());
        let task = tokio::spawn(async move { drop(Box::pin(operator).await) });
        Self { proxy, stop, task }
    }

    pub(crate) async fn stop(self) {
        self.proxy.govern_no_more();
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// How a call fails, if it does.
fn failure(random: &mut fastrand::Rng, request: &ProxiedRequest) -> Option<Effect> {
    if random.u8(..100) >= FAILING {
        return None;
    }
    let second = Some(Duration::from_secs(1));
    if request.is_watch() {
        return Some(match random.u8(..3) {
            0 => Effect::Refuse(410, None),
            1 => Effect::Refuse(500, None),
            _ => Effect::Disconnect,
        });
    }
    Some(match random.u8(..12) {
        0 => Effect::Refuse(429, second),
        1..=3 => Effect::Refuse(409, None),
        4..=5 => Effect::Refuse(500, None),
        6 => Effect::Refuse(503, None),
        7..=8 => Effect::Disconnect,
        9..=10 => Effect::LoseAnswer,
        _ => Effect::Refuse(504, None),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn component_ends_as_undisturbed_although_every_seventh_call_fails() {
    let (calls, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut ends = Vec::new();
    for disturbed in [false, true] {
        let world = World::new("faults").await;
        let operator = Operator::start(&world.namespace).await;
        if disturbed {
            let mut random = fastrand::Rng::with_seed(0x5eed);
            let (calls, failed) = (Arc::clone(&calls), Arc::clone(&failed));
            operator.proxy.govern(move |request| {
                calls.fetch_add(1, Ordering::Relaxed);
                let effect = failure(&mut random, request);
                failed.fetch_add(usize::from(effect.is_some()), Ordering::Relaxed);
                effect
            });
        }
        let mut snapshots = Vec::new();
        for phase in Phase::ALL {
            world.begin(phase).await;
            let mut ending = tokio::time::interval(WATCHES_END);
            let end = world.end(phase);
            tokio::pin!(end);
            loop {
                tokio::select! {
                    () = &mut end => break,
                    _ = ending.tick(), if disturbed => operator.proxy.end_watches(),
                }
            }
            snapshots.push(world.snapshot().await);
        }
        ends.push(snapshots);
        operator.stop().await;
    }
    let (calls, failed) = (
        calls.load(Ordering::Relaxed),
        failed.load(Ordering::Relaxed),
    );
    println!("{failed} of {calls} calls failed");
    assert!(failed * 10 >= calls, "{failed} of {calls} calls failed");
    assert_eq!(
        ends[0].iter().map(Vec::len).collect::<Vec<_>>(),
        [5, 5, 5, 0]
    );
    assert_eq!(ends[0], ends[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn throttled_operator_waits_as_long_as_it_is_told() {
    let world = World::new("throttled").await;
    let operator = Operator::start(&world.namespace).await;
    world.begin(Phase::Install).await;
    world.end(Phase::Install).await;
    let second = Some(Duration::from_secs(1));
    operator.proxy.forget_requests();
    operator
        .proxy
        .inject(3, Effect::Refuse(429, second), ProxiedRequest::is_write);
    world.begin(Phase::Upgrade).await;
    world.end(Phase::Upgrade).await;
    assert_eq!(operator.proxy.clear(), 0);
    // The refused calls themselves were made again: nothing failed, and no component heard of it.
    let components = world.components().get("all").await.unwrap();
    let conditions = components.status.unwrap().conditions;
    assert!(
        conditions
            .iter()
            .all(|condition| condition.reason == "Ready"),
        "{conditions:?}"
    );
    operator.stop().await;
}

fn definition(group: &str) -> CustomResourceDefinition {
    serde_json::from_value(json!({
        "metadata": {"name": format!("gadgets.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    }))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn definition_that_goes_and_comes_back_brings_its_objects_back() {
    let world = World::new("definition").await;
    let group = format!("{}.example.org", world.namespace);
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let crd = definition(&group);
    let name = crd.name_any();
    definitions
        .create(&PostParams::default(), &crd)
        .await
        .unwrap();
    await_condition(definitions.clone(), &name, is_crd_established())
        .await
        .unwrap();
    let operator = Operator::start(&world.namespace).await;
    let gadget = format!("apiVersion: {group}/v1\nkind: Gadget\nmetadata: {{name: gadget}}\n");
    let spec = world.chart("gadget", &gadget);
    world.apply("gadget", world.labels(), spec).await;
    world.ready("gadget").await;

    definitions
        .delete(&name, &DeleteParams::default())
        .await
        .unwrap();
    await_condition(
        definitions.clone(),
        &name,
        |c: Option<&CustomResourceDefinition>| c.is_none(),
    )
    .await
    .unwrap();
    world
        .until("gadget", |c| c.is_some_and(|c| !crate::world::is_ready(c)))
        .await;
    // Another component does not hear of it.
    world.begin(Phase::Install).await;
    world.end(Phase::Install).await;

    definitions
        .create(&PostParams::default(), &crd)
        .await
        .unwrap();
    world.ready("gadget").await;
    operator.stop().await;
}

/// Defects 4 and 7 of the original: one broken extension API server.
#[tokio::test(flavor = "multi_thread")]
async fn extension_api_server_without_a_backend_holds_nothing_up() {
    let world = World::new("extension").await;
    let services: Api<APIService> = Api::all(world.client.clone());
    let name = "v1.nobody.example.org";
    let service: APIService = serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {"group": "nobody.example.org", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": true, "service": {"name": "nobody", "namespace": "default"}},
    }))
    .unwrap();
    services
        .create(&PostParams::default(), &service)
        .await
        .unwrap();
    let is_unavailable = |service: Option<&APIService>| {
        let conditions = service.and_then(|service| service.status.as_ref()?.conditions.as_ref());
        conditions.is_some_and(|c| {
            c.iter()
                .any(|c| c.type_ == "Available" && c.status == "False")
        })
    };
    await_condition(services.clone(), name, is_unavailable)
        .await
        .unwrap();
    // Everything is discovered while it is broken.
    let operator = Operator::start(&world.namespace).await;
    let spec = world.chart(
        "nobody",
        "apiVersion: nobody.example.org/v1\nkind: Nobody\nmetadata: {name: nobody}\n",
    );
    world.apply("nobody", world.labels(), spec).await;
    for phase in Phase::ALL {
        world.begin(phase).await;
        world.end(phase).await;
    }
    let nobody = world.components().get("nobody").await.unwrap();
    assert!(!crate::world::is_ready(&nobody));
    services
        .delete(name, &DeleteParams::default())
        .await
        .unwrap();
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_object_holds_up_no_other_component() {
    let world = World::new("broken").await;
    let operator = Operator::start(&world.namespace).await;
    let bad =
        "apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 99999}]}\n";
    for number in 0..20 {
        let spec = world.chart(&format!("bad{number}"), bad);
        world
            .apply(&format!("bad{number}"), world.labels(), spec)
            .await;
    }
    world
        .until("bad0", |c| c.is_some_and(|c| c.status.is_some()))
        .await;
    for phase in Phase::ALL {
        world.begin(phase).await;
        world.end(phase).await;
    }
    operator.stop().await;
}

/// An API server behind an `APIService` that always wants a quarter of a minute.
#[tokio::test(flavor = "multi_thread")]
async fn group_that_throttles_everything_holds_up_no_other_component() {
    let world = World::new("group").await;
    let operator = Operator::start(&world.namespace).await;
    let pause = Some(Duration::from_secs(15));
    operator
        .proxy
        .inject(usize::MAX, Effect::Refuse(429, pause), |request| {
            request.path.starts_with("/apis/policy/") && !request.is_watch()
        });
    let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, selector: {matchLabels: {a: b}}}\n";
    let spec = world.chart("budget", budget);
    world.apply("budget", world.labels(), spec).await;
    world
        .until("budget", |c| c.is_some_and(|c| c.status.is_some()))
        .await;
    let began = std::time::Instant::now();
    for phase in Phase::ALL {
        world.begin(phase).await;
        world.end(phase).await;
    }
    assert!(began.elapsed() < Duration::from_secs(15));
    operator.proxy.clear();
    operator.stop().await;
}

/// The object of a kind whose every call fails or hangs.
#[tokio::test(flavor = "multi_thread")]
async fn kind_whose_calls_fail_holds_up_no_other_component() {
    for effect in [Effect::Refuse(500, None), Effect::Hang] {
        kind_whose_calls(effect).await;
    }
}

async fn kind_whose_calls(effect: Effect) {
    let world = World::new("kind").await;
    let operator = Operator::start(&world.namespace).await;
    operator.proxy.inject(usize::MAX, effect, |request| {
        request.path.contains("/services")
    });
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {clusterIP: None}\n";
    world
        .apply("service", world.labels(), world.chart("service", service))
        .await;
    for phase in Phase::ALL {
        world.begin(phase).await;
        world.end(phase).await;
    }
    operator.proxy.clear();
    world.ready("service").await;
    operator.stop().await;
}

/// Scenario 10. Somebody creates an object while its creation is on its way.
#[tokio::test(flavor = "multi_thread")]
async fn object_that_appears_while_it_is_created_is_not_overwritten() {
    let world = World::new("race").await;
    let operator = Operator::start(&world.namespace).await;
    let is_write = |r: &ProxiedRequest| r.is_write() && r.path.ends_with("/configmaps/raced");
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), &world.namespace);
    let pause = Duration::from_secs(1);
    operator.proxy.inject(1, Effect::Delay(pause), is_write);
    let mut spec = world.chart(
        "raced",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: raced}\ndata: {from: chart}\n",
    );
    spec["policies"] = json!({"adoption": "Never"});
    world.apply("raced", world.labels(), spec.clone()).await;
    while operator.proxy.count(is_write) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let theirs = json!({"metadata": {"name": "raced"}, "data": {"from": "somebody"}});
    let theirs: ConfigMap = serde_json::from_value(theirs).unwrap();
    let theirs = maps.create(&PostParams::default(), &theirs).await.unwrap();
    let is_refused = |c: Option<&whipstaff::api::v1alpha1::Component>| {
        let status = c.and_then(|c| c.status.as_ref());
        let mut conditions = status.into_iter().flat_map(|status| &status.conditions);
        conditions.any(|c| c.message.contains("exists already"))
    };
    world.until("raced", is_refused).await;
    assert_eq!(operator.proxy.count(is_write), 1);
    let now = maps.get("raced").await.unwrap();
    assert_eq!(
        now.metadata.resource_version,
        theirs.metadata.resource_version
    );

    // Who may take over what nobody owns does so in a later pass, knowingly.
    spec["policies"] = json!({"adoption": "IfUnowned"});
    world.apply("raced", world.labels(), spec).await;
    world.ready("raced").await;
    let now = maps.get("raced").await.unwrap();
    assert_eq!(now.metadata.uid, theirs.metadata.uid);
    assert_eq!(now.data.unwrap()["from"], "chart");
    operator.stop().await;
}

/// Far more components than are reconciled at a time, or than requests are under way to one API group, wait for answers that never come.
#[tokio::test(flavor = "multi_thread")]
async fn hanging_components_hold_up_no_other_component() {
    const HANGING: usize = 24;
    let world = World::new("hanging").await;
    let Operator { proxy, stop, task } = Operator::start(&world.namespace).await;
    proxy.inject(usize::MAX, Effect::Hang, |request| {
        request.path.contains("/services") && !request.is_watch()
    });
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {clusterIP: None}\n";
    for number in 0..HANGING {
        let name = format!("hangs{number}");
        let spec = world.chart(&name, service);
        world.apply(&name, world.labels(), spec).await;
    }
    let mut silent = proxy.silent();
    let began = std::time::Instant::now();
    silent.wait_for(|count| *count == HANGING).await.unwrap();
    for phase in Phase::ALL {
        world.begin(phase).await;
        world.end(phase).await;
    }
    // A single call that hangs is given up after half a minute.
    assert!(began.elapsed() < Duration::from_secs(25));
    stop.cancel();
    // With the connections end the calls.
    drop(proxy);
    task.await.unwrap();
}

/// Section 7.2 of the original: dependents are watched, not polled.
#[tokio::test(flavor = "multi_thread")]
async fn ready_component_causes_no_calls_until_something_happens() {
    let world = World::new("quiet").await;
    let operator = Operator::start(&world.namespace).await;
    world.begin(Phase::Install).await;
    world.end(Phase::Install).await;
    // The events of its own writes are over when a later edit was answered.
    edit(&world).await;
    // The correction is told of after it was made.
    while operator
        .proxy
        .count(|request| request.path.ends_with("/events"))
        < 2
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    operator.proxy.forget_requests();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let calls = operator.proxy.requests();
    assert!(calls.is_empty(), "{calls:?}");
    edit(&world).await;
    operator.stop().await;
}

/// Changes an object and waits until it is as it was.
async fn edit(world: &World) {
    let config_maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), &world.namespace);
    let params = PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..PatchParams::default()
    };
    let patch = json!({"data": {"text": "edited"}});
    config_maps
        .patch("changes", &params, &Patch::Merge(&patch))
        .await
        .unwrap();
    let is_back = |object: Option<&ConfigMap>| {
        object.is_some_and(|object| {
            object
                .data
                .as_ref()
                .is_some_and(|data| data["text"] == "one")
        })
    };
    let undone = await_condition(config_maps, "changes", is_back);
    tokio::time::timeout(Duration::from_secs(30), undone)
        .await
        .unwrap()
        .unwrap();
}
