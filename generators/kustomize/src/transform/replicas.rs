//! Counts of replicas.
//!
//! Mirrors `internal/builtins/ReplicaCountTransformer.go` of kustomize api v0.21.1.

use super::field::visit_field;
use crate::configuration::FieldSpecs;
use crate::error::{Result, fail};
use crate::kustomization::Replica;
use crate::node::{Kind, Node, Tag};
use crate::resource::{Resource, Store};

/// Sets the count of the objects that have, or had, a name.
///
/// # Errors
/// When there is no such object of the types that have replicas.
pub(crate) fn set_replicas(
    store: &mut Store,
    resources: &[Resource],
    replica: &Replica,
    specs: &FieldSpecs,
) -> Result<()> {
    let mut found = false;
    for spec in &*specs.0 {
        let gvk = spec.gvk();
        for resource in resources {
            if resource.is_empty(store) {
                continue;
            }
            let ids = resource.all_ids(store)?;
            let is_meant =
                |id: &crate::resource::Id| id.name == replica.name && id.gvk.is_selected_by(&gvk);
            if !ids.iter().any(is_meant) {
                continue;
            }
            found = true;
            let created = Some((Kind::Scalar, Tag::Int));
            visit_field(store, resource, spec, &created, &mut |store, node| {
                let count = store
                    .arena
                    .add(Node::tagged(replica.count.to_string(), Tag::Int));
                store.arena.set_scalar(node, count)
            })?;
        }
    }
    if found {
        return Ok(());
    }
    let types: Vec<_> = specs.0.iter().map(|spec| spec.gvk().to_string()).collect();
    Err(fail(format!(
        "resource with name {} does not match a config with the following GVK [{}]",
        replica.name,
        types.join(" ")
    )))
}
