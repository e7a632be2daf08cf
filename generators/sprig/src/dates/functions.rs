//! The date functions of Sprig 3.3.

use super::{
    duration::{self, HOUR, MINUTE, SECOND},
    host::TIME,
    read::read,
    time::Time,
    write::write,
    zone::Zone,
};
use crate::declare::{bytes, fixed, host, value};
use whipstaff_gotemplate::{Function, FunctionError, IntKind, Runtime, Type, Value, format};

const ANY: &[Type] = &[Type::Any];
const TWO_STRINGS: &[Type] = &[Type::String, Type::String];
const MODIFY: &[Type] = &[Type::String, Type::Host(TIME)];
const IN_ZONE: &[Type] = &[Type::String, Type::Any, Type::String];
const HTML: &[u8] = b"2006-01-02";

/// The functions of this module.
pub(super) fn functions() -> Vec<Function> {
    vec![
        fixed("now", &[], now),
        fixed("ago", ANY, ago),
        fixed("date", &[Type::String, Type::Any], date),
        fixed("dateInZone", IN_ZONE, date_in_zone),
        fixed("date_in_zone", IN_ZONE, date_in_zone),
        fixed("dateModify", MODIFY, date_modify),
        fixed("date_modify", MODIFY, date_modify),
        fixed("mustDateModify", MODIFY, must_date_modify),
        fixed("must_date_modify", MODIFY, must_date_modify),
        fixed("duration", ANY, duration),
        fixed("durationRound", ANY, duration_round),
        fixed("htmlDate", ANY, html_date),
        fixed(
            "htmlDateInZone",
            &[Type::Any, Type::String],
            html_date_in_zone,
        ),
        fixed("toDate", TWO_STRINGS, to_date),
        fixed("mustToDate", TWO_STRINGS, must_to_date),
        fixed("unixEpoch", &[Type::Host(TIME)], unix_epoch),
    ]
}

fn current(runtime: &mut dyn Runtime) -> Time {
    let (unix, nanoseconds) = runtime.environment().now();
    Time::from_unix(unix, nanoseconds)
}

/// A time, or an integer of the kinds given as seconds of the epoch. Whatever else is now, as in Go.
fn moment(runtime: &mut dyn Runtime, value: &Value, takes_int32: bool) -> Time {
    match value {
        Value::Host(host) => match host.as_any().downcast_ref::<Time>() {
            Some(time) => time.clone(),
            None => current(runtime),
        },
        Value::Int(IntKind::Int | IntKind::Int64, unix) => Time::from_unix(*unix, 0),
        Value::Int(IntKind::Int32, unix) if takes_int32 => Time::from_unix(*unix, 0),
        _ => current(runtime),
    }
}

fn now(runtime: &mut dyn Runtime, _arguments: &[Value]) -> Result<Value, FunctionError> {
    Ok(Value::host(current(runtime)))
}

fn formatted(
    runtime: &mut dyn Runtime,
    layout: &[u8],
    date: &Value,
    zone: &[u8],
) -> Result<Value, FunctionError> {
    let time = moment(runtime, date, true);
    let zone = std::str::from_utf8(zone)
        .ok()
        .and_then(Zone::load)
        .unwrap_or(Zone::Utc);
    let text = write(&time.within(zone), layout);
    runtime.charge(text.len())?;
    Ok(Value::string(text))
}

fn date(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    formatted(
        runtime,
        &bytes(arguments, 0),
        &value(arguments, 1),
        b"Local",
    )
}

fn date_in_zone(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    formatted(
        runtime,
        &bytes(arguments, 0),
        &value(arguments, 1),
        &bytes(arguments, 2),
    )
}

fn html_date(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    formatted(runtime, HTML, &value(arguments, 0), b"Local")
}

fn html_date_in_zone(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    formatted(runtime, HTML, &value(arguments, 0), &bytes(arguments, 1))
}

fn date_modify(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let time = host::<Time>(arguments, 1)?;
    Ok(Value::host(match duration::parse(&bytes(arguments, 0)) {
        Ok(step) => time.add(step),
        Err(_) => time,
    }))
}

fn must_date_modify(
    _runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let step = duration::parse(&bytes(arguments, 0))
        .map_err(|error| FunctionError::new(error.to_string()))?;
    Ok(Value::host(host::<Time>(arguments, 1)?.add(step)))
}

fn ago(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let time = moment(runtime, &value(arguments, 0), false);
    let elapsed = current(runtime).since(&time);
    Ok(format::duration(duration::round(elapsed, SECOND)).into())
}

fn duration(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let seconds = match value(arguments, 0) {
        Value::String(text) => integer_of(&text),
        Value::Int(IntKind::Int64, seconds) => seconds,
        _ => 0,
    };
    Ok(format::duration(seconds.wrapping_mul(SECOND)).into())
}

/// `strconv.ParseInt` whose error is ignored: beyond the range it is the limit, and otherwise zero.
fn integer_of(text: &[u8]) -> i64 {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match std::str::from_utf8(text).unwrap_or_default().parse::<i64>() {
        Ok(number) => number,
        Err(error) if *error.kind() == PosOverflow => i64::MAX,
        Err(error) if *error.kind() == NegOverflow => i64::MIN,
        Err(_) => 0,
    }
}

fn duration_round(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    const DAY: i64 = 24 * HOUR;
    const UNITS: [(i64, &str); 6] = [
        (365 * DAY, "y"),
        (30 * DAY, "mo"),
        (DAY, "d"),
        (HOUR, "h"),
        (MINUTE, "m"),
        (SECOND, "s"),
    ];
    let elapsed = match value(arguments, 0) {
        Value::String(text) => duration::parse(&text).unwrap_or(0),
        Value::Int(IntKind::Int64, nanoseconds) => nanoseconds,
        Value::Host(host) => match host.as_any().downcast_ref::<Time>() {
            Some(time) => current(runtime).since(time),
            None => 0,
        },
        _ => 0,
    };
    let magnitude = elapsed.unsigned_abs();
    let unit = UNITS
        .iter()
        .find(|(unit, _)| magnitude > unit.unsigned_abs());
    Ok(match unit {
        Some((unit, name)) => format!("{}{name}", magnitude / unit.unsigned_abs()).into(),
        None => "0s".into(),
    })
}

fn to_date(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let time = read(&bytes(arguments, 0), &bytes(arguments, 1));
    Ok(Value::host(time.unwrap_or_else(|_| Time::zero())))
}

fn must_to_date(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    read(&bytes(arguments, 0), &bytes(arguments, 1))
        .map(Value::host)
        .map_err(|error| FunctionError::new(error.to_string()))
}

fn unix_epoch(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    Ok(host::<Time>(arguments, 0)?.unix.to_string().into())
}
