//! Decoding as Go's `encoding/json` does: names in any case, unknown fields and wrong types refused.

use super::schema::{Field, Struct, Type};
use crate::error::{BuildError, BuildErrorKind, Result};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// How strict a decoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Unknown fields are refused, and numbers are no strings.
    Strict,
    /// Unknown fields are refused, and scalars are taken for strings where strings are wanted.
    KnownFields,
    /// Unknown fields are passed over, and scalars are taken for strings where strings are wanted.
    Lenient,
}

/// Decodes a value of a type.
///
/// # Errors
/// With Go's text for the first thing that does not fit, in the order of the keys.
pub(crate) fn decode<T: DeserializeOwned>(
    value: Value,
    shape: &'static Struct,
    mode: Mode,
) -> Result<T> {
    let normal = normalize(value, shape, mode)?;
    serde_json::from_value(Value::Object(normal)).map_err(|error| malformed(error.to_string()))
}

/// A value with the names and types of a struct; nulls are left out.
///
/// # Errors
/// As [`decode`].
pub(crate) fn normalize(
    value: Value,
    shape: &'static Struct,
    mode: Mode,
) -> Result<Map<String, Value>> {
    let mut decoder = Decoder {
        mode,
        path: Vec::new(),
        holder: shape.name,
        problem: None,
    };
    let normal = match value {
        Value::Null => Map::new(),
        Value::Object(map) => decoder.fields(map, shape),
        other => {
            decoder.problem = Some(format!(
                "json: cannot unmarshal {} into Go value of type {}.{}",
                kind_name(&other),
                shape.package,
                shape.name
            ));
            Map::new()
        }
    };
    match decoder.problem {
        Some(problem) => Err(malformed(problem)),
        None => Ok(normal),
    }
}

fn malformed(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Kustomization, message)
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

struct Decoder {
    mode: Mode,
    path: Vec<&'static str>,
    holder: &'static str,
    /// The first thing that does not fit.
    problem: Option<String>,
}

impl Decoder {
    fn report(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    fn fields(&mut self, map: Map<String, Value>, shape: &'static Struct) -> Map<String, Value> {
        let mut pairs: Vec<_> = map.into_iter().collect();
        pairs.sort_by(|first, second| first.0.cmp(&second.0));
        let outer = std::mem::replace(&mut self.holder, shape.name);
        let mut normal = Map::new();
        for (key, value) in pairs {
            let Some(field) = find(shape, &key) else {
                if self.mode != Mode::Lenient {
                    self.report(format!("json: unknown field {key:?}"));
                }
                continue;
            };
            let depth = self.path.len();
            self.path.extend(field.through);
            self.path.push(field.name);
            if let Some(value) = self.value(value, &field.kind) {
                normal.insert(field.name.to_owned(), value);
            }
            self.path.truncate(depth);
        }
        self.holder = outer;
        normal
    }

    fn value(&mut self, value: Value, kind: &'static Type) -> Option<Value> {
        match (kind, value) {
            (_, Value::Null) => None,
            (Type::Text, value @ Value::String(_)) | (Type::Bool, value @ Value::Bool(_)) => {
                Some(value)
            }
            (Type::Text, value) if self.mode != Mode::Strict && is_scalar(&value) => {
                Some(Value::String(scalar_text(&value)))
            }
            (Type::Int, Value::Number(number)) if number.is_i64() => Some(Value::Number(number)),
            (Type::Int, Value::Number(number)) => {
                self.mismatch(&format!("number {number}"), kind);
                None
            }
            (Type::AnyMap, value @ Value::Object(_)) => Some(value),
            (Type::TextMap, Value::Object(map)) => {
                let mut normal = Map::new();
                for (key, value) in map {
                    let value = self.value(value, &Type::Text);
                    normal.insert(key, value.unwrap_or_else(|| Value::String(String::new())));
                }
                Some(Value::Object(normal))
            }
            (Type::List(items), Value::Array(values)) => Some(Value::Array(
                values
                    .into_iter()
                    .map(|value| self.value(value, items).unwrap_or_else(|| items.empty()))
                    .collect(),
            )),
            (Type::Struct(shape), Value::Object(map)) => {
                Some(Value::Object(self.fields(map, shape)))
            }
            (_, value) => {
                self.mismatch(kind_name(&value), kind);
                None
            }
        }
    }

    fn mismatch(&mut self, found: &str, kind: &Type) {
        let problem = format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {}",
            self.holder,
            self.path.join("."),
            kind.go_name()
        );
        self.report(problem);
    }
}

fn find(shape: &'static Struct, key: &str) -> Option<&'static Field> {
    let exact = shape.fields.iter().find(|field| field.name == key);
    exact.or_else(|| {
        shape
            .fields
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(key))
    })
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_))
}

fn scalar_text(value: &Value) -> String {
    match value {
        Value::Number(number) => number_text(number),
        other => other.to_string(),
    }
}

fn number_text(number: &Number) -> String {
    if number.is_f64() {
        let text = whipstaff_generator::yaml::to_string_pretty(&Value::Number(number.clone()));
        return text.trim_end().to_owned();
    }
    number.to_string()
}
