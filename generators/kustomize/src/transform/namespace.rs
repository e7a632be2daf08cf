//! Namespaces.
//!
//! Mirrors `filters/namespace` and `internal/builtins/NamespaceTransformer.go` of kustomize api v0.21.1.

use super::field::{visit_field, visit_fields};
use crate::configuration::{FieldSpec, FieldSpecs};
use crate::error::{BuildError, Result, fail};
use crate::go_text::json_of;
use crate::node::{Create, Kind, Node, NodeId, Tag};
use crate::resource::{Resource, ResourceSet, Store, annotation};
use std::collections::HashMap;

const NAMESPACE_PATH: &str = "metadata/namespace";
const NAME_PATH: &str = "metadata/name";
const SUBJECTS_PATH: &str = "subjects/namespace";

/// Which subjects of role bindings are moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RoleBindingSubjects {
    /// Those that are named `default`.
    #[default]
    DefaultOnly,
    AllServiceAccounts,
    None,
}

impl RoleBindingSubjects {
    /// Reads the word for it.
    ///
    /// # Errors
    /// When there is no such word.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        match word {
            "" | "defaultOnly" => Ok(Self::DefaultOnly),
            "allServiceAccounts" => Ok(Self::AllServiceAccounts),
            "none" => Ok(Self::None),
            _ => Err(fail(format!(
                "invalid value {word:?} for setRoleBindingSubjects: must be one of \"defaultOnly\", \"none\" or \"allServiceAccounts\""
            ))),
        }
    }
}

/// How a namespace is set.
#[derive(Debug, Clone, Copy)]
struct Setting<'a> {
    namespace: &'a str,
    specs: &'a FieldSpecs,
    unset_only: bool,
    subjects: RoleBindingSubjects,
}

/// Moves all objects to a namespace.
///
/// # Errors
/// When two objects have the same id then.
pub(crate) fn set_namespace(
    store: &mut Store,
    set: &mut ResourceSet,
    namespace: &str,
    specs: &FieldSpecs,
    unset_only: bool,
    subjects: RoleBindingSubjects,
) -> Result<()> {
    if namespace.is_empty() {
        return Ok(());
    }
    let setting = Setting {
        namespace,
        specs,
        unset_only,
        subjects,
    };
    let items = set.items_mut();
    let mut keys: Vec<_> = items
        .iter()
        .map(|resource| resource.current_id(store).key())
        .collect();
    let mut counts: HashMap<_, usize> = HashMap::with_capacity(keys.len());
    for key in &keys {
        *counts.entry(key.clone()).or_default() += 1;
    }
    for (at, resource) in items.iter().enumerate() {
        if resource.is_empty(store)
            || resource.annotation(store, annotation::HELM_GENERATED) == Some("true")
        {
            continue;
        }
        resource.store_previous_id(store)?;
        run(store, resource, setting)?;
        let Some(key) = keys.get_mut(at) else {
            continue;
        };
        if let Some(count) = counts.get_mut(key) {
            *count -= 1;
        }
        *key = resource.current_id(store).key();
        let count = counts.entry(key.clone()).or_default();
        *count += 1;
        if *count > 1 {
            return Err(conflict(store, items, at));
        }
    }
    Ok(())
}

fn conflict(store: &Store, items: &[Resource], at: usize) -> BuildError {
    let id = items.get(at).map(|resource| resource.current_id(store));
    let texts: Vec<_> = items
        .iter()
        .filter(|resource| {
            id.as_ref()
                .is_some_and(|id| id.is_same(&resource.current_id(store)))
        })
        .map(|resource| json_of(store, resource))
        .collect();
    fail(format!(
        "namespace transformation produces ID conflict: [{}]",
        texts.join(" ")
    ))
}

/// Sets the namespace of one object.
pub(super) fn set_one(store: &mut Store, resource: &Resource, namespace: &str) -> Result<()> {
    let setting = Setting {
        namespace,
        specs: &FieldSpecs::default(),
        unset_only: false,
        subjects: RoleBindingSubjects::DefaultOnly,
    };
    run(store, resource, setting)
}

fn run(store: &mut Store, resource: &Resource, setting: Setting<'_>) -> Result<()> {
    let id = resource.current_id(store);
    let is_core = resource.api_version(store) == "v1";
    if !id.is_cluster_scoped {
        let spec = FieldSpec::any(NAMESPACE_PATH, true);
        let created = Some((Kind::Scalar, Tag::None));
        visit_field(store, resource, &spec, &created, &mut |store, node| {
            set(store, node, setting)
        })?;
    }
    let is_binding = matches!(id.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding");
    if is_binding {
        set_subjects(store, resource, setting)?;
    }
    let is_kept = |spec: &&FieldSpec| {
        let is_subject = matches!(&*spec.kind, "RoleBinding" | "ClusterRoleBinding")
            && spec.path == SUBJECTS_PATH;
        spec.path != NAMESPACE_PATH
            && (is_core || spec.path != NAME_PATH)
            && !(is_binding && is_subject)
    };
    let specs = FieldSpecs(setting.specs.0.iter().filter(is_kept).cloned().collect());
    let created = Some((Kind::Scalar, Tag::Str));
    visit_fields(store, resource, &specs, &created, &mut |store, node| {
        set(store, node, setting)
    })
    .map_err(explain)
}

fn explain(error: BuildError) -> BuildError {
    let text = error.message();
    let is_kind = text.contains("wrong node kind: expected ScalarNode but got ");
    if is_kind {
        error.within("namespace field specs must target scalar nodes")
    } else {
        error.within("namespace transformation failed")
    }
}

fn set(store: &mut Store, node: NodeId, setting: Setting<'_>) -> Result<()> {
    let old = store.arena.get(node);
    let is_set = !old.is_empty_value() && old.kind == Kind::Scalar && !old.text.is_empty();
    if setting.unset_only && is_set {
        return Ok(());
    }
    let new = store.arena.add(Node::tagged(setting.namespace, Tag::Str));
    store.arena.set_scalar(node, new)
}

fn set_subjects(store: &mut Store, resource: &Resource, setting: Setting<'_>) -> Result<()> {
    let (field, text, action) = match setting.subjects {
        RoleBindingSubjects::None => return Ok(()),
        RoleBindingSubjects::DefaultOnly => ("name", "default", "looking up name"),
        RoleBindingSubjects::AllServiceAccounts => ("kind", "ServiceAccount", "looking up kind"),
    };
    let root = resource.root(store);
    let Some(subjects) = store.arena.get_field(root, "subjects")? else {
        return Ok(());
    };
    if store.arena.get(subjects).is_null() {
        return Ok(());
    }
    let outer = "setting namespace on (cluster)role binding subjects";
    store
        .arena
        .require(subjects, Kind::Sequence)
        .map_err(|error| error.within(outer))?;
    for subject in store.arena.get(subjects).children.clone() {
        let found = store.arena.get_field(subject, field);
        let found = found
            .and_then(|found| match found {
                Some(node) => store.arena.require(node, Kind::Scalar).map(|()| Some(node)),
                None => Ok(None),
            })
            .map_err(|error| {
                error
                    .within(format!("{action} on (cluster)role binding subject"))
                    .within(outer)
            })?;
        let is_meant = found.is_some_and(|node| {
            let node = store.arena.get(node);
            !node.is_null() && node.text == text
        });
        if is_meant {
            let created = store
                .arena
                .lookup(subject, &["namespace"], Create::As(Kind::Scalar))?;
            if let Some(node) = created {
                set(store, node, setting)?;
            }
        }
    }
    Ok(())
}
