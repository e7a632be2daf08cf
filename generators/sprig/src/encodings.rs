//! Conversions from and to JSON and TOML (Helm's `pkg/engine/funcs.go`, and the JSON functions of Sprig that Helm leaves).
//!
//! Reading functions never fail: a map has the error's text under the key `Error`, a list has it as its only item.

use crate::{
    declare::{Outcome, fixed, text, value},
    dicts::refuse_nil,
    json::{self, Style},
    json_reader::{self, ReadError},
    lists::nil_list,
    toml_reader, toml_writer,
};
use whipstaff_gotemplate::{
    Dialect, Function, FunctionError, FunctionErrorKind, Runtime,
    Type::{Any, String as Text},
    Value,
};

/// `encoding/json` with its defaults.
const COMPACT: Style = Style {
    escapes_html: true,
    is_indented: false,
};
const RAW: Style = Style {
    escapes_html: false,
    is_indented: false,
};
const PRETTY: Style = Style {
    escapes_html: true,
    is_indented: true,
};

/// What reading into a map or a list expects, with its Go type.
pub(crate) const MAP: (&str, &str) = ("object", "map[string]interface {}");
pub(crate) const LIST: (&str, &str) = ("array", "[]interface {}");

pub(crate) fn functions(dialect: Dialect) -> Vec<Function> {
    let mut functions = vec![
        fixed("toJson", &[Any], |runtime, a| {
            or_empty(to_json(runtime, a, COMPACT))
        }),
        fixed("mustToJson", &[Any], must_to_json),
        fixed("toPrettyJson", &[Any], |runtime, a| {
            or_empty(to_json(runtime, a, PRETTY))
        }),
        fixed("mustToPrettyJson", &[Any], must_to_pretty_json),
        fixed("toRawJson", &[Any], |runtime, a| to_json(runtime, a, RAW)),
        fixed("mustToRawJson", &[Any], |runtime, a| {
            to_json(runtime, a, RAW)
        }),
        fixed("fromJson", &[Text], from_json),
        fixed("fromJsonArray", &[Text], |runtime, a| {
            or_error_item(from_json_array(runtime, a))
        }),
        fixed("mustFromJson", &[Text], must_from_json),
        fixed("toToml", &[Any], |runtime, a| {
            refuse_nil(&value(a, 0))?;
            or_text(to_toml(runtime, a))
        }),
        fixed("fromToml", &[Text], |runtime, a| {
            let read = charged(runtime, text(a, 0)).and_then(|()| toml_reader::read(text(a, 0)));
            or_error_entry(read.map(Some), Value::map::<&str>([]))
        }),
    ];
    if dialect >= Dialect::V4_2 {
        functions.push(fixed("mustToToml", &[Any], to_toml));
    }
    functions
}

/// Takes the memory of a text that is about to be read from the budget.
pub(crate) fn charged(runtime: &mut dyn Runtime, text: &[u8]) -> Result<(), FunctionError> {
    runtime.charge(text.len())
}

/// An ordinary error becomes an empty text, as Helm has it.
pub(crate) fn or_empty(outcome: Outcome) -> Outcome {
    match outcome {
        Err(FunctionError {
            kind: FunctionErrorKind::Error,
            ..
        }) => Ok("".into()),
        other => other,
    }
}

/// An ordinary error becomes its own text.
fn or_text(outcome: Outcome) -> Outcome {
    match outcome {
        Err(FunctionError {
            kind: FunctionErrorKind::Error,
            message,
        }) => Ok(message.into()),
        other => other,
    }
}

/// The map that was read, or one with the error under `Error`; nothing read is an empty map.
pub(crate) fn or_error_entry(read: Result<Option<Value>, FunctionError>, empty: Value) -> Outcome {
    match read {
        Ok(map) => Ok(map.unwrap_or(empty)),
        Err(FunctionError {
            kind: FunctionErrorKind::Error,
            message,
        }) => Ok(Value::map([("Error", message.into())])),
        Err(limit) => Err(limit),
    }
}

pub(crate) fn or_error_item(read: Outcome) -> Outcome {
    match read {
        Err(FunctionError {
            kind: FunctionErrorKind::Error,
            message,
        }) => Ok(Value::list(vec![message.into()])),
        other => other,
    }
}

pub(crate) fn check_kind(
    value: Value,
    (kind, go_type): (&str, &str),
) -> Result<Option<Value>, String> {
    if matches!(value, Value::Nil) {
        return Ok(None);
    }
    let found = json_reader::kind_name(&value);
    if found == kind {
        return Ok(Some(value));
    }
    Err(format!(
        "json: cannot unmarshal {found} into Go value of type {go_type}"
    ))
}

fn to_json(runtime: &mut dyn Runtime, a: &[Value], style: Style) -> Outcome {
    let text = json::write(runtime, &value(a, 0), style)?;
    runtime.charge(text.len())?;
    Ok(text.into())
}

/// The value and, beside it, what Go reports although it went on reading.
fn read_json(
    runtime: &mut dyn Runtime,
    source: &[u8],
) -> Result<(Value, Option<String>), FunctionError> {
    charged(runtime, source)?;
    match json_reader::read(source) {
        Ok(read) => Ok((read.value, read.error)),
        Err(ReadError::Syntax(message)) => Err(FunctionError::new(message)),
        Err(ReadError::Limit(limit)) => Err(limit),
    }
}

/// Only an object will do; one with a number that does not fit has the error beside its other entries.
fn from_json(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let read = read_json(runtime, text(a, 0)).and_then(|(value, error)| {
        let map = check_kind(value, MAP).map_err(FunctionError::new)?;
        if let (Some(Value::Map(map)), Some(error)) = (&map, error) {
            map.insert("Error", error.into());
        }
        Ok(map)
    });
    or_error_entry(read, Value::map::<&str>([]))
}

/// Fails where Helm gives a list with the error.
pub(crate) fn from_json_array(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let read = read_json(runtime, text(a, 0)).and_then(|(value, error)| match error {
        Some(error) => Err(FunctionError::new(error)),
        None => check_kind(value, LIST).map_err(FunctionError::new),
    });
    read.map(|list| list.unwrap_or_else(nil_list))
}

pub(crate) fn must_to_json(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    to_json(runtime, a, COMPACT)
}

pub(crate) fn must_to_pretty_json(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    to_json(runtime, a, PRETTY)
}

pub(crate) fn must_from_json(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    match read_json(runtime, text(a, 0))? {
        (_, Some(error)) => Err(FunctionError::new(error)),
        (value, None) => Ok(value),
    }
}

fn to_toml(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    refuse_nil(&value(a, 0))?;
    let text = toml_writer::write(runtime, &value(a, 0))?;
    runtime.charge(text.len())?;
    Ok(Value::string(text))
}
