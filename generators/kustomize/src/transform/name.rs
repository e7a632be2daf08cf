//! Prefixes and suffixes of names.
//!
//! Mirrors `PrefixTransformer.go` and `SuffixTransformer.go` in `internal/builtins` of kustomize api v0.21.1.

use super::field::visit_field;
use crate::configuration::FieldSpecs;
use crate::error::Result;
use crate::node::{Kind, Node, Tag};
use crate::resource::{Gvk, Resource, Store, annotation};

/// What is put around names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Affix<'a> {
    Prefix(&'a str),
    Suffix(&'a str),
}

/// Puts a text in front of names, or behind them; CRDs, namespaces and API services keep theirs.
///
/// # Errors
/// When a name is no scalar.
pub(crate) fn add_affix(
    store: &mut Store,
    resources: &[Resource],
    affix: Affix<'_>,
    specs: &FieldSpecs,
) -> Result<()> {
    let (list, text) = match affix {
        Affix::Prefix(text) => (annotation::PREFIXES, text),
        Affix::Suffix(text) => (annotation::SUFFIXES, text),
    };
    for resource in resources {
        let original = resource.original_id(store)?;
        if keeps_name(&original.gvk) {
            continue;
        }
        for spec in specs
            .0
            .iter()
            .filter(|spec| original.gvk.is_selected_by(&spec.gvk()))
        {
            if spec.path == "metadata/name" {
                resource.append_to_annotation(store, list, text)?;
                if !text.is_empty() {
                    resource.store_previous_id(store)?;
                }
            }
            let created = Some((Kind::Scalar, Tag::Str));
            visit_field(store, resource, spec, &created, &mut |store, node| {
                let old = &store.arena.get(node).text;
                let new = match affix {
                    Affix::Prefix(prefix) => format!("{prefix}{old}"),
                    Affix::Suffix(suffix) => format!("{old}{suffix}"),
                };
                let new = store.arena.add(Node::scalar(new));
                store.arena.set_scalar(node, new)
            })?;
        }
    }
    Ok(())
}

fn keeps_name(gvk: &Gvk) -> bool {
    matches!(gvk.kind.as_str(), "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}
