//! Functions on lists (Sprig 3.3 `list.go`). They build new lists; none changes its argument.
//!
//! Go tells an empty slice from a nil one, which JSON writes as `null`: [`nil_list`] stands for the latter.

use crate::{
    cast::{to_int64, to_text},
    declare::{Outcome, fail, fixed, from, int, nil_dereference, value, variadic},
    defaults::is_empty,
    equality::deep_equal,
};
use whipstaff_gotemplate::{
    Bytes, Function, FunctionError, Kind, List, ListType, Runtime,
    Type::{Any, Int},
    Value,
};

/// Type of a `[]interface {}` that is nil.
const NIL_LIST: ListType = ListType::Named("[]interface {}");
/// Type of a `[]string` that is nil.
const NIL_STRINGS: ListType = ListType::Named("[]string");

pub(crate) fn functions() -> Vec<Function> {
    vec![
        variadic("list", &[], Any, new_list),
        variadic("tuple", &[], Any, new_list),
        fixed("append", &[Any, Any], push),
        fixed("push", &[Any, Any], push),
        fixed("mustAppend", &[Any, Any], push),
        fixed("mustPush", &[Any, Any], push),
        fixed("prepend", &[Any, Any], prepend),
        fixed("mustPrepend", &[Any, Any], prepend),
        fixed("first", &[Any], first),
        fixed("mustFirst", &[Any], first),
        fixed("last", &[Any], last),
        fixed("mustLast", &[Any], last),
        fixed("rest", &[Any], rest),
        fixed("mustRest", &[Any], rest),
        fixed("initial", &[Any], initial),
        fixed("mustInitial", &[Any], initial),
        fixed("reverse", &[Any], reverse),
        fixed("mustReverse", &[Any], reverse),
        fixed("compact", &[Any], compact),
        fixed("mustCompact", &[Any], compact),
        fixed("uniq", &[Any], unique),
        fixed("mustUniq", &[Any], unique),
        variadic("without", &[Any], Any, without),
        variadic("mustWithout", &[Any], Any, without),
        fixed("has", &[Any, Any], has),
        fixed("mustHas", &[Any, Any], has),
        variadic("slice", &[Any], Any, slice),
        variadic("mustSlice", &[Any], Any, slice),
        variadic("concat", &[], Any, concat),
        fixed("chunk", &[Int, Any], chunk),
        fixed("mustChunk", &[Int, Any], chunk),
    ]
}

/// A `[]interface {}` that is nil.
pub(crate) fn nil_list() -> Value {
    Value::List(List::new(NIL_LIST, Vec::new()))
}

/// A `[]string` that is nil.
pub(crate) fn nil_strings() -> Value {
    Value::List(List::new(NIL_STRINGS, Vec::new()))
}

/// Whether a list is nil rather than empty.
pub(crate) fn is_nil_list(list: &List) -> bool {
    matches!(list.list_type(), NIL_LIST | NIL_STRINGS) && list.is_empty()
}

/// Takes the memory of a list's elements from the budget.
pub(crate) fn charge_items(runtime: &mut dyn Runtime, count: usize) -> Result<(), FunctionError> {
    runtime.charge(count.saturating_mul(size_of::<Value>()))
}

/// Sprig's `strslice`: the texts of a list's elements without nils, or the text of a scalar.
pub(crate) fn to_texts(
    runtime: &mut dyn Runtime,
    list: &Value,
) -> Result<Vec<Bytes>, FunctionError> {
    match elements(list) {
        Ok(Some(items)) => {
            charge_items(runtime, items.len())?;
            let present = items.iter().filter(|item| !matches!(item, Value::Nil));
            present.map(|item| to_text(runtime, item)).collect()
        }
        Ok(None) => Ok(vec![to_text(runtime, list)?]),
        Err(_) => Ok(Vec::new()),
    }
}

/// Anything that is a slice in Go; none for another type, and Go's panic for nil.
fn elements(list: &Value) -> Result<Option<List>, FunctionError> {
    match list {
        Value::Nil => Err(nil_dereference()),
        Value::List(list) => Ok(Some(list.clone())),
        Value::Host(host) if host.kind() == Kind::Slice => {
            let entries = host.entries().unwrap_or_default();
            let items = entries.into_iter().map(|(_, item)| item).collect();
            Ok(Some(List::new(ListType::Any, items)))
        }
        _ => Ok(None),
    }
}

/// The slice, or the error that the function has for other types.
fn slice_of(list: &Value, complaint: &str) -> Result<List, FunctionError> {
    let kind = list.kind().name();
    elements(list)?.ok_or_else(|| FunctionError::new(format!("{complaint} {kind}")))
}

/// The elements of a slice, to build a new one of.
fn items_of(
    runtime: &mut dyn Runtime,
    list: &Value,
    complaint: &str,
) -> Result<Vec<Value>, FunctionError> {
    let slice = slice_of(list, complaint)?;
    charge_items(runtime, slice.len())?;
    Ok(slice.to_vec())
}

