//! Floating-point numbers as Go writes them.

use std::fmt::LowerExp;
use std::str::FromStr;

use serde_json::{Number, Value};

/// The digits of a number and the power of ten of the first one.
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// The shortest digits that give the same number back; of those, the closest, and the even ones
    /// of two.
    fn shortest<F: LowerExp + FromStr + PartialEq + Copy>(number: F) -> Self {
        let text = format!("{number:e}");
        let mantissa = text.split('e').next().unwrap_or_default();
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
        // The standard library takes the upper ones of two; written with a precision, the even
        // ones.
        let rounded = format!("{number:.*e}", digits.saturating_sub(1));
        if rounded != text && rounded.parse().ok() == Some(number) {
            return Self::of_text(&rounded);
        }
        Self::of_text(&text)
    }

    fn of_text(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        Self {
            negative: mantissa.starts_with('-'),
            digits: mantissa.chars().filter(char::is_ascii_digit).collect(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// `1.5e+06`
    fn scientific(&self, exponent_digits: usize) -> String {
        let (first, rest) = self.digits.split_at_checked(1).unwrap_or(("0", ""));
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        let exponent = self.exponent.unsigned_abs();
        format!(
            "{}{first}{point}{rest}e{sign}{exponent:0exponent_digits$}",
            self.sign()
        )
    }

    /// `1500000`, `0.0015`
    fn positional(&self) -> String {
        let sign = self.sign();
        let digits = &self.digits;
        if self.exponent < 0 {
            let zeros = "0".repeat(self.exponent.unsigned_abs() as usize - 1);
            return format!("{sign}0.{zeros}{digits}");
        }
        let whole = self.exponent as usize + 1;
        match digits.split_at_checked(whole) {
            Some((whole, "")) => format!("{sign}{whole}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{digits}{}", "0".repeat(whole - digits.len())),
        }
    }

    fn general(&self) -> String {
        if self.exponent < -4 || self.exponent >= 6 {
            self.scientific(2)
        } else {
            self.positional()
        }
    }
}

/// `strconv.FormatFloat(number, 'g', -1, 64)`, with YAML's words for what is no finite number.
pub(super) fn format_general(number: f64) -> String {
    special(number).map_or_else(|| Decimal::shortest(number).general(), str::to_owned)
}

/// The text of a float that is a key: Go rounds it to 32 bits.
pub(super) fn format_key(number: f64) -> String {
    let rounded = number as f32;
    special(f64::from(rounded)).map_or_else(|| Decimal::shortest(rounded).general(), str::to_owned)
}

/// The text `encoding/json` writes for a finite number.
pub(crate) fn format_json(number: f64) -> String {
    let decimal = Decimal::shortest(number);
    if number != 0.0 && (number.abs() < 1e-6 || number.abs() >= 1e21) {
        return decimal.scientific(1);
    }
    decimal.positional()
}

/// The value of a float behind a trip through JSON text, where a float without a fraction cannot be
/// told from an integer.
pub(super) fn through_json(number: f64) -> Option<Value> {
    let text = if number.fract() == 0.0 {
        format_json(number)
    } else {
        String::new()
    };
    if text != "-0" {
        if let Ok(integer) = text.parse::<i64>() {
            return Some(integer.into());
        }
        if let Ok(integer) = text.parse::<u64>() {
            return Some(integer.into());
        }
    }
    Number::from_f64(number).map(Value::Number)
}

fn special(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        return Some(".nan");
    }
    if number.is_infinite() {
        return Some(if number > 0.0 { ".inf" } else { "-.inf" });
    }
    None
}
