//! The `Component` resource.

#![expect(
    unreachable_pub,
    clippy::duplicated_attributes,
    reason = "what the derive macros make of it"
)]

use super::generators::{DirectoryOptions, GeneratorPart, HelmOptions, KustomizeOptions};
use super::policies::{Policies, TypePattern};
use super::transformers::{Image, Patch, Substitute};
use super::{
    Adopt, ComponentStatus, DependsOn, DurationText, HealthCheck, KubeConfig, ValuesSource,
};
use kube::{CustomResource, KubeSchema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a Component brings to the cluster, and how.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[kube(
    group = "whipstaff.dev",
    version = "v1alpha1",
    kind = "Component",
    namespaced,
    status = "ComponentStatus",
    shortname = "cmp",
    category = "whipstaff",
    derive = "PartialEq",
    doc = "A Component joins a chart or a set of manifests to the cluster: it is fetched, rendered, applied in order, watched, corrected when somebody changes what it owns, and removed with everything that it brought.",
    printcolumn(name = "State", type_ = "string", json_path = ".status.state"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].message"
    ),
    printcolumn(
        name = "Revision",
        type_ = "string",
        json_path = ".status.source.revision",
        priority = 1
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(self.generators) || self.generators.size() == 0 || !has(self.generator) && !has(self.path) && !has(self.kustomize) && !has(self.directory) && !has(self.options)", "with generators, paths and options stand in each of them: generator, path, kustomize, directory and options must be left out"))]
#[x_kube(validation = ("!has(self.generators) || self.generators.size() == 0 || !has(self.helm) || !has(self.helm.dialect) && !has(self.helm.includeCRDs) && !has(self.helm.kubeVersion) && !has(self.helm.apiVersions)", "with generators, helm may have hooks, onReturn and randomness only: the rest stands in each of them"))]
#[x_kube(validation = ("!has(oldSelf.targetNamespace) || has(self.targetNamespace) && self.targetNamespace == oldSelf.targetNamespace", "targetNamespace cannot be changed or removed once it is set"))]
#[x_kube(validation = ("!has(oldSelf.targetName) || has(self.targetName) && self.targetName == oldSelf.targetName", "targetName cannot be changed or removed once it is set"))]
#[x_kube(validation = ("has(oldSelf.kubeConfig) == has(self.kubeConfig)", "kubeConfig cannot be added or removed: the objects would stay where they are"))]
pub struct ComponentSpec {
    /// Where the files come from.
    pub source: Source,

    /// Folder inside the source that holds the chart or the manifests. Default is the source's root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub path: Option<String>,

    /// What turns the files into objects: `helm`, `kustomize`, `directory`, or a generator that the operator was built with. When
    /// left out it is detected from the files (`Chart.yaml`: `helm`; a kustomization: `kustomize`; other manifests: `directory`),
    /// and the reason is given in the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub generator: Option<String>,

    /// Options of the Helm generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub helm: Option<HelmOptions>,

    /// Options of the kustomize generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kustomize: Option<KustomizeOptions>,

    /// Options of the directory generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectoryOptions>,

    /// Options of a generator that the operator was built with.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schemars(schema_with = "free_form")]
    pub options: Map<String, Value>,

    /// Several generators whose objects are put together, in this order, instead of a single one. An object that two of them give
    /// is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 64),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub generators: Vec<GeneratorPart>,

    /// Keys for files of the source that SOPS encrypted: they are decrypted before anything else is done with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Decryption>,

    /// Patches of the generated objects, strategic merge patches and JSON patches (RFC 6902), as kustomize has them. The generated
    /// objects are changed in this order: `patches`, `namePrefix`, `nameSuffix`, `images`, `labels`, `annotations`, `substitute`. At
    /// last their names are checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub patches: Vec<Patch>,

    /// What the names of all objects begin with, but for definitions, API services and namespaces. References to them follow.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub name_prefix: String,

    /// What the names of all objects end with, but for definitions, API services and namespaces. References to them follow.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub name_suffix: String,

    /// Other names, tags and digests for container images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub images: Vec<Image>,

    /// Labels of all objects. Selectors and the templates of pods stay as they are, so that nothing restarts.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub labels: BTreeMap<String, String>,

    /// Annotations of all objects. The templates of pods stay as they are, so that nothing restarts.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotations: BTreeMap<String, String>,

    /// Variables that replace `${name}` in the texts of the objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substitute: Option<Substitute>,

    /// Takes over what another tool deployed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopt: Option<Adopt>,

    /// Parameters of the generator: the values of a Helm chart, merged over the chart's own.
    #[serde(
        default,
        deserialize_with = "null_as_empty",
        skip_serializing_if = "Map::is_empty"
    )]
    #[schemars(schema_with = "free_form")]
    pub values: Map<String, Value>,

    /// ConfigMaps and Secrets in the Component's namespace with more parameters: entries that are YAML. They are read as the
    /// Component's service account, and watched. Later ones are merged over earlier ones, and `values` over all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub values_from: Vec<ValuesSource>,

    /// Namespace that the objects are rendered for, and that namespaced objects without one get. Default is the Component's own
    /// namespace. It cannot be changed once it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    )]
    pub target_namespace: Option<String>,

    /// Name that the objects are rendered for: the release name of a Helm chart. Default is the Component's own name. It cannot
    /// be changed once it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 53),
        regex(pattern = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
    )]
    pub target_name: Option<String>,

    /// Service account in the Component's namespace that everything is read and written as. Default is the operator's default
    /// service account, or else its own identity. With `kubeConfig` it is who reads the kubeconfig, and everything else in the
    /// Component's own cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub service_account_name: Option<String>,

    /// Another cluster, which the objects are applied on. It cannot be added or removed afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<KubeConfig>,

    /// Resources that must be ready before anything is done for this one, and that are deleted after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub depends_on: Vec<DependsOn>,

    /// How often the source is looked at again. Default is `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<DurationText>,

    /// Longest time between retries after a failure; the first retries come sooner. Default is `1m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_interval: Option<DurationText>,

    /// How long the objects may take to become ready before the state is Error; attempts go on all the same. Default is `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<DurationText>,

    /// When objects of kinds whose status does not speak for itself are ready, and when they have failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub health: Vec<HealthCheck>,

    /// Whether reconciliation pauses. Deletion still works.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,

    /// How often an object is applied again although nothing is known to have changed. Must be more than zero. Default is never: a
    /// change by somebody else is seen when it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reapply_interval: Option<DurationText>,

    /// What may be done to objects, and how. Annotations of an object go before what is said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Policies>,

    /// Kinds whose objects need this Component's: those of definitions that its workloads bring by themselves, for example. Objects
    /// of these kinds are applied last and deleted first, and as long as others have some, the Component is not deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub additional_managed_types: Vec<TypePattern>,
}

