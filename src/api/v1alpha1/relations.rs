//! What a resource needs beside its source: other resources, and another cluster.

use super::VariableSourceKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A resource that must be ready before anything is done for this one, and that is deleted after it.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DependsOn {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,

    /// Its namespace. Default is the resource's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,

    /// Its API version, for example `apps/v1`. Default is the resource's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 317))]
    pub api_version: Option<String>,

    /// Its kind: any that has conditions. Default is the resource's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub kind: Option<String>,

    /// The condition that must be True for its current generation. Default is `Ready`, or none with `ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 316))]
    pub condition: Option<String>,

    /// An expression in the Common Expression Language (CEL) that must be true of it, as in `spec.health`:
    /// `status.phase == 'Running'`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub ready: Option<String>,
}

/// An entry of a ConfigMap or Secret with parameters.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ValuesSource {
    /// What it is: `ConfigMap` or `Secret`. Values of Secrets are kept out of messages.
    pub kind: VariableSourceKind,

    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,

    /// Name of the entry. Default is the first that is there of `values`, `values.yaml` and `values.yml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key: Option<String>,

    /// Whether it may be missing. Default is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// Another cluster.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct KubeConfig {
    /// Secret in the resource's namespace with a kubeconfig. Programs, authentication providers, paths of files and insecure TLS are
    /// refused in it.
    pub secret_ref: SecretKeyReference,
}

/// An entry of a Secret in the resource's namespace.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyReference {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,

    /// Name of the entry. Default is the first that is there of `value`, `value.yaml` and `value.yml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key: Option<String>,
}
