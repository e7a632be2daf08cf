//! Dates and times in plain scalars.
//!
//! Mirrors `parseTimestamp` in `resolve.go` of go.yaml.in/yaml v3.0.3, and `time.Parse` and `Format` of Go as far as they are used.

use std::fmt::Write as _;

/// A place in the text.
struct Cursor<'a> {
    rest: &'a str,
}

impl Cursor<'_> {
    fn byte(&mut self, wanted: &[u8]) -> Option<u8> {
        let first = *self.rest.as_bytes().first()?;
        if !wanted.contains(&first) {
            return None;
        }
        self.rest = self.rest.get(1..)?;
        Some(first)
    }

    /// A number of `least` to `most` digits.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self
            .rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        if count < least {
            return None;
        }
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.parse().ok()
    }

    /// A fraction of a second, as nanoseconds.
    fn fraction(&mut self) -> Option<u32> {
        let starts = self.rest.starts_with(['.', ',']);
        let count = self
            .rest
            .bytes()
            .skip(1)
            .take_while(u8::is_ascii_digit)
            .count();
        if !starts || count == 0 {
            return Some(0);
        }
        let digits = self.rest.get(1..=count)?;
        self.rest = self.rest.get(count + 1..)?;
        let nanos: String = digits.chars().chain("000000000".chars()).take(9).collect();
        nanos.parse().ok()
    }

    /// `Z` or an offset, as minutes.
    fn zone(&mut self) -> Option<i32> {
        if self.byte(b"Z").is_some() {
            return Some(0);
        }
        let sign = self.byte(b"+-")?;
        let hours = self.number(2, 2)?;
        self.byte(b":")?;
        let minutes = self.number(2, 2)?;
        if hours > 24 || minutes > 60 {
            return None;
        }
        let offset = i32::try_from(hours * 60 + minutes).ok()?;
        Some(if sign == b'-' { -offset } else { offset })
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    }
}

/// The time that a text stands for, as RFC 3339 with as many digits as are needed.
pub(super) fn parse_timestamp(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.len() < 5
        || !bytes.iter().take(4).all(u8::is_ascii_digit)
        || bytes.get(4) != Some(&b'-')
    {
        return None;
    }
    let mut cursor = Cursor { rest: text };
    let year = cursor.number(4, 4)?;
    cursor.byte(b"-")?;
    let month = cursor.number(1, 2)?;
    cursor.byte(b"-")?;
    let day = cursor.number(1, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if cursor.rest.is_empty() {
        return Some(format!("{date}T00:00:00Z"));
    }
    let separator = cursor.byte(b"Tt ")?;
    let hour = cursor.number(1, 2)?;
    cursor.byte(b":")?;
    let minute = cursor.number(1, 2)?;
    cursor.byte(b":")?;
    let second = cursor.number(1, 2)?;
    let nanos = cursor.fraction()?;
    let zone = if separator == b' ' { 0 } else { cursor.zone()? };
    if hour > 23 || minute > 59 || second > 59 || !cursor.rest.is_empty() {
        return None;
    }
    Some(format_time(&date, [hour, minute, second], nanos, zone))
}

fn format_time(date: &str, time: [u32; 3], nanos: u32, zone: i32) -> String {
    let [hour, minute, second] = time;
    let mut text = format!("{date}T{hour:02}:{minute:02}:{second:02}");
    if nanos > 0 {
        let fraction = format!("{nanos:09}");
        // Writing to a string cannot fail.
        let _ = write!(text, ".{}", fraction.trim_end_matches('0'));
    }
    match zone {
        0 => text.push('Z'),
        offset => {
            let sign = if offset < 0 { '-' } else { '+' };
            let offset = offset.unsigned_abs();
            let _ = write!(text, "{sign}{:02}:{:02}", offset / 60, offset % 60);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::parse_timestamp;

    #[test]
    fn times_are_written_as_rfc_3339() {
        let cases = [
            ("2020-1-2", Some("2020-01-02T00:00:00Z")),
            (
                "2001-12-14t21:59:43.10-05:00",
                Some("2001-12-14T21:59:43.1-05:00"),
            ),
            ("2001-12-14 21:59:43", Some("2001-12-14T21:59:43Z")),
            ("2001-12-14T21:59:43Z", Some("2001-12-14T21:59:43Z")),
            ("2020-02-30", None),
            ("2020-01-01x", None),
            ("20-01-01", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse_timestamp(text).as_deref(), want, "{text}");
        }
    }
}
