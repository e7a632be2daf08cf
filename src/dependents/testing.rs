//! Builders for the tests of the pure domain.

use super::desired::{Desired, PrepareOptions, prepare};
use super::execute::{Change, Outcome};
use super::inventory::refresh;
use super::names::Names;
use super::ownership::{Owner, OwnerId, OwnerScope};
use super::plan::{Action, Live, Observed, Plan, Stray};
use super::references::recorded;
use crate::api::v1alpha1::{InventoryItem, Policies};
use crate::cluster::{Resource, Resources};
use crate::status::{Assessment, Status};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};
use std::time::Duration;
use whipstaff_generator::{Generated, Object, ObjectId, ObjectSet};

/// The component of all tests.
pub(crate) fn owner() -> OwnerId {
    owner_named("shop")
}

/// Another component.
pub(crate) fn owner_named(name: &str) -> OwnerId {
    OwnerId::new(
        &OwnerScope::new(Names::shared(), "cluster", "Component", "whipstaff.dev"),
        "apps",
        name,
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
        resource("", "PersistentVolumeClaim", "persistentvolumeclaims", true),
        resource(
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            false,
        ),
        resource("apiregistration.k8s.io", "APIService", "apiservices", false),
        resource("apps", "Deployment", "deployments", true),
        resource("batch", "Job", "jobs", true),
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

/// Policies that say nothing.
const POLICIES: &Policies = &Policies {
    adoption: None,
    update: None,
    immutable: None,
    reconcile: None,
    delete: None,
    missing_namespaces: None,
    drift: None,
    prune: None,
};

/// Options of a component that says nothing.
pub(crate) fn options<'a>(owner: &'a OwnerId, resources: &'a Resources) -> PrepareOptions<'a> {
    PrepareOptions {
        owner,
        namespace: "apps",
        adopted: false,
        policies: POLICIES,
        component: "component",
        reapply: Some(Duration::from_hours(1)),
        additional_types: &[],
        resources,
    }
}

/// What a component with these objects wants.
pub(crate) fn desired(values: Vec<Value>) -> Desired {
    let (owner, resources) = (owner(), resources());
    prepare(&generated(values), &options(&owner, &resources)).unwrap()
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
            prunable: object.prunable,
            manages: object.manages.clone(),
            depends_on: object.depends_on.iter().map(recorded).collect(),
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
        finalizers: Vec::new(),
        stray: Stray::default(),
        owner: Owner::Us,
        digest: digest.to_owned(),
        fields: "fields".to_owned(),
        assessment: Assessment {
            status: Status::Current,
            message: String::new(),
        },
    }
}

/// What becomes of a model of the cluster, and of the inventory, when a plan is carried out: everything gets ready at once, and
/// deletions take no time.
pub(crate) fn carry_out(
    plan: &Plan,
    desired: &Desired,
    inventory: &mut Vec<InventoryItem>,
    observed: &mut Observed,
    now: Timestamp,
) {
    let mut changes = Vec::new();
    for step in &plan.steps {
        let id = step.key.id();
        let outcome = match &step.action {
            Action::CreateNamespace => {
                observed.missing_namespaces.remove(&id.name);
                continue;
            }
            Action::Create | Action::Apply | Action::Absorb { .. } => {
                let object = desired
                    .objects
                    .iter()
                    .find(|object| object.id == id)
                    .unwrap();
                let live = live(&object.digest);
                observed.objects.insert(id.clone(), live.clone());
                Outcome::Applied {
                    digest: object.digest.clone(),
                    fields: live.fields.clone(),
                    live: Box::new(live),
                }
            }
            Action::Purge { .. } => {
                observed.objects.remove(&id);
                Outcome::Purged
            }
            Action::Recreate { .. } | Action::Delete { .. } | Action::DeleteIfEmpty { .. } => {
                observed.objects.remove(&id);
                Outcome::Deleted
            }
            Action::Release { .. } => {
                observed.objects.get_mut(&id).unwrap().owner = Owner::Nobody;
                Outcome::Released
            }
        };
        changes.push(Change {
            id,
            reason: step.reason,
            outcome,
        });
    }
    refresh(inventory, desired, observed, &changes, plan, &Time(now));
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
