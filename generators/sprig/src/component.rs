//! The functions that templates of component-operator-runtime have beside Sprig's (`internal/templatex/functions.go`, 0.3): those
//! that need nothing but their arguments.
//!
//! Conversions fail where Helm's give an empty text or a map with the error.

use crate::{
    cast::{parse_int_any_base, print, trim_zero_decimal},
    declare::{Outcome, fail, fixed, text, value, variadic},
    encodings::{LIST, from_json_array, must_from_json, must_to_json, must_to_pretty_json},
    lists::nil_list,
    yaml,
};
use whipstaff_gotemplate::{
    Function, FunctionError, Runtime,
    Type::{Any, String as Text},
    UintKind, Value,
};

/// Bits of the numbers that the bitwise functions take.
const BITS: u64 = 64;

/// Bitwise arithmetic, IPv4 addresses, and conversions that fail instead of giving something else.
pub fn component_functions() -> Vec<Function> {
    let mut functions = conversions();
    functions.extend([
        fixed("bitwiseShiftLeft", &[Any, Any], |_, a| {
            shift(a, |number, by| number << by)
        }),
        fixed("bitwiseShiftRight", &[Any, Any], |_, a| {
            shift(a, |number, by| number >> by)
        }),
        variadic("bitwiseAnd", &[], Any, |_, a| {
            fold(a, u64::MAX, |one, other| one & other)
        }),
        variadic("bitwiseOr", &[], Any, |_, a| {
            fold(a, 0, |one, other| one | other)
        }),
        variadic("bitwiseXor", &[], Any, |_, a| {
            fold(a, 0, |one, other| one ^ other)
        }),
        fixed("parseIPv4Address", &[Any], parse_ipv4),
        fixed("formatIPv4Address", &[Any], format_ipv4),
    ]);
    functions
}

fn conversions() -> Vec<Function> {
    let to_yaml = |name| {
        fixed(name, &[Any], |runtime, a| {
            yaml::to_yaml(runtime, &value(a, 0))
        })
    };
    let from_yaml = |name| {
        fixed(name, &[Text], |runtime, a| {
            runtime.charge(text(a, 0).len())?;
            yaml::from_yaml_any(text(a, 0))
        })
    };
    let from_yaml_list = |name| {
        fixed(name, &[Text], |runtime, a| {
            runtime.charge(text(a, 0).len())?;
            let list = yaml::from_yaml(text(a, 0), LIST)?;
            Ok(list.unwrap_or_else(nil_list))
        })
    };
    let from_json_list = |name| fixed(name, &[Text], from_json_array);
    vec![
        to_yaml("toYaml"),
        to_yaml("mustToYaml"),
        from_yaml("fromYaml"),
        from_yaml("mustFromYaml"),
        from_yaml_list("fromYamlArray"),
        from_yaml_list("mustFromYamlArray"),
        fixed("toJson", &[Any], must_to_json),
        fixed("toPrettyJson", &[Any], must_to_pretty_json),
        fixed("fromJson", &[Text], must_from_json),
        from_json_list("fromJsonArray"),
        from_json_list("mustFromJsonArray"),
    ]
}

fn shift(a: &[Value], apply: fn(u64, u64) -> u64) -> Outcome {
    let (number, by) = (to_uint64(&value(a, 1))?, to_uint64(&value(a, 0))?);
    // Go shifts everything out where Rust would not shift at all.
    Ok(unsigned(if by < BITS { apply(number, by) } else { 0 }))
}

fn fold(a: &[Value], start: u64, join: fn(u64, u64) -> u64) -> Outcome {
    let mut result = start;
    for number in a {
        result = join(result, to_uint64(number)?);
    }
    Ok(unsigned(result))
}

fn unsigned(number: u64) -> Value {
    Value::Uint(UintKind::Uint64, number)
}

/// `cast.ToUint64E`: a failure for what is no number, or a negative one.
fn to_uint64(value: &Value) -> Result<u64, FunctionError> {
    let signed = |number: i64| {
        u64::try_from(number).map_err(|_| FunctionError::new("unable to cast negative value"))
    };
    let refused = |shown: &str| {
        let type_name = value.type_name();
        fail(format!(
            "unable to cast {shown} of type {type_name} to uint64"
        ))
    };
    match value {
        Value::Nil => Ok(0),
        Value::Bool(truth) => Ok(u64::from(*truth)),
        Value::Int(_, number) => signed(*number),
        Value::Uint(_, number) => Ok(*number),
        Value::Float(number) if *number < 0.0 => fail("unable to cast negative value"),
        Value::Float(number) => Ok(*number as u64),
        Value::String(text) => match parse_int_any_base(trim_zero_decimal(text)) {
            Some(number) => signed(number),
            None => refused(&format!("{text:?}")),
        },
        Value::List(_) | Value::Map(_) | Value::Host(_) => refused("a value"),
    }
}

fn parse_ipv4(runtime: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let address = print(runtime, &value(a, 0))?;
    let octets: Vec<_> = address.split(|byte| *byte == b'.').collect();
    if octets.len() != 4 {
        return fail("invalid IP address");
    }
    let mut number = 0;
    for octet in octets {
        number = number << 8 | u64::from(parse_octet(octet)?);
    }
    Ok(Value::Uint(UintKind::Uint32, number))
}

/// `strconv.ParseUint(octet, 10, 8)`.
fn parse_octet(octet: &[u8]) -> Result<u8, FunctionError> {
    let shown = String::from_utf8_lossy(octet);
    let refused = |reason| fail(format!("strconv.ParseUint: parsing {shown:?}: {reason}"));
    if octet.is_empty() || !octet.iter().all(u8::is_ascii_digit) {
        return refused("invalid syntax");
    }
    shown.parse().or_else(|_| refused("value out of range"))
}

fn format_ipv4(_: &mut dyn Runtime, a: &[Value]) -> Outcome {
    let [.., one, two, three, four] = to_uint64(&value(a, 0))?.to_be_bytes();
    Ok(format!("{one}.{two}.{three}.{four}").into())
}
