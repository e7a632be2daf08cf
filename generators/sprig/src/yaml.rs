//! Conversions from and to YAML (Helm's `pkg/engine/funcs.go`).

use crate::{
    declare::{Outcome, fixed, text, value},
    encodings::{LIST, MAP, charged, check_kind, or_empty, or_error_entry, or_error_item},
    json,
};
use whipstaff_generator::yaml;
use whipstaff_gotemplate::{
    Dialect, Function, FunctionError, FunctionErrorKind, Runtime,
    Type::{Any, String as Text},
    Value,
};

pub(crate) fn functions(dialect: Dialect) -> Vec<Function> {
    let mut functions = vec![
        fixed("toYaml", &[Any], |runtime, a| {
            or_empty(to_yaml(runtime, &value(a, 0)))
        }),
        fixed("toYamlPretty", &[Any], |runtime, a| {
            or_empty(to_yaml_pretty(runtime, &value(a, 0)))
        }),
        fixed("fromYaml", &[Text], |runtime, a| {
            let read = charged(runtime, text(a, 0)).and_then(|()| from_yaml(text(a, 0), MAP));
            or_error_entry(read, Value::map::<&str>([]))
        }),
        fixed("fromYamlArray", &[Text], |runtime, a| {
            let read = charged(runtime, text(a, 0)).and_then(|()| from_yaml(text(a, 0), LIST));
            or_error_item(read.map(|list| list.unwrap_or_else(|| Value::list(Vec::new()))))
        }),
    ];
    if dialect.is_v4() {
        functions.push(fixed("mustToYaml", &[Any], |runtime, a| {
            to_yaml(runtime, &value(a, 0))
        }));
    }
    functions
}

pub(crate) fn to_yaml(runtime: &mut dyn Runtime, value: &Value) -> Outcome {
    let document = json::to_document(runtime, value).map_err(|error| match error.kind {
        FunctionErrorKind::Error => {
            FunctionError::new(format!("error marshaling into JSON: {}", error.message))
        }
        _ => error,
    })?;
    let text = yaml::marshal(&document).map_err(|error| FunctionError::new(error.to_string()))?;
    runtime.charge(text.len())?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).into())
}

fn to_yaml_pretty(runtime: &mut dyn Runtime, value: &Value) -> Outcome {
    let document = json::to_native_document(runtime, value)?;
    let text = yaml::to_string_pretty(&document);
    runtime.charge(text.len())?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).into())
}

/// What the first document holds, whatever it is.
pub(crate) fn from_yaml_any(source: &[u8]) -> Outcome {
    let document =
        yaml::from_slice(source).map_err(|error| FunctionError::new(error.to_string()))?;
    Ok(Value::from_json(&document))
}

/// What the first document holds: nothing if that is null, and an error unless it is of the expected kind.
pub(crate) fn from_yaml(
    source: &[u8],
    expected: (&str, &str),
) -> Result<Option<Value>, FunctionError> {
    let document =
        yaml::from_slice(source).map_err(|error| FunctionError::new(error.to_string()))?;
    let value = Value::from_json(&document);
    check_kind(value, expected).map_err(|message| {
        FunctionError::new(format!(
            "error unmarshaling JSON: while decoding JSON: {message}"
        ))
    })
}
