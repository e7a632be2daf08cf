//! Reading moments by a layout.

use super::{
    calendar::{Date, days_of_month, is_leap},
    layout::{Element, OffsetForm, next_chunk},
    time::Time,
    zone::Zone,
};

/// Digits of a second that are told apart; further ones are dropped.
const FRACTION_DIGITS: usize = 9;
/// Hours of a zone that is written as an offset.
const MAX_ZONE_HOURS: u64 = 23;

/// A text that does not fit its layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parsing time {}{}", quote(.value), .reason)]
pub(super) struct ReadError {
    value: Vec<u8>,
    reason: String,
}

/// What is wrong with an element.
enum Mistake {
    /// It is not of its form.
    Bad,
    /// It is out of its range.
    Range(&'static str),
}

const BAD: Mistake = Mistake::Bad;

/// What has been read so far.
#[derive(Debug, Default)]
struct Fields {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: u32,
    /// Whether it is the second half of the day.
    is_afternoon: Option<bool>,
    is_utc: bool,
    offset: Option<i64>,
    zone_name: Vec<u8>,
}

/// `time.ParseInLocation` with the local zone.
///
/// # Errors
/// [`ReadError`] with Go's text.
pub(super) fn read(layout: &[u8], value: &[u8]) -> Result<Time, ReadError> {
    let fail = |reason: String| ReadError {
        value: value.to_vec(),
        reason,
    };
    let cannot = |element: &[u8], text: &[u8]| {
        let (layout, text, element) = (quote(layout), quote(text), quote(element));
        fail(format!(" as {layout}: cannot parse {text} as {element}"))
    };
    let mut fields = Fields::default();
    let mut rest = value;
    let mut layout_rest = layout;
    loop {
        let chunk = next_chunk(layout_rest);
        if let Err(at) = skip(&mut rest, chunk.prefix) {
            return Err(cannot(at, rest));
        }
        let Some((element, text)) = chunk.element else {
            if !rest.is_empty() {
                return Err(fail(format!(": extra text: {}", quote(rest))));
            }
            break;
        };
        layout_rest = chunk.rest;
        let before = rest;
        match fields.element(element, &mut rest, layout_rest) {
            Ok(()) => {}
            Err(Mistake::Range(what)) => return Err(fail(format!(": {what} out of range"))),
            Err(Mistake::Bad) => return Err(cannot(text, before)),
        }
    }
    fields.finish().map_err(|what| fail(format!(": {what}")))
}

impl Fields {
    fn element(
        &mut self,
        element: Element,
        rest: &mut &[u8],
        layout: &[u8],
    ) -> Result<(), Mistake> {
        match element {
            Element::Year => {
                let year = signed(take(rest, 2)?)?;
                self.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Element::LongYear => {
                if !rest.first().is_some_and(u8::is_ascii_digit) {
                    return Err(BAD);
                }
                self.year = signed(take(rest, 4)?)?;
            }
            Element::Month | Element::LongMonth => {
                let months = (1..=12).map(whipstaff_gotemplate::format::month);
                self.month = Some(name(rest, months, element == Element::Month)? + 1);
            }
            Element::Weekday | Element::LongWeekday => {
                let days = (0..7).map(whipstaff_gotemplate::format::weekday);
                name(rest, days, element == Element::Weekday)?;
            }
            Element::NumberMonth | Element::ZeroMonth => {
                let month = number(rest, element == Element::ZeroMonth)?;
                self.month = Some(within(month, 1, 12, "month")?);
            }
            Element::Day | Element::UnderDay | Element::ZeroDay => {
                if element == Element::UnderDay {
                    *rest = rest.strip_prefix(b" ").unwrap_or(rest);
                }
                self.day = Some(number(rest, element == Element::ZeroDay)?);
            }
            Element::UnderYearDay | Element::ZeroYearDay => {
                self.day_of_year = Some(day_of_year(rest, element == Element::ZeroYearDay)?);
            }
            _ => return self.time_element(element, rest, layout),
        }
        Ok(())
    }

    /// What does not concern the date.
    fn time_element(
        &mut self,
        element: Element,
        rest: &mut &[u8],
        layout: &[u8],
    ) -> Result<(), Mistake> {
        match element {
            Element::Hour => self.hour = within(number(rest, false)?, 0, 23, "hour")?,
            Element::Hour12 | Element::ZeroHour12 => {
                let hour = number(rest, element == Element::ZeroHour12)?;
                self.hour = within(hour, 0, 12, "hour")?;
            }
            Element::Minute | Element::ZeroMinute => {
                let minute = number(rest, element == Element::ZeroMinute)?;
                self.minute = within(minute, 0, 59, "minute")?;
            }
            Element::Second | Element::ZeroSecond => {
                let second = number(rest, element == Element::ZeroSecond)?;
                self.second = within(second, 0, 59, "second")?;
                self.unlisted_fraction(rest, layout)?;
            }
            Element::UpperHalf => self.half(rest, b"AM", b"PM")?,
            Element::LowerHalf => self.half(rest, b"am", b"pm")?,
            Element::ZoneName => self.zone_name(rest)?,
            Element::Offset(form) => self.offset(rest, form)?,
            Element::FractionZeros(count, _) => {
                self.nanoseconds = nanoseconds(take(rest, count + 1)?)?;
            }
            Element::FractionNines(..) => self.fraction(rest)?,
            _ => return Err(BAD),
        }
        Ok(())
    }

    /// A fraction may follow the seconds even if the layout has none.
    fn unlisted_fraction(&mut self, rest: &mut &[u8], layout: &[u8]) -> Result<(), Mistake> {
        let next = next_chunk(layout).element;
        match next {
            Some((Element::FractionZeros(..) | Element::FractionNines(..), _)) => Ok(()),
            _ => self.fraction(rest),
        }
    }

    /// Reads a separator and all digits behind it, or nothing.
    fn fraction(&mut self, rest: &mut &[u8]) -> Result<(), Mistake> {
        let [b'.' | b',', digits @ ..] = *rest else {
            return Ok(());
        };
        let count = digits
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count > 0 {
            self.nanoseconds = nanoseconds(take(rest, count + 1)?)?;
        }
        Ok(())
    }

    fn half(&mut self, rest: &mut &[u8], first: &[u8], second: &[u8]) -> Result<(), Mistake> {
        let half = take(rest, 2)?;
        if half != first && half != second {
            return Err(BAD);
        }
        self.is_afternoon = Some(half == second);
        Ok(())
    }

    fn offset(&mut self, rest: &mut &[u8], form: OffsetForm) -> Result<(), Mistake> {
        if form.is_iso
            && let Some(behind) = rest.strip_prefix(b"Z")
        {
            *rest = behind;
            self.is_utc = true;
            return Ok(());
        }
        let colon = usize::from(form.has_colon);
        let minute_at = 3 + colon;
        let second_at = minute_at + 2 + colon;
        let length = match form {
            OffsetForm {
                has_seconds: true, ..
            } => second_at + 2,
            OffsetForm {
                has_minutes: true, ..
            } => minute_at + 2,
            _ => 3,
        };
        let text = take(rest, length)?;
        let is_colon = |at: usize| text.get(at) == Some(&b':');
        if form.has_colon && (!is_colon(3) || (form.has_seconds && !is_colon(6))) {
            return Err(BAD);
        }
        let part = |at: usize| -> Result<i64, Mistake> {
            match text.get(at..at + 2) {
                Some(mut digits) => number(&mut digits, true),
                None => Ok(0),
            }
        };
        let hours = within(part(1)?, 0, 24, "time zone offset hour")?;
        let minutes = within(part(minute_at)?, 0, 60, "time zone offset minute")?;
        let seconds = within(part(second_at)?, 0, 60, "time zone offset second")?;
        let total = (hours * 60 + minutes) * 60 + seconds;
        self.offset = Some(match text.first() {
            Some(b'+') => total,
            Some(b'-') => -total,
            _ => return Err(BAD),
        });
        Ok(())
    }

    fn zone_name(&mut self, rest: &mut &[u8]) -> Result<(), Mistake> {
        if let Some(behind) = rest.strip_prefix(b"UTC") {
            *rest = behind;
            self.is_utc = true;
            return Ok(());
        }
        let length = zone_name_length(rest).ok_or(BAD)?;
        self.zone_name = take(rest, length)?.to_vec();
        Ok(())
    }

    fn finish(self) -> Result<Time, &'static str> {
        let hour = match self.is_afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let date = self.date()?;
        let clock = hour * 3600 + self.minute * 60 + self.second;
        let at = |zone| Time::at(date, clock, self.nanoseconds, zone);
        if self.is_utc {
            return Ok(at(Zone::Utc));
        }
        let name = String::from_utf8_lossy(&self.zone_name);
        // Go marks an absent offset by -1, so that `-00:00:01` is none.
        if let Some(offset) = self.offset.filter(|offset| *offset != -1) {
            let is_local = offset == 0 && (name.is_empty() || name == "UTC");
            let zone = if is_local {
                Zone::Local
            } else {
                Zone::Fixed(name.as_ref().into(), offset)
            };
            return Ok(at(zone));
        }
        if name.is_empty() {
            return Ok(at(Zone::Local));
        }
        // The name alone says nothing, but for `GMT+3`. The clock is then read as UTC nevertheless.
        let hours = name
            .strip_prefix("GMT")
            .and_then(|hours| hours.parse::<i64>().ok());
        let time = at(Zone::Utc);
        Ok(time.within(Zone::Fixed(name.as_ref().into(), hours.unwrap_or(0) * 3600)))
    }

