//! Arguments of functions: from Tera's named ones to Go's, by position, and to the types that a signature names.

use tera::Kwargs;
use whipstaff_gotemplate::{
    Bytes, FunctionError, IntKind, List, ListType, Map, MapType, MapZero, Signature, Type,
    UintKind, Value,
};

/// The argument that holds all arguments by position.
const POSITIONAL: &str = "args";

/// Names of the parameters of functions that have several and are called often.
const NAMED: [(&str, &[&str]); 4] = [
    ("include", &["name", "context"]),
    ("tpl", &["text", "context"]),
    ("required", &["message", "value"]),
    ("lookup", &["api_version", "kind", "namespace", "name"]),
];

/// An argument as it was written, or one that was left out.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Given(tera::Value),
    /// The whole context that the template is rendered with.
    Context,
    Empty,
}

/// Puts arguments in the order of a function's parameters. A piped value comes last.
pub(crate) fn positional(
    function: &str,
    piped: Option<tera::Value>,
    arguments: &Kwargs,
) -> Result<Vec<Argument>, FunctionError> {
    let named: Vec<(&str, &tera::Value)> = arguments
        .iter()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
        .collect();
    let mut ordered = match (named.as_slice(), parameters(function, &named)) {
        ([(POSITIONAL, list)], _) => {
            let items = list.as_array().ok_or_else(|| {
                FunctionError::new(format!("`{POSITIONAL}` of {function} is not a list"))
            })?;
            items.iter().cloned().map(Argument::Given).collect()
        }
        (_, Some(parameters)) => by_name(parameters, piped.is_some(), &named),
        ([], None) => Vec::new(),
        ([(_, only)], None) => vec![Argument::Given((*only).clone())],
        _ => {
            return Err(FunctionError::new(format!(
                "{function} takes several arguments by position: `{function}({POSITIONAL}=[…])`"
            )));
        }
    };
    ordered.extend(piped.map(Argument::Given));
    Ok(ordered)
}

/// The names of a function's parameters, if it has names and only these are used.
fn parameters(function: &str, named: &[(&str, &tera::Value)]) -> Option<&'static [&'static str]> {
    let (_, parameters) = NAMED.iter().find(|(name, _)| *name == function)?;
    let known = named.iter().all(|(name, _)| parameters.contains(name));
    (known && !named.is_empty()).then_some(*parameters)
}

fn by_name(parameters: &[&str], has_piped: bool, named: &[(&str, &tera::Value)]) -> Vec<Argument> {
    let count = parameters.len() - usize::from(has_piped);
    let value = |parameter: &&str| match named.iter().find(|(name, _)| name == parameter) {
        Some((_, value)) => Argument::Given((*value).clone()),
        None if *parameter == "context" => Argument::Context,
        None => Argument::Empty,
    };
    parameters.iter().take(count).map(value).collect()
}

/// Checks the number of arguments, and converts them.
pub(crate) fn typed(
    function: &str,
    signature: Signature,
    arguments: Vec<Value>,
) -> Result<Vec<Value>, FunctionError> {
    let (given, wanted) = (arguments.len(), signature.parameters.len());
    let at_least = if signature.variadic.is_some() {
        "at least "
    } else {
        ""
    };
    if given < wanted || given > wanted && signature.variadic.is_none() {
        return Err(FunctionError::new(format!(
            "wrong number of args for {function}: want {at_least}{wanted} got {given}"
        )));
    }
    let type_at = |index: usize| {
        let fixed = signature.parameters.get(index).copied();
        fixed.or(signature.variadic).unwrap_or(Type::Any)
    };
    let convert = |(index, value): (usize, Value)| convert(&value, type_at(index));
    arguments.into_iter().enumerate().map(convert).collect()
}

/// A value as a parameter's type. Numbers become the kind that is asked for when nothing of them is lost; Go would refuse some.
fn convert(value: &Value, wanted: Type) -> Result<Value, FunctionError> {
    let converted = match (wanted, value) {
        (Type::Any | Type::Reflect, _)
        | (Type::Bool, Value::Bool(_))
        | (Type::Float64, Value::Float(_))
        | (Type::String, Value::String(_)) => Some(value.clone()),
        (Type::Host(name), Value::Host(host)) => {
            let got = host.type_name();
            let is_assignable = got == name || got.strip_prefix('*') == Some(name);
            is_assignable.then(|| value.clone())
        }
        (Type::Int, _) => whole(value).map(Value::int),
        (Type::Int64, _) => whole(value).map(Value::int64),
        (Type::Uint32, _) => whole(value)
            .and_then(|number| u32::try_from(number).ok())
            .map(|number| Value::Uint(UintKind::Uint32, number.into())),
        (Type::Uint64, _) => whole(value)
            .and_then(|number| u64::try_from(number).ok())
            .map(|number| Value::Uint(UintKind::Uint64, number)),
        (Type::Float64, _) => whole(value).map(|number| Value::Float(number as f64)),
        (Type::List, Value::Nil) => Some(Value::list(Vec::new())),
        (Type::Strings, Value::Nil) => Some(Value::strings::<Bytes>([])),
        (Type::List, Value::List(list)) => match list.list_type() {
            ListType::Any => Some(value.clone()),
            _ => Some(Value::list(list.to_vec())),
        },
        (Type::Strings, Value::List(list)) => strings(list),
        (Type::Map, Value::Nil) => Some(Value::Map(Map::new(MapType::ANY, [].into()))),
        (Type::StringMap, Value::Nil) => Some(Value::Map(Map::new(MapType::STRING, [].into()))),
        (Type::Map, Value::Map(map)) if map.map_type().zero == MapZero::Nil => {
            Some(Value::Map(map.with_type(MapType::ANY)))
        }
        (Type::StringMap, Value::Map(map)) => string_map(map),
        (Type::Host("time.Duration"), _) => {
            whole(value).map(|number| Value::Int(IntKind::Duration, number))
        }
        (Type::Host(name), Value::Nil) if name.starts_with('*') => Some(Value::Nil),
        _ => None,
    };
    converted.ok_or_else(|| {
        let (wanted, got) = (name_of(wanted), value.type_name());
        FunctionError::new(format!(
            "wrong type for value; expected {wanted}; got {got}"
        ))
    })
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(_, number) => Some(*number),
        Value::Uint(_, number) => i64::try_from(*number).ok(),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9.3e18 => {
            Some(*number as i64)
        }
        _ => None,
    }
}

fn strings(list: &List) -> Option<Value> {
    let text = |item: &Value| item.as_bytes().cloned();
    let texts: Option<Vec<Bytes>> = list.iter().map(text).collect();
    texts.map(Value::strings)
}

fn string_map(map: &Map) -> Option<Value> {
    if map.map_type().zero == MapZero::String {
        return Some(Value::Map(map.clone()));
    }
    let entries = map.entries();
    let all = entries.iter().all(|(_, value)| value.as_bytes().is_some());
    all.then(|| Value::Map(Map::new(MapType::STRING, entries.into_iter().collect())))
}

fn name_of(wanted: Type) -> &'static str {
    match wanted {
        Type::Any => "interface {}",
        Type::Reflect => "reflect.Value",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Int64 => "int64",
        Type::Uint32 => "uint32",
        Type::Uint64 => "uint64",
        Type::Float64 => "float64",
        Type::String => "string",
        Type::List => "[]interface {}",
        Type::Strings => "[]string",
        Type::Map => "map[string]interface {}",
        Type::StringMap => "map[string]string",
        Type::Host(name) => name,
    }
}
