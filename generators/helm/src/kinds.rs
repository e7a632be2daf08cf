//! The order in which kinds are installed (Helm 4.3, `pkg/release/v1/util/kind_sorter.go`).

use std::cmp::Ordering;
use whipstaff_gotemplate::Dialect;

/// Kinds in the order of their installation. The last two are ordered by Helm 4 only.
const INSTALL_ORDER: [&str; 37] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
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
    "APIService",
    "MutatingWebhookConfiguration",
];
const VALIDATING_WEBHOOK: &str = "ValidatingWebhookConfiguration";
const WEBHOOK_FREE: usize = INSTALL_ORDER.len() - 1;

/// Compares kinds by the order of installation; unknown ones come last, by name.
pub(crate) fn compare_kinds(one: &str, other: &str, dialect: Dialect) -> Ordering {
    match (place(one, dialect), place(other, dialect)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

fn place(kind: &str, dialect: Dialect) -> Option<usize> {
    if kind == VALIDATING_WEBHOOK {
        return dialect.is_v4().then_some(INSTALL_ORDER.len());
    }
    let known = if dialect.is_v4() {
        &INSTALL_ORDER[..]
    } else {
        &INSTALL_ORDER[..WEBHOOK_FREE]
    };
    known.iter().position(|known| *known == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(kinds: &[&'static str], dialect: Dialect) -> Vec<&'static str> {
        let mut kinds = kinds.to_vec();
        kinds.sort_by(|one, other| compare_kinds(one, other, dialect));
        kinds
    }

    #[test]
    fn known_kinds_come_first_and_unknown_ones_by_name() {
        let kinds = [
            "Zebra",
            "Deployment",
            "",
            "Apple",
            "Namespace",
            "Service",
            "APIService",
        ];
        let expected = [
            "Namespace",
            "Service",
            "Deployment",
            "APIService",
            "",
            "Apple",
            "Zebra",
        ];
        assert_eq!(sorted(&kinds, Dialect::V3), expected);
    }

    #[test]
    fn webhooks_are_known_to_helm_4_only() {
        let kinds = [
            "Widget",
            VALIDATING_WEBHOOK,
            "MutatingWebhookConfiguration",
            "Alpha",
        ];
        assert_eq!(
            sorted(&kinds, Dialect::V3),
            [
                "Alpha",
                "MutatingWebhookConfiguration",
                VALIDATING_WEBHOOK,
                "Widget"
            ]
        );
        assert_eq!(
            sorted(&kinds, Dialect::V4_1),
            [
                "MutatingWebhookConfiguration",
                VALIDATING_WEBHOOK,
                "Alpha",
                "Widget"
            ]
        );
    }
}