    fn date(&self) -> Result<Date, &'static str> {
        let year = self.year;
        let mut date = Date {
            year,
            month: self.month.unwrap_or(1),
            day: self.day.unwrap_or(1),
        };
        if let Some(day_of_year) = self.day_of_year {
            // Of a leap year Go takes the 366th day, of others the 365th.
            let last = 365 + i64::from(is_leap(year));
            if !(1..=last).contains(&day_of_year) {
                return Err("day-of-year out of range");
            }
            let first = Date {
                year,
                month: 1,
                day: 1,
            }
            .days();
            date = Date::from_epoch(first + day_of_year - 1);
            if self.month.is_some_and(|month| month != date.month) {
                return Err("day-of-year does not match month");
            }
            if self.day.is_some_and(|day| day != date.day) {
                return Err("day-of-year does not match day");
            }
        }
        if !(1..=days_of_month(date.month, year)).contains(&date.day) {
            return Err("day out of range");
        }
        Ok(date)
    }
}

/// Skips literal text; any number of spaces fits any other. The error is what did not fit.
fn skip<'p>(rest: &mut &[u8], prefix: &'p [u8]) -> Result<(), &'p [u8]> {
    let whole = prefix;
    let mut prefix = prefix;
    while let Some((byte, behind)) = prefix.split_first() {
        if *byte == b' ' {
            if rest.first().is_some_and(|byte| *byte != b' ') {
                return Err(whole);
            }
            prefix = prefix.trim_ascii_start_spaces();
            *rest = rest.trim_ascii_start_spaces();
            continue;
        }
        let Some(value) = rest.strip_prefix(std::slice::from_ref(byte)) else {
            return Err(whole);
        };
        prefix = behind;
        *rest = value;
    }
    Ok(())
}

