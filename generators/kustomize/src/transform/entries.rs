//! Labels and annotations.
//!
//! Mirrors `filters/labels` and `filters/annotations` of kustomize api v0.21.1.

use super::field::visit_field;
use crate::configuration::{FieldSpec, FieldSpecs};
use crate::error::Result;
use crate::node::{Kind, Node, Tag};
use crate::resource::{Resource, Store};
use std::collections::BTreeMap;

/// Sets entries of the maps that the specifications lead to.
///
/// One entry that is made in several places of an object is one node: later changes of one place show in the others.
///
/// # Errors
/// When there is something else than a map.
pub(crate) fn set_entries(
    store: &mut Store,
    resources: &[Resource],
    entries: &BTreeMap<String, String>,
    specs: &FieldSpecs,
) -> Result<()> {
    let created = Some((Kind::Mapping, Tag::Map));
    for resource in resources {
        let gvk = resource.gvk(store);
        let specs: Vec<&FieldSpec> = specs.0.iter().filter(|spec| spec.selects(&gvk)).collect();
        for (key, value) in entries {
            let node = store.arena.add(Node::tagged(value.clone(), Tag::Str));
            for spec in &specs {
                visit_field(store, resource, spec, &created, &mut |store, map| {
                    store.arena.set_field(map, key, node)
                })?;
            }
        }
    }
    Ok(())
}

/// Gives every object an annotation.
///
/// # Errors
/// When annotations are no map.
pub(crate) fn annotate_all(
    store: &mut Store,
    resources: &[Resource],
    name: &str,
    value: &str,
) -> Result<()> {
    let entries = BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let specs = FieldSpecs::any("metadata/annotations", true);
    set_entries(store, resources, &entries, &specs)
}
