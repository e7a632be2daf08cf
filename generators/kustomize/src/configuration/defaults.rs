//! The fields that are known without a configuration: the groups of kustomize v5.8.1, each sorted by type, as
//! [`Configuration::sort`] does.

use super::field_spec::Text;
use super::{Configuration, FieldSpec, FieldSpecs, NameReference};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// The default configuration.
pub(crate) fn default_configuration() -> &'static Arc<Configuration> {
    static SHARED: LazyLock<Arc<Configuration>> = LazyLock::new(|| Arc::new(DEFAULTS));
    &SHARED
}

const DEFAULTS: Configuration = Configuration {
    name_prefix: fields(NAME_PREFIX),
    name_suffix: fields(NAME_SUFFIX),
    namespace: fields(NAMESPACE),
    common_labels: fields(COMMON_LABELS),
    labels: fields(&[]),
    template_labels: fields(TEMPLATE_LABELS),
    common_annotations: fields(COMMON_ANNOTATIONS),
    name_reference: Cow::Borrowed(NAME_REFERENCE),
    var_reference: fields(VAR_REFERENCE),
    images: fields(IMAGES),
    replicas: fields(REPLICAS),
};

const fn fields(specs: &'static [FieldSpec]) -> FieldSpecs {
    FieldSpecs(Cow::Borrowed(specs))
}

/// A field that is set where it is found.
const fn found(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
) -> FieldSpec {
    field([group, version, kind, path], false)
}

/// A field that is made where it is missing.
const fn made(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
) -> FieldSpec {
    field([group, version, kind, path], true)
}

