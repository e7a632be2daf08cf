//! Who reads and writes.

use crate::world::{World, condition, state};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;
use whipstaff::api::v1alpha1::{Component, State};
use whipstaff::{OperatorOptions, Reconciler};
use whipstaff_test_support::{AuditEntry, eventually, shared};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n";
const LOOKUP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copied}\ndata: {found: {{ lookup \"v1\" \"Secret\" .Release.Namespace \"secret\" | toJson | quote }}}\n";

async fn account(world: &World, name: &str) -> String {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    world.create::<ServiceAccount>(account).await;
    format!("system:serviceaccount:{}:{name}", world.namespace)
}

/// Lets an account do everything in the namespace.
async fn allow(world: &World, name: &str) {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]});
    world.create::<Role>(role).await;
    bind(world, name).await;
}

async fn bind(world: &World, name: &str) {
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": world.namespace}]});
    world.create::<RoleBinding>(binding).await;
}

fn is_failed(component: &Component) -> bool {
    matches!(state(component), Some(State::Error | State::Pending))
        && condition(component).is_some_and(|(_, message)| message.contains("cannot"))
}

/// Scenario 25. An account without any rights: nothing is read or written on its behalf.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_read_or_written_for_an_account_without_rights() {
    let world = World::new("powerless").await;
    let user = account(&world, "nobody").await;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "secret"},
        "stringData": {"word": "hunter2", "username": "u", "password": "p"}});
    world.create::<Secret>(secret).await;
    let plane = shared().await;
    let plain = world.chart("plain", &[("templates/m.yaml", MAP)]);
    let lookup = world.chart("lookup", &[("templates/l.yaml", LOOKUP)]);
    let mark = plane.audit_log().mark().await.unwrap();
    let source = |url: &str| json!({"url": {"url": url}});
    let specs = [
        ("plain", json!({"source": source(&plain)})),
        ("lookup", json!({"source": source(&lookup)})),
        (
            "variables",
            json!({"source": source(&plain), "substitute": {"from": [{"kind": "Secret", "name": "secret"}]}}),
        ),
        (
            "credentials",
            json!({"source": {"url": {"url": plain, "credentials": {"name": "secret"}}}}),
        ),
        (
            "keys",
            json!({"source": source(&plain), "decryption": {"secretRef": {"name": "secret"}}}),
        ),
        (
            "cluster",
            json!({"source": source(&plain), "kubeConfig": {"secretRef": {"name": "secret"}}}),
        ),
        (
            "dependency",
            json!({"source": source(&plain), "dependsOn": [{"name": "plain"}]}),
        ),
    ];
    for (name, mut spec) in specs {
        spec["serviceAccountName"] = json!("nobody");
        world.component(name, spec).await;
        let failed = world.wait(name, is_failed).await;
        let message = condition(&failed).unwrap().1;
        assert!(
            message.contains("nobody") && message.contains("cannot"),
            "{name}: {message}"
        );
    }
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let acted: Vec<_> = entries.iter().filter(|e| e.user == user).collect();
    let granted: Vec<_> = acted.iter().filter(|e| e.code != 403).collect();
    assert!(granted.is_empty(), "{granted:?}");
    assert!(
        acted.len() > 6 && acted.iter().all(|e| e.impersonator.is_some()),
        "{acted:?}"
    );
    // What is done with the operator's own rights is its own bookkeeping.
    let bookkeeping = ["components", "events"];
    let others = |e: &&AuditEntry| {
        e.namespace == world.namespace
            && e.user != user
            && !e.is_by_control_plane()
            && !bookkeeping.contains(&e.resource.as_str())
    };
    let others: Vec<_> = entries.iter().filter(others).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("made")
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn component_acts_as_its_account_from_installation_to_deletion() {
    let world = World::new("account").await;
    let user = account(&world, "deployer").await;
    allow(&world, "deployer").await;
    let plane = shared().await;
    let mark = plane.audit_log().mark().await.unwrap();
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    let spec = json!({"source": {"url": {"url": url}}, "serviceAccountName": "deployer"});
    world.component("c", spec).await;
    world.ready("c").await;
    let components = world.components();
    components
        .delete("c", &DeleteParams::default())
        .await
        .unwrap();
    eventually(&components, "c", |c: Option<&Component>| c.is_none()).await;
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let made = entries
        .iter()
        .filter(|e| e.namespace == world.namespace)
        .filter(|e| e.resource == "configmaps" && e.name == "made");
    let made: Vec<_> = made.filter(|e| !e.is_by_control_plane()).collect();
    assert!(made.iter().any(|e| e.verb == "delete"), "{made:?}");
    assert!(made.iter().all(|e| e.user == user), "{made:?}");
}