trait Spaces {
    /// Without the spaces at the start; other blanks stay.
    fn trim_ascii_start_spaces(&self) -> &Self;
}

impl Spaces for [u8] {
    fn trim_ascii_start_spaces(&self) -> &Self {
        let count = self.iter().take_while(|byte| **byte == b' ').count();
        self.get(count..).unwrap_or_default()
    }
}

fn take<'v>(rest: &mut &'v [u8], count: usize) -> Result<&'v [u8], Mistake> {
    let (taken, behind) = rest.split_at_checked(count).ok_or(BAD)?;
    *rest = behind;
    Ok(taken)
}

/// One digit or two; exactly two if the layout says so.
fn number(rest: &mut &[u8], is_fixed: bool) -> Result<i64, Mistake> {
    let count = rest
        .iter()
        .take(2)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if count == 0 || (is_fixed && count < 2) {
        return Err(BAD);
    }
    Ok(digits(take(rest, count)?))
}

fn day_of_year(rest: &mut &[u8], is_fixed: bool) -> Result<i64, Mistake> {
    if !is_fixed {
        for _ in 0..2 {
            *rest = rest.strip_prefix(b" ").unwrap_or(rest);
        }
    }
    let count = rest
        .iter()
        .take(3)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if count == 0 || (is_fixed && count < 3) {
        return Err(BAD);
    }
    Ok(digits(take(rest, count)?))
}

