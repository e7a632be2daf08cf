//! Parts of a spec that many kinds have: what a kind flattens into its own.
//!
//! ```
//! use kube::CustomResource;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use whipstaff::api::fragments::{ImageSpec, ImpersonationSpec, PlacementSpec, PodSpec, RequeueSpec};
//! use whipstaff::api::v1alpha1::ComponentStatus;
//!
//! #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "example.org", version = "v1", kind = "Cache", namespaced, status = "ComponentStatus")]
//! #[serde(rename_all = "camelCase")]
//! struct CacheSpec {
//!     replicas: u32,
//!     image: ImageSpec,
//!     #[serde(flatten)]
//!     placement: PlacementSpec,
//!     #[serde(flatten)]
//!     impersonation: ImpersonationSpec,
//!     #[serde(flatten)]
//!     requeue: RequeueSpec,
//!     #[serde(flatten)]
//!     pod: PodSpec,
//! }
//!
//! let spec: CacheSpec = serde_json::from_value(serde_json::json!({
//!     "replicas": 2, "image": {"repository": "cache"}, "namespace": "apps", "serviceAccountName": "deployer", "interval": "5m",
//! }))?;
//! assert_eq!(spec.placement.namespace.as_deref(), Some("apps"));
//! # Ok::<_, serde_json::Error>(())
//! ```

mod behaviour;
mod workload;

pub use behaviour::{
    ClientSpec, DependenciesSpec, ImpersonationSpec, PlacementSpec, PolicySpec, ReapplySpec,
    RequeueSpec, RetrySpec, SuspensionSpec, TimeoutSpec, TypeSpec,
};
pub use workload::{
    ContainerSpec, ImageSpec, IngressSpec, PodSpec, PullPolicy, ServiceSpec, ServiceType,
    TrafficPolicy,
};
