//! Numbers in the notations of YAML 1.1 and Go.
//!
//! Mirrors `strconv.ParseInt`, `ParseUint` and `ParseFloat` as far as go.yaml.in/yaml v2.4.3 leaves
//! text to them.

use std::borrow::Cow;

use super::Resolved;

/// Reads an integer or a float that starts with a digit or a sign.
pub(super) fn parse_number(text: &str) -> Option<Resolved> {
    let plain: Cow<'_, str> = if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    };
    if let Some(value) = parse_prefixed(&plain) {
        return Some(value);
    }
    if is_float(&plain) {
        // Too large a float is no number at all.
        if let Some(value) = finite(&plain) {
            return Some(Resolved::Float(value));
        }
    }
    if let Some(digits) = plain.strip_prefix("0b") {
        return parse_signed(digits, 2);
    }
    if let Some(digits) = plain.strip_prefix("-0b") {
        return signed(true, parse_digits(digits, 2)?);
    }
    None
}

/// Reads a float that starts with a point.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    // Go allows `_` between digits, although its manual says otherwise.
    if !text.contains('_') {
        return is_float(text).then(|| finite(text))?;
    }
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let is_digit = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(|b| b.is_ascii_digit() || *b == b'_')
        };
        let next = bytes.get(index + 1).is_some_and(u8::is_ascii_digit);
        let previous = index.checked_sub(1).and_then(|at| bytes.get(at));
        if *byte == b'_' && !(is_digit(index.checked_sub(1)) && next && previous != Some(&b'_')) {
            return None;
        }
    }
    let plain = text.replace('_', "");
    is_float(&plain).then(|| finite(&plain))?
}

/// Whether the text is written in base 60, like a time of day: other readers take it for a number.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut groups = whole.split(':');
    let first = groups.next().unwrap_or_default();
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    let mut rest = groups.peekable();
    first
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit())
        && first.bytes().all(is_digit)
        && fraction.bytes().all(is_digit)
        && rest.peek().is_some()
        && rest.all(|group| match group.as_bytes() {
            [digit] => digit.is_ascii_digit(),
            [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
            _ => false,
        })
}

/// Whether the text is an octal number to go-yaml v3 alone: a sign behind `0o`.
pub(super) fn is_prefixed_octal(text: &str) -> bool {
    let plain = text.replace('_', "");
    if let Some(digits) = plain.strip_prefix("0o") {
        return parse_signed(digits, 8).is_some();
    }
    match plain.strip_prefix("-0o") {
        Some(digits) => parse_digits(digits, 8)
            .and_then(|value| signed(true, value))
            .is_some(),
        None => false,
    }
}

/// Reads an integer whose prefix says its base: `0x`, `0b`, `0o`, and `0` for octal.
fn parse_prefixed(text: &str) -> Option<Resolved> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let magnitude = parse_magnitude(unsigned)?;
    // A sign keeps Go from trying the unsigned range.
    let has_sign = unsigned.len() != text.len();
    if has_sign && !negative && i64::try_from(magnitude).is_err() {
        return None;
    }
    signed(negative, magnitude)
}

fn parse_magnitude(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'0') || bytes.len() == 1 {
        return parse_digits(text, 10);
    }
    let base = match bytes.get(1)?.to_ascii_lowercase() {
        b'b' => 2,
        b'o' => 8,
        b'x' => 16,
        _ => return parse_digits(text.get(1..)?, 8),
    };
    parse_digits(text.get(2..)?, base)
}

/// Reads digits in the base that may have a sign in front.
fn parse_signed(text: &str, base: u32) -> Option<Resolved> {
    if let Some(digits) = text.strip_prefix('-') {
        return signed(true, parse_digits(digits, base)?);
    }
    if let Some(digits) = text.strip_prefix('+') {
        return i64::try_from(parse_digits(digits, base)?)
            .ok()
            .map(Resolved::Int);
    }
    signed(false, parse_digits(text, base)?)
}

fn parse_digits(text: &str, base: u32) -> Option<u64> {
    // The standard function would take a sign.
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(text, base).ok()
}

fn signed(negative: bool, magnitude: u64) -> Option<Resolved> {
    if negative {
        return 0i64.checked_sub_unsigned(magnitude).map(Resolved::Int);
    }
    Some(match i64::try_from(magnitude) {
        Ok(value) => Resolved::Int(value),
        Err(_) => Resolved::Uint(magnitude),
    })
}

/// Whether the text has the form of a decimal float: `1`, `1.`, `.5`, `-1.5e+10`.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (
            unsigned.get(..at).unwrap_or_default(),
            unsigned.get(at + 1..),
        ),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_is_good = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
        }
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_is_good = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_is_good && exponent_is_good
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}
