//! Fields inside of texts that are JSON or YAML themselves.
//!
//! Mirrors `setValueInStructuredData` in `filters/replacement` of kustomize api v0.21.1.

use crate::error::Result;
use crate::go_text::go_json_indented;
use crate::node::{Create, Kind, NodeId, emit, match_path, parse_document, to_value};
use crate::resource::Store;
use whipstaff_generator::go_json;

/// Sets a field inside of a text that a path leads through; false where the path leads through none.
pub(super) fn set_inside_text(
    store: &mut Store,
    root: NodeId,
    value: NodeId,
    path: &[String],
    create: Create,
) -> bool {
    if path.len() < 2 {
        return false;
    }
    let Some((text_node, inner, rest)) = find_text(store, root, path) else {
        return false;
    };
    set(store, text_node, inner, value, rest, create).unwrap_or(false)
}

/// The first text on the path that can be read, what it holds, and the rest of the path.
fn find_text<'p>(
    store: &mut Store,
    root: NodeId,
    path: &'p [String],
) -> Option<(NodeId, NodeId, &'p [String])> {
    for length in 1..path.len() {
        let (front, rest) = path.split_at_checked(length)?;
        let parts: Vec<&str> = front.iter().map(String::as_str).collect();
        let Ok(Some(node)) = store.arena.lookup(root, &parts, Create::Never) else {
            continue;
        };
        if store.arena.get(node).kind != Kind::Scalar {
            continue;
        }
        let text = store.arena.get(node).text.clone();
        if let Ok(inner) = parse_document(&mut store.arena, &text) {
            let inner = inner.unwrap_or_else(|| store.arena.add(crate::node::Node::default()));
            return Some((node, inner, rest));
        }
    }
    None
}

fn set(
    store: &mut Store,
    text_node: NodeId,
    inner: NodeId,
    value: NodeId,
    path: &[String],
    create: Create,
) -> Result<bool> {
    let found = match_path(&mut store.arena, inner, path, create)?.unwrap_or_default();
    if found.is_empty() {
        return Ok(false);
    }
    for node in found {
        if store.arena.get(node).kind == Kind::Scalar {
            let text = store.arena.get(value).text.clone();
            store.arena.get_mut(node).text = text;
        } else {
            store.arena.assign(node, value);
        }
    }
    let original = store.arena.get(text_node).text.clone();
    let printed = print(store, inner, &original)?;
    store.arena.get_mut(text_node).text = printed;
    Ok(true)
}

/// Prints in the format of the original: JSON, on one line or indented, or YAML.
fn print(store: &Store, node: NodeId, original: &str) -> Result<String> {
    if !original.trim().starts_with(['{', '[']) {
        return Ok(emit(&store.arena, node).trim().to_owned());
    }
    let value = to_value(&store.arena, node)?;
    if original.contains('\n') && original.contains("  ") {
        Ok(go_json_indented(&value))
    } else {
        Ok(go_json::to_string(&value))
    }
}
