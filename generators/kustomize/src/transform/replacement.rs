//! Replacements: values of one object in fields of others.
//!
//! Mirrors `filters/replacement` of kustomize api v0.21.1.

use super::field::split_dotted;
use super::select::Matcher;
use super::structured::set_inside_text;
use crate::error::{BuildError, Result, fail, over_limit};
use crate::kustomization::{FieldOptions, Replacement, Selector, SourceSelector, TargetSelector};
use crate::limits::{MAX_PATH_PARTS, MAX_REPLACEMENTS};
use crate::node::{Create, Kind, Node, NodeId, match_path};
use crate::resource::{Gvk, Id, Resource, Store};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The field that is meant where none is named.
const DEFAULT_FIELD: &str = "metadata.name";

/// Applies replacements in their order.
///
/// # Errors
/// When a source is missing or not the only one, or a field is not there.
pub(crate) fn replace(
    store: &mut Store,
    resources: &[Resource],
    replacements: &[Replacement],
) -> Result<()> {
    if replacements.len() > MAX_REPLACEMENTS {
        return Err(over_limit("replacements", MAX_REPLACEMENTS));
    }
    for replacement in replacements {
        let has_source = replacement.source.is_some() || replacement.source_value.is_some();
        let Some(targets) = replacement.targets.as_ref().filter(|_| has_source) else {
            return Err(fail(
                "replacements must specify a source and at least one target",
            ));
        };
        let value = value_of(store, resources, replacement)?;
        for target in targets {
            apply(store, resources, value, target)?;
        }
    }
    Ok(())
}

fn value_of(
    store: &mut Store,
    resources: &[Resource],
    replacement: &Replacement,
) -> Result<NodeId> {
    match (&replacement.source_value, &replacement.source) {
        (Some(_), Some(_)) => Err(fail("value and resource selectors are mutually exclusive")),
        (Some(text), None) => Ok(store.arena.add(Node::scalar(text.clone()))),
        (None, Some(source)) => source_value(store, resources, source),
        (None, None) => Err(fail(
            "replacements must specify a source and at least one target",
        )),
    }
}

/// What a source says of itself in messages.
fn describe(id: &Id, source: &SourceSelector) -> String {
    let mut text = id.to_string();
    if !source.field_path.is_empty() {
        text.push(':');
        text.push_str(&source.field_path);
    }
    if let Some(options) = &source.options
        && (!options.delimiter.is_empty() || options.create)
    {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            ":{}({}), create={}",
            options.delimiter, options.index, options.create
        );
    }
    text
}

fn source_value(
    store: &mut Store,
    resources: &[Resource],
    source: &SourceSelector,
) -> Result<NodeId> {
    let id = Id {
        gvk: Gvk {
            group: source.group.clone(),
            version: source.version.clone(),
            kind: source.kind.clone(),
        },
        name: source.name.clone(),
        namespace: source.namespace.clone(),
        is_cluster_scoped: false,
    };
    let mut found = None;
    for resource in resources {
        let ids = resource.all_ids(store)?;
        if ids.iter().any(|other| other.is_selected_by(&id)) {
            if found.is_some() {
                return Err(fail(format!(
                    "multiple matches for selector {}",
                    describe(&id, source)
                )));
            }
            found = Some(resource);
        }
    }
    let Some(resource) = found else {
        return Err(fail(format!(
            "nothing selected by {}",
            describe(&id, source)
        )));
    };
    let path = if source.field_path.is_empty() {
        DEFAULT_FIELD
    } else {
        &source.field_path
    };
    let parts = parts_of(path)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let root = resource.root(store);
    let node = store
        .arena
        .lookup(root, &parts, Create::Never)
        .map_err(|error| error.within("error looking up replacement source"))?;
    match node.filter(|node| !store.arena.get(*node).is_empty_value()) {
        Some(node) => refine(store, node, source.options.as_ref()),
        None => Err(fail(format!(
            "fieldPath `{path}` is missing for replacement source {id}"
        ))),
    }
}

fn parts_of(path: &str) -> Result<Vec<String>> {
    let parts = split_dotted(path);
    if parts.len() > MAX_PATH_PARTS {
        return Err(over_limit(
            "parts in the path of a replacement",
            MAX_PATH_PARTS,
        ));
    }
    Ok(parts)
}

/// The part of a value that is meant.
fn refine(store: &mut Store, node: NodeId, options: Option<&FieldOptions>) -> Result<NodeId> {
    let Some(options) = options.filter(|options| !options.delimiter.is_empty()) else {
        return Ok(node);
    };
    let value = store.arena.get(node);
    if value.kind != Kind::Scalar {
        return Err(fail("delimiter option can only be used with scalar nodes"));
    }
    let index = usize::try_from(options.index).unwrap_or(usize::MAX);
    let Some(part) = value.text.split(&options.delimiter).nth(index) else {
        return Err(fail(format!(
            "options.index {} is out of bounds for value {}",
            options.index, value.text
        )));
    };
    let part = part.to_owned();
    let copy = store.arena.copy(node);
    store.arena.get_mut(copy).text = part;
    Ok(copy)
}

