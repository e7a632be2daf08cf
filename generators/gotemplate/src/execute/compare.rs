//! Comparison (`text/template/funcs.go`, `eq` to `ge`).

use super::evaluated::Evaluated;
use crate::{FunctionError, Host, Kind, Value, format::sprintf};
use std::rc::Rc;

/// Which order is asked for; the others are the opposites of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ordered {
    Less,
    LessOrEqual,
}

/// The kinds that can be compared.
#[derive(Debug, Clone, Copy)]
enum Basic<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    /// Only ever compared with its like, by what it prints.
    Complex(&'a dyn Host),
    String(&'a [u8]),
}

impl<'a> Basic<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(_, value) => Some(Self::Int(*value)),
            Value::Uint(_, value) => Some(Self::Uint(*value)),
            Value::Float(value) => Some(Self::Float(*value)),
            Value::String(value) => Some(Self::String(value)),
            Value::Host(host) if host.kind() == Kind::Complex128 => Some(Self::Complex(&**host)),
            Value::Nil | Value::List(_) | Value::Map(_) | Value::Host(_) => None,
        }
    }
}

/// Whether the first equals any of the others.
pub(super) fn equals_any(first: &Value, others: &[Evaluated]) -> Result<bool, FunctionError> {
    if others.is_empty() {
        return Err(FunctionError::new("missing argument for comparison"));
    }
    for other in others {
        if equals(first, &other.value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[allow(clippy::float_cmp, reason = "Go compares floats exactly")]
fn equals(left: &Value, right: &Value) -> Result<bool, FunctionError> {
    match (Basic::of(left), Basic::of(right)) {
        (None, None) => equals_other(left, right),
        (Some(Basic::Bool(left)), Some(Basic::Bool(right))) => Ok(left == right),
        (Some(Basic::Int(left)), Some(Basic::Int(right))) => Ok(left == right),
        (Some(Basic::Uint(left)), Some(Basic::Uint(right))) => Ok(left == right),
        (Some(Basic::Float(left)), Some(Basic::Float(right))) => Ok(left == right),
        (Some(Basic::Complex(left)), Some(Basic::Complex(right))) => {
            Ok(left.print() == right.print())
        }
        (Some(Basic::String(left)), Some(Basic::String(right))) => Ok(left == right),
        (Some(Basic::Int(int)), Some(Basic::Uint(uint)))
        | (Some(Basic::Uint(uint)), Some(Basic::Int(int))) => Ok(u64::try_from(int) == Ok(uint)),
        _ if matches!(left, Value::Nil) || matches!(right, Value::Nil) => Ok(false),
        _ => Err(incompatible(left, right)),
    }
}

/// Nil, lists, maps and host objects.
fn equals_other(left: &Value, right: &Value) -> Result<bool, FunctionError> {
    let text = |format: &str, values: &[Value]| {
        let text = sprintf(format.as_bytes(), values);
        Err(FunctionError::new(String::from_utf8_lossy(&text)))
    };
    match (left, right) {
        (Value::Nil, Value::Nil) => Ok(true),
        (Value::Nil, _) | (_, Value::Nil) => Ok(false),
        (Value::Host(one), Value::Host(other))
            if one.kind() == other.kind() && one.kind() != Kind::Map =>
        {
            Ok(Rc::ptr_eq(one, other)
                || one.type_name() == other.type_name()
                    && one.kind() == Kind::Struct
                    && one.print() == other.print())
        }
        _ if left.kind() != right.kind() => {
            let (left_type, right_type) = (left.type_name().into(), right.type_name().into());
            let values = [left.clone(), left_type, right_type, right.clone()];
            text("non-comparable types %s: %v, %s: %v", &values)
        }
        _ => text(
            "non-comparable type %s: %v",
            &[right.clone(), right.type_name().into()],
        ),
    }
}

/// Whether the first is less than the only other.
pub(super) fn compare(
    order: Ordered,
    first: &Evaluated,
    rest: &[Evaluated],
) -> Result<bool, FunctionError> {
    let (left, right) = (
        &first.value,
        rest.first().map_or(&Value::Nil, |right| &right.value),
    );
    let bad_type = || FunctionError::new("invalid type for comparison");
    let (one, other) = (
        Basic::of(left).ok_or_else(bad_type)?,
        Basic::of(right).ok_or_else(bad_type)?,
    );
    let less = match (one, other) {
        (Basic::Bool(_), Basic::Bool(_)) | (Basic::Complex(_), Basic::Complex(_)) => {
            return Err(bad_type());
        }
        (Basic::Int(left), Basic::Int(right)) => left < right,
        (Basic::Uint(left), Basic::Uint(right)) => left < right,
        (Basic::Float(left), Basic::Float(right)) => left < right,
        (Basic::String(left), Basic::String(right)) => left < right,
        (Basic::Int(left), Basic::Uint(right)) => {
            u64::try_from(left).is_ok_and(|left| left < right) || left < 0
        }
        (Basic::Uint(left), Basic::Int(right)) => {
            u64::try_from(right).is_ok_and(|right| left < right)
        }
        _ => return Err(incompatible(left, right)),
    };
    Ok(less || order == Ordered::LessOrEqual && equals(left, right)?)
}

fn incompatible(left: &Value, right: &Value) -> FunctionError {
    let (left, right) = (left.type_name(), right.type_name());
    FunctionError::new(format!(
        "incompatible types for comparison: {left} and {right}"
    ))
}
