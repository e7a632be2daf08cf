//! Patches: strategic merge and JSON 6902.

mod json;
mod json_text;
mod merge;
mod merge_list;

pub(crate) use json::JsonPatch;
pub(crate) use merge::{ListGrowth, merge};

use crate::error::{Result, over_limit};
use crate::limits::MAX_NODES;
use crate::node::to_value;
use crate::resource::{Resource, Store, annotation};

/// Applies a strategic merge patch to an object; kind, name and namespace stay unless the patch may change them.
///
/// # Errors
/// When patch and object do not fit each other.
pub(crate) fn apply_merge(
    store: &mut Store,
    target: &mut Resource,
    patch: &Resource,
) -> Result<()> {
    if store.arena.len() >= MAX_NODES {
        return Err(over_limit("nodes", MAX_NODES));
    }
    let name = target.name(store).to_owned();
    let namespace = target.namespace(store).to_owned();
    let kind = target.kind(store).to_owned();
    let may_rename = patch.has_switch(store, annotation::ALLOW_NAME_CHANGE);
    let may_retype = patch.has_switch(store, annotation::ALLOW_KIND_CHANGE);
    if may_rename || may_retype {
        target.store_previous_id(store)?;
    }
    let (root, patch) = (target.root(store), patch.root(store));
    let merged = merge(store, Some(root), Some(patch), ListGrowth::Prepend)?;
    if merged.is_none() {
        target.delete();
    }
    if target.is_empty(store) {
        return Ok(());
    }
    if !may_retype {
        target.set_kind(store, &kind)?;
    }
    if !may_rename {
        target.set_name(store, &name)?;
    }
    target.set_namespace(store, &namespace)
}

/// Applies a JSON patch to an object; annotations of the build stay.
///
/// # Errors
/// When an operation fails, or nothing with a kind and a name is left.
pub(crate) fn apply_json(store: &mut Store, target: &Resource, patch: &JsonPatch) -> Result<()> {
    let internal = target.internal_annotations(store);
    let root = target.root(store);
    let patched = patch.apply(to_value(&store.arena, root)?)?;
    let new = patched.put_into(&mut store.arena);
    store.arena.assign(root, new);
    let mut annotations = target.annotations(store);
    annotations.extend(internal);
    target.set_annotations(store, &annotations)
}
