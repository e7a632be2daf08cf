//! The duration functions of Helm 4.3. Strings are durations or seconds, numbers are seconds.

use super::duration::{
    HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, in_units, parse, round, truncate,
};
use crate::{
    cast::parse_float,
    declare::{fixed, value},
};
use whipstaff_gotemplate::{Function, FunctionError, IntKind, Runtime, Type, Value, format};

const ANY: &[Type] = &[Type::Any];
const TWO: &[Type] = &[Type::Any, Type::Any];

type Call = fn(&mut dyn Runtime, &[Value]) -> Result<Value, FunctionError>;

/// The functions of this module.
pub(super) fn functions() -> Vec<Function> {
    let simple: [(&'static str, Call); 9] = [
        ("mustToDuration", must_to_duration),
        ("durationSeconds", |_, arguments| {
            Ok(units(arguments, SECOND))
        }),
        ("durationMinutes", |_, arguments| {
            Ok(units(arguments, MINUTE))
        }),
        ("durationHours", |_, arguments| Ok(units(arguments, HOUR))),
        ("durationDays", |_, arguments| Ok(hours(arguments, &[24.0]))),
        ("durationWeeks", |_, arguments| {
            Ok(hours(arguments, &[24.0, 7.0]))
        }),
        ("durationMilliseconds", |_, arguments| {
            Ok(whole(arguments, MILLISECOND))
        }),
        ("durationMicroseconds", |_, arguments| {
            Ok(whole(arguments, MICROSECOND))
        }),
        ("durationNanoseconds", |_, arguments| {
            Ok(whole(arguments, 1))
        }),
    ];
    let mut functions: Vec<Function> = simple
        .into_iter()
        .map(|(name, call)| fixed(name, ANY, call))
        .collect();
    functions.extend([
        fixed("durationRoundTo", TWO, |_, arguments| {
            Ok(step(arguments, round))
        }),
        fixed("durationTruncateTo", TWO, |_, arguments| {
            Ok(step(arguments, truncate))
        }),
    ]);
    functions
}

fn must_to_duration(
    _runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    duration(&value(arguments, 0))
        .map(wrap)
        .map_err(FunctionError::new)
}

fn wrap(nanoseconds: i64) -> Value {
    Value::Int(IntKind::Duration, nanoseconds)
}

fn units(arguments: &[Value], unit: i64) -> Value {
    duration(&value(arguments, 0))
        .map_or(0.0, |duration| in_units(duration, unit))
        .into()
}

fn hours(arguments: &[Value], divisors: &[f64]) -> Value {
    let hours = duration(&value(arguments, 0)).map_or(0.0, |duration| in_units(duration, HOUR));
    divisors
        .iter()
        .fold(hours, |hours, divisor| hours / divisor)
        .into()
}

fn whole(arguments: &[Value], unit: i64) -> Value {
    Value::int64(duration(&value(arguments, 0)).map_or(0, |duration| duration / unit))
}

fn step(arguments: &[Value], step: fn(i64, i64) -> i64) -> Value {
    let Ok(own) = duration(&value(arguments, 0)) else {
        return wrap(0);
    };
    wrap(duration(&value(arguments, 1)).map_or(own, |multiple| step(own, multiple)))
}

/// What a value means as a duration, or why it means none.
fn duration(value: &Value) -> Result<i64, String> {
    match value {
        Value::Nil => Err("invalid duration".to_owned()),
        Value::Int(IntKind::Duration, nanoseconds) => Ok(*nanoseconds),
        Value::Int(_, seconds) => seconds
            .checked_mul(SECOND)
            .ok_or_else(|| format!("duration seconds overflow: {seconds}")),
        Value::Uint(_, seconds) => i64::try_from(*seconds)
            .ok()
            .and_then(|seconds| seconds.checked_mul(SECOND))
            .ok_or_else(|| format!("duration seconds overflow: {seconds}")),
        Value::Float(seconds) => from_seconds(*seconds),
        Value::String(text) => from_text(text),
        other => Err(format!("unsupported duration type {}", other.type_name())),
    }
}

fn from_text(text: &[u8]) -> Result<i64, String> {
    let trimmed = String::from_utf8_lossy(text);
    let trimmed = trimmed.trim();
    if trimmed.is_empty() {
        return Err("empty duration".to_owned());
    }
    if let Ok(duration) = parse(trimmed.as_bytes()) {
        return Ok(duration);
    }
    if let Some(seconds) = parse_float(trimmed.as_bytes()) {
        return from_seconds(seconds);
    }
    let quoted = format::quote(text);
    Err(format!(
        "could not parse duration {}",
        String::from_utf8_lossy(&quoted)
    ))
}

fn from_seconds(seconds: f64) -> Result<i64, String> {
    let printed =
        |number: f64| String::from_utf8_lossy(&format::sprint(&[number.into()])).into_owned();
    if !seconds.is_finite() {
        return Err(format!("invalid duration seconds: {}", printed(seconds)));
    }
    let limit = i64::MAX as f64 / SECOND as f64;
    if seconds > limit || seconds < -limit {
        return Err(format!("duration seconds overflow: {}", printed(seconds)));
    }
    Ok((seconds * SECOND as f64) as i64)
}
