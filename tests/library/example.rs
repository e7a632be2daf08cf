//! The operator with hooks of `examples`.

use crate::world::World;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use whipstaff::api::v1alpha1::State;
use whipstaff_test_support::{eventually, shared};

#[allow(dead_code, unreachable_pub, reason = "it is a program too")]
#[path = "../../examples/operator_with_hooks.rs"]
mod operator_with_hooks;

use operator_with_hooks::{BACKED_UP, Database, LICENCE};

static OPERATOR: OnceCell<()> = OnceCell::const_new();

async fn world(prefix: &str) -> World {
    let world = World::new(prefix).await;
    OPERATOR.get_or_init(|| start(world.client.clone())).await;
    world
}

async fn start(client: kube::Client) {
    let definition = whipstaff::crd_of::<Database>();
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let params = PatchParams::apply("test").force();
    let name = definition.name_any();
    let patch = Patch::Apply(&definition);
    definitions.patch(&name, &params, &patch).await.unwrap();
    let established = await_condition(definitions, &name, is_crd_established());
    established.await.unwrap();
    let config = shared().await.config();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let run = operator_with_hooks::run(config, CancellationToken::new());
        runtime.block_on(run).unwrap();
    });
}

async fn create(world: &World, name: &str, spec: Value) {
    let object = json!({"apiVersion": "example.org/v1", "kind": "Database",
        "metadata": {"name": name}, "spec": spec});
    world.create::<Database>(object).await;
}

async fn licence(world: &World) {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": LICENCE}});
    world.create::<ConfigMap>(object).await;
}

async fn password(world: &World, password: &str) {
    let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
        "stringData": {"password": password}});
    let params = PatchParams::apply("test").force();
    let secrets = world.api::<Secret>();
    let patch = Patch::Apply(&object);
    secrets.patch("db", &params, &patch).await.unwrap();
}

/// State, reason and message.
fn told(database: &Database) -> Option<(State, String, String)> {
    let status = &database.status.as_ref()?.common;
    let ready = status.conditions.iter().find(|c| c.type_ == "Ready")?;
    Some((status.state?, ready.reason.clone(), ready.message.clone()))
}

async fn wait(world: &World, name: &str, state: State, reason: &str) -> Database {
    let is = |database: Option<&Database>| {
        let told = database.and_then(told);
        told.is_some_and(|(s, r, _)| s == state && r == reason)
    };
    eventually(&world.api::<Database>(), name, is)
        .await
        .unwrap()
}

fn domain_condition(database: &Database) -> Option<(String, String)> {
    let status = &database.status.as_ref()?.common;
    let licensed = status.conditions.iter().find(|c| c.type_ == "Licensed")?;
    Some((licensed.status.clone(), licensed.reason.clone()))
}

/// Scenario 22. A missing reference and a retriable error are waited for; the operator of the example does the rest.
#[tokio::test(flavor = "multi_thread")]
async fn operator_with_hooks_waits_publishes_and_holds_deletion_up() {
    let world = world("hooks").await;
    let databases = world.api::<Database>();
    create(
        &world,
        "main",
        json!({"port": 5432, "password": {"name": "db"}}),
    )
    .await;
    let waiting = wait(&world, "main", State::Pending, "Retrying").await;
    assert!(
        told(&waiting)
            .unwrap()
            .2
            .contains("the Secret `db` does not exist")
    );

    password(&world, "hunter2").await;
    let is_unlicensed = |database: Option<&Database>| {
        let found = database.and_then(domain_condition);
        found == Some(("False".to_owned(), "Missing".to_owned()))
    };
    let unlicensed = eventually(&databases, "main", is_unlicensed).await.unwrap();
    let (state, reason, message) = told(&unlicensed).unwrap();
    assert_eq!((state, reason.as_str()), (State::Pending, "Retrying"));
    assert!(message.contains("there is no licence"), "{message}");
    assert!(
        world
            .api::<Service>()
            .get_opt("main")
            .await
            .unwrap()
            .is_none()
    );

    licence(&world).await;
    let ready = wait(&world, "main", State::Ready, "Ready").await;
    let status = ready.status.as_ref().unwrap();
    let endpoint = format!("main.{}.svc:5432", world.namespace);
    assert_eq!(status.endpoint.as_ref(), Some(&endpoint));
    assert_eq!(domain_condition(&ready).unwrap().0, "True");
    assert_eq!(status.common.revision, Some(1));
    let service = world.api::<Service>().get("main").await.unwrap();
    assert!(
        service
            .labels()
            .contains_key("databases.example.org/owner-id")
    );
    assert!(
        ready
            .finalizers()
            .contains(&"databases.example.org/finalizer".to_owned())
    );

    // What is referred to is watched, and a part of the input.
    password(&world, "hunter3").await;
    let is_new = |database: Option<&Database>| {
        let status = database.and_then(|database| database.status.as_ref());
        status.is_some_and(|s| s.common.revision == Some(2) && s.common.state == Some(State::Ready))
    };
    let again = eventually(&databases, "main", is_new).await.unwrap();
    assert_eq!(again.status.unwrap().endpoint, Some(endpoint));
    let login = world.api::<Secret>().get("main-login").await.unwrap();
    assert_eq!(login.data.unwrap()["password"].0, b"hunter3");

    world
        .api::<Secret>()
        .delete("db", &DeleteParams::default())
        .await
        .unwrap();
    databases
        .delete("main", &DeleteParams::default())
        .await
        .unwrap();
    let held = wait(&world, "main", State::DeletionPending, "DeletionRetrying").await;
    assert!(told(&held).unwrap().2.contains(BACKED_UP));
    assert!(
        world
            .api::<Service>()
            .get_opt("main")
            .await
            .unwrap()
            .is_some()
    );
    let patch = json!({"metadata": {"annotations": {BACKED_UP: "yes"}}});
    let params = PatchParams::default();
    databases
        .patch("main", &params, &Patch::Merge(&patch))
        .await
        .unwrap();
    eventually(&databases, "main", |d: Option<&Database>| d.is_none()).await;
    assert!(
        world
            .api::<Service>()
            .get_opt("main")
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn terminal_error_of_a_hook_stalls_until_the_resource_changes() {
    let world = world("terminal").await;
    let databases = world.api::<Database>();
    licence(&world).await;
    password(&world, "hunter2").await;
    create(
        &world,
        "main",
        json!({"port": 80, "password": {"name": "db"}}),
    )
    .await;
    let stalled = wait(&world, "main", State::Error, "HookFailed").await;
    let message = told(&stalled).unwrap().2;
    assert!(message.contains("not for 2 objects"), "{message}");
    let conditions = &stalled.status.as_ref().unwrap().common.conditions;
    assert!(
        conditions.iter().any(|c| c.type_ == "Stalled"),
        "{conditions:?}"
    );
    assert!(
        world
            .api::<Service>()
            .get_opt("main")
            .await
            .unwrap()
            .is_none()
    );

    let plane = shared().await;
    let mark = plane.audit_log().mark().await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let ours = entries.iter().filter(|e| {
        e.namespace == world.namespace && !e.is_by_control_plane() && e.verb != "watch"
    });
    assert_eq!(
        ours.count(),
        0,
        "it is tried again although nothing changed"
    );

    let patch = json!({"spec": {"port": 8080}});
    let params = PatchParams::default();
    databases
        .patch("main", &params, &Patch::Merge(&patch))
        .await
        .unwrap();
    wait(&world, "main", State::Ready, "Ready").await;
}
