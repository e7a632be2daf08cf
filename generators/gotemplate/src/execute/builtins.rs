//! The functions of `text/template` itself (`text/template/funcs.go`).

use super::{
    budget::Budget,
    compare::{Ordered, compare, equals_any},
    escape::{html, javascript, url_query},
    evaluated::Evaluated,
    index::{index, slice},
};
use crate::{
    Bytes, FunctionError, Signature, Type, Value,
    format::{TooLarge, sprint_within, sprintf_within, sprintln_within},
    parse::Builtin,
};

/// Result of a built-in function.
pub(super) type Returned = Result<Evaluated, FunctionError>;

/// Parameters of a built-in function.
pub(super) fn signature(builtin: Builtin) -> Signature {
    let (parameters, variadic): (&'static [Type], _) = match builtin {
        Builtin::And
        | Builtin::Or
        | Builtin::Call
        | Builtin::Index
        | Builtin::Slice
        | Builtin::Eq => (&[Type::Reflect], Some(Type::Reflect)),
        Builtin::Html | Builtin::Js | Builtin::UrlQuery | Builtin::Print | Builtin::Println => {
            (&[], Some(Type::Any))
        }
        Builtin::Printf => (&[Type::String], Some(Type::Any)),
        Builtin::Len | Builtin::Not => (&[Type::Reflect], None),
        Builtin::Ne | Builtin::Lt | Builtin::Le | Builtin::Gt | Builtin::Ge => {
            (&[Type::Reflect, Type::Reflect], None)
        }
    };
    Signature {
        parameters,
        variadic,
    }
}

/// Calls a built-in function, except `and` and `or`, whose arguments are not all evaluated. `callee` is how the first argument of
/// `call` is written.
pub(super) fn call(
    builtin: Builtin,
    arguments: &[Evaluated],
    callee: &str,
    budget: &mut Budget,
) -> Returned {
    let Some((first, rest)) = arguments.split_first() else {
        return text(builtin, arguments, budget);
    };
    let truth = |truth| Ok(Evaluated::concrete(Value::Bool(truth)));
    match builtin {
        Builtin::And | Builtin::Or => Ok(first.clone()),
        Builtin::Call => call_value(&first.value, callee),
        Builtin::Index => index(first, rest),
        Builtin::Slice => slice(first, rest),
        Builtin::Len => length(first),
        Builtin::Not => truth(!first.value.truth()),
        Builtin::Eq => truth(equals_any(&first.value, rest)?),
        Builtin::Ne => truth(!equals_any(&first.value, rest)?),
        Builtin::Lt => truth(compare(Ordered::Less, first, rest)?),
        Builtin::Le => truth(compare(Ordered::LessOrEqual, first, rest)?),
        Builtin::Gt => truth(!compare(Ordered::LessOrEqual, first, rest)?),
        Builtin::Ge => truth(!compare(Ordered::Less, first, rest)?),
        _ => text(builtin, arguments, budget),
    }
}

/// The functions that print.
fn text(builtin: Builtin, arguments: &[Evaluated], budget: &mut Budget) -> Returned {
    let mut values: Vec<Value> = arguments
        .iter()
        .map(|argument| argument.value.clone())
        .collect();
    let limit = budget.remaining();
    let printed = match builtin {
        Builtin::Print => sprint_within(&values, limit),
        Builtin::Println => sprintln_within(&values, limit),
        Builtin::Printf => match values.split_first() {
            Some((Value::String(format), rest)) => sprintf_within(format, rest, limit),
            _ => Ok(Vec::new()),
        },
        _ => {
            for value in &mut values {
                if let Value::Nil = value {
                    *value = Value::string("<no value>");
                }
            }
            sprint_within(&values, limit)
        }
    };
    let printed = printed.map_err(|TooLarge { .. }| budget.too_large())?;
    let result = match builtin {
        Builtin::Html => html(&printed),
        Builtin::Js => javascript(&printed),
        Builtin::UrlQuery => url_query(&printed),
        _ => printed,
    };
    budget.charge(result.len())?;
    Ok(Evaluated::concrete(Value::String(Bytes::from(result))))
}

fn length(item: &Evaluated) -> Returned {
    let length = match &item.value {
        Value::Nil if item.is_interface => return Err(FunctionError::new("len of nil pointer")),
        Value::Nil => return Err(FunctionError::new(ZERO_VALUE)),
        Value::String(text) => Some(text.len()),
        Value::List(list) => Some(list.len()),
        Value::Map(map) => Some(map.len()),
        Value::Host(host) => host.len(),
        _ => None,
    };
    match length {
        Some(length) => Ok(Evaluated::concrete(Value::int(length as i64))),
        None => Err(FunctionError::new(format!(
            "len of type {}",
            item.value.pointed_type_name()
        ))),
    }
}

/// What Go's reflection panics with when it is asked for the type of nothing.
const ZERO_VALUE: &str = "reflect: call of reflect.Value.Type on zero Value";

/// No value that a template can get hold of is a function.
fn call_value(function: &Value, callee: &str) -> Returned {
    if let Value::Nil = function {
        return Err(FunctionError::new("call of nil"));
    }
    let type_name = function.type_name();
    Err(FunctionError::new(format!(
        "non-function {callee} of type {type_name}"
    )))
}

/// `reflect.Value.String`.
pub(super) fn reflected_string(value: &Evaluated) -> String {
    match &value.value {
        Value::String(text) => text.to_string(),
        Value::Nil => "<invalid Value>".to_owned(),
        other => format!("<{} Value>", other.type_name()),
    }
}
