//! Texts of the `time` package's named integers.

use std::fmt::Write;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// `time.Month.String`.
pub fn month(number: i64) -> String {
    let name = usize::try_from(number - 1)
        .ok()
        .and_then(|index| MONTHS.get(index));
    name.map_or_else(
        || format!("%!Month({})", number as u64),
        |&name| name.to_owned(),
    )
}

/// `time.Weekday.String`.
pub fn weekday(number: i64) -> String {
    let name = usize::try_from(number)
        .ok()
        .and_then(|index| DAYS.get(index));
    name.map_or_else(
        || format!("%!Weekday({})", number as u64),
        |&name| name.to_owned(),
    )
}

/// `time.Duration.String` of nanoseconds: `1h30m0s`, `1.5s`, `2µs`.
pub fn duration(nanoseconds: i64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let magnitude = nanoseconds.unsigned_abs();
    let mut out = String::new();
    if nanoseconds < 0 {
        out.push('-');
    }
    if magnitude < SECOND {
        let (unit, digits) = match magnitude {
            0 => return "0s".to_owned(),
            1..1_000 => ("ns", 0),
            1_000..1_000_000 => ("µs", 3),
            _ => ("ms", 6),
        };
        write_fraction(&mut out, magnitude, digits);
        out.push_str(unit);
        return out;
    }
    let seconds = magnitude / SECOND;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        let _ = write!(out, "{hours}h");
    }
    if hours > 0 || minutes > 0 {
        let _ = write!(out, "{minutes}m");
    }
    write_fraction(&mut out, seconds % 60 * SECOND + magnitude % SECOND, 9);
    out.push('s');
    out
}

/// Writes a number with its decimal point moved to the left, without trailing zeros.
fn write_fraction(out: &mut String, number: u64, digits: usize) {
    let scale = 10_u64.pow(digits as u32);
    let _ = write!(out, "{}", number / scale);
    let fraction = format!("{:0digits$}", number % scale);
    let fraction = fraction.trim_end_matches('0');
    if digits > 0 && !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
}
