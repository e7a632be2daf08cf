//! Transformers that are ready to run.

use super::origin::Origin;
use crate::configuration::FieldSpecs;
use crate::error::{Result, fail};
use crate::generate::add_hashes;
use crate::kustomization::{Image, Replacement, Replica, Selector};
use crate::patch::{JsonPatch, apply_json, apply_merge};
use crate::resource::{Resource, ResourceSet, Store};
use crate::transform::{
    Affix, RoleBindingSubjects, ValueTarget, add_affix, add_value, replace, select, set_entries,
    set_image, set_namespace, set_replicas,
};
use std::collections::{BTreeMap, HashSet};

/// A transformer and where it comes from.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) transformer: Transformer,
    /// None when origins are not asked for.
    pub(super) origin: Option<Origin>,
}

/// Something to be done to all objects.
#[derive(Debug)]
pub(super) enum Transformer {
    /// Strategic merge patches that find their targets by their own ids.
    MergePatches(Vec<Resource>),
    /// A patch of the field `patches`.
    Patch {
        content: PatchContent,
        target: Option<Selector>,
        /// What messages call it.
        source: String,
    },
    /// A patch of the field `patchesJson6902`.
    JsonPatch {
        patch: JsonPatch,
        target: Selector,
    },
    Namespace {
        namespace: String,
        specs: FieldSpecs,
        unset_only: bool,
        subjects: RoleBindingSubjects,
    },
    Prefix {
        text: String,
        specs: FieldSpecs,
    },
    Suffix {
        text: String,
        specs: FieldSpecs,
    },
    /// Labels or annotations.
    Entries {
        entries: BTreeMap<String, String>,
        specs: FieldSpecs,
    },
    Replicas {
        replica: Replica,
        specs: FieldSpecs,
    },
    Image {
        image: Image,
        specs: FieldSpecs,
    },
    Replacements(Vec<Replacement>),
    Hash,
    Value {
        value: String,
        targets: Vec<ValueTarget>,
    },
    Many(Vec<Self>),
}

/// What a patch of the field `patches` is.
#[derive(Debug)]
pub(super) enum PatchContent {
    Merge(Vec<Resource>),
    Json(JsonPatch),
    Nothing,
}

impl Transformer {
    /// Does it.
    ///
    /// # Errors
    /// Those of the transformer.
    pub(super) fn run(&self, store: &mut Store, set: &mut ResourceSet) -> Result<()> {
        match self {
            Self::MergePatches(patches) => merge_by_id(store, set, patches),
            Self::Patch {
                content,
                target,
                source,
            } => patch(store, set, content, target.as_ref(), source),
            Self::JsonPatch { patch, target } => json_by_selector(store, set, patch, target, false),
            Self::Namespace {
                namespace,
                specs,
                unset_only,
                subjects,
            } => set_namespace(store, set, namespace, specs, *unset_only, *subjects),
            Self::Prefix { text, specs } => {
                add_affix(store, set.items_mut(), Affix::Prefix(text), specs)
            }
            Self::Suffix { text, specs } => {
                add_affix(store, set.items_mut(), Affix::Suffix(text), specs)
            }
            Self::Entries { entries, specs } => {
                if entries.is_empty() {
                    return Ok(());
                }
                set_entries(store, set.items_mut(), entries, specs)
            }
            Self::Replicas { replica, specs } => {
                set_replicas(store, set.items_mut(), replica, specs)
            }
            Self::Image { image, specs } => set_image(store, set.items_mut(), image, specs),
            Self::Replacements(replacements) => replace(store, set.items_mut(), replacements),
            Self::Hash => add_hashes(store, set.items_mut()),
            Self::Value { value, targets } => add_value(store, set.items_mut(), value, targets),
            Self::Many(transformers) => transformers
                .iter()
                .try_for_each(|transformer| transformer.run(store, set)),
        }
    }
}

