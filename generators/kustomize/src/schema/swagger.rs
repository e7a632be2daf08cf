//! Schemas that a kustomization brings along.

use super::{Schema, Schemas};
use crate::error::{Result, fail};
use serde_json::{Map, Value};
use whipstaff_generator::yaml;

/// How deep a schema may be nested.
const MAX_SCHEMA_DEPTH: usize = 100;

/// Reads a Swagger document, as JSON or YAML.
pub(super) fn read(text: &str) -> Result<Schemas> {
    let invalid = |cause: String| fail(format!("invalid schema file: {cause}"));
    let document = if text.starts_with('{') {
        serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?
    } else {
        yaml::from_str(text).map_err(|error| invalid(error.to_string()))?
    };
    let mut schemas = Schemas::default();
    let Value::Object(document) = document else {
        return Err(invalid("not an object".to_owned()));
    };
    for (name, definition) in object(document.get("definitions")) {
        let index = add(&mut schemas, definition, 0)?;
        schemas.definitions.insert(name.clone(), index);
        for kind in gvks(definition) {
            schemas.types.insert(kind, index);
        }
    }
    for (path, item) in object(document.get("paths")) {
        for kind in item.get("get").map(gvks).unwrap_or_default() {
            let namespaced = path.contains("namespaces/{namespace}");
            let known = schemas.scopes.entry(kind).or_insert(namespaced);
            *known |= namespaced;
        }
    }
    Ok(schemas)
}

fn object(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter)
}

/// The types that a definition or an operation is for.
fn gvks(value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value, key| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let read = |value: &Value| {
        let (group, version) = (text(value, "group"), text(value, "version"));
        let version = if group.is_empty() {
            version
        } else {
            format!("{group}/{version}")
        };
        (version, text(value, "kind"))
    };
    match value.get("x-kubernetes-group-version-kind") {
        Some(Value::Array(items)) => items.iter().map(read).collect(),
        Some(item @ Value::Object(_)) => vec![read(item)],
        _ => Vec::new(),
    }
}

fn add(schemas: &mut Schemas, value: &Value, depth: usize) -> Result<usize> {
    if depth > MAX_SCHEMA_DEPTH {
        return Err(fail(format!(
            "schema is deeper than {MAX_SCHEMA_DEPTH} levels"
        )));
    }
    let text = |key| value.get(key).and_then(Value::as_str);
    let mut schema = Schema {
        is_array: text("type") == Some("array"),
        strategy: text("x-kubernetes-patch-strategy")
            .unwrap_or_default()
            .to_owned(),
        reference: text("$ref").map(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.replace("~1", "/").replace("~0", "~")
        }),
        ..Schema::default()
    };
    if !schema.strategy.is_empty() {
        schema.keys = match value.get("x-kubernetes-list-map-keys") {
            Some(Value::Array(keys)) => keys
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => text("x-kubernetes-patch-merge-key")
                .map(str::to_owned)
                .into_iter()
                .collect(),
        };
    }
    for (name, field) in object(value.get("properties")) {
        let field = add(schemas, field, depth + 1)?;
        schema.fields.insert(name.clone(), field);
    }
    if let Some(items) = value.get("items").filter(|items| items.is_object()) {
        schema.items = Some(add(schemas, items, depth + 1)?);
    }
    if let Some(values) = value
        .get("additionalProperties")
        .filter(|values| values.is_object())
    {
        schema.values = Some(add(schemas, values, depth + 1)?);
    }
    schemas.all.push(schema);
    Ok(schemas.all.len() - 1)
}
