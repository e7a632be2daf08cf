//! `index` and `slice` (`text/template/funcs.go`).

use super::{builtins::Returned, evaluated::Evaluated, field::zero_of};
use crate::{Bytes, FunctionError, Host, Kind, List, MapZero, UintKind, Value};

/// The element that the indexes lead to, one after the other.
pub(super) fn index(item: &Evaluated, indexes: &[Evaluated]) -> Returned {
    if item.is_nil() {
        return Err(FunctionError::new("index of untyped nil"));
    }
    let mut item = item.clone();
    for key in indexes {
        item = index_once(&item.value, &key.value)?;
    }
    Ok(item)
}

fn index_once(item: &Value, key: &Value) -> Returned {
    match item {
        Value::Nil => Err(FunctionError::new("index of nil pointer")),
        Value::String(text) => {
            let index = position(key, text.len())?;
            let byte = text.get(index).ok_or_else(|| out_of_range("string"))?;
            Ok(Evaluated::concrete(Value::Uint(
                UintKind::Uint8,
                (*byte).into(),
            )))
        }
        Value::List(list) => {
            let index = position(key, list.len())?;
            let element = list.get(index).ok_or_else(|| out_of_range("slice"))?;
            Ok(Evaluated::element(list.list_type(), element.clone()))
        }
        Value::Map(map) => {
            let value = map.get(map_key(key)?);
            let zero = || zero_of(map.map_type().zero);
            Ok(value.map_or_else(zero, |value| Evaluated::entry(map, value)))
        }
        Value::Host(host) if host.kind() == Kind::Map => index_host(&**host, key),
        _ => Err(FunctionError::new(format!(
            "can't index item of type {}",
            item.pointed_type_name()
        ))),
    }
}

fn index_host(host: &dyn Host, key: &Value) -> Returned {
    let name = Bytes::from(map_key(key)?);
    let value = host.field(&name.to_text()).map(Evaluated::concrete);
    Ok(value.unwrap_or_else(|| zero_of(MapZero::Bytes)))
}

fn map_key(key: &Value) -> Result<&[u8], FunctionError> {
    match key {
        Value::String(key) => Ok(key),
        Value::Nil => Err(FunctionError::new("value is nil; should be of type string")),
        other => {
            let type_name = other.type_name();
            Err(FunctionError::new(format!(
                "value has type {type_name}; should be string"
            )))
        }
    }
}

/// An index as far as it is checked before it is used; it may be one too large.
fn position(index: &Value, capacity: usize) -> Result<usize, FunctionError> {
    let number = match index {
        Value::Int(_, number) => *number,
        Value::Uint(_, number) => *number as i64,
        Value::Nil => return Err(FunctionError::new("cannot index slice/array with nil")),
        other => {
            let type_name = other.type_name();
            let message = format!("cannot index slice/array with type {type_name}");
            return Err(FunctionError::new(message));
        }
    };
    let checked = usize::try_from(number)
        .ok()
        .filter(|&number| number <= capacity);
    checked.ok_or_else(|| FunctionError::new(format!("index out of range: {number}")))
}

fn out_of_range(what: &str) -> FunctionError {
    FunctionError::new(format!("reflect: {what} index out of range"))
}

/// `x[i:j]` or `x[i:j:k]`.
pub(super) fn slice(item: &Evaluated, indexes: &[Evaluated]) -> Returned {
    let fail = |message: String| Err(FunctionError::new(message));
    if item.is_nil() {
        return fail("slice of untyped nil".to_owned());
    }
    if indexes.len() > 3 {
        return fail(format!("too many slice indexes: {}", indexes.len()));
    }
    let length = match &item.value {
        Value::String(_) if indexes.len() == 3 => {
            return fail("cannot 3-index slice a string".to_owned());
        }
        Value::String(text) => text.len(),
        Value::List(list) => list.len(),
        other => return fail(format!("can't slice item of type {}", other.type_name())),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        // Unlike `index`, Go does not look into interfaces here: what comes out of a map is refused.
        if index.is_interface {
            return fail("cannot index slice/array with type interface {}".to_owned());
        }
        *bound = position(&index.value, length)?;
    }
    let [start, end, capacity] = bounds;
    if start > end {
        return fail(format!("invalid slice index: {start} > {end}"));
    }
    if indexes.len() == 3 && end > capacity {
        return fail(format!("invalid slice index: {end} > {capacity}"));
    }
    let value = match &item.value {
        Value::List(list) => Value::List(List::new(list.list_type(), list[start..end].to_vec())),
        Value::String(text) => Value::string(&text[start..end]),
        other => other.clone(),
    };
    Ok(Evaluated::concrete(value))
}
