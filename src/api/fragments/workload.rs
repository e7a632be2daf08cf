//! What the workload of a resource looks like: parameters that its templates make use of.

use k8s_openapi::api::core::v1::{
    Affinity, PodSecurityContext, ResourceRequirements, SecurityContext, Toleration,
    TopologySpreadConstraint,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A container image.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ImageSpec {
    /// Name of the image with its registry, without a tag: `registry.example.org/shop/web`.
    #[schemars(length(min = 1, max = 512))]
    pub repository: String,

    /// Tag, or a digest (`sha256:` and 64 hexadecimal digits). Default is up to the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub tag: Option<String>,

    /// When the image is pulled: `Always`, `IfNotPresent` or `Never`. Default is `IfNotPresent`.
    #[serde(default)]
    pub pull_policy: PullPolicy,

    /// Secret with credentials for the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub pull_secret: Option<String>,
}

impl ImageSpec {
    /// The image as a container names it.
    ///
    /// ```
    /// use whipstaff::api::fragments::ImageSpec;
    ///
    /// let mut image = ImageSpec { repository: "shop/web".to_owned(), ..ImageSpec::default() };
    /// assert_eq!(image.reference(), "shop/web");
    /// image.tag = Some("1.2".to_owned());
    /// assert_eq!(image.reference(), "shop/web:1.2");
    /// ```
    pub fn reference(&self) -> String {
        match self.tag.as_deref() {
            None | Some("") => self.repository.clone(),
            Some(digest) if digest.contains(':') => format!("{}@{digest}", self.repository),
            Some(tag) => format!("{}:{tag}", self.repository),
        }
    }
}

/// When an image is pulled.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PullPolicy {
    /// Each time that a container starts.
    Always,
    /// When the node does not have it.
    #[default]
    IfNotPresent,
    /// Never: the node must have it.
    Never,
}

/// Properties of pods.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
pub struct PodSpec {
    /// Labels of the nodes that pods may run on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,

    /// Nodes and pods that pods should be near to, or far from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object")]
    pub affinity: Option<Affinity>,

    /// How pods are spread over nodes and zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "objects")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,

    /// Taints of nodes that pods put up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "objects")]
    pub tolerations: Vec<Toleration>,

    /// Class of the pods' priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub priority_class_name: Option<String>,

    /// Security settings of pods as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object")]
    pub pod_security_context: Option<PodSecurityContext>,

    /// Further labels of pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pod_labels: BTreeMap<String, String>,

    /// Further annotations of pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pod_annotations: BTreeMap<String, String>,
}

/// Properties of a container.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ContainerSpec {
    /// Security settings of the container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object")]
    pub security_context: Option<SecurityContext>,

    /// What the container needs at least and may use at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "object")]
    pub resources: Option<ResourceRequirements>,
}

/// Properties of a Service.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSpec {
    /// How the Service can be reached: `ClusterIP`, `NodePort` or `LoadBalancer`. Default is `ClusterIP`.
    #[serde(default, rename = "type")]
    pub type_: ServiceType,

    /// Addresses that a load balancer lets through, as CIDR.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_balancer_source_ranges: Vec<String>,

    /// Where traffic from outside is led to: `Cluster` or `Local`. Default is `Cluster`.
    #[serde(default)]
    pub external_traffic_policy: TrafficPolicy,

    /// Labels of the Service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,

    /// Annotations of the Service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// How a Service can be reached.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceType {
    /// From inside the cluster.
    #[default]
    ClusterIP,
    /// On a port of every node.
    NodePort,
    /// Through a load balancer.
    LoadBalancer,
}

/// Where traffic from outside is led to.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrafficPolicy {
    /// To pods on any node.
    #[default]
    Cluster,
    /// To pods on the node that it came to.
    Local,
}

/// Properties of an Ingress.
#[derive(JsonSchema, Serialize, Deserialize, Debug, Clone, PartialEq, Eq, Default)]
#[serde(rename_all = "camelCase")]
pub struct IngressSpec {
    /// Class of the Ingress. Default is the cluster's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub class: Option<String>,

    /// Labels of the Ingress.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,

    /// Annotations of the Ingress.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// The API server checks the rest where it is used; a copy of its schema would age.
fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "nullable": true,
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

fn objects(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
        },
    })
}
