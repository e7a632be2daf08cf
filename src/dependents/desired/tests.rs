use super::*;
use crate::dependents::testing::owner;
use crate::dependents::testing::{config_map, crd, generated, options, resources};
use serde_json::json;

fn prepared(values: Vec<Value>) -> Result<Desired, PrepareError> {
    let owner = owner();
    prepare(&generated(values), &options(&owner, &resources()))
}

#[test]
fn namespaced_objects_get_the_target_namespace_and_cluster_scoped_ones_lose_theirs() {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "reader", "namespace": "stray"}});
    let desired = prepared(vec![config_map("a"), role]).unwrap();
    let ids: Vec<_> = desired.objects.iter().map(|o| o.id.to_string()).collect();
    assert_eq!(ids, ["ConfigMap apps/a", "ClusterRole reader"]);
    assert_eq!(desired.namespaces, BTreeSet::from(["apps".to_owned()]));
}

#[test]
fn every_object_carries_our_marks() {
    let desired = prepared(vec![config_map("a")]).unwrap();
    let manifest = &desired.objects[0].manifest;
    let owner = owner();
    assert_eq!(
        manifest["metadata"]["labels"][owner.names().owner_key()],
        owner.label()
    );
    assert_eq!(
        manifest["metadata"]["annotations"][owner.names().owner_key()],
        owner.annotation()
    );
    assert_eq!(
        manifest["metadata"]["annotations"][owner.names().digest_key()],
        desired.objects[0].digest.as_str()
    );
}

#[test]
fn marks_do_not_change_the_digest_and_server_fields_are_dropped() {
    let mut dressed = config_map("a");
    dressed["metadata"]["creationTimestamp"] = Value::Null;
    dressed["metadata"]["resourceVersion"] = json!("5");
    dressed["status"] = json!({"x": 1});
    let (plain, dressed) = (prepared(vec![config_map("a")]), prepared(vec![dressed]));
    assert_eq!(
        plain.unwrap().objects[0].digest,
        dressed.unwrap().objects[0].digest
    );
}

#[test]
fn string_data_of_secrets_is_folded_into_data() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"a": "eA=="}, "stringData": {"b": "plain"}});
    let desired = prepared(vec![secret]).unwrap();
    let manifest = &desired.objects[0].manifest;
    assert_eq!(manifest["data"], json!({"a": "eA==", "b": "cGxhaW4="}));
    assert!(manifest.get("stringData").is_none());
}

#[test]
fn definitions_come_first_and_serve_their_instances() {
    let widget =
        json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let desired = prepared(vec![widget, config_map("a"), crd()]).unwrap();
    let order: Vec<_> = desired.objects.iter().map(|o| o.id.kind.as_str()).collect();
    assert_eq!(order, ["CustomResourceDefinition", "ConfigMap", "Widget"]);
    assert!(desired.objects[2].defined);
    assert_eq!(desired.objects[2].resource.plural, "widgets");
}

#[test]
fn unknown_kinds_missing_names_and_duplicates_are_refused() {
    let gadget =
        json!({"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": {"name": "g"}});
    let nameless = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}});
    let cases = [
        (
            vec![gadget],
            "Gadget.example.org g from `t.yaml` is of the kind `Gadget` in `example.org/v1`, which the cluster does not serve; install its CustomResourceDefinition first",
        ),
        (
            vec![nameless],
            "Pod from `t.yaml` has no `metadata.name`; `generateName` would make a new object on every run",
        ),
        (
            vec![config_map("a"), config_map("a")],
            "ConfigMap apps/a is defined twice: in `t.yaml` and in `t.yaml`",
        ),
    ];
    for (values, message) in cases {
        assert_eq!(prepared(values).unwrap_err().to_string(), message);
    }
}

#[test]
fn annotations_choose_waves_and_policies() {
    let mut object = config_map("a");
    object["metadata"]["annotations"] = json!({
        "whipstaff.dev/apply-order": "-5",
        "whipstaff.dev/delete-order": "7",
        "whipstaff.dev/adoption-policy": "never",
        "helm.sh/resource-policy": "keep",
    });
    let desired = prepared(vec![object]).unwrap();
    let object = &desired.objects[0];
    assert_eq!((object.apply_order, object.delete_order), (-5, 7));
    assert_eq!(object.adoption, AdoptionPolicy::Never);
    assert_eq!(object.delete_policy, DeletePolicy::Orphan);
}

