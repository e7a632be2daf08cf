//! Functions on maps (Sprig 3.3 `dict.go`). `set`, `unset` and the merging ones change their first argument in place, for
//! everybody who holds it. Keys and values come sorted by key, where Go's order is random.

use crate::{
    cast::to_text,
    declare::{Outcome, bytes, fail, fixed, from, map, text, value, variadic},
    equality::{MAX_VALUE_DEPTH, too_deep},
    lists::charge_items,
    merge::{self, Precedence},
};
use std::collections::BTreeMap;
use whipstaff_gotemplate::{
    Bytes, Function, FunctionError, List, Map as Dict, MapType, Runtime,
    Type::{Any, Map, String as Text},
    Value,
};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        variadic("dict", &[], Any, dict),
        fixed("get", &[Map, Text], |_, a| {
            let found = map(a, 0).and_then(|dict| dict.get(text(a, 1)));
            Ok(found.unwrap_or_else(|| "".into()))
        }),
        fixed("set", &[Map, Text, Any], set),
        fixed("unset", &[Map, Text], |_, a| {
            if let Some(dict) = map(a, 0) {
                dict.remove(text(a, 1));
            }
            Ok(value(a, 0))
        }),
        fixed("hasKey", &[Map, Text], |_, a| {
            Ok(map(a, 0)
                .is_some_and(|dict| dict.contains(text(a, 1)))
                .into())
        }),
        variadic("pluck", &[Text], Map, |_, a| {
            let dicts = from(a, 1).iter().filter_map(Value::as_map);
            Ok(Value::list(
                dicts.filter_map(|dict| dict.get(text(a, 0))).collect(),
            ))
        }),
        variadic("keys", &[], Map, keys),
        fixed("values", &[Map], values),
        variadic("pick", &[Map], Text, |runtime, a| filter(runtime, a, true)),
        variadic("omit", &[Map], Text, |runtime, a| filter(runtime, a, false)),
        variadic("merge", &[Map], Map, |runtime, a| {
            swallow(merge::merge_all(
                runtime,
                map(a, 0),
                from(a, 1),
                Precedence::Destination,
            ))
        }),
        variadic("mustMerge", &[Map], Map, |runtime, a| {
            merge::merge_all(runtime, map(a, 0), from(a, 1), Precedence::Destination)
        }),
        variadic("mergeOverwrite", &[Map], Map, |runtime, a| {
            swallow(merge::merge_all(
                runtime,
                map(a, 0),
                from(a, 1),
                Precedence::Source,
            ))
        }),
        variadic("mustMergeOverwrite", &[Map], Map, |runtime, a| {
            merge::merge_all(runtime, map(a, 0), from(a, 1), Precedence::Source)
        }),
        variadic("dig", &[], Any, dig),
        fixed("deepCopy", &[Any], copy),
        fixed("mustDeepCopy", &[Any], copy),
    ]
}

/// Sprig drops the error of merging: the result is an empty text.
fn swallow(outcome: Outcome) -> Outcome {
    match outcome {
        Err(error) if error.message == merge::MISMATCH => Ok("".into()),
        other => other,
    }
}

fn dict(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    charge_items(runtime, a.len())?;
    let mut entries = BTreeMap::new();
    for pair in a.chunks(2) {
        let key = to_text(runtime, &value(pair, 0))?;
        entries.insert(key, pair.get(1).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(Value::Map(Dict::new(MapType::ANY, entries)))
}

fn set(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let Some(dict) = map(a, 0) else {
        return fail("assignment to entry in nil map");
    };
    dict.insert(bytes(a, 1), value(a, 2));
    Ok(value(a, 0))
}

fn keys(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let keys: Vec<Bytes> = a
        .iter()
        .filter_map(Value::as_map)
        .flat_map(Dict::keys)
        .collect();
    charge_items(runtime, keys.len())?;
    Ok(Value::strings(keys))
}

fn values(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let entries = map(a, 0).map(Dict::entries).unwrap_or_default();
    charge_items(runtime, entries.len())?;
    Ok(Value::list(
        entries.into_iter().map(|(_, value)| value).collect(),
    ))
}

/// `pick` keeps the named keys, `omit` the others.
fn filter(runtime: &mut dyn Runtime, a: &[Value], keeps_named: bool) -> Outcome {
    let names: std::collections::BTreeSet<&[u8]> = from(a, 1)
        .iter()
        .filter_map(Value::as_bytes)
        .map(|name| &**name)
        .collect();
    let mut entries = map(a, 0).map(Dict::entries).unwrap_or_default();
    entries.retain(|(key, _)| names.contains(&**key) == keeps_named);
    charge_items(runtime, entries.len())?;
    Ok(Value::map(entries))
}

/// Go asserts the plain map type, so that the named type of `.Values` itself is refused.
fn dig(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let [path @ .., fallback, dict] = a else {
        return fail("dig needs at least three arguments");
    };
    if path.is_empty() {
        return fail("dig needs at least three arguments");
    }
    let mut dict = plain_map(dict)?;
    let mut keys = Vec::with_capacity(path.len());
    for key in path {
        match key {
            Value::String(key) => keys.push(key),
            other => return fail(conversion(other, "string")),
        }
    }
    let Some((last, parents)) = keys.split_last() else {
        return Ok(fallback.clone());
    };
    for key in parents {
        match dict.get(key) {
            Some(step) => dict = plain_map(&step)?,
            None => return Ok(fallback.clone()),
        }
    }
    Ok(dict.get(last).unwrap_or_else(|| fallback.clone()))
}

fn plain_map(value: &Value) -> Result<Dict, FunctionError> {
    match value {
        Value::Map(dict) if dict.map_type().name == MapType::ANY.name => Ok(dict.clone()),
        other => fail(conversion(other, MapType::ANY.name)),
    }
}

/// The text of Go's panic on a failed type assertion.
fn conversion(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Nil => "nil",
        other => other.type_name(),
    };
    format!("interface conversion: interface {{}} is {found}, not {wanted}")
}

/// The panic of Go functions that ask their argument for its type, if it is nil.
pub(crate) fn refuse_nil(value: &Value) -> Result<(), FunctionError> {
    match value {
        Value::Nil => fail("reflect: call of reflect.Value.Type on zero Value"),
        _ => Ok(()),
    }
}

fn copy(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    refuse_nil(&value(a, 0))?;
    deep_copy(runtime, &value(a, 0), MAX_VALUE_DEPTH)
}

/// Lists and maps anew, with their types; everything else is immutable and shared.
fn deep_copy(runtime: &mut dyn Runtime, value: &Value, depth: usize) -> Outcome {
    match value {
        Value::List(list) => {
            charge_items(runtime, list.len())?;
            let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
            let mut items = Vec::with_capacity(list.len());
            for item in list.iter() {
                items.push(deep_copy(runtime, item, depth)?);
            }
            Ok(Value::List(List::new(list.list_type(), items)))
        }
        Value::Map(dict) => {
            charge_items(runtime, dict.len())?;
            let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
            let mut entries = BTreeMap::new();
            for (key, item) in dict.entries() {
                entries.insert(key, deep_copy(runtime, &item, depth)?);
            }
            Ok(Value::Map(Dict::new(dict.map_type(), entries)))
        }
        other => Ok(other.clone()),
    }
}
