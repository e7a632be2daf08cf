//! Canonical orders inside a wave.

use whipstaff_generator::ObjectId;

/// Stages of a wave when objects are applied, lowest first. A stage starts when every object of the earlier ones is ready, but for
/// [`Stage::Regular`], whose objects are submitted in order without waiting for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Namespaces.
    Namespace,
    /// Definitions of kinds: instances are refused until they are established.
    Definition,
    /// Everything else.
    Regular,
    /// Instances of a kind that the same component defines.
    Instance,
    /// Extension API servers: they need the workloads behind them.
    ApiService,
}

/// The stage of an object. `defined` tells whether the component itself defines the object's kind.
pub(crate) fn stage(id: &ObjectId, defined: bool) -> Stage {
    match (id.group.as_str(), id.kind.as_str()) {
        ("", "Namespace") => Stage::Namespace,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Stage::Definition,
        ("apiregistration.k8s.io", "APIService") => Stage::ApiService,
        _ if defined => Stage::Instance,
        _ => Stage::Regular,
    }
}

/// Kinds in the order in which they are submitted inside a stage; kinds that are not named come after them. What others refer to
/// comes first: policies, identities, configuration, storage, roles, services, workloads, entry points.
const APPLY_ORDER: &[&str] = &[
    "PriorityClass",
    "RuntimeClass",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
];

/// Kinds that come after all others: a webhook that is registered before its workload runs would refuse that workload.
const APPLY_LAST: &[&str] = &[
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Position of a kind inside a stage.
pub(crate) fn rank(kind: &str) -> usize {
    if let Some(position) = APPLY_ORDER.iter().position(|known| *known == kind) {
        return position;
    }
    match APPLY_LAST.iter().position(|known| *known == kind) {
        Some(position) => APPLY_ORDER.len() + 1 + position,
        None => APPLY_ORDER.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(group: &str, kind: &str) -> ObjectId {
        ObjectId {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: String::new(),
            name: "n".to_owned(),
        }
    }

    #[test]
    fn definitions_come_before_instances_and_instances_before_api_services() {
        let definition = stage(
            &id("apiextensions.k8s.io", "CustomResourceDefinition"),
            false,
        );
        let instance = stage(&id("example.org", "Widget"), true);
        let service = stage(&id("apiregistration.k8s.io", "APIService"), false);
        assert!(definition < Stage::Regular && Stage::Regular < instance && instance < service);
        assert_eq!(stage(&id("example.org", "Widget"), false), Stage::Regular);
    }

    #[test]
    fn webhooks_are_registered_after_the_workloads_behind_them() {
        assert!(rank("Secret") < rank("Deployment"));
        assert!(rank("Deployment") < rank("Widget"));
        assert!(rank("Widget") < rank("ValidatingWebhookConfiguration"));
    }
}