fn patch(
    store: &mut Store,
    set: &mut ResourceSet,
    content: &PatchContent,
    target: Option<&Selector>,
    source: &str,
) -> Result<()> {
    match (content, target) {
        (PatchContent::Nothing, _) => Ok(()),
        (PatchContent::Json(_), None) => Err(fail(format!(
            "must specify a target for JSON patch {source}"
        ))),
        (PatchContent::Json(patch), Some(target)) => {
            json_by_selector(store, set, patch, target, true)
        }
        (PatchContent::Merge(patches), None) => {
            for patch in patches {
                let id = patch.original_id(store)?;
                let at = set.only_with_any_id(store, &id).map_err(|error| {
                    error.within(format!(
                        "no resource matches strategic merge patch \"{id}\""
                    ))
                })?;
                merge_into(store, set, at, patch)?;
            }
            Ok(())
        }
        (PatchContent::Merge(patches), Some(target)) => {
            if patches.len() > 1 {
                return Err(fail(format!(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` field: {source}"
                )));
            }
            let Some(patch) = patches.first() else {
                return Ok(());
            };
            let places = select(store, set.items(), target).map_err(|error| {
                error.within(format!(
                    "unable to find patch target {:?} in `resources`",
                    describe(target)
                ))
            })?;
            merge_into_all(store, set, &places, patch)
        }
    }
}

fn describe(selector: &Selector) -> String {
    let id = crate::resource::Id {
        gvk: crate::resource::Gvk {
            group: selector.group.clone(),
            version: selector.version.clone(),
            kind: selector.kind.clone(),
        },
        name: selector.name.clone(),
        namespace: selector.namespace.clone(),
        is_cluster_scoped: false,
    };
    format!(
        "{id}:a={}:l={}",
        selector.annotation_selector, selector.label_selector
    )
}

fn merge_by_id(store: &mut Store, set: &mut ResourceSet, patches: &[Resource]) -> Result<()> {
    for patch in patches {
        let id = patch.original_id(store)?;
        let at = set.only_with_any_id(store, &id)?;
        merge_into_all(store, set, &[at], patch)?;
    }
    Ok(())
}

/// Applies a patch to one object.
fn merge_into(store: &mut Store, set: &mut ResourceSet, at: usize, patch: &Resource) -> Result<()> {
    let Some(target) = set.items_mut_keeping_ids().get_mut(at) else {
        return Ok(());
    };
    let before = target.all_ids(store)?;
    apply_merge(store, target, patch)?;
    if target.is_empty(store) || target.all_ids(store)? != before {
        set.forget_ids();
    }
    Ok(())
}

/// Applies copies of a patch to objects; no two objects may have the same id then.
fn merge_into_all(
    store: &mut Store,
    set: &mut ResourceSet,
    places: &[usize],
    patch: &Resource,
) -> Result<()> {
    let ids: HashSet<_> = places
        .iter()
        .filter_map(|at| set.items().get(*at))
        .map(|resource| resource.current_id(store))
        .collect();
    if !ids.is_empty() {
        // Objects with the same id as one that was chosen are patched, too.
        let places: Vec<usize> = (0..set.len())
            .filter(|at| places.contains(at) || is_among(store, set, *at, &ids))
            .collect();
        for at in places {
            let copy = patch.deep_copy(store);
            copy.merge_metadata_from(store, patch)?;
            if let Some(target) = set.items().get(at) {
                let version = target.api_version(store).to_owned();
                copy.set_api_version(store, &version)?;
                let kind = patch.kind(store).to_owned();
                copy.set_kind(store, &kind)?;
            }
            merge_into(store, set, at, &copy)?;
        }
    }
    set.drop_empty(store);
    set.check_unique(store)
}

fn is_among(
    store: &Store,
    set: &ResourceSet,
    at: usize,
    ids: &HashSet<crate::resource::Id>,
) -> bool {
    set.items()
        .get(at)
        .is_some_and(|resource| ids.contains(&resource.current_id(store)))
}

fn json_by_selector(
    store: &mut Store,
    set: &mut ResourceSet,
    patch: &JsonPatch,
    target: &Selector,
    keeps_ids: bool,
) -> Result<()> {
    let places = select(store, set.items(), target)?;
    for resource in places.iter().filter_map(|at| set.items().get(*at)) {
        if keeps_ids {
            resource.store_previous_id(store)?;
        }
        apply_json(store, resource, patch)?;
    }
    set.forget_ids();
    Ok(())
}
