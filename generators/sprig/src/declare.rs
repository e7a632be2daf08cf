//! Short forms for declaring functions and for reading their arguments.
//!
//! The engine has checked arguments against the signature before a call, so that reading one cannot fail; the zero value that
//! the readers fall back to is what Go's reflection passes for a literal `nil`.

use whipstaff_gotemplate::{Bytes, Function, FunctionError, Map, Runtime, Signature, Type, Value};

/// What calling a template function gives.
pub(crate) type Outcome = Result<Value, FunctionError>;

/// An implementation.
pub(crate) type Call = fn(&mut dyn Runtime, &[Value]) -> Outcome;

/// The signature of a function with a fixed number of parameters.
pub(crate) const fn takes(parameters: &'static [Type]) -> Signature {
    Signature {
        parameters,
        variadic: None,
    }
}

/// A function with a fixed number of parameters.
pub(crate) const fn fixed(name: &'static str, parameters: &'static [Type], call: Call) -> Function {
    Function {
        name,
        signature: takes(parameters),
        call,
    }
}

/// A function that takes any number of arguments of one type after its fixed ones.
pub(crate) const fn variadic(
    name: &'static str,
    parameters: &'static [Type],
    rest: Type,
    call: Call,
) -> Function {
    Function {
        name,
        signature: Signature {
            parameters,
            variadic: Some(rest),
        },
        call,
    }
}

/// An argument as it is.
pub(crate) fn value(arguments: &[Value], index: usize) -> Value {
    arguments.get(index).cloned().unwrap_or_default()
}

/// The arguments from an index on.
pub(crate) fn from(arguments: &[Value], index: usize) -> &[Value] {
    arguments.get(index..).unwrap_or_default()
}

/// A `string` argument.
pub(crate) fn text(arguments: &[Value], index: usize) -> &[u8] {
    match arguments.get(index) {
        Some(Value::String(bytes)) => bytes,
        _ => &[],
    }
}

/// A `string` argument that is passed on.
pub(crate) fn bytes(arguments: &[Value], index: usize) -> Bytes {
    arguments
        .get(index)
        .and_then(Value::as_bytes)
        .cloned()
        .unwrap_or_default()
}

/// An `int` or `int64` argument.
pub(crate) fn int(arguments: &[Value], index: usize) -> i64 {
    match arguments.get(index) {
        Some(Value::Int(_, number)) => *number,
        Some(Value::Uint(_, number)) => *number as i64,
        _ => 0,
    }
}

/// A `float64` argument.
pub(crate) fn float(arguments: &[Value], index: usize) -> Option<f64> {
    match arguments.get(index) {
        Some(Value::Float(number)) => Some(*number),
        _ => None,
    }
}

/// A `bool` argument.
pub(crate) fn boolean(arguments: &[Value], index: usize) -> bool {
    matches!(arguments.get(index), Some(Value::Bool(true)))
}

/// A map argument, or none for Go's nil map.
pub(crate) fn map(arguments: &[Value], index: usize) -> Option<&Map> {
    arguments.get(index).and_then(Value::as_map)
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
    .ok_or_else(nil_dereference)
}

/// The text of Go's panic on using a nil pointer.
pub(crate) fn nil_dereference() -> FunctionError {
    FunctionError::new("runtime error: invalid memory address or nil pointer dereference")
}

/// An ordinary failure.
pub(crate) fn fail<T>(message: impl Into<String>) -> Result<T, FunctionError> {
    Err(FunctionError::new(message))
}