const fn field([group, version, kind, path]: [&'static str; 4], create: bool) -> FieldSpec {
    FieldSpec {
        group: Text::Borrowed(group),
        version: Text::Borrowed(version),
        kind: Text::Borrowed(kind),
        path: Text::Borrowed(path),
        create,
    }
}

/// The fields that name objects of a type.
const fn of(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    specs: &'static [FieldSpec],
) -> NameReference {
    NameReference {
        group: Text::Borrowed(group),
        version: Text::Borrowed(version),
        kind: Text::Borrowed(kind),
        field_specs: fields(specs),
    }
}

// One field, one line.
#[rustfmt::skip]
const NAME_PREFIX: &[FieldSpec] = &[
    found("", "", "", "metadata/name"),
];

#[rustfmt::skip]
const NAME_SUFFIX: &[FieldSpec] = &[
    found("", "", "", "metadata/name"),
];

#[rustfmt::skip]
const NAMESPACE: &[FieldSpec] = &[
    made("", "", "Namespace", "metadata/name"),
    found("apiextensions.k8s.io", "", "CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/namespace"),
    made("apiregistration.k8s.io", "", "APIService", "spec/service/namespace"),
];

#[rustfmt::skip]
const COMMON_LABELS: &[FieldSpec] = &[
    made("", "v1", "Service", "spec/selector"),
    found("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    found("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    found("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    found("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    found("apps", "", "Deployment", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels"),
    made("", "", "Deployment", "spec/selector/matchLabels"),
    made("", "", "Deployment", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/selector/matchLabels"),
    found("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    found("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    found("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels"),
    found("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels"),
    found("apps", "", "StatefulSet", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels"),
    made("apps", "", "StatefulSet", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"),
    found("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels"),
    made("batch", "", "CronJob", "spec/jobTemplate/metadata/labels"),
    made("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"),
    found("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels"),
    found("batch", "", "Job", "spec/selector/matchLabels"),
    made("batch", "", "Job", "spec/template/metadata/labels"),
    found("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels"),
    found("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels"),
    found("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels"),
    made("", "v1", "ReplicationController", "spec/selector"),
    made("", "v1", "ReplicationController", "spec/template/metadata/labels"),
    made("", "", "DaemonSet", "spec/selector/matchLabels"),
    made("", "", "DaemonSet", "spec/template/metadata/labels"),
    made("", "", "ReplicaSet", "spec/selector/matchLabels"),
    made("", "", "ReplicaSet", "spec/template/metadata/labels"),
    made("", "", "", "metadata/labels"),
];

#[rustfmt::skip]
const TEMPLATE_LABELS: &[FieldSpec] = &[
    made("", "", "Deployment", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/template/metadata/labels"),
    made("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels"),
    made("batch", "", "CronJob", "spec/jobTemplate/metadata/labels"),
    made("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels"),
    made("batch", "", "Job", "spec/template/metadata/labels"),
    made("", "v1", "ReplicationController", "spec/template/metadata/labels"),
    made("", "", "DaemonSet", "spec/template/metadata/labels"),
    made("", "", "ReplicaSet", "spec/template/metadata/labels"),
    made("", "", "", "metadata/labels"),
];

#[rustfmt::skip]
const COMMON_ANNOTATIONS: &[FieldSpec] = &[
    made("", "", "Deployment", "spec/template/metadata/annotations"),
    made("", "", "StatefulSet", "spec/template/metadata/annotations"),
    made("batch", "", "CronJob", "spec/jobTemplate/metadata/annotations"),
    made("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations"),
    made("batch", "", "Job", "spec/template/metadata/annotations"),
    made("", "v1", "ReplicationController", "spec/template/metadata/annotations"),
    made("", "", "DaemonSet", "spec/template/metadata/annotations"),
    made("", "", "ReplicaSet", "spec/template/metadata/annotations"),
    made("", "", "", "metadata/annotations"),
];

#[rustfmt::skip]
const VAR_REFERENCE: &[FieldSpec] = &[
    found("", "", "Service", "spec/ports/port"),
    found("", "", "Service", "spec/ports/targetPort"),
    found("", "", "PersistentVolume", "spec/nfs/server"),
    found("", "", "Deployment", "spec/template/spec/containers/args"),
    found("", "", "Deployment", "spec/template/spec/containers/command"),
    found("", "", "Deployment", "spec/template/spec/containers/env/value"),
    found("", "", "Deployment", "spec/template/spec/containers/volumeMounts/mountPath"),
    found("", "", "Deployment", "spec/template/spec/initContainers/args"),
    found("", "", "Deployment", "spec/template/spec/initContainers/command"),
    found("", "", "Deployment", "spec/template/spec/initContainers/env/value"),
    found("", "", "Deployment", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    found("", "", "Deployment", "spec/template/spec/volumes/nfs/server"),
    found("", "", "Deployment", "spec/template/metadata/annotations"),
    found("", "", "StatefulSet", "spec/template/spec/containers/args"),
    found("", "", "StatefulSet", "spec/template/spec/containers/command"),
    found("", "", "StatefulSet", "spec/template/spec/containers/env/value"),
    found("", "", "StatefulSet", "spec/template/spec/containers/volumeMounts/mountPath"),
    found("", "", "StatefulSet", "spec/template/spec/initContainers/args"),
    found("", "", "StatefulSet", "spec/template/spec/initContainers/command"),
    found("", "", "StatefulSet", "spec/template/spec/initContainers/env/value"),
    found("", "", "StatefulSet", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    found("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/args"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/command"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/value"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/volumeMounts/mountPath"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/args"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/command"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/value"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/volumeMounts/mountPath"),
    found("", "", "CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server"),
    found("", "", "DaemonSet", "spec/template/spec/containers/args"),
    found("", "", "DaemonSet", "spec/template/spec/containers/command"),
    found("", "", "DaemonSet", "spec/template/spec/containers/env/value"),
    found("", "", "DaemonSet", "spec/template/spec/containers/volumeMounts/mountPath"),
    found("", "", "DaemonSet", "spec/template/spec/initContainers/args"),
    found("", "", "DaemonSet", "spec/template/spec/initContainers/command"),
    found("", "", "DaemonSet", "spec/template/spec/initContainers/env/value"),
    found("", "", "DaemonSet", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    found("", "", "DaemonSet", "spec/template/spec/volumes/nfs/server"),
    found("", "", "Ingress", "spec/rules/host"),
    found("", "", "Ingress", "spec/tls/hosts"),
    found("", "", "Ingress", "spec/tls/secretName"),
    found("", "", "Job", "spec/template/spec/containers/args"),
    found("", "", "Job", "spec/template/spec/containers/command"),
    found("", "", "Job", "spec/template/spec/containers/env/value"),
    found("", "", "Job", "spec/template/spec/containers/volumeMounts/mountPath"),
    found("", "", "Job", "spec/template/spec/initContainers/args"),
    found("", "", "Job", "spec/template/spec/initContainers/command"),
    found("", "", "Job", "spec/template/spec/initContainers/env/value"),
    found("", "", "Job", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    found("", "", "Job", "spec/template/spec/volumes/nfs/server"),
    found("", "", "Pod", "spec/containers/args"),
    found("", "", "Pod", "spec/containers/command"),
    found("", "", "Pod", "spec/containers/env/value"),
    found("", "", "Pod", "spec/containers/volumeMounts/mountPath"),
    found("", "", "Pod", "spec/initContainers/args"),
    found("", "", "Pod", "spec/initContainers/command"),
    found("", "", "Pod", "spec/initContainers/env/value"),
    found("", "", "Pod", "spec/initContainers/volumeMounts/mountPath"),
    found("", "", "Pod", "spec/volumes/nfs/server"),
    found("", "", "ReplicaSet", "spec/template/spec/containers/args"),
    found("", "", "ReplicaSet", "spec/template/spec/containers/command"),
    found("", "", "ReplicaSet", "spec/template/spec/containers/env/value"),
    found("", "", "ReplicaSet", "spec/template/spec/containers/volumeMounts/mountPath"),
    found("", "", "ReplicaSet", "spec/template/spec/initContainers/args"),
    found("", "", "ReplicaSet", "spec/template/spec/initContainers/command"),
    found("", "", "ReplicaSet", "spec/template/spec/initContainers/env/value"),
    found("", "", "ReplicaSet", "spec/template/spec/initContainers/volumeMounts/mountPath"),
    found("", "", "ReplicaSet", "spec/template/spec/volumes/nfs/server"),
    found("", "", "", "metadata/labels"),
    found("", "", "", "metadata/annotations"),
];

#[rustfmt::skip]
const IMAGES: &[FieldSpec] = &[
    made("", "", "", "spec/containers[]/image"),
    made("", "", "", "spec/initContainers[]/image"),
    made("", "", "", "spec/volumes[]/image/reference"),
    made("", "", "", "spec/template/spec/containers[]/image"),
    made("", "", "", "spec/template/spec/initContainers[]/image"),
    made("", "", "", "spec/template/spec/volumes[]/image/reference"),
];

#[rustfmt::skip]
const REPLICAS: &[FieldSpec] = &[
    made("", "", "Deployment", "spec/replicas"),
    made("", "", "StatefulSet", "spec/replicas"),
    made("", "", "ReplicaSet", "spec/replicas"),
    made("", "", "ReplicationController", "spec/replicas"),
];

#[rustfmt::skip]
const NAME_REFERENCE: &[NameReference] = &[
    of("storage.k8s.io", "v1", "StorageClass", const { &[
        found("", "", "PersistentVolume", "spec/storageClassName"),
        found("", "", "PersistentVolumeClaim", "spec/storageClassName"),
        found("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
    ] }),
    of("", "v1", "ServiceAccount", const { &[
        found("rbac.authorization.k8s.io", "", "RoleBinding", "subjects"),
        found("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "subjects"),
        found("", "", "Pod", "spec/serviceAccountName"),
        found("", "", "StatefulSet", "spec/template/spec/serviceAccountName"),
        found("", "", "Deployment", "spec/template/spec/serviceAccountName"),
        found("", "", "ReplicationController", "spec/template/spec/serviceAccountName"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/serviceAccountName"),
        found("", "", "Job", "spec/template/spec/serviceAccountName"),
        found("", "", "DaemonSet", "spec/template/spec/serviceAccountName"),
    ] }),
    of("rbac.authorization.k8s.io", "", "Role", const { &[
        found("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name"),
    ] }),
    of("rbac.authorization.k8s.io", "", "ClusterRole", const { &[
        found("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name"),
        found("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "roleRef/name"),
    ] }),
    of("", "v1", "ConfigMap", const { &[
        found("", "v1", "Pod", "spec/volumes/configMap/name"),
        found("", "v1", "Pod", "spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "v1", "Pod", "spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "v1", "Pod", "spec/containers/envFrom/configMapRef/name"),
        found("", "v1", "Pod", "spec/initContainers/envFrom/configMapRef/name"),
        found("", "v1", "Pod", "spec/volumes/projected/sources/configMap/name"),
        found("", "", "PodTemplate", "template/spec/volumes/configMap/name"),
        found("", "", "PodTemplate", "template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "PodTemplate", "template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "PodTemplate", "template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "PodTemplate", "template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "Deployment", "spec/template/spec/volumes/configMap/name"),
        found("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "Deployment", "spec/template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "Deployment", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "Deployment", "spec/template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "ReplicaSet", "spec/template/spec/volumes/configMap/name"),
        found("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "DaemonSet", "spec/template/spec/volumes/configMap/name"),
        found("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "StatefulSet", "spec/template/spec/volumes/configMap/name"),
        found("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "Job", "spec/template/spec/volumes/configMap/name"),
        found("", "", "Job", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "Job", "spec/template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "Job", "spec/template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "Job", "spec/template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/configMap/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/configMap/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/configMapRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/configMapRef/name"),
        found("", "", "Node", "spec/configSource/configMap"),
        found("", "", "Role", "rules/resourceNames"),
        found("", "", "ClusterRole", "rules/resourceNames"),
        found("", "", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap"),
    ] }),
    of("", "v1", "Secret", const { &[
        found("", "v1", "Pod", "spec/volumes/secret/secretName"),
        found("", "v1", "Pod", "spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "v1", "Pod", "spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "v1", "Pod", "spec/containers/envFrom/secretRef/name"),
        found("", "v1", "Pod", "spec/initContainers/envFrom/secretRef/name"),
        found("", "v1", "Pod", "spec/imagePullSecrets/name"),
        found("", "v1", "Pod", "spec/volumes/projected/sources/secret/name"),
        found("", "", "PodTemplate", "template/spec/volumes/secret/secretName"),
        found("", "", "PodTemplate", "template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "PodTemplate", "template/spec/containers/envFrom/secretRef/name"),
        found("", "", "PodTemplate", "template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "PodTemplate", "template/spec/imagePullSecrets/name"),
        found("", "", "PodTemplate", "template/spec/volumes/projected/sources/secret/name"),
        found("", "", "Deployment", "spec/template/spec/volumes/secret/secretName"),
        found("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "Deployment", "spec/template/spec/containers/envFrom/secretRef/name"),
        found("", "", "Deployment", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "Deployment", "spec/template/spec/imagePullSecrets/name"),
        found("", "", "Deployment", "spec/template/spec/volumes/projected/sources/secret/name"),
        found("", "", "ReplicaSet", "spec/template/spec/volumes/secret/secretName"),
        found("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/secretRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "ReplicaSet", "spec/template/spec/imagePullSecrets/name"),
        found("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/secret/name"),
        found("", "", "DaemonSet", "spec/template/spec/volumes/secret/secretName"),
        found("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/containers/envFrom/secretRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "DaemonSet", "spec/template/spec/imagePullSecrets/name"),
        found("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/secret/name"),
        found("", "", "StatefulSet", "spec/template/spec/volumes/secret/secretName"),
        found("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/containers/envFrom/secretRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "StatefulSet", "spec/template/spec/imagePullSecrets/name"),
        found("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/secret/name"),
        found("", "", "Job", "spec/template/spec/volumes/secret/secretName"),
        found("", "", "Job", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "Job", "spec/template/spec/containers/envFrom/secretRef/name"),
        found("", "", "Job", "spec/template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "Job", "spec/template/spec/imagePullSecrets/name"),
        found("", "", "Job", "spec/template/spec/volumes/projected/sources/secret/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/secret/secretName"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/secret/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/secretRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/secretRef/name"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/imagePullSecrets/name"),
        found("", "", "Ingress", "spec/tls/secretName"),
        found("", "", "Ingress", r"metadata/annotations/ingress.kubernetes.io\/auth-secret"),
        found("", "", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret"),
        found("", "", "Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret"),
        found("", "", "Ingress", "spec/tls/secretName"),
        found("", "", "ServiceAccount", "imagePullSecrets/name"),
        found("", "", "StorageClass", "parameters/secretName"),
        found("", "", "StorageClass", "parameters/adminSecretName"),
        found("", "", "StorageClass", "parameters/userSecretName"),
        found("", "", "StorageClass", "parameters/secretRef"),
        found("", "", "Role", "rules/resourceNames"),
        found("", "", "ClusterRole", "rules/resourceNames"),
        found("serving.knative.dev", "v1", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
        found("", "", "PersistentVolume", "spec/azureFile/secretName"),
    ] }),
    of("", "v1", "Service", const { &[
        found("apps", "", "StatefulSet", "spec/serviceName"),
        found("", "", "Ingress", "spec/rules/http/paths/backend/serviceName"),
        found("", "", "Ingress", "spec/backend/serviceName"),
        found("", "", "Ingress", "spec/rules/http/paths/backend/service/name"),
        found("", "", "Ingress", "spec/defaultBackend/service/name"),
        found("apiregistration.k8s.io", "", "APIService", "spec/service/name"),
        found("admissionregistration.k8s.io", "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
        found("admissionregistration.k8s.io", "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ] }),
    of("scheduling.k8s.io", "v1", "PriorityClass", const { &[
        found("", "", "Pod", "spec/priorityClassName"),
        found("", "", "StatefulSet", "spec/template/spec/priorityClassName"),
        found("", "", "Deployment", "spec/template/spec/priorityClassName"),
        found("", "", "ReplicationController", "spec/template/spec/priorityClassName"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/priorityClassName"),
        found("", "", "Job", "spec/template/spec/priorityClassName"),
        found("", "", "DaemonSet", "spec/template/spec/priorityClassName"),
    ] }),
    of("", "v1", "PersistentVolume", const { &[
        found("", "", "PersistentVolumeClaim", "spec/volumeName"),
        found("", "", "ClusterRole", "rules/resourceNames"),
    ] }),
    of("", "v1", "PersistentVolumeClaim", const { &[
        found("", "", "Pod", "spec/volumes/persistentVolumeClaim/claimName"),
        found("", "", "StatefulSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        found("", "", "Deployment", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        found("", "", "ReplicationController", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        found("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        found("", "", "Job", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
        found("", "", "DaemonSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName"),
    ] }),
    of("", "", "Deployment", const { &[
        found("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] }),
    of("", "", "StatefulSet", const { &[
        found("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] }),
    of("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicy", const { &[
        found("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicyBinding", "spec/policyName"),
    ] }),
    of("networking.k8s.io/v1", "v1", "IngressClass", const { &[
        found("", "", "Ingress", "spec/ingressClassName"),
    ] }),
    of("", "", "ReplicaSet", const { &[
        found("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] }),
    of("", "", "ReplicationController", const { &[
        found("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ] }),
];
#[cfg(test)]
mod tests {
    use super::default_configuration;
    use crate::configuration::Configuration;

    #[test]
    fn defaults_are_complete() {
        let defaults = default_configuration();
        assert_eq!(defaults.common_labels.0.len(), 32);
        assert_eq!(defaults.var_reference.0.len(), 72);
        assert_eq!(defaults.name_reference.len(), 16);
        assert!(
            defaults
                .name_reference
                .iter()
                .all(|reference| !reference.field_specs.0.is_empty())
        );
    }

    #[test]
    fn defaults_are_sorted_and_none_is_another_once_more() {
        let mut merged = Configuration::default();
        merged.merge(default_configuration()).unwrap();
        assert!(merged == **default_configuration());
    }
}
