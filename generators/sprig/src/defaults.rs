//! Emptiness and choices (Sprig 3.3 `defaults.go`) and what values are (`reflect.go`).

use crate::{
    declare::{fixed, from, text, value, variadic},
    equality::deep_equal,
};
use whipstaff_gotemplate::{
    Function, Kind,
    Type::{Any, String as Text},
    Value,
};

pub(crate) fn functions() -> Vec<Function> {
    vec![
        variadic("default", &[Any], Any, |_, a| {
            Ok(match a.get(1) {
                Some(given) if !is_empty(given) => given.clone(),
                _ => value(a, 0),
            })
        }),
        fixed("empty", &[Any], |_, a| Ok(is_empty(&value(a, 0)).into())),
        variadic("coalesce", &[], Any, |_, a| {
            Ok(from(a, 0)
                .iter()
                .find(|item| !is_empty(item))
                .cloned()
                .unwrap_or_default())
        }),
        variadic("all", &[], Any, |_, a| {
            Ok(a.iter().all(|item| !is_empty(item)).into())
        }),
        variadic("any", &[], Any, |_, a| {
            Ok(a.iter().any(|item| !is_empty(item)).into())
        }),
        fixed("typeOf", &[Any], |_, a| Ok(value(a, 0).type_name().into())),
        fixed("typeIs", &[Text, Any], |_, a| {
            Ok((text(a, 0) == value(a, 1).type_name().as_bytes()).into())
        }),
        fixed("typeIsLike", &[Text, Any], |_, a| {
            let given = value(a, 1);
            let name = given.type_name().as_bytes();
            Ok((text(a, 0) == name || name.strip_prefix(b"*") == Some(text(a, 0))).into())
        }),
        fixed("kindOf", &[Any], |_, a| {
            Ok(value(a, 0).kind().name().into())
        }),
        fixed("kindIs", &[Text, Any], |_, a| {
            Ok((text(a, 0) == value(a, 1).kind().name().as_bytes()).into())
        }),
        fixed("deepEqual", &[Any, Any], |runtime, a| {
            Ok(deep_equal(runtime, &value(a, 0), &value(a, 1))?.into())
        }),
    ]
}

/// Sprig's `empty`: zero, false, nil or without elements. A struct is never empty.
pub(crate) fn is_empty(given: &Value) -> bool {
    match given {
        Value::Host(host) => match host.kind() {
            Kind::Struct | Kind::Ptr | Kind::Func => false,
            _ => host.len() == Some(0),
        },
        other => !other.truth(),
    }
}