/// Where the files come from. Exactly one field must be set.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("has(self.url) != has(self.release)", "exactly one source must be set: url or release"))]
pub struct Source {
    /// An archive (gzipped tar) at an `http` or `https` address: a packed Helm chart, for example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<UrlSource>,

    /// The chart that a release of Helm has stored, for charts without subcharts: Helm does not store those. It is enough to take the
    /// release over; what shall be upgraded needs another source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseSource>,
}

/// A release of Helm, stored in a Secret of the Component's namespace.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseSource {
    /// Name of the release.
    #[schemars(length(min = 1, max = 53))]
    pub name: String,

    /// Revision of the release.
    #[schemars(range(min = 1))]
    pub revision: i64,
}

/// An archive at an address.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct UrlSource {
    /// Address of the archive, for example `https://example.org/charts/shop-1.2.3.tgz`.
    #[schemars(length(min = 8, max = 2048), regex(pattern = "^https?://"))]
    pub url: String,

    /// SHA-256 of the archive, for example `sha256:` and 64 hexadecimal digits. Anything else that the address serves is refused,
    /// and what has this digest is fetched only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 71), regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    pub digest: Option<String>,

    /// Secret in the Component's namespace with credentials: `username` and `password`, or `token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<SecretReference>,
}

/// A Secret in the Component's namespace.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Keys for encrypted files.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Decryption {
    /// Secret in the Component's namespace with private keys: age identities in entries that end in `.agekey`, armoured OpenPGP keys
    /// in entries that end in `.asc`.
    pub secret_ref: SecretReference,
}

/// The schema of a map that may hold anything.
pub(super) fn free_form(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "nullable": true,
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

/// Server-side apply leaves null behind when the last field of a map goes.
pub(super) fn null_as_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