fn new_list(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    charge_items(runtime, a.len())?;
    Ok(Value::list(a.to_vec()))
}

fn push(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let mut items = items_of(runtime, &value(a, 0), "Cannot push on type")?;
    items.push(value(a, 1));
    Ok(Value::list(items))
}

fn prepend(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let mut items = items_of(runtime, &value(a, 0), "Cannot prepend on type")?;
    items.insert(0, value(a, 1));
    Ok(Value::list(items))
}

fn first(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let items = slice_of(&value(a, 0), "Cannot find first on type")?;
    Ok(items.first().cloned().unwrap_or_default())
}

fn last(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let items = slice_of(&value(a, 0), "Cannot find last on type")?;
    Ok(items.last().cloned().unwrap_or_default())
}

fn rest(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let items = items_of(runtime, &value(a, 0), "Cannot find rest on type")?;
    Ok(items
        .split_first()
        .map_or_else(nil_list, |(_, rest)| Value::list(rest.to_vec())))
}

fn initial(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let items = items_of(runtime, &value(a, 0), "Cannot find initial on type")?;
    Ok(items
        .split_last()
        .map_or_else(nil_list, |(_, initial)| Value::list(initial.to_vec())))
}

fn reverse(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let mut items = items_of(runtime, &value(a, 0), "Cannot find reverse on type")?;
    items.reverse();
    Ok(Value::list(items))
}

fn compact(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let mut items = items_of(runtime, &value(a, 0), "Cannot compact on type")?;
    items.retain(|item| !is_empty(item));
    Ok(Value::list(items))
}

fn unique(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let items = items_of(runtime, &value(a, 0), "Cannot find uniq on type")?;
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !contains(runtime, &kept, &item)? {
            kept.push(item);
        }
    }
    Ok(Value::list(kept))
}

fn without(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let items = items_of(runtime, &value(a, 0), "Cannot find without on type")?;
    let mut kept = Vec::new();
    for item in items {
        if !contains(runtime, from(a, 1), &item)? {
            kept.push(item);
        }
    }
    Ok(Value::list(kept))
}

fn has(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let haystack = value(a, 1);
    if matches!(haystack, Value::Nil) {
        return Ok(false.into());
    }
    let items = slice_of(&haystack, "Cannot find has on type")?;
    Ok(contains(runtime, &items, &value(a, 0))?.into())
}

/// Whether an equal element is there. Comparing takes time rather than memory, and is charged for, as the lists may be long.
fn contains(
    runtime: &mut dyn Runtime,
    items: &[Value],
    needle: &Value,
) -> Result<bool, FunctionError> {
    runtime.charge(items.len())?;
    for item in items {
        if deep_equal(runtime, needle, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Go's slice expression. A slice whose capacity is larger than its length can be extended in Go; here the length is the limit.
fn slice(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let list = value(a, 0);
    let items = items_of(runtime, &list, "list should be type of slice or array but")?;
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let start = a.get(1).map_or(0, to_int64);
    let end = a.get(2).map_or(items.len() as i64, to_int64);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let Some(part) = range.and_then(|(start, end)| items.get(start..end)) else {
        return fail("reflect.Value.Slice: slice index out of bounds");
    };
    let list_type = list.as_list().map_or(ListType::Any, List::list_type);
    Ok(Value::List(List::new(list_type, part.to_vec())))
}

fn concat(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let mut all = Vec::new();
    for list in a {
        let Some(items) = elements(list)? else {
            return fail(format!("Cannot concat type {} as list", list.kind().name()));
        };
        charge_items(runtime, items.len())?;
        all.extend(items.iter().cloned());
    }
    Ok(if all.is_empty() {
        nil_list()
    } else {
        Value::list(all)
    })
}

/// The sizes come from float arithmetic, as in the original; what an impossible size leads to, is a panic there.
fn chunk(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    const CHUNKS: ListType = ListType::Named("[][]interface {}");
    let items = items_of(runtime, &value(a, 1), "Cannot chunk type")?;
    let (size, length) = (int(a, 0), items.len());
    let count = ((length as f64 - 1.0) / size as f64).floor() + 1.0;
    let impossible = || FunctionError::new("runtime error: makeslice: len out of range");
    // Not more chunks than elements: anything above comes from a division by zero.
    if !(0.0..=length as f64).contains(&count) {
        return Err(impossible());
    }
    let count = count as usize;
    let mut chunks = Vec::with_capacity(count);
    let mut remaining = items.into_iter();
    for index in 0..count {
        let rest = (length as f64 % size as f64).floor() as i64;
        let wanted = if index + 1 == count && rest != 0 {
            rest
        } else {
            size
        };
        let wanted = usize::try_from(wanted).map_err(|_| impossible())?;
        chunks.push(Value::list(remaining.by_ref().take(wanted).collect()));
    }
    Ok(Value::List(List::new(CHUNKS, chunks)))
}
