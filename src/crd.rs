//! The definitions of the custom resources.

use crate::api::v1alpha1::Component;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

/// The definitions that the operator needs in a cluster.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![Component::crd()]
}

/// The definitions as files: their names, and their YAML.
///
/// # Errors
/// Only if a definition cannot be written as YAML.
pub fn crd_files() -> Result<Vec<(String, String)>, serde_yaml::Error> {
    crds()
        .iter()
        .map(|crd| {
            let name = format!("{}.yaml", crd.metadata.name.as_deref().unwrap_or_default());
            Ok((name, serde_yaml::to_string(crd)?))
        })
        .collect()
}
