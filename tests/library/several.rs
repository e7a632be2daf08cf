//! Several kinds in one operator, and code that fails.

use crate::world::World;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, CustomResource, CustomResourceExt, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use whipstaff::api::fragments::{DependenciesSpec, PlacementSpec};
use whipstaff::api::v1alpha1::{ComponentStatus, DependsOn, State};
use whipstaff::generator::{
    Error, ErrorKind, FileTree, Generated, Generator, Input, Object, Prepared, Registry,
};
use whipstaff::{
    Component, HookContext, HookError, Operator, OperatorOptions, Reconciler, Retriable, crd_of,
};
use whipstaff_test_support::{eventually, shared};

#[rustfmt::skip]
macro_rules! kind {
    ($kind:literal, $type:ident, $spec:ident) => {
        #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
        #[kube(group = "several.example.org", version = "v1", kind = $kind)]
        #[kube(namespaced, status = "ComponentStatus")]
        #[serde(rename_all = "camelCase")]
        struct $spec {
            #[serde(flatten)]
            dependencies: DependenciesSpec,
            #[serde(flatten)]
            placement: PlacementSpec,
        }

        impl Component for $type {
            fn status(&self) -> Option<&ComponentStatus> {
                self.status.as_ref()
            }

            fn parameters(&self) -> Cow<'_, Map<String, Value>> {
                Cow::Owned(Map::new())
            }

            fn generator(&self) -> Option<&str> {
                Some("map")
            }

            fn depends_on(&self) -> Vec<DependsOn> {
                self.spec.dependencies.depends_on.clone()
            }

            fn target_namespace(&self) -> Option<&str> {
                self.spec.placement.namespace.as_deref()
            }

            fn target_name(&self) -> Option<&str> {
                self.spec.placement.name.as_deref()
            }
        }
    };
}

kind!("Left", Left, LeftSpec);
kind!("Right", Right, RightSpec);
kind!("Middle", Middle, MiddleSpec);

/// Makes a ConfigMap, once it was asked often enough.
#[derive(Debug, Clone, Default)]
struct MapGenerator(Arc<AtomicUsize>);

impl Generator for MapGenerator {
    fn name(&self) -> &'static str {
        "map"
    }

    fn detects(&self, _: &FileTree) -> Option<String> {
        None
    }

    fn prepare(&self, _: &FileTree, _: &Value) -> Result<Box<dyn Prepared>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Prepared for MapGenerator {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        if input.name == "slow" && self.0.fetch_add(1, Ordering::Relaxed) < 2 {
            let busy = Retriable::new("the press is busy").after(std::time::Duration::from_secs(1));
            return Err(Error::new(ErrorKind::Render, "nothing printed").caused_by(busy));
        }
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": input.name}});
        let mut generated = Generated::default();
        generated.objects.push(Object::from_value(map)?, "map");
        Ok(generated)
    }
}

async fn define<C: CustomResourceExt>(world: &World) {
    let definition = crd_of::<C>();
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let params = PatchParams::apply("test").force();
    let name = definition.name_any();
    let patch = Patch::Apply(&definition);
    definitions.patch(&name, &params, &patch).await.unwrap();
    let established = await_condition(definitions, &name, is_crd_established());
    established.await.unwrap();
}

async fn create<C: Component>(world: &World, name: &str, spec: Value) {
    let object = json!({"apiVersion": "several.example.org/v1", "kind": C::kind(&()),
        "metadata": {"name": name}, "spec": spec});
    world.create::<C>(object).await;
}

async fn wait<C: Component>(world: &World, name: &str, state: State, text: &str) {
    let is = |component: Option<&C>| {
        let status = component.and_then(Component::status);
        let ready = status.and_then(|status| status.conditions.first());
        let told = ready.is_some_and(|r| r.reason.contains(text) || r.message.contains(text));
        told && status.and_then(|status| status.state) == Some(state)
    };
    eventually(&world.api::<C>(), name, is).await;
}

async fn remove<C: Component>(world: &World, name: &str) {
    let api = world.api::<C>();
    api.delete(name, &DeleteParams::default()).await.unwrap();
    eventually(&api, name, |component: Option<&C>| component.is_none()).await;
}

/// An object goes from one kind to another, whose reconcilers have the same name or not, and stays the same object.
async fn objects_change_hands(world: &World) {
    let shared = || json!({"name": "shared"});
    create::<Left>(world, "first", shared()).await;
    wait::<Left>(world, "first", State::Ready, "Ready").await;
    let maps = world.api::<ConfigMap>();
    let uid = maps.get("shared").await.unwrap().uid();
    create::<Middle>(world, "second", shared()).await;
    wait::<Middle>(world, "second", State::Error, "the Left `").await;
    remove::<Left>(world, "first").await;
    wait::<Middle>(world, "second", State::Ready, "Ready").await;
    create::<Right>(world, "third", shared()).await;
    wait::<Right>(world, "third", State::Error, "the Middle `").await;
    remove::<Middle>(world, "second").await;
    wait::<Right>(world, "third", State::Ready, "Ready").await;
    let map = maps.get("shared").await.unwrap();
    assert_eq!(map.uid(), uid);
    let mut marks = map.labels().keys().filter(|key| key.ends_with("/owner-id"));
    assert!(marks.all(|key| key == "several.example.org/owner-id"));
    remove::<Right>(world, "third").await;
}

type Log = Arc<Mutex<Vec<String>>>;

