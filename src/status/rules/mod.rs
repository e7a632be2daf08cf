//! Rules for the kinds whose status says more than the generic conditions.

mod basics;
mod extensions;
mod jobs;
mod pods;
mod workloads;

use super::{Assessment, Live, require};

/// Judges an object of one kind.
pub(super) type Rule = fn(&Live<'_>) -> Assessment;

/// The rule for an object's kind.
pub(super) fn of(live: &Live<'_>) -> Option<Rule> {
    Some(match (live.group(), live.kind()) {
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") | ("policy", "PodDisruptionBudget") => {
            basics::existing
        }
        ("", "Namespace") => basics::namespace,
        ("", "PersistentVolumeClaim") => basics::persistent_volume_claim,
        ("", "Pod") => pods::pod,
        ("", "Service") => basics::service,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            extensions::custom_resource_definition
        }
        ("apiregistration.k8s.io", "APIService") => extensions::api_service,
        ("apps", "DaemonSet") => workloads::daemon_set,
        ("apps", "Deployment") => workloads::deployment,
        ("apps", "ReplicaSet") => workloads::replica_set,
        ("apps", "StatefulSet") => workloads::stateful_set,
        ("batch", "Job") => jobs::job,
        _ => return None,
    })
}