/// Scenario 25. The default service account of an operator.
#[tokio::test(flavor = "multi_thread")]
async fn components_without_an_account_act_as_the_default_one() {
    let world = World::new("default").await;
    let user = account(&world, "usual").await;
    let url = world.chart("c", &[("templates/m.yaml", MAP)]);
    let spec = json!({"source": {"url": {"url": url}}, "suspend": true});
    world.component("c", spec).await;
    world.reason("c", "Suspended").await;
    let mut component = world.components().get("c").await.unwrap();
    component.spec.suspend = false;

    let plane = shared().await;
    let mark = plane.audit_log().mark().await.unwrap();
    let reconciler = Reconciler::<Component>::default().service_account("usual");
    let reconciler = reconciler.connect(plane.config()).await.unwrap();
    reconciler.reconcile(component).await;
    let entries = plane.audit_log().entries_since(mark).await.unwrap();
    let made = entries
        .iter()
        .filter(|e| e.namespace == world.namespace)
        .filter(|e| e.resource == "configmaps" && e.name == "made");
    let made: Vec<_> = made.collect();
    assert!(
        !made.is_empty() && made.iter().all(|e| e.user == user && e.code == 403),
        "{made:?}"
    );
    assert_eq!(OperatorOptions::default().default_service_account, None);
}

/// Waits until an account may not read ConfigMaps: the API server hears of lost rights with delay.
async fn until_denied(world: &World, user: &str) {
    use k8s_openapi::api::authorization::v1::SubjectAccessReview;
    let reviews: Api<SubjectAccessReview> = Api::all(world.client.clone());
    let attributes = json!({"namespace": world.namespace, "verb": "get", "resource": "configmaps"});
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes}});
    let review: SubjectAccessReview = serde_json::from_value(review).unwrap();
    loop {
        let answer = reviews.create(&PostParams::default(), &review).await;
        if !answer.unwrap().status.unwrap().allowed {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn component_without_rights_goes_where_nothing_is_lost_and_waits_elsewhere() {
    let world = World::new("rightless").await;
    let user = account(&world, "deployer").await;
    let spec = |name: &str, policies: serde_json::Value| {
        let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        let url = world.chart(name, &[("templates/m.yaml", &map)]);
        json!({"source": {"url": {"url": url}}, "serviceAccountName": "deployer",
            "policies": policies, "retryInterval": "1s"})
    };
    let components = world.components();
    let remove = async |name: &str| {
        let params = DeleteParams::default();
        components.delete(name, &params).await.unwrap();
    };
    let gone = |c: Option<&Component>| c.is_none();

    // Nothing was ever applied.
    world.component("never", spec("never", json!({}))).await;
    world.wait("never", is_failed).await;
    remove("never").await;
    eventually(&components, "never", gone).await;

    allow(&world, "deployer").await;
    let kept = spec("kept", json!({"delete": "Orphan"}));
    world.component("kept", kept).await;
    world.component("owned", spec("owned", json!({}))).await;
    world.ready("kept").await;
    world.ready("owned").await;
    let bindings = world.api::<RoleBinding>();
    let binding = bindings.delete("deployer", &DeleteParams::default()).await;
    binding.unwrap();
    until_denied(&world, &user).await;
    remove("kept").await;
    remove("owned").await;
    eventually(&components, "kept", gone).await;
    let is_denied = |c: &Component| state(c) == Some(State::DeletionPending);
    let waiting = world.wait("owned", is_denied).await;
    let (reason, message) = condition(&waiting).unwrap();
    assert_eq!(reason, "Denied");
    let object = format!("ConfigMap {}/owned", world.namespace);
    assert!(
        message.contains(&object) && message.contains("cannot"),
        "{message}"
    );
    let maps = world.api::<ConfigMap>();
    assert!(maps.get_opt("kept").await.unwrap().is_some());
    assert!(maps.get_opt("owned").await.unwrap().is_some());

    bind(&world, "deployer").await;
    eventually(&components, "owned", gone).await;
    assert!(maps.get_opt("owned").await.unwrap().is_none());
}
