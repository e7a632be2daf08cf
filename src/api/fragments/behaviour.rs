//! How a resource is reconciled.

use crate::api::v1alpha1::{DependsOn, DurationText, KubeConfig, Policies, TypePattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where objects are put: [`target_namespace`](crate::Component::target_namespace) and
/// [`target_name`](crate::Component::target_name).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct PlacementSpec {
    /// Namespace that the objects are rendered for. Default is the resource's own. It must not be changed once it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub namespace: Option<String>,

    /// Name that the objects are rendered for. Default is the resource's own. It must not be changed once it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 53),
        regex(pattern = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    )]
    pub name: Option<String>,
}

/// Which cluster objects are applied on: [`kube_config`](crate::Component::kube_config).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ClientSpec {
    /// Another cluster, which the objects are applied on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<KubeConfig>,
}

/// Who objects are applied as: [`service_account_name`](crate::Component::service_account_name).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ImpersonationSpec {
    /// Service account in the resource's namespace that everything is read and written as. Default is the operator's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub service_account_name: Option<String>,
}

/// Whether a resource is reconciled: [`is_suspended`](crate::Component::is_suspended).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct SuspensionSpec {
    /// Whether reconciliation pauses. Deletion still works.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
}

/// How often files are looked at: [`interval`](crate::Component::interval).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct RequeueSpec {
    /// How often the source is looked at again. Default is `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<DurationText>,
}

/// How often a failure is retried: [`retry_interval`](crate::Component::retry_interval).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct RetrySpec {
    /// Longest time between retries after a failure; the first retries come sooner. Default is `1m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_interval: Option<DurationText>,
}

/// How long objects may take: [`timeout`](crate::Component::timeout).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct TimeoutSpec {
    /// How long the objects may take to become ready before the state is Error; attempts go on all the same. Default is `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<DurationText>,
}

/// What may be done to objects: [`policies`](crate::Component::policies).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
    /// What may be done to objects that exist already, and to namespaces that do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Policies>,
}

/// What a resource waits for: [`depends_on`](crate::Component::depends_on).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct DependenciesSpec {
    /// Resources that must be ready before anything is done for this one, and that are deleted after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub depends_on: Vec<DependsOn>,
}

/// How often objects are applied again: [`reapply_interval`](crate::Component::reapply_interval).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ReapplySpec {
    /// How often an object is applied again although nothing is known to have changed. Must be more than zero. Default is never: a
    /// change by somebody else is seen when it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reapply_interval: Option<DurationText>,
}

/// Kinds that need what a resource brings: [`additional_managed_types`](crate::Component::additional_managed_types).
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct TypeSpec {
    /// Kinds whose objects need this resource's. They are applied last and deleted first, and as long as others have some, the
    /// resource is not deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub additional_managed_types: Vec<TypePattern>,
}
