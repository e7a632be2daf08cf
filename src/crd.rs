//! The definitions of the custom resources.

use crate::api::v1alpha1::Component;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON,
};
use kube::CustomResourceExt;
use serde_json::json;

/// The definitions that the operator needs in a cluster.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![crd_of::<Component>()]
}

/// The definition of a kind, whose resources begin with the observed generation -1: whoever reads readiness off a resource's status
/// then never takes one for ready that nobody has reconciled yet.
pub fn crd_of<C: CustomResourceExt>() -> CustomResourceDefinition {
    let mut definition = C::crd();
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut();
        let schema = schema.and_then(|schema| schema.open_api_v3_schema.as_mut());
        let properties = schema.and_then(|schema| schema.properties.as_mut());
        if let Some(status) = properties.and_then(|properties| properties.get_mut("status")) {
            status.default = Some(JSON(json!({ "observedGeneration": -1 })));
        }
    }
    definition
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
