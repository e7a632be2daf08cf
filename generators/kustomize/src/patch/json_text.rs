//! Reading the text of JSON patches.

use crate::error::{BuildError, BuildErrorKind, Result};
use serde_json::{Map, Value};
use whipstaff_generator::yaml;

fn malformed(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Malformed, message)
}

/// The operations of a patch, as JSON if the text starts with `[`, else as YAML.
pub(super) fn parse_operations(text: &str) -> Result<Vec<Map<String, Value>>> {
    let value: Value = if text.starts_with('[') {
        serde_json::from_str(text).map_err(|error| malformed(json_problem(text, &error)))?
    } else {
        yaml::from_str(text).map_err(|error| malformed(error.to_string()))?
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.into_iter().map(operation).collect(),
        other => Err(wrong_type(&other, "jsonpatch.Patch")),
    }
}

fn operation(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(wrong_type(&other, "jsonpatch.Operation")),
    }
}

fn wrong_type(value: &Value, wanted: &str) -> BuildError {
    let found = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    malformed(format!(
        "json: cannot unmarshal {found} into Go value of type {wanted}"
    ))
}

/// What Go says about a text that is no JSON, as far as it can be told.
fn json_problem(text: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let line = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let character = line.chars().nth(error.column().saturating_sub(1));
    match character {
        Some(character) => {
            format!("invalid character {character:?} looking for beginning of value")
        }
        None => "invalid character '\\n' in string literal".to_owned(),
    }
}
