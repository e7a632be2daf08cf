use crate::world::{World, condition};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use whipstaff_test_support::eventually;

const COPY: &str = "{{- $given := lookup \"v1\" \"ConfigMap\" .Release.Namespace \"given\" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: {{ ($given.data).text | default \"none\" }}}\n";

#[tokio::test(flavor = "multi_thread")]
async fn templates_see_live_objects_even_if_they_insist_on_them() {
    let world = World::new("lookup").await;
    let _: ConfigMap = world
        .create(json!({"metadata": {"name": "given"}, "data": {"text": "live"}}))
        .await;
    let template = "{{- $given := lookup \"v1\" \"ConfigMap\" .Release.Namespace \"given\" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: {{ required \"given is missing\" ($given.data).text }}}\n";
    let url = world.chart("copy", &[("templates/c.yaml", template)]);
    world.install("copy", &url).await;
    world.ready("copy").await;
    let copy = world.api::<ConfigMap>().get("copy").await.unwrap();
    assert_eq!(copy.data.unwrap()["text"], "live");
}

#[tokio::test(flavor = "multi_thread")]
async fn change_of_a_looked_up_object_is_rendered_at_once() {
    let world = World::new("looked-up").await;
    let url = world.chart("copy", &[("templates/c.yaml", COPY)]);
    world.install("copy", &url).await;
    let first = world.ready("copy").await;
    let looked_up = &first.status.as_ref().unwrap().lookups;
    assert_eq!(looked_up.len(), 1);
    assert_eq!(
        (looked_up[0].kind.as_str(), looked_up[0].name.as_str()),
        ("ConfigMap", "given")
    );
    let copies = world.api::<ConfigMap>();
    let shows = async |text: &str| {
        let shown = |copy: Option<&ConfigMap>| {
            let data = copy.and_then(|copy| copy.data.as_ref());
            data.is_some_and(|data| data["text"] == text)
        };
        eventually(&copies, "copy", shown).await;
    };
    shows("none").await;
    let _: ConfigMap = world
        .create(json!({"metadata": {"name": "given"}, "data": {"text": "one"}}))
        .await;
    shows("one").await;
    let patch = Patch::Merge(json!({"data": {"text": "two"}}));
    let params = PatchParams::default();
    copies.patch("given", &params, &patch).await.unwrap();
    shows("two").await;
    // The same input: not another revision.
    assert_eq!(world.ready("copy").await.status.unwrap().revision, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn chart_keeps_its_password_through_lookup() {
    let world = World::new("keeps").await;
    let template = "{{- $old := (lookup \"v1\" \"Secret\" .Release.Namespace \"keeper\").data | default dict }}\napiVersion: v1\nkind: Secret\nmetadata: {name: keeper}\ndata:\n  password: {{ $old.password | default (randAlphaNum 24 | b64enc) }}\n  note: {{ .Values.note | b64enc }}\n";
    let url = world.chart("keeper", &[("templates/s.yaml", template)]);
    let spec = |note: &str| {
        json!({"source": {"url": {"url": url}}, "values": {"note": note},
            "helm": {"randomness": "fidelity"}})
    };
    let secrets = world.api::<Secret>();
    let password = async || secrets.get("keeper").await.unwrap().data.unwrap()["password"].clone();
    world.component("keeper", spec("one")).await;
    world.ready("keeper").await;
    let first = password().await;
    world.component("keeper", spec("two")).await;
    let second = world.ready("keeper").await;
    assert_eq!(second.status.unwrap().revision, Some(2));
    assert_eq!(password().await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn lookup_sees_what_the_service_account_may_see() {
    let world = World::new("denied").await;
    let _: ConfigMap = world
        .create(json!({"metadata": {"name": "given"}, "data": {"text": "secret"}}))
        .await;
    let _: ServiceAccount = world.create(json!({"metadata": {"name": "weak"}})).await;
    let url = world.chart("copy", &[("templates/c.yaml", COPY)]);
    let spec = json!({"source": {"url": {"url": url}}, "serviceAccountName": "weak", "retryInterval": "1s"});
    world.component("copy", spec).await;
    let message = world.reason("copy", "Denied").await;
    assert!(message.contains("ConfigMap `given`"), "{message}");
    assert!(message.contains(":weak"), "{message}");
    assert!(
        world
            .api::<ConfigMap>()
            .get_opt("copy")
            .await
            .unwrap()
            .is_none()
    );

    let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]});
    let _: Role = world
        .create(json!({"metadata": {"name": "weak"}, "rules": [rule]}))
        .await;
    let _: RoleBinding = world
        .create(json!({"metadata": {"name": "weak"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "weak"},
            "subjects": [{"kind": "ServiceAccount", "name": "weak", "namespace": world.namespace}]}))
        .await;
    let ready = world.ready("copy").await;
    assert!(condition(&ready).is_some(), "{}", ready.name_any());
    let copy = world.api::<ConfigMap>().get("copy").await.unwrap();
    assert_eq!(copy.data.unwrap()["text"], "secret");
}
