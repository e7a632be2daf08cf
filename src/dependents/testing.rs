//! Builders for the tests of the pure domain.

use super::desired::{Desired, PrepareOptions, prepare};
use super::names::Names;
use super::ownership::{Owner, OwnerId, OwnerScope};
use super::plan::{Live, Observed};
use crate::api::v1alpha1::{AdoptionPolicy, InventoryItem};
use crate::cluster::{Resource, Resources};
use crate::status::{Assessment, Status};
use serde_json::{Value, json};
use whipstaff_generator::{Generated, Object, ObjectId, ObjectSet};

/// The component of all tests.
pub(crate) fn owner() -> OwnerId {
    OwnerId::new(
        &OwnerScope::new(Names::shared(), "cluster", "Component", "whipstaff.dev"),
        "apps",
        "shop",
    )
}

/// A few built-in kinds.
pub(crate) fn resources() -> Resources {
    let resource = |group: &str, kind: &str, plural: &str, namespaced| Resource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced,
    };
    Resources::fixed(&[
        resource("", "ConfigMap", "configmaps", true),
        resource("", "Secret", "secrets", true),
        resource("", "Pod", "pods", true),
        resource("", "Namespace", "namespaces", false),
        resource("apps", "Deployment", "deployments", true),
        resource(
            "rbac.authorization.k8s.io",
            "ClusterRole",
            "clusterroles",
            false,
        ),
        resource(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            false,
        ),
    ])
}

/// A `ConfigMap` without data.
pub(crate) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// An object with a wave.
pub(crate) fn in_wave(mut object: Value, wave: i32) -> Value {
    object["metadata"]["annotations"]["whipstaff.dev/apply-order"] = json!(wave.to_string());
    object
}

/// The definition of `Widget.example.org`.
pub(crate) fn crd() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {"group": "example.org", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"}},
    })
}

/// What a generator would give.
pub(crate) fn generated(values: Vec<Value>) -> Generated {
    let mut objects = ObjectSet::new();
    for value in values {
        objects.push(Object::from_value(value).unwrap(), "t.yaml");
    }
    let mut generated = Generated::default();
    generated.objects = objects;
    generated
}

/// What a component with these objects wants.
pub(crate) fn desired(values: Vec<Value>) -> Desired {
    let options = PrepareOptions {
        owner: &owner(),
        namespace: "apps",
        is_upgrade: false,
        revision: 1,
        hooks: true,
        adoption: AdoptionPolicy::IfUnowned,
        resources: &resources(),
    };
    prepare(&generated(values), &options).unwrap()
}

/// A cluster in which everything that is wanted is applied and ready, and the inventory that says so.
pub(crate) fn settled(desired: &Desired) -> (Vec<InventoryItem>, Observed) {
    let mut observed = Observed::default();
    let mut inventory = Vec::new();
    for object in &desired.objects {
        observed
            .objects
            .insert(object.id.clone(), live(&object.digest));
        inventory.push(InventoryItem {
            digest: object.digest.clone(),
            fields: "fields".to_owned(),
            apply_order: object.apply_order,
            delete_order: object.delete_order,
            delete_policy: object.delete_policy,
            ..InventoryItem::new(&object.key)
        });
    }
    (inventory, observed)
}

/// A live object of ours that is ready.
pub(crate) fn live(digest: &str) -> Live {
    Live {
        uid: "uid".to_owned(),
        version: 1,
        deleting: false,
        owner: Owner::Us,
        digest: digest.to_owned(),
        fields: "fields".to_owned(),
        assessment: Assessment {
            status: Status::Current,
            message: String::new(),
        },
    }
}

/// The identity of a `ConfigMap` in the namespace of all tests.
pub(crate) fn config_map_id(name: &str) -> ObjectId {
    ObjectId {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: "apps".to_owned(),
        name: name.to_owned(),
    }
}
