//! Methods of values that are not host objects: Helm's `Values` and the integers of package `time`.

use super::core::quoted;
use crate::{
    Bytes, FunctionError, IntKind, Map, MapType, Signature, Type, Value,
    format::{duration, float, month, weekday},
    grow_stack,
};

use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A method of a value.
#[derive(Clone, Copy)]
pub(super) struct NativeMethod {
    pub(super) signature: Signature,
    pub(super) call: fn(&Value, &[Value]) -> Result<Value, FunctionError>,
}

impl std::fmt::Debug for NativeMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeMethod")
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

/// Nesting of values that `YAML` writes.
const MAX_DOCUMENT_DEPTH: usize = 1_000;

const NONE: &[Type] = &[];
const STRING: &[Type] = &[Type::String];
const WRITER: &[Type] = &[Type::Host("io.Writer")];
const DURATION: &[Type] = &[Type::Host("time.Duration")];

/// The method of a name, if the value's type has it.
pub(super) fn find(value: &Value, name: &str) -> Option<NativeMethod> {
    let method = |parameters, call| {
        Some(NativeMethod {
            signature: Signature {
                parameters,
                variadic: None,
            },
            call,
        })
    };
    match value {
        Value::Map(map) if map.map_type().is_values => match name {
            "AsMap" => method(NONE, as_map),
            "Table" => method(STRING, table),
            "PathValue" => method(STRING, path_value),
            "YAML" => method(NONE, yaml),
            // No template has a writer to give.
            "Encode" => method(WRITER, |_, _| Ok(Value::Nil)),
            _ => None,
        },
        Value::Int(IntKind::Month, _) if name == "String" => {
            method(NONE, |value, _| Ok(month(nanoseconds(value)).into()))
        }
        Value::Int(IntKind::Weekday, _) if name == "String" => {
            method(NONE, |value, _| Ok(weekday(nanoseconds(value)).into()))
        }
        Value::Int(IntKind::Duration, _) => match name {
            "String" => method(NONE, |value, _| Ok(duration(nanoseconds(value)).into())),
            "Nanoseconds" => method(NONE, |value, _| Ok(Value::int64(nanoseconds(value)))),
            "Microseconds" => method(NONE, |value, _| {
                Ok(Value::int64(nanoseconds(value) / 1_000))
            }),
            "Milliseconds" => method(NONE, |value, _| {
                Ok(Value::int64(nanoseconds(value) / 1_000_000))
            }),
            "Seconds" => method(NONE, |value, _| Ok(in_units(value, 1_000_000_000))),
            "Minutes" => method(NONE, |value, _| Ok(in_units(value, 60_000_000_000))),
            "Hours" => method(NONE, |value, _| Ok(in_units(value, 3_600_000_000_000))),
            "Abs" => method(NONE, |value, _| {
                Ok(duration_value(nanoseconds(value).saturating_abs()))
            }),
            "Truncate" => method(DURATION, |value, arguments| Ok(truncate(value, arguments))),
            "Round" => method(DURATION, |value, arguments| Ok(round(value, arguments))),
            _ => None,
        },
        _ => None,
    }
}

fn nanoseconds(value: &Value) -> i64 {
    if let Value::Int(_, number) = value {
        *number
    } else {
        0
    }
}

fn duration_value(nanoseconds: i64) -> Value {
    Value::Int(IntKind::Duration, nanoseconds)
}

/// Whole units and the rest apart, as Go does to lose no precision.
fn in_units(value: &Value, unit: i64) -> Value {
    let number = nanoseconds(value);
    Value::Float((number / unit) as f64 + (number % unit) as f64 / unit as f64)
}

fn unit_argument(arguments: &[Value]) -> i64 {
    arguments.first().map_or(0, nanoseconds)
}

fn truncate(value: &Value, arguments: &[Value]) -> Value {
    let (number, unit) = (nanoseconds(value), unit_argument(arguments));
    duration_value(if unit <= 0 {
        number
    } else {
        number - number % unit
    })
}

/// Halves are rounded away from zero.
fn round(value: &Value, arguments: &[Value]) -> Value {
    let (number, unit) = (nanoseconds(value), unit_argument(arguments));
    if unit <= 0 {
        return duration_value(number);
    }
    let rest = i128::from(number % unit).abs();
    let away = if rest * 2 >= i128::from(unit) {
        i128::from(unit)
    } else {
        0
    };
    let magnitude = i128::from(number).abs() - rest + away;
    let rounded = if number < 0 { -magnitude } else { magnitude };
    let clamped = rounded.clamp(i64::MIN.into(), i64::MAX.into());
    duration_value(clamped as i64)
}