fn apply(
    store: &mut Store,
    resources: &[Resource],
    value: NodeId,
    target: &TargetSelector,
) -> Result<()> {
    let Some(select) = &target.select else {
        return Err(fail("target must specify resources to select"));
    };
    let regex = |error: BuildError| error.within("error creating target selector");
    let matcher = Matcher::new(select).map_err(regex)?;
    let rejects: Vec<(&Selector, Matcher)> = target
        .reject
        .iter()
        .map(|reject| Ok((reject, Matcher::new(reject).map_err(regex)?)))
        .collect::<Result<_>>()?;
    let default = [DEFAULT_FIELD.to_owned()];
    let paths = if target.field_paths.is_empty() {
        &default[..]
    } else {
        &target.field_paths
    };
    let mut split = HashMap::new();
    for path in paths {
        split.insert(path.as_str(), parts_of(path)?);
    }
    for resource in resources {
        // Most objects are of other types, so that is looked at before all ids are read.
        let ids = resource.all_ids(store)?;
        if !matcher.fits_metadata(store, resource) || is_rejected(store, resource, &ids, &rejects) {
            continue;
        }
        if !ids.iter().any(|id| matcher.fits_id(id)) {
            continue;
        }
        for path in paths {
            let parts = split.get(path.as_str()).map_or(&[][..], Vec::as_slice);
            copy_to(store, resource, value, path, parts, target.options.as_ref())?;
        }
    }
    Ok(())
}

fn is_rejected(
    store: &Store,
    resource: &Resource,
    ids: &[Id],
    rejects: &[(&Selector, Matcher)],
) -> bool {
    rejects.iter().any(|(selector, matcher)| {
        let by_metadata =
            !selector.label_selector.is_empty() || !selector.annotation_selector.is_empty();
        if by_metadata && matcher.fits_metadata(store, resource) {
            return true;
        }
        let names_id = [
            &selector.group,
            &selector.version,
            &selector.kind,
            &selector.name,
            &selector.namespace,
        ]
        .iter()
        .any(|text| !text.is_empty());
        names_id && ids.iter().any(|id| matcher.fits_id(id))
    })
}

fn copy_to(
    store: &mut Store,
    resource: &Resource,
    value: NodeId,
    path: &str,
    parts: &[String],
    options: Option<&FieldOptions>,
) -> Result<()> {
    let creates = options.is_some_and(|options| options.create);
    let create = if creates {
        Create::As(store.arena.get(value).kind)
    } else {
        Create::Never
    };
    let root = resource.root(store);
    if set_inside_text(store, root, value, parts, create) {
        return Ok(());
    }
    let problem = if creates {
        format!("unable to find or create field {path:?} in replacement target")
    } else {
        format!("unable to find field {path:?} in replacement target")
    };
    let found = match_path(&mut store.arena, root, parts, create)
        .map_err(|error| error.within(&problem))?
        .unwrap_or_default();
    if found.is_empty() {
        return Err(fail(problem));
    }
    for node in found {
        set_field(store, node, value, options)?;
    }
    Ok(())
}

fn set_field(
    store: &mut Store,
    target: NodeId,
    value: NodeId,
    options: Option<&FieldOptions>,
) -> Result<()> {
    let copy = store.arena.copy(value);
    if let Some(options) = options.filter(|options| !options.delimiter.is_empty()) {
        let old = store.arena.get(target);
        if old.kind != Kind::Scalar {
            return Err(fail("delimiter option can only be used with scalar nodes"));
        }
        let value = store.arena.get(copy);
        let part = if value.is_null() { "" } else { &value.text };
        let joined = put_part(&old.text, part, options);
        store.arena.get_mut(copy).text = joined;
    }
    if store.arena.get(target).kind == Kind::Scalar {
        let text = store.arena.get(copy).text.clone();
        store.arena.get_mut(target).text = text;
    } else {
        store.arena.assign(target, copy);
    }
    Ok(())
}

/// A text with one of its parts replaced, or one more in front or behind.
fn put_part(old: &str, part: &str, options: &FieldOptions) -> String {
    let mut parts: Vec<&str> = old.split(&options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, part),
        Ok(index) => match parts.get_mut(index) {
            Some(place) => *place = part,
            None => parts.push(part),
        },
    }
    parts.join(&options.delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_put_in_front_behind_and_in_between() {
        let options = |index| FieldOptions {
            delimiter: "/".to_owned(),
            index,
            ..FieldOptions::default()
        };
        assert_eq!(put_part("a/b", "x", &options(-1)), "x/a/b");
        assert_eq!(put_part("a/b", "x", &options(1)), "a/x");
        assert_eq!(put_part("a/b", "x", &options(7)), "a/b/x");
    }
}
