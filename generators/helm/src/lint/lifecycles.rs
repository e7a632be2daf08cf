//! Which kinds of Kubernetes are deprecated, since when, and what replaces them (Kubernetes 1.37, `k8s.io/api`).

use super::documents::Head;
use std::fmt::Write as _;

/// The life of some kinds of one version of a group.
#[derive(Debug)]
struct Lifecycle {
    api_version: &'static str,
    /// The kinds; a list of one of them, `ThingList`, lives as long.
    kinds: &'static [&'static str],
    /// Major and minor version.
    deprecated: (u64, u64),
    /// Major and minor version; zeros when it stays.
    removed: (u64, u64),
    /// API version of what replaces it, or empty.
    replacement: &'static str,
    /// Kind of what replaces it, or empty when it is the same.
    replacement_kind: &'static str,
}

const LIFECYCLES: &[Lifecycle] = &[
    Lifecycle {
        api_version: "admissionregistration.k8s.io/v1alpha1",
        kinds: &["MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"],
        deprecated: (1, 35),
        removed: (1, 38),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "admissionregistration.k8s.io/v1alpha1",
        kinds: &[
            "ValidatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
        ],
        deprecated: (1, 29),
        removed: (1, 32),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "admissionregistration.k8s.io/v1beta1",
        kinds: &["MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"],
        deprecated: (1, 37),
        removed: (1, 40),
        replacement: "admissionregistration.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "admissionregistration.k8s.io/v1beta1",
        kinds: &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ],
        deprecated: (1, 16),
        removed: (1, 22),
        replacement: "admissionregistration.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "admissionregistration.k8s.io/v1beta1",
        kinds: &[
            "ValidatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
        ],
        deprecated: (1, 31),
        removed: (1, 34),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "apps/v1beta1",
        kinds: &[
            "ControllerRevision",
            "DeploymentRollback",
            "Deployment",
            "StatefulSet",
        ],
        deprecated: (1, 8),
        removed: (1, 16),
        replacement: "apps/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "apps/v1beta1",
        kinds: &["Scale"],
        deprecated: (1, 8),
        removed: (1, 16),
        replacement: "autoscaling/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "apps/v1beta2",
        kinds: &[
            "ControllerRevision",
            "DaemonSet",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
        ],
        deprecated: (1, 9),
        removed: (1, 16),
        replacement: "apps/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "apps/v1beta2",
        kinds: &["Scale"],
        deprecated: (1, 9),
        removed: (1, 16),
        replacement: "autoscaling/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "authentication.k8s.io/v1alpha1",
        kinds: &["SelfSubjectReview"],
        deprecated: (1, 29),
        removed: (1, 32),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "authentication.k8s.io/v1beta1",
        kinds: &["SelfSubjectReview"],
        deprecated: (1, 30),
        removed: (1, 33),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "authentication.k8s.io/v1beta1",
        kinds: &["TokenReview"],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "authentication.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "authorization.k8s.io/v1beta1",
        kinds: &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "authorization.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "batch/v1beta1",
        kinds: &["CronJob"],
        deprecated: (1, 21),
        removed: (1, 25),
        replacement: "batch/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "certificates.k8s.io/v1alpha1",
        kinds: &["ClusterTrustBundle"],
        deprecated: (1, 34),
        removed: (1, 37),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "certificates.k8s.io/v1beta1",
        kinds: &["CertificateSigningRequest"],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "certificates.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "certificates.k8s.io/v1beta1",
        kinds: &["ClusterTrustBundle", "PodCertificateRequest"],
        deprecated: (1, 37),
        removed: (1, 40),
        replacement: "certificates.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "coordination.k8s.io/v1alpha2",
        kinds: &["LeaseCandidate"],
        deprecated: (1, 35),
        removed: (1, 38),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "coordination.k8s.io/v1beta1",
        kinds: &["LeaseCandidate"],
        deprecated: (1, 36),
        removed: (1, 39),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "coordination.k8s.io/v1beta1",
        kinds: &["Lease"],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "coordination.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "discovery.k8s.io/v1beta1",
        kinds: &["EndpointSliceList"],
        deprecated: (1, 21),
        removed: (1, 25),
        replacement: "discovery.k8s.io/v1",
        replacement_kind: "EndpointSlice",
    },
    Lifecycle {
        api_version: "discovery.k8s.io/v1beta1",
        kinds: &["EndpointSlice"],
        deprecated: (1, 21),
        removed: (1, 25),
        replacement: "discovery.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "events.k8s.io/v1beta1",
        kinds: &["Event"],
        deprecated: (1, 22),
        removed: (1, 25),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "extensions/v1beta1",
        kinds: &["DaemonSet", "Deployment", "ReplicaSet"],
        deprecated: (1, 8),
        removed: (1, 16),
        replacement: "apps/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "extensions/v1beta1",
        kinds: &["DeploymentRollback"],
        deprecated: (1, 8),
        removed: (1, 16),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "extensions/v1beta1",
        kinds: &["Ingress"],
        deprecated: (1, 14),
        removed: (1, 22),
        replacement: "networking.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "extensions/v1beta1",
        kinds: &["NetworkPolicy"],
        deprecated: (1, 9),
        removed: (1, 16),
        replacement: "networking.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "extensions/v1beta1",
        kinds: &["Scale"],
        deprecated: (1, 2),
        removed: (1, 16),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "flowcontrol.apiserver.k8s.io/v1beta1",
        kinds: &["FlowSchema", "PriorityLevelConfiguration"],
        deprecated: (1, 23),
        removed: (1, 26),
        replacement: "flowcontrol.apiserver.k8s.io/v1beta3",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "flowcontrol.apiserver.k8s.io/v1beta2",
        kinds: &["FlowSchema", "PriorityLevelConfiguration"],
        deprecated: (1, 26),
        removed: (1, 29),
        replacement: "flowcontrol.apiserver.k8s.io/v1beta3",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "flowcontrol.apiserver.k8s.io/v1beta3",
        kinds: &["FlowSchema", "PriorityLevelConfiguration"],
        deprecated: (1, 29),
        removed: (1, 32),
        replacement: "flowcontrol.apiserver.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "lifecycle.k8s.io/v1alpha1",
        kinds: &["EvictionRequest", "Eviction"],
        deprecated: (1, 40),
        removed: (1, 43),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "networking.k8s.io/v1beta1",
        kinds: &["IPAddress", "ServiceCIDR"],
        deprecated: (1, 34),
        removed: (1, 37),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "networking.k8s.io/v1beta1",
        kinds: &["IngressClassList", "Ingress"],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "networking.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "networking.k8s.io/v1beta1",
        kinds: &["IngressClass"],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "networking.k8s.io/v1",
        replacement_kind: "IngressClassList",
    },
    Lifecycle {
        api_version: "node.k8s.io/v1beta1",
        kinds: &["RuntimeClass"],
        deprecated: (1, 22),
        removed: (1, 25),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "policy/v1beta1",
        kinds: &["Eviction"],
        deprecated: (1, 22),
        removed: (1, 25),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "policy/v1beta1",
        kinds: &["PodDisruptionBudget"],
        deprecated: (1, 21),
        removed: (1, 25),
        replacement: "policy/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "rbac.authorization.k8s.io/v1beta1",
        kinds: &["ClusterRoleBinding", "ClusterRole", "RoleBinding", "Role"],
        deprecated: (1, 17),
        removed: (1, 22),
        replacement: "rbac.authorization.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "resource.k8s.io/v1alpha3",
        kinds: &["DeviceTaintRule"],
        deprecated: (1, 36),
        removed: (1, 39),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "resource.k8s.io/v1alpha3",
        kinds: &["ResourcePoolStatusRequest"],
        deprecated: (1, 39),
        removed: (1, 42),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "resource.k8s.io/v1beta1",
        kinds: &[
            "DeviceClass",
            "ResourceClaimTemplate",
            "ResourceClaim",
            "ResourceSlice",
        ],
        deprecated: (1, 35),
        removed: (1, 38),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "resource.k8s.io/v1beta2",
        kinds: &[
            "DeviceClass",
            "ResourceClaimTemplate",
            "ResourceClaim",
            "ResourceSlice",
        ],
        deprecated: (1, 36),
        removed: (1, 39),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "resource.k8s.io/v1beta2",
        kinds: &["DeviceTaintRule"],
        deprecated: (1, 39),
        removed: (1, 42),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "scheduling.k8s.io/v1beta1",
        kinds: &["PodGroup", "Workload"],
        deprecated: (1, 40),
        removed: (1, 43),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "scheduling.k8s.io/v1beta1",
        kinds: &["PriorityClass"],
        deprecated: (1, 14),
        removed: (1, 22),
        replacement: "scheduling.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1alpha1",
        kinds: &["CSIStorageCapacity"],
        deprecated: (1, 21),
        removed: (1, 24),
        replacement: "storage.k8s.io/v1beta1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1alpha1",
        kinds: &["VolumeAttachment"],
        deprecated: (1, 21),
        removed: (1, 24),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1alpha1",
        kinds: &["VolumeAttributesClass"],
        deprecated: (1, 32),
        removed: (1, 35),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1beta1",
        kinds: &["CSIDriver", "StorageClass", "VolumeAttachment"],
        deprecated: (1, 19),
        removed: (1, 22),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1beta1",
        kinds: &["CSINodeList"],
        deprecated: (1, 17),
        removed: (1, 22),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "CSINode",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1beta1",
        kinds: &["CSINode"],
        deprecated: (1, 17),
        removed: (1, 22),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1beta1",
        kinds: &["CSIStorageCapacity"],
        deprecated: (1, 24),
        removed: (1, 27),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storage.k8s.io/v1beta1",
        kinds: &["VolumeAttributesClass"],
        deprecated: (1, 34),
        removed: (1, 37),
        replacement: "storage.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "storagemigration.k8s.io/v1beta1",
        kinds: &["StorageVersionMigration"],
        deprecated: (1, 37),
        removed: (1, 40),
        replacement: "storagemigration.k8s.io/v1",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "v1",
        kinds: &["ComponentStatus"],
        deprecated: (1, 19),
        removed: (0, 0),
        replacement: "",
        replacement_kind: "",
    },
    Lifecycle {
        api_version: "v1",
        kinds: &["EndpointsList"],
        deprecated: (1, 33),
        removed: (0, 0),
        replacement: "discovery.k8s.io/v1",
        replacement_kind: "EndpointSliceList",
    },
    Lifecycle {
        api_version: "v1",
        kinds: &["Endpoints"],
        deprecated: (1, 33),
        removed: (0, 0),
        replacement: "discovery.k8s.io/v1",
        replacement_kind: "EndpointSlice",
    },
];