fn receiver(value: &Value) -> Result<&Map, FunctionError> {
    value
        .as_map()
        .ok_or_else(|| FunctionError::new("receiver is not a map"))
}

/// The same map without its type; an empty one is replaced, as in Helm.
fn as_map(value: &Value, _: &[Value]) -> Result<Value, FunctionError> {
    let map = receiver(value)?;
    if map.is_empty() {
        return Ok(Value::Map(Map::new(MapType::ANY, BTreeMap::new())));
    }
    Ok(Value::Map(map.with_type(MapType::ANY)))
}

fn table(value: &Value, arguments: &[Value]) -> Result<Value, FunctionError> {
    let path = path_argument(arguments);
    let map = receiver(value)?;
    find_table(map, path.split('.')).map(Value::Map)
}

fn path_argument(arguments: &[Value]) -> String {
    let path = arguments.first().and_then(Value::as_bytes);
    path.map_or_else(String::new, |path| path.to_text().into_owned())
}

fn find_table<'p>(map: &Map, path: impl Iterator<Item = &'p str>) -> Result<Map, FunctionError> {
    let own_type = map.map_type();
    let mut table = map.clone();
    for name in path {
        let Some(Value::Map(inner)) = table.get(name.as_bytes()) else {
            let name = quoted(name.as_bytes());
            return Err(FunctionError::new(format!("{name} is not a table")));
        };
        table = inner.with_type(own_type);
    }
    Ok(table)
}

/// A value that is not a table, by a path with dots.
fn path_value(value: &Value, arguments: &[Value]) -> Result<Value, FunctionError> {
    let path = path_argument(arguments);
    let no_value =
        |key: &str| FunctionError::new(format!("{} is not a value", quoted(key.as_bytes())));
    if path.is_empty() {
        return Err(FunctionError::new("YAML path cannot be empty"));
    }
    let map = receiver(value)?;
    let (tables, key) = path
        .rsplit_once('.')
        .map_or((None, path.as_str()), |(tables, key)| (Some(tables), key));
    let table = match tables {
        Some(tables) => find_table(map, tables.split('.')).map_err(|_| no_value(key))?,
        None => map.clone(),
    };
    match table.get(key.as_bytes()) {
        None | Some(Value::Map(_)) => Err(no_value(key)),
        Some(found) => Ok(found),
    }
}

fn yaml(value: &Value, _: &[Value]) -> Result<Value, FunctionError> {
    let json = document(value, MAX_DOCUMENT_DEPTH)?;
    let text = whipstaff_generator::yaml::marshal(&json);
    text.map(Value::from)
        .map_err(|error| FunctionError::new(error.to_string()))
}

/// What `encoding/json` makes of a value.
fn document(value: &Value, depth: usize) -> Result<Json, FunctionError> {
    let Some(depth) = depth.checked_sub(1) else {
        let message = format!("values are nested deeper than {MAX_DOCUMENT_DEPTH} levels");
        return Err(FunctionError::limit(message));
    };
    let unsupported = |what: &str| {
        let message = format!("error marshaling into JSON: json: unsupported {what}");
        FunctionError::new(message)
    };
    Ok(match value {
        Value::Nil => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(_, number) => Json::from(*number),
        Value::Uint(_, number) => Json::from(*number),
        Value::Float(number) => serde_json::Number::from_f64(*number)
            .map(Json::Number)
            .ok_or_else(|| unsupported(&format!("value: {}", float(*number, b'g'))))?,
        Value::String(text) => Json::String(text.to_text().into_owned()),
        Value::List(list) => {
            let items = list.iter().map(|item| grow_stack(|| document(item, depth)));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let entry = |(key, item): (Bytes, Value)| {
                Ok((
                    key.to_text().into_owned(),
                    grow_stack(|| document(&item, depth))?,
                ))
            };
            let entries = map.entries().into_iter().map(entry);
            Json::Object(entries.collect::<Result<_, FunctionError>>()?)
        }
        Value::Host(host) => host
            .to_json()
            .ok_or_else(|| unsupported(&format!("type: {}", host.type_name())))?,
    })
}
