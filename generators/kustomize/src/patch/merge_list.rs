//! Merging of lists whose items are told apart by keys.
//!
//! Mirrors `yaml/walk/associative_sequence.go` of kyaml v0.21.1 step by step, odd ones included.

use super::merge::{Directive, ListGrowth, Walker};
use crate::error::Result;
use crate::node::{Kind, Node, NodeId, match_all};
use crate::schema::SchemaId;
use std::collections::HashSet;

/// The texts of the keys of an item.
type Tuple = Vec<String>;

/// Merges two lists; none when nothing is left.
pub(super) fn walk(
    walker: &mut Walker<'_>,
    target: Option<NodeId>,
    patch: Option<NodeId>,
    schema: Option<SchemaId>,
    depth: usize,
) -> Result<Option<NodeId>> {
    let Some(target) = start(walker, target, patch)? else {
        return Ok(None);
    };
    let keys: Vec<String> = schema.map_or_else(Vec::new, |schema| {
        walker.store.types.merge_keys(schema).to_vec()
    });
    let sources = match walker.growth {
        ListGrowth::Prepend => [patch, Some(target)],
        ListGrowth::Append => [Some(target), patch],
    };
    let key_refs: Vec<&str> = keys.iter().map(String::as_str).collect();
    let tuples = if keys.is_empty() {
        primitive_tuples(walker, sources)
    } else {
        tuples(walker, sources, &key_refs)
    };
    let keys = if keys.is_empty() { vec![""] } else { key_refs };
    let list = List {
        target,
        patch,
        schema: schema.and_then(|schema| walker.store.types.items(schema)),
        depth,
    };
    merge_tuples(walker, &list, tuples, &keys)
}

/// The two lists of a merge.
struct List {
    target: NodeId,
    patch: Option<NodeId>,
    /// Of the items.
    schema: Option<SchemaId>,
    depth: usize,
}

/// The list that the items are put into.
fn start(
    walker: &mut Walker<'_>,
    target: Option<NodeId>,
    patch: Option<NodeId>,
) -> Result<Option<NodeId>> {
    if walker.store.arena.is_missing_or_null(target) {
        return Ok(patch);
    }
    let Some(patch) = patch else {
        return Ok(target);
    };
    if walker.store.arena.get(patch).is_null() {
        return Ok(None);
    }
    Ok(match walker.list_directive(patch)? {
        Directive::Delete => None,
        Directive::Replace => Some(patch),
        Directive::Merge => target,
    })
}

fn tuples(walker: &Walker<'_>, sources: [Option<NodeId>; 2], keys: &[&str]) -> Vec<Tuple> {
    let mut seen = HashSet::new();
    let mut tuples = Vec::new();
    for source in sources.into_iter().flatten() {
        for tuple in walker.store.arena.element_texts(source, keys) {
            if seen.insert(tuple.clone()) {
                tuples.push(tuple);
            }
        }
    }
    tuples
}

fn primitive_tuples(walker: &Walker<'_>, sources: [Option<NodeId>; 2]) -> Vec<Tuple> {
    let arena = &walker.store.arena;
    let mut seen = HashSet::new();
    let mut tuples = Vec::new();
    for source in sources.into_iter().flatten() {
        for item in &arena.get(source).children {
            let text = &arena.get(*item).text;
            if seen.insert(text.clone()) {
                tuples.push(vec![text.clone()]);
            }
        }
    }
    tuples
}

/// Unifies tuples of which one has texts where the other has none.
fn unify(tuples: &mut [Tuple]) {
    // Only tuples with an empty text can change anything.
    if !tuples
        .iter()
        .any(|tuple| tuple.iter().any(String::is_empty))
    {
        return;
    }
    for first in 0..tuples.len() {
        for second in 0..tuples.len() {
            let (Some(one), Some(other)) = (tuples.get(first), tuples.get(second)) else {
                continue;
            };
            let Some(both) = combine(one, other) else {
                continue;
            };
            for place in [first, second] {
                if let Some(tuple) = tuples.get_mut(place) {
                    tuple.clone_from(&both);
                }
            }
        }
    }
}

/// What two tuples say together; none if they contradict each other or have nothing in common.
fn combine(one: &Tuple, other: &Tuple) -> Option<Tuple> {
    let mut common = false;
    let mut both = Vec::with_capacity(one.len());
    for (first, second) in one.iter().zip(other) {
        if first == second {
            common = true;
            both.push(first.clone());
        } else if !first.is_empty() && !second.is_empty() {
            return None;
        } else {
            both.push(if first.is_empty() { second } else { first }.clone());
        }
    }
    common.then_some(both)
}

