//! Go's `reflect.DeepEqual`.

use whipstaff_gotemplate::{FunctionError, Host, List, Map, Runtime, Value};

/// How deeply lists and maps may be nested where a function descends into them. Go ends with a stack overflow when a map holds
/// itself; here it is an error of the template.
pub(crate) const MAX_VALUE_DEPTH: usize = 512;

/// The error for values that are nested more deeply.
pub(crate) fn too_deep() -> FunctionError {
    FunctionError::limit(format!(
        "the value is nested more than {MAX_VALUE_DEPTH} levels deep"
    ))
}

/// Whether two values have the same type and the same contents.
pub(crate) fn deep_equal(
    runtime: &mut dyn Runtime,
    left: &Value,
    right: &Value,
) -> Result<bool, FunctionError> {
    equal(runtime, left, right, MAX_VALUE_DEPTH)
}

#[expect(clippy::float_cmp, reason = "Go compares floats for equality, too")]
fn equal(
    runtime: &mut dyn Runtime,
    left: &Value,
    right: &Value,
    depth: usize,
) -> Result<bool, FunctionError> {
    match (left, right) {
        (Value::Nil, Value::Nil) => Ok(true),
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (Value::Int(left_kind, left), Value::Int(right_kind, right)) => {
            Ok(left_kind == right_kind && left == right)
        }
        (Value::Uint(left_kind, left), Value::Uint(right_kind, right)) => {
            Ok(left_kind == right_kind && left == right)
        }
        (Value::Float(left), Value::Float(right)) => Ok(left == right),
        (Value::String(left), Value::String(right)) => Ok(left == right),
        (Value::List(left), Value::List(right)) => lists_equal(runtime, left, right, depth),
        (Value::Map(left), Value::Map(right)) => maps_equal(runtime, left, right, depth),
        (Value::Host(left), Value::Host(right)) => Ok(hosts_equal(&**left, &**right)),
        _ => Ok(false),
    }
}

fn lists_equal(
    runtime: &mut dyn Runtime,
    left: &List,
    right: &List,
    depth: usize,
) -> Result<bool, FunctionError> {
    if left.list_type() != right.list_type() || left.len() != right.len() {
        return Ok(false);
    }
    if left.as_ptr() == right.as_ptr() {
        return Ok(true);
    }
    let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
    // Comparing takes time rather than memory; shared parts make it take more than the values are large.
    runtime.charge(left.len())?;
    for (left, right) in left.iter().zip(right.iter()) {
        if !equal(runtime, left, right, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps_equal(
    runtime: &mut dyn Runtime,
    left: &Map,
    right: &Map,
    depth: usize,
) -> Result<bool, FunctionError> {
    if left.map_type() != right.map_type() || left.len() != right.len() {
        return Ok(false);
    }
    if left.is_same(right) {
        return Ok(true);
    }
    let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
    // Comparing takes time rather than memory; shared parts make it take more than the values are large.
    runtime.charge(left.len())?;
    for (key, left) in left.entries() {
        let is_equal = match right.get(&key) {
            Some(right) => equal(runtime, &left, &right, depth)?,
            None => false,
        };
        if !is_equal {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Host objects show no fields to compare, but what they print and encode to tells those of one type apart.
fn hosts_equal(left: &dyn Host, right: &dyn Host) -> bool {
    left.type_name() == right.type_name()
        && left.print() == right.print()
        && left.to_json() == right.to_json()
}
