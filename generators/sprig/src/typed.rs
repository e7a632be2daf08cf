//! Reading arguments whose kinds the engine has checked already.

use whipstaff_gotemplate::{Bytes, FunctionError, Signature, Type, Value};

/// A signature without variadic part.
pub(crate) const fn takes(parameters: &'static [Type]) -> Signature {
    Signature {
        parameters,
        variadic: None,
    }
}

/// A `string` argument.
pub(crate) fn text(arguments: &[Value], index: usize) -> Bytes {
    arguments
        .get(index)
        .and_then(Value::as_bytes)
        .cloned()
        .unwrap_or_default()
}

/// An `int` or `int64` argument.
pub(crate) fn integer(arguments: &[Value], index: usize) -> i64 {
    match arguments.get(index) {
        Some(Value::Int(_, value)) => *value,
        Some(Value::Uint(_, value)) => *value as i64,
        _ => 0,
    }
}

/// Any argument; an absent one is nil.
pub(crate) fn value(arguments: &[Value], index: usize) -> Value {
    arguments.get(index).cloned().unwrap_or_default()
}

/// A `[]interface {}` argument; a nil slice has no elements.
pub(crate) fn items(arguments: &[Value], index: usize) -> Vec<Value> {
    arguments
        .get(index)
        .and_then(Value::as_list)
        .map(|list| list.to_vec())
        .unwrap_or_default()
}

/// A host argument of a Rust type.
///
/// # Errors
/// The text that Go's reflection has for a pointer that is nil, which is the only value that may take a host's place.
pub(crate) fn host<T: Clone + 'static>(
    arguments: &[Value],
    index: usize,
) -> Result<T, FunctionError> {
    match arguments.get(index) {
        Some(Value::Host(host)) => host.as_any().downcast_ref::<T>().cloned(),
        _ => None,
    }
    .ok_or_else(|| {
        FunctionError::new("runtime error: invalid memory address or nil pointer dereference")
    })
}