fn note(
    log: &Log,
    word: &'static str,
) -> impl Fn(HookContext<Left>) -> std::future::Ready<Result<(), HookError>> + Send + Sync + 'static
{
    let log = Arc::clone(log);
    move |context| {
        let line = format!("{} {word}", context.component().name_any());
        log.lock().unwrap().push(line);
        std::future::ready(Ok(()))
    }
}

fn lines(log: &Log, name: &str) -> Vec<String> {
    let prefix = format!("{name} ");
    let log = log.lock().unwrap();
    let own = log.iter().filter_map(|line| line.strip_prefix(&prefix));
    own.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_of_one_operator_wait_for_each_other_and_failures_stay_with_their_resource() {
    let world = World::new("several").await;
    define::<Left>(&world).await;
    define::<Right>(&world).await;
    define::<Middle>(&world).await;
    let mut generators = Registry::new();
    generators.register(Arc::new(MapGenerator::default()));
    let log = Log::default();
    let left = Reconciler::<Left>::new("several.example.org")
        .generators(generators.clone())
        .post_read(|context: HookContext<Left>| async move {
            assert_ne!(context.component().name_any(), "panics", "on purpose");
            Ok(())
        })
        .post_read(note(&log, "read"))
        .pre_reconcile(note(&log, "first"))
        .pre_reconcile(note(&log, "second"))
        .post_reconcile(note(&log, "done"))
        .pre_delete(note(&log, "going"))
        .post_delete(note(&log, "gone"));
    let middle = Reconciler::<Middle>::new("middle.example.org").generators(generators.clone());
    let right = Reconciler::<Right>::new("several.example.org").generators(generators);
    let plane = shared().await;
    let mark = plane.audit_log().mark().await.unwrap();
    let config = plane.config();
    let mut operator = Operator::new(config, OperatorOptions::default()).unwrap();
    let trigger = operator.add(left);
    operator.add(middle);
    operator.add(right);
    let stop = CancellationToken::new();
    let running = tokio::spawn(operator.run(stop.clone()));

    // A hook that panics is a failure of its resource.
    create::<Left>(&world, "panics", json!({})).await;
    wait::<Left>(&world, "panics", State::Error, "panicked").await;

    // A kind waits for another one.
    let dependency = json!({"dependsOn": [{"kind": "Right", "name": "b"}]});
    create::<Left>(&world, "a", dependency).await;
    wait::<Left>(&world, "a", State::Pending, "does not exist").await;
    create::<Right>(&world, "b", json!({})).await;
    wait::<Left>(&world, "a", State::Ready, "Ready").await;
    let all = lines(&log, "a");
    let last = all.iter().rposition(|line| line == "read").unwrap();
    assert_eq!(all[last..], ["read", "first", "second", "done"]);

    // A cycle is named by all that are in it.
    let dependency = |kind: &str, name: &str| json!({"dependsOn": [{"kind": kind, "name": name}]});
    create::<Left>(&world, "p", dependency("Right", "q")).await;
    create::<Right>(&world, "q", dependency("Left", "p")).await;
    wait::<Left>(&world, "p", State::Error, "depends on itself").await;
    wait::<Right>(&world, "q", State::Error, "depends on itself").await;
    // Nobody in it waits for the others to go.
    remove::<Left>(&world, "p").await;
    remove::<Right>(&world, "q").await;

    objects_change_hands(&world).await;

    // From outside.
    let before = lines(&log, "a").len();
    trigger.trigger(&world.namespace, "a").unwrap();
    for _ in 0..300 {
        if lines(&log, "a").len() >= before + 4 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(
        lines(&log, "a")[before..],
        ["read", "first", "second", "done"]
    );

    // A generator that has to wait.
    create::<Left>(&world, "slow", json!({})).await;
    wait::<Left>(&world, "slow", State::Pending, "Retrying").await;
    wait::<Left>(&world, "slow", State::Ready, "Ready").await;

    // The target stays.
    let patch = Patch::Merge(json!({"spec": {"name": "other"}}));
    let lefts = world.api::<Left>();
    lefts
        .patch("slow", &PatchParams::default(), &patch)
        .await
        .unwrap();
    wait::<Left>(
        &world,
        "slow",
        State::Error,
        "neither namespace nor name of the target can change",
    )
    .await;

    let rights = world.api::<Right>();
    rights.delete("b", &DeleteParams::default()).await.unwrap();
    wait::<Right>(&world, "b", State::DeletionPending, "DependedOn").await;
    lefts.delete("a", &DeleteParams::default()).await.unwrap();
    eventually(&rights, "b", |b: Option<&Right>| b.is_none()).await;
    let all = lines(&log, "a");
    assert_eq!(all.last().unwrap(), "gone");
    assert!(all.contains(&"going".to_owned()));
    lefts
        .delete("slow", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&lefts, "slow", |slow: Option<&Left>| slow.is_none()).await;
    let maps = world.api::<ConfigMap>();
    for name in ["a", "b", "slow"] {
        assert!(maps.get_opt(name).await.unwrap().is_none(), "{name}");
    }
    stop.cancel();
    running.await.unwrap().unwrap();

    // One watch of ConfigMaps serves both kinds.
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let lists = entries.iter().filter(|e| {
        e.verb == "list"
            && e.resource == "configmaps"
            && e.uri.contains("several.example.org%2Fowner-id")
    });
    assert_eq!(lists.count(), 1);
}
