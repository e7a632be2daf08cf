//! Writing moments by a layout.

use super::{
    layout::{Element, OffsetForm, next_chunk},
    time::{Reading, Time},
};
use whipstaff_gotemplate::format;

/// `Time.Format`.
pub(super) fn write(time: &Time, layout: &[u8]) -> Vec<u8> {
    let reading = time.reading();
    let mut output = Vec::with_capacity(layout.len() + 16);
    let mut layout = layout;
    while !layout.is_empty() {
        let chunk = next_chunk(layout);
        output.extend_from_slice(chunk.prefix);
        let Some((element, _)) = chunk.element else {
            break;
        };
        output.extend_from_slice(element_text(&reading, element).as_bytes());
        layout = chunk.rest;
    }
    output
}

fn element_text(reading: &Reading, element: Element) -> String {
    let Reading {
        date,
        hour,
        minute,
        second,
        ..
    } = reading;
    let hour12 = if hour % 12 == 0 { 12 } else { hour % 12 };
    match element {
        Element::LongMonth => format::month(date.month),
        Element::Month => format::month(date.month).chars().take(3).collect(),
        Element::NumberMonth => date.month.to_string(),
        Element::ZeroMonth => format!("{:02}", date.month),
        Element::LongWeekday => format::weekday(reading.weekday),
        Element::Weekday => format::weekday(reading.weekday).chars().take(3).collect(),
        Element::Day => date.day.to_string(),
        Element::UnderDay => format!("{:2}", date.day),
        Element::ZeroDay => format!("{:02}", date.day),
        Element::UnderYearDay => format!("{:3}", reading.day_of_year),
        Element::ZeroYearDay => format!("{:03}", reading.day_of_year),
        Element::Hour => format!("{hour:02}"),
        Element::Hour12 => hour12.to_string(),
        Element::ZeroHour12 => format!("{hour12:02}"),
        Element::Minute => minute.to_string(),
        Element::ZeroMinute => format!("{minute:02}"),
        Element::Second => second.to_string(),
        Element::ZeroSecond => format!("{second:02}"),
        Element::LongYear if date.year < 0 => format!("-{:04}", -date.year),
        Element::LongYear => format!("{:04}", date.year),
        Element::Year => format!("{:02}", date.year.abs() % 100),
        Element::UpperHalf => if *hour >= 12 { "PM" } else { "AM" }.to_owned(),
        Element::LowerHalf => if *hour >= 12 { "pm" } else { "am" }.to_owned(),
        Element::ZoneName if reading.offset.abbreviation.is_empty() => {
            let form = OffsetForm {
                is_iso: false,
                has_colon: false,
                has_minutes: true,
                has_seconds: false,
            };
            offset(reading.offset.seconds, form)
        }
        Element::ZoneName => reading.offset.abbreviation.to_string(),
        Element::Offset(form) => offset(reading.offset.seconds, form),
        Element::FractionZeros(count, separator) => {
            fraction(reading.nanoseconds, count, separator, false)
        }
        Element::FractionNines(count, separator) => {
            fraction(reading.nanoseconds, count, separator, true)
        }
    }
}

fn offset(seconds: i64, form: OffsetForm) -> String {
    if seconds == 0 && form.is_iso {
        return "Z".to_owned();
    }
    let minutes = seconds / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    let colon = if form.has_colon { ":" } else { "" };
    let (hours, minutes, seconds) = (minutes / 60, minutes % 60, seconds.abs() % 60);
    if form.has_seconds {
        format!("{sign}{hours:02}{colon}{minutes:02}{colon}{seconds:02}")
    } else if form.has_minutes {
        format!("{sign}{hours:02}{colon}{minutes:02}")
    } else {
        format!("{sign}{hours:02}")
    }
}

/// Digits of a second behind a separator. Go writes nine at most, and zeros beyond.
fn fraction(nanoseconds: u32, count: usize, separator: u8, drops_zeros: bool) -> String {
    let mut digits = format!("{nanoseconds:09}");
    digits.truncate(count);
    if drops_zeros {
        digits.truncate(digits.trim_end_matches('0').len());
        if digits.is_empty() {
            return digits;
        }
    }
    digits.insert(0, char::from(separator));
    digits
}
