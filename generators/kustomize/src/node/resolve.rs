//! What a plain scalar stands for.
//!
//! Mirrors `resolve.go` of go.yaml.in/yaml v3.0.3: YAML 1.2 words, octal numbers of YAML 1.1, dates.

use super::Tag;
use super::timestamp::parse_timestamp;
use std::borrow::Cow;

/// The value of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above the range of [`Resolved::Int`].
    Uint(u64),
    Float(f64),
    /// A date or a time, as RFC 3339 writes it.
    Timestamp(String),
    /// Its own text.
    Text,
}

impl Resolved {
    pub(crate) fn tag(&self) -> Tag {
        match self {
            Self::Null => Tag::Null,
            Self::Bool(_) => Tag::Bool,
            Self::Int(_) | Self::Uint(_) => Tag::Int,
            Self::Float(_) => Tag::Float,
            Self::Timestamp(_) => Tag::Timestamp,
            Self::Text => Tag::Str,
        }
    }
}

/// What a plain text without a tag stands for.
pub(crate) fn resolve(text: &str) -> Resolved {
    let Some(&first) = text.as_bytes().first() else {
        return Resolved::Null;
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' => word(text)
            .or_else(|| parse_timestamp(text).map(Resolved::Timestamp))
            .or_else(|| number(text))
            .unwrap_or(Resolved::Text),
        b'.' => word(text)
            .or_else(|| parse_float(text).map(Resolved::Float))
            .unwrap_or(Resolved::Text),
        _ => word(text).unwrap_or(Resolved::Text),
    }
}

fn word(text: &str) -> Option<Resolved> {
    Some(match text {
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Resolved::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number(text: &str) -> Option<Resolved> {
    let plain: Cow<'_, str> = if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    };
    if let Some(integer) = parse_integer(&plain) {
        return Some(integer);
    }
    if is_float(&plain)
        && let Some(float) = parse_float(&plain)
    {
        return Some(Resolved::Float(float));
    }
    None
}

/// `strconv.ParseInt` and `ParseUint` with base 0, and the prefixes that YAML adds.
fn parse_integer(text: &str) -> Option<Resolved> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..)?),
        Some(b'+') => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (digits, radix) = match unsigned.get(..2) {
        Some("0x" | "0X") => (unsigned.get(2..)?, 16),
        Some("0o" | "0O") => (unsigned.get(2..)?, 8),
        Some("0b" | "0B") => (unsigned.get(2..)?, 2),
        _ if unsigned.len() > 1 && unsigned.starts_with('0') => (unsigned.get(1..)?, 8),
        _ => (unsigned, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        return (0_i64.checked_sub_unsigned(value)).map(Resolved::Int);
    }
    match i64::try_from(value) {
        Ok(value) => Some(Resolved::Int(value)),
        // An unsigned number has no sign in Go.
        Err(_) if !text.starts_with('+') => Some(Resolved::Uint(value)),
        Err(_) => None,
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = digits(rest);
    let mut rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if whole == 0 && count == 0 {
            return false;
        }
        rest = fraction.get(count..).unwrap_or_default();
    } else if whole == 0 {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return rest.is_empty();
    };
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    !exponent.is_empty() && digits(exponent) == exponent.len()
}

/// `strconv.ParseFloat` for decimal numbers: one that is out of range is none.
fn parse_float(text: &str) -> Option<f64> {
    if !is_float(text) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_resolve_as_go_yaml_v3_resolves_them() {
        let cases = [
            ("", Resolved::Null),
            ("yes", Resolved::Text),
            ("True", Resolved::Bool(true)),
            ("0644", Resolved::Int(420)),
            ("0899", Resolved::Float(899.0)),
            ("0o17", Resolved::Int(15)),
            ("-0b11", Resolved::Int(-3)),
            ("1_000", Resolved::Int(1000)),
            ("18446744073709551615", Resolved::Uint(u64::MAX)),
            ("-9223372036854775808", Resolved::Int(i64::MIN)),
            ("1e3", Resolved::Float(1000.0)),
            (".5", Resolved::Float(0.5)),
            ("1e999", Resolved::Text),
            ("1.2.3", Resolved::Text),
            ("0x", Resolved::Text),
            ("<<", Resolved::Text),
            ("-", Resolved::Text),
        ];
        for (text, want) in cases {
            assert_eq!(resolve(text), want, "{text:?}");
        }
        assert_eq!(
            resolve("2020-01-01"),
            Resolved::Timestamp("2020-01-01T00:00:00Z".to_owned())
        );
    }
}
