//! Who may do what on the control plane, and what its audit log tells of it.
#![allow(
    clippy::expect_used,
    reason = "functions that tests share are tests, too"
)]

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::{ClusterRole, RoleBinding};
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;
use whipstaff_test_support::{AuditEntry, namespace, shared};

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

fn refused(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

async fn allow_config_maps(namespace: &str, account: &str) {
    let client = shared().await.client();
    let role: ClusterRole = serde_json::from_value(json!({
        "metadata": { "name": format!("edit-config-maps-{namespace}") },
        "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"] }],
    }))
    .expect("a role");
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": { "name": "edit-config-maps" },
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": format!("edit-config-maps-{namespace}"),
        },
        "subjects": [{ "kind": "ServiceAccount", "namespace": namespace, "name": account }],
    }))
    .expect("a binding");
    let create = PostParams::default();
    Api::all(client.clone())
        .create(&create, &role)
        .await
        .expect("the role is made");
    Api::namespaced(client, namespace)
        .create(&create, &binding)
        .await
        .expect("it is bound");
}

/// Roles reach the authorizer by a watch, so the first allowed request may have to wait for it.
async fn create_when_allowed(api: &Api<ConfigMap>, name: &str) {
    loop {
        match api.create(&PostParams::default(), &config_map(name)).await {
            Err(error) if refused(&error) => tokio::task::yield_now().await,
            other => return drop(other.expect("the config map is made")),
        }
    }
}

#[tokio::test]
async fn service_account_may_do_what_its_roles_allow() {
    let plane = shared().await;
    let namespace = namespace("access").await;
    let access = plane
        .service_account(&namespace, "tenant")
        .await
        .expect("an account");
    let config_maps: Api<ConfigMap> = Api::namespaced(access.client(), &namespace);
    let error = config_maps
        .get_opt("any")
        .await
        .expect_err("nothing is allowed at first");
    assert!(refused(&error), "{error}");

    allow_config_maps(&namespace, "tenant").await;
    create_when_allowed(&config_maps, "mine").await;
    let elsewhere: Api<ConfigMap> = Api::namespaced(access.client(), "default");
    assert!(refused(
        &elsewhere
            .get_opt("any")
            .await
            .expect_err("the role is of one namespace")
    ));
}

#[tokio::test]
async fn impersonated_service_account_has_its_own_rights_and_shows_in_the_audit_log() {
    let plane = shared().await;
    let namespace = namespace("impersonation").await;
    plane
        .service_account(&namespace, "tenant")
        .await
        .expect("an account");
    let user = format!("system:serviceaccount:{namespace}:tenant");
    let mut config = plane.config();
    config.auth_info.impersonate = Some(user.clone());
    let client = kube::Client::try_from(config).expect("a client");
    let config_maps: Api<ConfigMap> = Api::namespaced(client, &namespace);

    let mark = plane.audit_log().mark().await.expect("a mark");
    let error = config_maps
        .get_opt("any")
        .await
        .expect_err("nothing is allowed at first");
    assert!(refused(&error), "{error}");
    let entries = plane
        .audit_log()
        .entries_since(mark)
        .await
        .expect("entries");
    let ours: Vec<_> = entries
        .iter()
        .filter(|entry| entry.namespace == namespace)
        .collect();
    let asked = |entry: &&&AuditEntry| entry.user == user;
    let entry = ours.iter().find(asked).expect("the request is in the log");
    assert_eq!(
        (entry.verb.as_str(), entry.name.as_str(), entry.code),
        ("get", "any", 403)
    );
    assert_eq!(entry.impersonator.as_deref(), Some("admin"));
}

#[tokio::test]
async fn audit_log_counts_taken_writes_of_users_in_one_namespace() {
    let plane = shared().await;
    let namespace = namespace("audit").await;
    let other = whipstaff_test_support::namespace("audit-other").await;
    let ours: Api<ConfigMap> = Api::namespaced(plane.client(), &namespace);
    let log = plane.audit_log();
    let mark = log.mark().await.expect("a mark");
    assert_eq!(
        log.count_writes(&namespace, mark).await.expect("a count"),
        0
    );

    let create = PostParams::default();
    ours.create(&create, &config_map("one"))
        .await
        .expect("made");
    ours.create(&create, &config_map("one"))
        .await
        .expect_err("a refused write is none");
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    ours.create(&dry, &config_map("dry"))
        .await
        .expect("a dry run is none");
    ours.get("one").await.expect("a read is none");
    let apply = PatchParams::apply("test").force();
    let applied = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "key": "value" } });
    ours.patch("one", &apply, &Patch::Apply(applied))
        .await
        .expect("patched");
    ours.delete("one", &DeleteParams::default())
        .await
        .expect("deleted");
    let theirs: Api<ConfigMap> = Api::namespaced(plane.client(), &other);
    theirs
        .create(&create, &config_map("two"))
        .await
        .expect("made");

    assert_eq!(
        log.count_writes(&namespace, mark).await.expect("a count"),
        3
    );
    let entries = log.entries_since(mark).await.expect("entries");
    let verbs: Vec<_> = entries
        .iter()
        .filter(|entry| entry.namespace == namespace && entry.name == "one" && entry.is_write())
        .map(|entry| entry.verb.as_str())
        .collect();
    // The name of a created object is in the body, which is not logged.
    assert!(verbs.ends_with(&["patch", "delete"]), "{verbs:?}");
    let later = log.mark().await.expect("a mark");
    assert!(later > mark);
    assert_eq!(
        log.count_writes(&namespace, later).await.expect("a count"),
        0
    );
}
