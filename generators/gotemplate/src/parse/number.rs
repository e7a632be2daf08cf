//! Number constants (`text/template/parse/node.go`, `newNumber`, and `strconv`).

use super::{
    lexer::TokenKind,
    tree::{Ideal, Number, Span},
};
use crate::format::{quote, unquote_char};

/// Reads a number or character constant.
///
/// # Errors
/// Go's text.
pub(super) fn parse(written: Span, text: &[u8], kind: TokenKind) -> Result<Number, String> {
    let mut number = Number {
        written,
        int: None,
        uint: None,
        float: None,
        ideal: Ideal::Overflow,
    };
    let shown = String::from_utf8_lossy(text);
    match kind {
        TokenKind::CharConstant => {
            let code = character(text, &shown)?;
            number.int = Some(code.into());
            number.uint = Some(code.into());
            number.float = Some(code.into());
            number.ideal = Ideal::Int(code.into());
            return Ok(number);
        }
        TokenKind::Complex => {
            let (real, imaginary) =
                complex(&shown).ok_or("syntax error scanning complex number")?;
            number.set_complex(real, imaginary);
            return Ok(number);
        }
        _ => {}
    }
    if let Some(imaginary) = shown.strip_suffix('i').and_then(float) {
        number.set_complex(0.0, imaginary);
        return Ok(number);
    }
    number.uint = unsigned(&shown);
    number.int = signed(&shown);
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    match (number.int, number.uint) {
        (Some(int), _) => number.float = Some(int as f64),
        (None, Some(uint)) => number.float = Some(uint as f64),
        (None, None) => number.set_float(&shown)?,
    }
    number.ideal = number.ideal(&shown);
    Ok(number)
}

impl Number {
    fn set_float(&mut self, text: &str) -> Result<(), String> {
        let quoted = || String::from_utf8_lossy(&quote(text.as_bytes())).into_owned();
        let float = float(text).ok_or_else(|| format!("illegal number syntax: {}", quoted()))?;
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quoted()));
        }
        self.float = Some(float);
        self.set_integers(float);
        Ok(())
    }

    fn set_integers(&mut self, float: f64) {
        const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
        if float.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(&float) {
            self.int = Some(float as i64);
        }
        if float.fract() == 0.0 && (0.0..TWO_TO_63 * 2.0).contains(&float) {
            self.uint = Some(float as u64);
        }
    }

    fn set_complex(&mut self, real: f64, imaginary: f64) {
        self.ideal = Ideal::Complex(real, imaginary);
        if imaginary == 0.0 {
            self.float = Some(real);
            self.set_integers(real);
        }
    }

    /// The syntax says which type a constant has where none is asked for.
    fn ideal(&self, text: &str) -> Ideal {
        let is_hexadecimal = text.len() > 2
            && (text.starts_with("0x") || text.starts_with("0X"))
            && !text.contains(['p', 'P']);
        let looks_like_float = !is_hexadecimal && text.contains(['.', 'e', 'E', 'p', 'P']);
        match (self.float, self.int) {
            (Some(float), _) if looks_like_float => Ideal::Float(float),
            (_, Some(int)) => Ideal::Int(int),
            _ => Ideal::Overflow,
        }
    }
}

fn character(text: &[u8], shown: &str) -> Result<u32, String> {
    let body = text.get(1..).unwrap_or_default();
    let (character, rest) = unquote_char(body, b'\'').map_err(|error| error.to_string())?;
    if rest != b"'" {
        return Err(format!("malformed character constant: {shown}"));
    }
    Ok(character.code())
}

fn complex(text: &str) -> Option<(f64, f64)> {
    let body = text.strip_suffix('i')?;
    let is_sign = |&(index, character): &(usize, char)| {
        index > 0
            && matches!(character, '+' | '-')
            && !body[..index].ends_with(['e', 'E', 'p', 'P'])
    };
    let (split, _) = body.char_indices().rev().find(is_sign)?;
    Some((float(&body[..split])?, float(&body[split..])?))
}

fn signed(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = unsigned(digits)?;
    if negative {
        0_i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    }
}

/// `strconv.ParseUint` with base 0: the prefix says the base.
fn unsigned(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (base, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if digits.is_empty() || digits.starts_with(['+', '-']) || !are_underscores_good(&lower) {
        return None;
    }
    u64::from_str_radix(&digits.replace('_', ""), base).ok()
}

/// `strconv.ParseFloat`, which refuses what is too large.
fn float(text: &str) -> Option<f64> {
    if !are_underscores_good(&text.to_ascii_lowercase()) {
        return None;
    }
    let digits = text.replace('_', "");
    let unsigned = digits.trim_start_matches(['+', '-']);
    if digits.len() - unsigned.len() > 1 || !unsigned.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        let magnitude = hexadecimal_float(&unsigned[2..])?;
        if digits.starts_with('-') {
            -magnitude
        } else {
            magnitude
        }
    } else {
        digits.parse().ok()?
    };
    f64::is_finite(value).then_some(value)
}

fn hexadecimal_float(text: &str) -> Option<f64> {
    /// Bits beyond these only matter for rounding.
    const MANTISSA_BITS: u32 = 120;
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let mut exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut bits: u128 = 0;
    for (index, character) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = character.to_digit(16)?;
        let after_point = index >= whole.len();
        if bits >> MANTISSA_BITS == 0 {
            bits = bits << 4 | u128::from(digit);
            exponent = exponent.checked_sub(if after_point { 4 } else { 0 })?;
        } else {
            bits |= u128::from(digit != 0);
            exponent = exponent.checked_add(if after_point { 0 } else { 4 })?;
        }
    }
    let value = bits as f64;
    // Two steps, so that the power itself stays in range.
    let half = exponent.clamp(-2000, 2000) / 2;
    Some(value * 2_f64.powi(half) * 2_f64.powi(exponent.clamp(-2000, 2000) - half))
}

/// Underscores may stand between digits and after a base prefix.
fn are_underscores_good(text: &str) -> bool {
    if !text.contains('_') {
        return true;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let has_prefix = ["0x", "0o", "0b"]
        .iter()
        .any(|prefix| unsigned.starts_with(prefix));
    let is_hexadecimal = unsigned.starts_with("0x");
    let (mut last, digits) = if has_prefix {
        ('0', &unsigned[2..])
    } else {
        ('^', unsigned)
    };
    for character in digits.chars() {
        let is_digit =
            character.is_ascii_digit() || is_hexadecimal && matches!(character, 'a'..='f');
        match character {
            _ if is_digit => last = '0',
            '_' if last == '0' => last = '_',
            '_' => return false,
            _ if last == '_' => return false,
            _ => last = '!',
        }
    }
    last != '_'
}
