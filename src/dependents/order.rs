//! Canonical orders inside a wave.

use whipstaff_generator::ObjectId;

/// Stages of a wave when objects are applied, lowest first. A stage starts when every object of the earlier ones is ready; objects of
/// one stage are submitted in order without waiting for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Namespaces.
    Namespace,
    /// Definitions of kinds: instances are refused until they are established.
    Definition,
    /// Everything else.
    Regular,
    /// Configurations of webhooks: registered before the workload behind them is ready, they would refuse it.
    Webhook,
    /// Extension API servers: they need the workloads behind them.
    ApiService,
    /// Instances of kinds that the component serves: definitions, webhooks and workloads must be there.
    Instance,
}

/// The stage of an object. `managed` tells whether the component itself serves the object's kind.
pub(crate) fn stage(id: &ObjectId, managed: bool) -> Stage {
    match (id.group.as_str(), id.kind.as_str()) {
        ("", "Namespace") => Stage::Namespace,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Stage::Definition,
        ("apiregistration.k8s.io", "APIService") => Stage::ApiService,
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => Stage::Webhook,
        _ if managed => Stage::Instance,
        _ => Stage::Regular,
    }
}

/// Stages between which nothing is waited for share a number.
pub(crate) fn gate(stage: Stage) -> u8 {
    match stage {
        Stage::Namespace => 0,
        Stage::Definition => 1,
        Stage::Regular => 2,
        Stage::Webhook | Stage::ApiService => 3,
        Stage::Instance => 4,
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

/// Position of a kind inside a stage.
pub(crate) fn rank(kind: &str) -> usize {
    let position = APPLY_ORDER.iter().position(|known| *known == kind);
    position.unwrap_or(APPLY_ORDER.len())
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
    fn definitions_come_first_and_instances_last() {
        let definition = stage(
            &id("apiextensions.k8s.io", "CustomResourceDefinition"),
            false,
        );
        let instance = stage(&id("example.org", "Widget"), true);
        let service = stage(&id("apiregistration.k8s.io", "APIService"), false);
        assert!(definition < Stage::Regular && Stage::Regular < service && service < instance);
        assert_eq!(stage(&id("example.org", "Widget"), false), Stage::Regular);
    }

    #[test]
    fn webhooks_are_registered_after_the_workloads_behind_them() {
        assert!(rank("Secret") < rank("Deployment"));
        assert!(rank("Deployment") < rank("Widget"));
        let webhooks = id(
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
        );
        assert_eq!(stage(&webhooks, false), Stage::Webhook);
        assert!(Stage::Regular < Stage::Webhook && Stage::Webhook < Stage::Instance);
    }
}