/// What Kubernetes says of a kind that is deprecated in a version.
pub(super) fn deprecation(head: &Head, version: (u64, u64)) -> Option<String> {
    let (api_version, kind) = (&head.api_version, head.kind.as_str());
    let with = |wanted: &str| {
        LIFECYCLES
            .iter()
            .find(|life| life.api_version == api_version && life.kinds.contains(&wanted))
    };
    let life = with(kind).or_else(|| with(kind.strip_suffix("List")?))?;
    if life.deprecated > version && version != (0, 0) {
        return None;
    }
    let (major, minor) = life.deprecated;
    let mut text = format!("{api_version} {kind} is deprecated in v{major}.{minor}+");
    if life.removed != (0, 0) {
        let (major, minor) = life.removed;
        let _ = write!(text, ", unavailable in v{major}.{minor}+");
    }
    if !life.replacement.is_empty() {
        let kind = match life.replacement_kind {
            "" => kind,
            other => other,
        };
        let _ = write!(text, "; use {} {kind}", life.replacement);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(api_version: &str, kind: &str, version: (u64, u64)) -> Option<String> {
        let head = Head {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: String::new(),
        };
        deprecation(&head, version)
    }

    #[test]
    fn kinds_are_deprecated_from_a_version_on() {
        assert_eq!(
            of("batch/v1beta1", "CronJobList", (1, 21)).as_deref(),
            Some(
                "batch/v1beta1 CronJobList is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJobList"
            )
        );
        assert_eq!(of("batch/v1beta1", "CronJob", (1, 20)), None);
        assert_eq!(
            of("v1", "ComponentStatus", (1, 37)).as_deref(),
            Some("v1 ComponentStatus is deprecated in v1.19+")
        );
        assert_eq!(
            of("v1", "Endpoints", (1, 37)).as_deref(),
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        );
        assert_eq!(of("batch/v1", "CronJob", (1, 37)), None);
    }
}
