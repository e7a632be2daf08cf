//! Durations: nanoseconds, as texts and as templates use them.

use super::read::quote;

/// Nanoseconds, as a duration counts.
pub(super) const MICROSECOND: i64 = 1_000;
pub(super) const MILLISECOND: i64 = 1_000_000;
pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;

/// The magnitude of the least duration, which is one more than the greatest.
const LIMIT: u64 = 1 << 63;

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("time: {reason} {}", quote(.text))]
pub(super) struct DurationError {
    reason: String,
    text: Vec<u8>,
}

/// `time.ParseDuration`: `1h30m`, `-1.5s`, `300ms`.
///
/// # Errors
/// [`DurationError`] with Go's text.
pub(super) fn parse(text: &[u8]) -> Result<i64, DurationError> {
    let fail = |reason: &str| DurationError {
        reason: reason.to_owned(),
        text: text.to_vec(),
    };
    let invalid = || fail("invalid duration");
    let (is_negative, mut rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let number = Number::read(&mut rest).ok_or_else(invalid)?;
        let length = rest
            .iter()
            .take_while(|byte| **byte != b'.' && !byte.is_ascii_digit())
            .count();
        let (name, behind) = rest.split_at(length);
        rest = behind;
        if name.is_empty() {
            return Err(fail("missing unit in duration"));
        }
        let unit =
            unit(name).ok_or_else(|| fail(&format!("unknown unit {} in duration", quote(name))))?;
        let part = number.times(unit).ok_or_else(invalid)?;
        total = total
            .checked_add(part)
            .filter(|total| *total <= LIMIT)
            .ok_or_else(invalid)?;
    }
    if is_negative {
        return Ok((total as i64).wrapping_neg());
    }
    i64::try_from(total).map_err(|_| invalid())
}

/// A number with a fraction, as exact as Go keeps it.
struct Number {
    whole: u64,
    fraction: u64,
    scale: f64,
}

impl Number {
    fn read(rest: &mut &[u8]) -> Option<Self> {
        let digits = take_digits(rest);
        let whole = digits.iter().try_fold(0_u64, |value, digit| {
            let value = value
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
            (value <= LIMIT).then_some(value)
        })?;
        let mut number = Self {
            whole,
            fraction: 0,
            scale: 1.0,
        };
        let has_whole = !digits.is_empty();
        let Some(behind) = rest.strip_prefix(b".") else {
            return has_whole.then_some(number);
        };
        *rest = behind;
        let digits = take_digits(rest);
        for digit in digits {
            // Digits that do not fit any more are dropped.
            if number.fraction > (LIMIT - 1) / 10 {
                break;
            }
            number.fraction = number.fraction * 10 + u64::from(digit - b'0');
            number.scale *= 10.0;
        }
        (has_whole || !digits.is_empty()).then_some(number)
    }

    fn times(&self, unit: u64) -> Option<u64> {
        let whole = self
            .whole
            .checked_mul(unit)
            .filter(|value| *value <= LIMIT)?;
        let fraction = self.fraction as f64 * (unit as f64 / self.scale);
        whole
            .checked_add(fraction as u64)
            .filter(|value| *value <= LIMIT)
    }
}

fn take_digits<'t>(rest: &mut &'t [u8]) -> &'t [u8] {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = rest.split_at(count);
    *rest = behind;
    digits
}

fn unit(name: &[u8]) -> Option<u64> {
    let unit = match std::str::from_utf8(name).ok()? {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    };
    Some(unit as u64)
}

/// A duration in a unit, whole units apart from the rest, as Go divides.
pub(super) fn in_units(duration: i64, unit: i64) -> f64 {
    (duration / unit) as f64 + (duration % unit) as f64 / unit as f64
}

/// `Duration.Truncate`: toward zero.
pub(super) fn truncate(duration: i64, multiple: i64) -> i64 {
    if multiple <= 0 {
        duration
    } else {
        duration - duration % multiple
    }
}

/// `Duration.Round`: halves away from zero.
pub(super) fn round(duration: i64, multiple: i64) -> i64 {
    if multiple <= 0 {
        return duration;
    }
    let rest = duration % multiple;
    let is_less_than_half = rest.unsigned_abs() * 2 < multiple.unsigned_abs();
    if is_less_than_half {
        return duration - rest;
    }
    let step = if duration < 0 { -multiple } else { multiple };
    (duration - rest).saturating_add(step)
}