/// The keys that any of the tuples has a text for, and the texts of one of them.
fn valid_keys<'k>(used: &[bool], values: &Tuple, keys: &[&'k str]) -> (Vec<&'k str>, Tuple) {
    if !used.contains(&true) {
        return (keys.to_vec(), values.clone());
    }
    let is_used = |at: usize| used.get(at).copied().unwrap_or(false);
    let valid = keys.iter().enumerate().filter(|(at, _)| is_used(*at));
    let texts = values
        .iter()
        .enumerate()
        .filter(|(at, value)| !value.is_empty() || is_used(*at));
    (
        valid.map(|(_, key)| *key).collect(),
        texts.map(|(_, value)| value.clone()).collect(),
    )
}

fn used_keys(tuples: &[Tuple], count: usize) -> Vec<bool> {
    let mut used = vec![false; count];
    for tuple in tuples {
        for (flag, value) in used.iter_mut().zip(tuple) {
            *flag |= !value.is_empty();
        }
    }
    used
}

fn merge_tuples(
    walker: &mut Walker<'_>,
    list: &List,
    mut tuples: Vec<Tuple>,
    keys: &[&str],
) -> Result<Option<NodeId>> {
    if keys.len() > 1 {
        unify(&mut tuples);
    }
    let used = used_keys(&tuples, keys.len());
    let added = walker.store.arena.add(Node::of_kind(Kind::Sequence));
    let mut valid = Vec::new();
    for tuple in &tuples {
        let (names, values) = valid_keys(&used, tuple, keys);
        merge_item(walker, list, added, &names, &values)?;
        valid = names;
    }
    if tuples.is_empty() {
        return Ok((!walker.store.arena.get(list.target).is_null()).then_some(list.target));
    }
    let (into, from) = match walker.growth {
        ListGrowth::Prepend => (added, list.target),
        ListGrowth::Append => (list.target, added),
    };
    append(walker, into, from, &valid)?;
    Ok(Some(into))
}

fn merge_item(
    walker: &mut Walker<'_>,
    list: &List,
    added: NodeId,
    keys: &[&str],
    values: &Tuple,
) -> Result<()> {
    // The pair is found by the keys that have texts here.
    let (found_by, texts) = valid_keys(
        &used_keys(std::slice::from_ref(values), keys.len()),
        values,
        keys,
    );
    let arena = &walker.store.arena;
    let old = match_all(arena, list.target, &found_by, &texts);
    let new = list
        .patch
        .and_then(|patch| match_all(arena, patch, &found_by, &texts));
    let merged = walker.walk(old, new, list.schema, list.depth + 1)?.node;
    let arena = &mut walker.store.arena;
    let Some(item) = merged.filter(|item| {
        let node = arena.get(*item);
        !(node.is_null() || node.kind == Kind::Mapping && node.children.is_empty())
    }) else {
        return arena.set_element(list.target, None, keys, values);
    };
    for (key, value) in keys.iter().zip(values) {
        if value.is_empty() || arena.field(item, key).is_some() {
            continue;
        }
        let text = arena.add(Node::scalar(value.clone()));
        if key.is_empty() {
            arena.set_scalar(item, text)?;
        } else {
            arena.set_field(item, key, text)?;
        }
    }
    arena.set_element(added, Some(item), keys, values)
}

/// Puts the items of one list into another; those that are there already are replaced.
fn append(walker: &mut Walker<'_>, into: NodeId, from: NodeId, keys: &[&str]) -> Result<()> {
    let arena = &mut walker.store.arena;
    for item in arena.get(from).children.clone() {
        if keys.first().is_none_or(|key| key.is_empty()) {
            let text = arena.get(item).text.clone();
            arena.set_element(into, Some(item), &[""], &[text])?;
            continue;
        }
        let mut values = Vec::new();
        for key in keys {
            match arena.get_field(item, key)? {
                Some(value) => values.push(arena.get(value).text.clone()),
                None => arena.get_mut(into).children.push(item),
            }
        }
        if keys.len() > 1 {
            arena.set_element(into, None, keys, &values)?;
        }
        arena.set_element(into, Some(item), keys, &values)?;
    }
    Ok(())
}
