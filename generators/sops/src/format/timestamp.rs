//! Dates and times in YAML.
//!
//! **Source**: `parseTimestamp` in `resolve.go` of go.yaml.in/yaml v3.0.4, and Go's `time.Parse`.

use std::fmt::Write as _;

/// The time that a text is, as Go writes it in RFC 3339; none if it is no time.
pub(super) fn normalized(text: &str) -> Option<String> {
    let mut rest = Rest(text);
    let year = rest.digits(4, 4)?;
    rest.eat("-")?;
    let month = rest.digits(1, 2)?;
    rest.eat("-")?;
    let day = rest.digits(1, 2)?;
    if day == 0 || day > days_in_month(year, month) {
        return None;
    }
    let mut time = format!("{year:04}-{month:02}-{day:02}T");
    if rest.0.is_empty() {
        time.push_str("00:00:00Z");
        return Some(time);
    }
    let has_zone = rest.eat("T").or_else(|| rest.eat("t")).is_some();
    if !has_zone {
        rest.eat(" ")?;
        rest.0 = rest.0.trim_start_matches(' ');
    }
    let clock = [
        (rest.digits(1, 2)?, 24),
        (rest.eat(":").and_then(|()| rest.digits(1, 2))?, 60),
        (rest.eat(":").and_then(|()| rest.digits(1, 2))?, 60),
    ];
    if clock.iter().any(|(value, limit)| value >= limit) {
        return None;
    }
    let [(hour, _), (minute, _), (second, _)] = clock;
    // Writing to a string cannot fail.
    let _ = write!(time, "{hour:02}:{minute:02}:{second:02}");
    let fraction = rest.fraction();
    if !fraction.is_empty() {
        time.push('.');
        time.push_str(fraction);
    }
    if has_zone {
        time.push_str(&rest.zone()?);
    } else {
        time.push('Z');
    }
    rest.0.is_empty().then_some(time)
}

/// What is left to read.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn eat(&mut self, expected: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self
            .0
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        if count < least {
            return None;
        }
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.parse().ok()
    }

    /// The digits behind a point or comma, nine at most, without zeros at their end.
    fn fraction(&mut self) -> &'t str {
        let Some(rest) = self.0.strip_prefix(['.', ',']) else {
            return "";
        };
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(rest.len());
        if end == 0 {
            return "";
        }
        let (digits, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
        self.0 = rest;
        let digits = digits.get(..9).unwrap_or(digits);
        digits.trim_end_matches('0')
    }

    /// `Z`, or an offset: no offset is written as `Z`.
    fn zone(&mut self) -> Option<String> {
        if self.eat("Z").is_some() {
            return Some("Z".to_owned());
        }
        let sign = self.0.chars().next().filter(|sign| "+-".contains(*sign))?;
        self.0 = self.0.get(1..)?;
        let hours = self.digits(2, 2)?;
        self.eat(":")?;
        let minutes = self.digits(2, 2)?;
        if hours > 24 || minutes > 60 {
            return None;
        }
        // Go counts the minutes of an offset.
        let (hours, minutes) = (hours + minutes / 60, minutes % 60);
        if (hours, minutes) == (0, 0) {
            return Some("Z".to_owned());
        }
        Some(format!("{sign}{hours:02}:{minutes:02}"))
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_normalized() {
        for (text, expected) in [
            ("2024-2-9", Some("2024-02-09T00:00:00Z")),
            (
                "2001-12-14t21:59:43.10-05:00",
                Some("2001-12-14T21:59:43.1-05:00"),
            ),
            ("2001-12-14T1:2:3.000Z", Some("2001-12-14T01:02:03Z")),
            ("2001-12-14 21:59:43.5", Some("2001-12-14T21:59:43.5Z")),
            ("2001-12-14T21:59:43+00:00", Some("2001-12-14T21:59:43Z")),
            ("2001-12-14T21:59:43", None),
            ("2001-12-14 21:59:43Z", None),
            ("2001-12-14T24:00:00Z", None),
            ("2001-13-01", None),
            ("20011-01-01", None),
            ("2001-01-01x", None),
            ("2001-01-01 ", None),
        ] {
            assert_eq!(normalized(text).as_deref(), expected, "{text}");
        }
    }
}
