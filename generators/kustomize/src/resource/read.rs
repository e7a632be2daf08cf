//! Reading objects out of text.
//!
//! Mirrors `resource/factory.go` of kustomize api v0.21.1.

use super::{Resource, Store};
use crate::error::{BuildError, BuildErrorKind, Result, fail};
use crate::node::{Kind, NodeId, from_value, parse_documents, to_value};
use serde_json::Value;
use std::collections::VecDeque;

/// Reads the objects of a text; lists are replaced by their items.
///
/// # Errors
/// When the text is no YAML, or something in it is no object with a kind and a name.
pub(crate) fn read_objects(store: &mut Store, text: &str) -> Result<Vec<Resource>> {
    let nodes = parse_documents(&mut store.arena, text)?;
    let nodes = check_all(store, nodes)?;
    let mut queue: VecDeque<_> = nodes.into();
    let mut resources = Vec::new();
    while let Some(node) = queue.pop_front() {
        match list_items(store, node)? {
            None => resources.push(Resource::new(node)),
            Some(items) => queue.extend(items),
        }
    }
    Ok(resources)
}

/// The bytes of a file as text.
///
/// # Errors
/// When they are no UTF-8.
pub(crate) fn read_text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| {
        BuildError::new(
            BuildErrorKind::Malformed,
            "MalformedYAMLError: yaml: invalid leading UTF-8 octet",
        )
    })
}

fn check_all(store: &Store, nodes: Vec<NodeId>) -> Result<Vec<NodeId>> {
    let mut good = Vec::with_capacity(nodes.len());
    for node in nodes {
        if store.arena.get(node).is_empty_value() {
            continue;
        }
        check(store, node)?;
        good.push(node);
    }
    Ok(good)
}

/// Refuses what has no kind or no name.
pub(crate) fn check(store: &Store, node: NodeId) -> Result<()> {
    let arena = &store.arena;
    let has = |id, name| {
        arena
            .field(id, name)
            .is_some_and(|value| !arena.get(value).is_empty_value())
    };
    let metadata = arena
        .field(node, "metadata")
        .filter(|id| !arena.get(*id).is_empty_value());
    let fields = ["name", "namespace", "labels", "annotations"];
    let has_metadata =
        metadata.is_some_and(|metadata| fields.iter().any(|field| has(metadata, field)));
    if !has(node, "apiVersion") && !has(node, "kind") && !has_metadata {
        return Err(fail("missing Resource metadata"));
    }
    let meta = Meta::read(store, node, metadata);
    if meta.kind.is_empty() {
        return Err(fail(format!("missing kind in object {}", meta.go_text())));
    }
    if !meta.kind.ends_with("List") && meta.name.is_empty() {
        return Err(fail(format!(
            "missing metadata.name in object {}",
            meta.go_text()
        )));
    }
    Ok(())
}

/// What kustomize reads of an object first.
struct Meta {
    api_version: String,
    kind: String,
    name: String,
    namespace: String,
    labels: String,
    annotations: String,
}

impl Meta {
    fn read(store: &Store, node: NodeId, metadata: Option<NodeId>) -> Self {
        let arena = &store.arena;
        let text = |id: Option<NodeId>, name: &str| {
            let value = id
                .and_then(|id| arena.field(id, name))
                .map(|id| arena.get(id));
            value
                .filter(|value| !value.is_empty_value())
                .map(|value| value.text.clone())
                .unwrap_or_default()
        };
        let map = |name: &str| {
            let value = metadata.and_then(|id| arena.field(id, name));
            let mut pairs: Vec<_> = value
                .into_iter()
                .flat_map(|id| arena.pairs(id))
                .map(|(key, value)| format!("{}:{}", arena.get(key).text, arena.get(value).text))
                .collect();
            pairs.sort();
            pairs.join(" ")
        };
        Self {
            api_version: text(Some(node), "apiVersion"),
            kind: text(Some(node), "kind"),
            name: text(metadata, "name"),
            namespace: text(metadata, "namespace"),
            labels: map("labels"),
            annotations: map("annotations"),
        }
    }

    /// What `%v` of Go prints.
    fn go_text(&self) -> String {
        format!(
            "{{{{{} {}}} {{{{{} {}}} map[{}] map[{}]}}}}",
            self.api_version, self.kind, self.name, self.namespace, self.labels, self.annotations
        )
    }
}

/// The items of an object that is a list; none if it is no list.
fn list_items(store: &mut Store, node: NodeId) -> Result<Option<Vec<NodeId>>> {
    let kind = store.arena.field_text(node, "kind").to_owned();
    if !kind.ends_with("List") {
        return Ok(None);
    }
    let value = to_value(&store.arena, node)
        .map_err(|error| error.within(format!("trouble expanding list of {kind}")))?;
    match value.get("items") {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(Vec::new())),
        Some(Value::Array(items)) => {
            let mut nodes = Vec::with_capacity(items.len());
            for item in items {
                let item = from_value(&mut store.arena, item);
                if !matches!(store.arena.get(item).kind, Kind::Mapping)
                    && store.arena.get(item).is_null()
                {
                    continue;
                }
                nodes.push(item);
            }
            check_all(store, nodes).map(Some)
        }
        Some(other) => Err(fail(format!(
            "expected array in {kind}/items, but found {}",
            go_type(other)
        ))),
    }
}

/// The name of the Go type that a value is decoded to.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
