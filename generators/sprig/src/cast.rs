//! Conversions between scalar types (`github.com/spf13/cast` 1.7, and the parts of `strconv` that it rests on).

use crate::runes;
use whipstaff_gotemplate::{Bytes, FunctionError, IntKind, ListType, Runtime, Value, format};

/// `cast.ToInt64` and `cast.ToInt`: zero for what has no integer.
pub(crate) fn to_int64(value: &Value) -> i64 {
    match value {
        // A duration is a type of its own, which the conversion does not know.
        Value::Int(kind, number) if *kind != IntKind::Duration => *number,
        Value::Uint(_, number) => *number as i64,
        Value::Float(number) => float_to_int(*number),
        Value::Bool(truth) => i64::from(*truth),
        Value::String(text) => parse_int_any_base(trim_zero_decimal(text)).unwrap_or(0),
        _ => 0,
    }
}

/// `cast.ToFloat64`: zero for what is no number.
pub(crate) fn to_float64(value: &Value) -> f64 {
    match value {
        Value::Int(kind, number) if *kind != IntKind::Duration => *number as f64,
        Value::Uint(_, number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => parse_float(text).unwrap_or(0.0),
        _ => 0.0,
    }
}

/// Sprig's `strval`: the text of a value.
pub(crate) fn to_text(runtime: &mut dyn Runtime, value: &Value) -> Result<Bytes, FunctionError> {
    Ok(match value {
        Value::String(text) => text.clone(),
        Value::List(list) if list.list_type() == ListType::Byte => {
            list.to_bytes().unwrap_or_default().as_ref().into()
        }
        other => print(runtime, other)?.into(),
    })
}

/// What `%v` prints.
pub(crate) fn print(runtime: &mut dyn Runtime, value: &Value) -> Result<Vec<u8>, FunctionError> {
    let allowed = usize::try_from(runtime.options().limits.output_bytes).unwrap_or(usize::MAX);
    let limit = allowed.min(format::MAX_PRINTED_BYTES);
    let text = format::sprint_within(std::slice::from_ref(value), limit)
        .map_err(|error| FunctionError::limit(error.to_string()))?;
    runtime.charge(text.len())?;
    Ok(text)
}

/// Go's conversion of `float64` to `int64` on amd64: what does not fit becomes the smallest integer.
pub(crate) fn float_to_int(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// Cuts a decimal point that only zeros follow.
pub(crate) fn trim_zero_decimal(text: &[u8]) -> &[u8] {
    let zeros = text.iter().rev().take_while(|byte| **byte == b'0').count();
    let point = text.len() - zeros;
    match text.get(..point).and_then(<[u8]>::split_last) {
        Some((b'.', head)) if zeros > 0 => head,
        _ => text,
    }
}

/// Why an integer does not parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// It is no number.
    Syntax,
    /// It does not fit; the nearest number that does.
    Range(i64),
}

/// `strconv.ParseInt(text, 0, 64)`: the prefix tells the base, and underscores may separate digits.
pub(crate) fn parse_int_any_base(text: &[u8]) -> Option<i64> {
    let (_, digits) = split_sign(text);
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] if !rest.is_empty() => (16, rest),
        [b'0', b'b' | b'B', rest @ ..] if !rest.is_empty() => (2, rest),
        [b'0', b'o' | b'O', rest @ ..] | [b'0', rest @ ..] if !rest.is_empty() => (8, rest),
        other => (10, other),
    };
    if digits.contains(&b'_') && !underscores_are_well_placed(text) {
        return None;
    }
    let digits: Vec<u8> = digits
        .iter()
        .copied()
        .filter(|byte| *byte != b'_')
        .collect();
    let negative = text.first() == Some(&b'-');
    parse_digits(negative, &digits, base).ok()
}

/// `strconv.ParseInt` with a base between 2 and 16 that no prefix changes.
pub(crate) fn parse_int(text: &[u8], base: u32) -> Result<i64, NumberError> {
    let (negative, digits) = split_sign(text);
    parse_digits(negative, digits, base)
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        other => (false, other),
    }
}

fn parse_digits(negative: bool, digits: &[u8], base: u32) -> Result<i64, NumberError> {
    if digits.is_empty() {
        return Err(NumberError::Syntax);
    }
    let mut magnitude: i128 = 0;
    for byte in digits {
        let digit = char::from(*byte)
            .to_digit(base)
            .ok_or(NumberError::Syntax)?;
        magnitude = magnitude
            .saturating_mul(i128::from(base))
            .saturating_add(i128::from(digit));
    }
    let number = if negative { -magnitude } else { magnitude };
    let nearest = if negative { i64::MIN } else { i64::MAX };
    i64::try_from(number).map_err(|_| NumberError::Range(nearest))
}

