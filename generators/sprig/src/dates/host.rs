//! Times and zones as templates see them. Durations, months and weekdays are the engine's.

use super::{duration::SECOND, time::Time, write::write, zone::Zone};
use crate::declare::{bytes, host, int, takes};
use std::any::Any;
use whipstaff_gotemplate::{
    FunctionError, Host, IntKind, Kind, Method, Runtime, Signature, Type, Value,
};

pub(super) const TIME: &str = "time.Time";
const LOCATION: &str = "*time.Location";
const NOTHING: Signature = takes(&[]);
const ONE_TIME: Signature = takes(&[Type::Host(TIME)]);
const ONE_DURATION: Signature = takes(&[Type::Host("time.Duration")]);
const PRINTED: &[u8] = b"2006-01-02 15:04:05.999999999 -0700 MST";
const RFC_3339: &[u8] = b"2006-01-02T15:04:05.999999999Z07:00";

type Call = fn(&dyn Host, &mut dyn Runtime, &[Value]) -> Result<Value, FunctionError>;

impl Host for Time {
    fn type_name(&self) -> &str {
        TIME
    }

    fn kind(&self) -> Kind {
        Kind::Struct
    }

    fn method(&self, name: &str) -> Option<Method> {
        time_reading(name).or_else(|| time_relation(name))
    }

    fn print(&self) -> Vec<u8> {
        write(self, PRINTED)
    }

    fn to_json(&self) -> Option<serde_json::Value> {
        if !(0..=9999).contains(&self.reading().date.year) {
            return None;
        }
        Some(
            String::from_utf8_lossy(&write(self, RFC_3339))
                .into_owned()
                .into(),
        )
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Methods without arguments.
fn time_reading(name: &str) -> Option<Method> {
    let call: Call = match name {
        "Year" => |own, _, _| Ok(Value::int(time(own)?.reading().date.year)),
        "Month" => |own, _, _| Ok(Value::Int(IntKind::Month, time(own)?.reading().date.month)),
        "Day" => |own, _, _| Ok(Value::int(time(own)?.reading().date.day)),
        "Weekday" => |own, _, _| Ok(Value::Int(IntKind::Weekday, time(own)?.reading().weekday)),
        "YearDay" => |own, _, _| Ok(Value::int(time(own)?.reading().day_of_year)),
        "Hour" => |own, _, _| Ok(Value::int(time(own)?.reading().hour)),
        "Minute" => |own, _, _| Ok(Value::int(time(own)?.reading().minute)),
        "Second" => |own, _, _| Ok(Value::int(time(own)?.reading().second)),
        "Nanosecond" => |own, _, _| Ok(Value::int(i64::from(time(own)?.nanoseconds))),
        "IsZero" => |own, _, _| Ok(time(own)?.is_zero().into()),
        "IsDST" => |own, _, _| Ok(time(own)?.reading().offset.is_summer.into()),
        "Unix" => |own, _, _| Ok(Value::int64(time(own)?.unix)),
        "UnixMilli" => |own, _, _| unix(own, 1000),
        "UnixMicro" => |own, _, _| unix(own, 1_000_000),
        "UnixNano" => |own, _, _| unix(own, SECOND),
        "UTC" => |own, _, _| Ok(Value::host(time(own)?.within(Zone::Utc))),
        "Local" => |own, _, _| Ok(Value::host(time(own)?.within(Zone::Local))),
        "Location" => |own, _, _| Ok(Value::host(time(own)?.zone.clone())),
        "String" => |own, _, _| Ok(Value::string(write(time(own)?, PRINTED))),
        _ => return None,
    };
    Some(Method {
        signature: NOTHING,
        call,
    })
}

/// Methods with arguments.
fn time_relation(name: &str) -> Option<Method> {
    let (signature, call): (_, Call) = match name {
        "Format" => (takes(&[Type::String]), |own, _, arguments| {
            Ok(Value::string(write(time(own)?, &bytes(arguments, 0))))
        }),
        "After" => (ONE_TIME, |own, _, arguments| {
            Ok((time(own)?.moment() > other(arguments)?.moment()).into())
        }),
        "Before" => (ONE_TIME, |own, _, arguments| {
            Ok((time(own)?.moment() < other(arguments)?.moment()).into())
        }),
        "Equal" => (ONE_TIME, |own, _, arguments| {
            Ok((time(own)?.moment() == other(arguments)?.moment()).into())
        }),
        "Compare" => (ONE_TIME, |own, _, arguments| {
            Ok(Value::int(
                time(own)?.moment().cmp(&other(arguments)?.moment()) as i64,
            ))
        }),
        "Sub" => (ONE_TIME, |own, _, arguments| {
            Ok(wrap(time(own)?.since(&other(arguments)?)))
        }),
        "Add" => (ONE_DURATION, |own, _, arguments| {
            Ok(Value::host(time(own)?.add(duration_argument(arguments))))
        }),
        "Truncate" => (ONE_DURATION, |own, _, arguments| {
            let step = duration_argument(arguments);
            let own = time(own)?;
            Ok(Value::host(if step > 0 {
                own.add(-own.remainder(step))
            } else {
                own.clone()
            }))
        }),
        "Round" => (ONE_DURATION, |own, _, arguments| {
            Ok(Value::host(rounded(
                time(own)?,
                duration_argument(arguments),
            )))
        }),
        "AddDate" => (
            takes(&[Type::Int, Type::Int, Type::Int]),
            |own, _, arguments| {
                let [years, months, days] = [0, 1, 2].map(|index| int(arguments, index));
                Ok(Value::host(time(own)?.add_date(years, months, days)))
            },
        ),
        "In" => (takes(&[Type::Host(LOCATION)]), |own, _, arguments| {
            let zone = host::<Zone>(arguments, 0)
                .map_err(|_| FunctionError::new("time: missing Location in call to Time.In"))?;
            Ok(Value::host(time(own)?.within(zone)))
        }),
        _ => return None,
    };
    Some(Method { signature, call })
}

fn rounded(time: &Time, step: i64) -> Time {
    if step <= 0 {
        return time.clone();
    }
    let rest = time.remainder(step);
    if rest.unsigned_abs() * 2 < step.unsigned_abs() {
        return time.add(-rest);
    }
    time.add(step - rest)
}

fn unix(own: &dyn Host, per_second: i64) -> Result<Value, FunctionError> {
    let time = time(own)?;
    let fraction = i64::from(time.nanoseconds) / (SECOND / per_second);
    Ok(Value::int64(
        time.unix.wrapping_mul(per_second).wrapping_add(fraction),
    ))
}

fn time(own: &dyn Host) -> Result<&Time, FunctionError> {
    own.as_any()
        .downcast_ref()
        .ok_or_else(|| FunctionError::new(format!("{} is not a time", own.type_name())))
}

fn other(arguments: &[Value]) -> Result<Time, FunctionError> {
    host::<Time>(arguments, 0)
}

fn wrap(nanoseconds: i64) -> Value {
    Value::Int(IntKind::Duration, nanoseconds)
}

/// The first argument, which the engine has made a duration.
fn duration_argument(arguments: &[Value]) -> i64 {
    int(arguments, 0)
}

impl Host for Zone {
    fn type_name(&self) -> &str {
        LOCATION
    }

    fn kind(&self) -> Kind {
        Kind::Ptr
    }

    fn method(&self, name: &str) -> Option<Method> {
        let call: Call = |own, _, _| Ok(Value::string(own.print()));
        (name == "String").then_some(Method {
            signature: NOTHING,
            call,
        })
    }

    fn print(&self) -> Vec<u8> {
        self.name().as_bytes().to_vec()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
