//! Helm's functions that need the engine (`helm/pkg/engine/engine.go`, 3.22 and 4.3).

use crate::{Bytes, Function, FunctionError, Map, MapType, Runtime, Signature, Type, Value};
use std::collections::BTreeMap;
use whipstaff_generator::LookupQuestion;

const ANY: Type = Type::Any;
const STRING: Type = Type::String;

/// `include`, `tpl`, `required`, `fail` and `lookup`.
pub fn core_functions() -> Vec<Function> {
    let function = |name, parameters, call| Function {
        name,
        signature: Signature {
            parameters,
            variadic: None,
        },
        call,
    };
    vec![
        function("include", &[STRING, ANY], include),
        function("tpl", &[STRING, ANY], tpl),
        function("required", &[STRING, ANY], required),
        function("fail", &[STRING], fail),
        function("lookup", &[STRING, STRING, STRING, STRING], lookup),
    ]
}

fn text(arguments: &[Value], index: usize) -> Bytes {
    arguments
        .get(index)
        .and_then(Value::as_bytes)
        .cloned()
        .unwrap_or_default()
}

fn data(arguments: &[Value]) -> Value {
    arguments.get(1).cloned().unwrap_or_default()
}

fn include(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    runtime
        .include(&text(arguments, 0), &data(arguments))
        .map(Value::String)
}

fn tpl(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    runtime
        .tpl(&text(arguments, 0), &data(arguments))
        .map(Value::String)
}

/// Nil and the empty string are missing; zero, false and empty lists are not.
fn required(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let value = data(arguments);
    let is_missing = match &value {
        Value::Nil => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    if !is_missing {
        return Ok(value);
    }
    if runtime.options().lint {
        return Ok("".into());
    }
    Err(FunctionError::raised(text(arguments, 0).to_text()))
}

fn fail(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    if runtime.options().lint {
        return Ok("".into());
    }
    Err(FunctionError::raised(text(arguments, 0).to_text()))
}

fn lookup(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let part = |index| text(arguments, index).to_text().into_owned();
    let question = LookupQuestion {
        api_version: part(0),
        kind: part(1),
        namespace: part(2),
        name: part(3),
        ..LookupQuestion::default()
    };
    let answer = runtime.environment().lookup(question)?;
    if answer.is_null() {
        return Ok(Value::Map(Map::new(MapType::ANY, BTreeMap::new())));
    }
    Ok(Value::from_json_integers(&answer))
}