fn digits(text: &[u8]) -> i64 {
    text.iter().fold(0, |value, digit| {
        value * 10 + i64::from(digit.wrapping_sub(b'0'))
    })
}

/// Digits that may have a sign.
fn signed(text: &[u8]) -> Result<i64, Mistake> {
    let (sign, text) = match text {
        [b'-', text @ ..] => (-1, text),
        [b'+', text @ ..] => (1, text),
        _ => (1, text),
    };
    if text.iter().all(u8::is_ascii_digit) {
        Ok(sign * digits(text))
    } else {
        Err(BAD)
    }
}

fn within(value: i64, low: i64, high: i64, what: &'static str) -> Result<i64, Mistake> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(Mistake::Range(what))
    }
}

/// One of several names in any case; the place of it.
fn name(
    rest: &mut &[u8],
    names: impl Iterator<Item = String>,
    is_short: bool,
) -> Result<i64, Mistake> {
    for (index, name) in names.enumerate() {
        let length = if is_short { 3 } else { name.len() };
        let name = name.as_bytes().get(..length).unwrap_or_default();
        if rest
            .get(..length)
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
        {
            take(rest, length)?;
            return Ok(index as i64);
        }
    }
    Err(BAD)
}

/// Nanoseconds of a separator and digits.
fn nanoseconds(text: &[u8]) -> Result<u32, Mistake> {
    let [b'.' | b',', fraction @ ..] = text else {
        return Err(BAD);
    };
    let fraction = fraction.get(..FRACTION_DIGITS).unwrap_or(fraction);
    let value = signed(fraction)?;
    if value < 0 {
        return Err(Mistake::Range("fractional second"));
    }
    let scale = (fraction.len()..FRACTION_DIGITS).fold(1, |scale, _| scale * 10);
    Ok((value * scale) as u32)
}

/// Bytes of a zone's abbreviation.
fn zone_name_length(value: &[u8]) -> Option<usize> {
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(offset) = value.strip_prefix(b"GMT") {
        return Some(3 + signed_offset_length(offset));
    }
    if value.len() >= 3 && matches!(value.first(), Some(b'+' | b'-')) {
        return Some(signed_offset_length(value)).filter(|length| *length > 0);
    }
    let capitals = value
        .iter()
        .take(6)
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let ends_in_t = capitals > 0 && value.get(capitals - 1) == Some(&b'T');
    match capitals {
        3 => Some(3),
        4 if ends_in_t || value.starts_with(b"WITA") => Some(4),
        5 if ends_in_t => Some(5),
        _ => None,
    }
}

/// Bytes of an offset in hours with its sign; none if it is no offset.
fn signed_offset_length(value: &[u8]) -> usize {
    let [b'+' | b'-', rest @ ..] = value else {
        return 0;
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours = rest.iter().take(count).fold(0_u64, |hours, digit| {
        hours
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    });
    if count == 0 || hours > MAX_ZONE_HOURS {
        0
    } else {
        count + 1
    }
}

/// Quotes as the `time` package does in its errors: bytes that are not printable ASCII are hexadecimal.
pub(super) fn quote(text: &[u8]) -> String {
    let mut output = String::from("\"");
    for byte in text.iter().copied() {
        match byte {
            b'"' | b'\\' => output.extend(['\\', char::from(byte)]),
            b' '..=0x7f => output.push(char::from(byte)),
            _ => output.extend(format!("\\x{byte:02x}").chars()),
        }
    }
    output.push('"');
    output
}
