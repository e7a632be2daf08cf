//! What is done to all objects in the end.

use crate::configuration::FieldSpecs;
use crate::error::Result;
use crate::resource::{Resource, ResourceSet, Store, annotation, check};
use crate::transform::set_entries;
use std::collections::BTreeMap;

/// The label that says what manages an object.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The value of the label: the version whose output this is.
const MANAGER: &str = "kustomize-v5.8.1";

/// What stays in the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    pub(super) managed_by_label: bool,
    pub(super) origins: bool,
    pub(super) transformations: bool,
}

/// Drops objects that are meant for tools only.
pub(super) fn drop_local(store: &Store, set: &mut ResourceSet) -> Result<()> {
    for resource in set.items() {
        if let Some(root) = resource.node().filter(|_| !resource.is_empty(store)) {
            check(store, root)?;
        }
    }
    set.items_mut().retain(|resource| {
        let mark = resource.annotation(store, annotation::LOCAL_CONFIG);
        !resource.is_empty(store) && mark.is_none_or(|mark| mark == "false")
    });
    Ok(())
}

/// Adds the label of the manager, and takes away what was written for the build.
pub(super) fn finish(store: &mut Store, resources: &[Resource], kept: Kept) -> Result<()> {
    if kept.managed_by_label {
        let labels = BTreeMap::from([(MANAGED_BY.to_owned(), MANAGER.to_owned())]);
        let specs = FieldSpecs::any("metadata/labels", true);
        set_entries(store, resources, &labels, &specs)?;
    }
    for resource in resources {
        resource.remove_build_annotations(store)?;
        let mut annotations = resource.annotations(store);
        if !kept.origins {
            annotations.remove(annotation::ORIGIN);
        }
        if !kept.transformations {
            annotations.remove(annotation::TRANSFORMATIONS);
        }
        if !kept.origins || !kept.transformations {
            resource.set_annotations(store, &annotations)?;
        }
    }
    Ok(())
}