#[test]
fn malformed_annotations_name_what_is_expected() {
    let mut object = config_map("a");
    object["metadata"]["annotations"] = json!({"whipstaff.dev/apply-order": "soon"});
    let error = prepared(vec![object]).unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "annotation `whipstaff.dev/apply-order` is `soon`; expected a whole number from -32768 to 32767"
    );
}

fn with(mut object: Value, annotations: &[(&str, &str)]) -> Value {
    for (suffix, value) in annotations {
        object["metadata"]["annotations"][format!("whipstaff.dev/{suffix}")] = json!(value);
    }
    object
}

// Defect 9.
#[test]
fn fields_of_newer_versions_of_a_kind_are_sent_as_they_are() {
    let mut object = config_map("a");
    object["novelty"] = json!({"of": ["another", {"year": 2040}]});
    let desired = prepared(vec![object.clone()]).unwrap();
    assert_eq!(desired.objects[0].manifest["novelty"], object["novelty"]);
}

// Scenario 7, the part that needs no cluster.
#[test]
fn sets_that_cannot_be_brought_into_an_order_are_refused() {
    let widget = |order: &str| {
        let object =
            json!({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}});
        with(object, &[("apply-order", order)])
    };
    let depending = |name: &str, on: &str| with(config_map(name), &[("depends-on", on)]);
    let cases = [
        (
            vec![widget("-5"), with(crd(), &[("apply-order", "0")])],
            "Widget.example.org apps/w from `t.yaml` is applied in wave -5, before CustomResourceDefinition widgets.example.org that it needs, in wave 0",
        ),
        (
            vec![widget("0"), with(crd(), &[("delete-order", "-1")])],
            "Widget.example.org apps/w from `t.yaml` is deleted in wave 0, after CustomResourceDefinition widgets.example.org that it needs, in wave -1",
        ),
        (
            vec![with(crd(), &[("purge-order", "0")])],
            "CustomResourceDefinition widgets.example.org from `t.yaml` cannot be purged: other objects need it",
        ),
        (
            vec![depending("a", "ConfigMap/missing")],
            "ConfigMap apps/a from `t.yaml` depends on `ConfigMap/missing`, which is not among the objects",
        ),
        (
            vec![
                depending("a", "ConfigMap/b"),
                depending("b", "ConfigMap/c"),
                depending("c", "ConfigMap/b"),
            ],
            "ConfigMap apps/b from `t.yaml` depends on itself: ConfigMap apps/b -> ConfigMap apps/c -> ConfigMap apps/b",
        ),
        (
            vec![
                depending("a", "ConfigMap/b"),
                with(config_map("b"), &[("apply-order", "1")]),
            ],
            "ConfigMap apps/a from `t.yaml` depends on ConfigMap apps/b, which is applied after it",
        ),
    ];
    for (values, message) in cases {
        assert_eq!(prepared(values).unwrap_err().to_string(), message);
    }
}

#[test]
fn kind_that_the_component_brings_by_itself_may_be_unknown_at_first() {
    let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1.example.org"}, "spec": {"group": "example.org", "version": "v1"}});
    let gadget =
        json!({"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": {"name": "g"}});
    let desired = prepared(vec![gadget, service]).unwrap();
    let stages: Vec<_> = desired.objects.iter().map(|o| o.stage).collect();
    assert_eq!(stages, [Stage::ApiService, Stage::Instance]);
    assert!(desired.objects[1].unserved);
}

#[test]
fn component_is_in_the_digest_of_what_follows_its_changes() {
    let object = with(
        config_map("a"),
        &[("reconcile-policy", "onObjectOrComponentChange")],
    );
    let desired = prepared(vec![object]).unwrap();
    assert!(desired.objects[0].digest.ends_with("@component"));
}