/// Whether each underscore separates two digits; a base prefix counts as a digit.
fn underscores_are_well_placed(text: &[u8]) -> bool {
    let (_, text) = split_sign(text);
    let (hexadecimal, mut previous, rest) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (true, b'0', rest),
        [b'0', b'b' | b'B' | b'o' | b'O', rest @ ..] => (false, b'0', rest),
        other => (false, b'^', other),
    };
    for byte in rest {
        let is_digit = byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit();
        let class = match byte {
            _ if is_digit => b'0',
            b'_' if previous != b'0' => return false,
            b'_' => b'_',
            _ if previous == b'_' => return false,
            _ => b'!',
        };
        previous = class;
    }
    previous != b'_'
}

/// `strconv.ParseFloat(text, 64)`.
pub(crate) fn parse_float(text: &[u8]) -> Option<f64> {
    if text.contains(&b'_') && !underscores_are_well_placed(text) {
        return None;
    }
    let plain: String = runes::text_of(text)
        .chars()
        .filter(|character| *character != '_')
        .collect();
    let (negative, digits) = split_sign(plain.as_bytes());
    if let [b'0', b'x' | b'X', rest @ ..] = digits {
        let magnitude = parse_hexadecimal_float(rest)?;
        return Some(if negative { -magnitude } else { magnitude });
    }
    let number: f64 = plain.parse().ok()?;
    let is_literal = digits.first().is_some_and(u8::is_ascii_alphabetic);
    (number.is_finite() || is_literal).then_some(number)
}

/// `1.8p3`: the exponent is of two and must be there.
fn parse_hexadecimal_float(text: &[u8]) -> Option<f64> {
    /// More digits than this cannot change the result, except for the rounding of exact halves.
    const SIGNIFICANT_BITS: u32 = 120;
    let split = text.iter().position(|byte| matches!(byte, b'p' | b'P'))?;
    let (mantissa, exponent) = text.split_at(split);
    let exponent = match parse_int(exponent.get(1..)?, 10) {
        Ok(exponent) | Err(NumberError::Range(exponent)) => exponent.clamp(-100_000, 100_000),
        Err(NumberError::Syntax) => return None,
    };
    let (mut bits, mut scale, mut seen_point, mut digits) = (0_u128, exponent, false, 0);
    for byte in mantissa {
        if *byte == b'.' && !seen_point {
            seen_point = true;
            continue;
        }
        let digit = char::from(*byte).to_digit(16)?;
        digits += 1;
        if bits >> SIGNIFICANT_BITS == 0 {
            bits = bits << 4 | u128::from(digit);
            scale -= if seen_point { 4 } else { 0 };
        } else {
            bits |= u128::from(digit != 0);
            scale += if seen_point { 0 } else { 4 };
        }
    }
    if digits == 0 {
        return None;
    }
    let number = scale_by_power_of_two(bits as f64, scale);
    number.is_finite().then_some(number)
}

fn scale_by_power_of_two(mut number: f64, mut power: i64) -> f64 {
    while power > 1000 && number != 0.0 && number.is_finite() {
        number *= 2_f64.powi(1000);
        power -= 1000;
    }
    while power < -1000 && number != 0.0 {
        number *= 2_f64.powi(-1000);
        power += 1000;
    }
    if (-1000..=1000).contains(&power) {
        number * 2_f64.powi(power as i32)
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_an_integer_by_its_prefix_or_zero() {
        for (text, number) in [
            ("0x10", 16),
            ("010", 8),
            ("08", 0),
            ("0b11", 3),
            ("0o17", 15),
            ("1_000", 1000),
            ("_1", 0),
            ("1__0", 0),
            ("0_7", 7),
            ("1.0", 1),
            ("1.", 0),
            ("1.00", 1),
            (".0", 0),
            ("1.9", 0),
            ("1e3", 0),
            (" 5", 0),
            ("-7", -7),
            ("+7", 7),
            ("abc", 0),
            ("", 0),
            ("0", 0),
            ("100", 100),
            ("9223372036854775807", i64::MAX),
            ("9223372036854775808", 0),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(to_int64(&Value::from(text)), number, "{text}");
        }
    }

    #[test]
    fn text_becomes_a_float_by_the_syntax_of_go() {
        for (text, number) in [
            ("1e3", Some(1000.0)),
            ("1_0.5", Some(10.5)),
            ("_1", None),
            ("0x1p4", Some(16.0)),
            ("-0x1.8p1", Some(-3.0)),
            ("0x10", None),
            ("1e400", None),
            ("inf", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            (".", None),
            ("", None),
            (" 1", None),
        ] {
            assert_eq!(parse_float(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn floats_out_of_range_become_the_smallest_integer() {
        for (number, expected) in [
            (1.9, 1),
            (-1.9, -1),
            (1e30, i64::MIN),
            (-1e30, i64::MIN),
            (f64::NAN, i64::MIN),
        ] {
            assert_eq!(float_to_int(number), expected);
        }
    }
}
