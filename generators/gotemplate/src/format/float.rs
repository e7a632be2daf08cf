//! `strconv.FormatFloat`.

use std::fmt::Write;

/// No `float64` has more digits after its point; those that were asked for beyond are zeros.
const MAX_DIGITS: usize = 1_100;

/// `strconv.FormatFloat` with the shortest digits that read back (`-1`), in format `b'e'`, `b'f'` or `b'g'`.
pub fn float(value: f64, format: u8) -> String {
    float_precision(value, format, None)
}

/// `strconv.FormatFloat` of a `float64`, in any of Go's formats: `b`, `e`, `E`, `f`, `g`, `G`, `x`, `X`. Without a precision the
/// shortest digits that read back are used.
pub fn float_precision(value: f64, format: u8, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let mut text = String::with_capacity(24);
    if value.is_sign_negative() {
        text.push('-');
    }
    let value = value.abs();
    match format {
        b'b' => write_binary(&mut text, value),
        b'x' | b'X' => write_hexadecimal(&mut text, value, format, precision),
        b'e' | b'E' => {
            let digits = Digits::of(value, precision.map(|precision| precision + 1));
            let decimals = precision.unwrap_or(digits.text.len().saturating_sub(1));
            digits.write_exponent(&mut text, format, decimals);
        }
        b'g' | b'G' => write_general(&mut text, value, format, precision),
        _ => match precision {
            Some(precision) => {
                let exact = precision.min(MAX_DIGITS);
                let _ = write!(text, "{value:.exact$}");
                text.extend(std::iter::repeat_n('0', precision - exact));
            }
            None => Digits::of(value, None).write_plain(&mut text),
        },
    }
    text
}

/// Significant decimal digits without trailing zeros; the decimal point stands after `point` of them.
struct Digits {
    text: String,
    point: i32,
}

impl Digits {
    fn of(value: f64, count: Option<usize>) -> Self {
        if value == 0.0 {
            return Self {
                text: String::new(),
                point: 0,
            };
        }
        let scientific = match count {
            Some(count) => format!("{value:.*e}", count.saturating_sub(1).min(MAX_DIGITS)),
            None => shortest(value),
        };
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let mut text: String = mantissa
            .chars()
            .filter(|&character| character != '.')
            .collect();
        text.truncate(text.trim_end_matches('0').len());
        Self {
            text,
            point: exponent.parse::<i32>().unwrap_or(0) + 1,
        }
    }

    fn exponent(&self) -> i32 {
        if self.text.is_empty() {
            0
        } else {
            self.point - 1
        }
    }

    fn write_exponent(&self, out: &mut String, letter: u8, decimals: usize) {
        out.push_str(self.text.get(..1).unwrap_or("0"));
        if decimals > 0 {
            out.push('.');
            let rest = self.text.get(1..).unwrap_or("");
            let shown = &rest[..rest.len().min(decimals)];
            out.push_str(shown);
            out.extend(std::iter::repeat_n('0', decimals - shown.len()));
        }
        let exponent = self.exponent();
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(
            out,
            "{}{sign}{:02}",
            char::from(letter),
            exponent.unsigned_abs()
        );
    }

    /// All digits, without an exponent.
    fn write_plain(&self, out: &mut String) {
        let point = usize::try_from(self.point).unwrap_or(0);
        if point == 0 {
            out.push('0');
        } else {
            let shown = self.text.len().min(point);
            out.push_str(&self.text[..shown]);
            out.extend(std::iter::repeat_n('0', point - shown));
        }
        if self.text.len() as i64 > i64::from(self.point) {
            out.push('.');
            out.extend(std::iter::repeat_n(
                '0',
                usize::try_from(-self.point).unwrap_or(0),
            ));
            out.push_str(&self.text[point.min(self.text.len())..]);
        }
    }
}

/// The shortest digits that read back. Where two are equally near Go takes the even one and Rust the larger one, which matters only
/// for numbers that take up nearly all digits.
fn shortest(value: f64) -> String {
    const LONG: usize = 15;
    let text = format!("{value:e}");
    let digits = text
        .bytes()
        .take_while(|&byte| byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    if digits < LONG {
        return text;
    }
    let even = format!("{value:.*e}", digits - 1);
    let reads_back = even
        .parse::<f64>()
        .is_ok_and(|read| read.to_bits() == value.to_bits());
    if reads_back { even } else { text }
}

fn write_general(out: &mut String, value: f64, format: u8, precision: Option<usize>) {
    // Go decides for an exponent as if six digits had been asked for when it prints the shortest ones.
    const SHORTEST_THRESHOLD: usize = 6;
    let wanted = precision.map(|precision| precision.max(1));
    let digits = Digits::of(value, wanted);
    let count = digits.text.len();
    let threshold = match wanted {
        None => SHORTEST_THRESHOLD,
        Some(wanted) if wanted > count && count as i64 >= i64::from(digits.point) => count,
        Some(wanted) => wanted,
    };
    let exponent = digits.point - 1;
    if exponent < -4 || i64::from(exponent) >= threshold as i64 {
        let decimals = wanted.unwrap_or(count).min(count).saturating_sub(1);
        // 'g' gives 'e', 'G' gives 'E'.
        digits.write_exponent(out, format - 2, decimals);
    } else {
        digits.write_plain(out);
    }
}

const MANTISSA_BITS: u32 = 52;
const EXPONENT_BIAS: i64 = 1023;

fn mantissa_and_exponent(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    match (bits >> MANTISSA_BITS) & 0x7FF {
        0 => (mantissa, 1 - EXPONENT_BIAS),
        exponent => (
            mantissa | 1 << MANTISSA_BITS,
            exponent as i64 - EXPONENT_BIAS,
        ),
    }
}

fn write_binary(out: &mut String, value: f64) {
    let (mantissa, exponent) = mantissa_and_exponent(value);
    let _ = write!(out, "{mantissa}p{:+}", exponent - i64::from(MANTISSA_BITS));
}

/// The mantissa stands with its leading bit at bit 60, so that four bits at a time come out at the top.
fn write_hexadecimal(out: &mut String, value: f64, format: u8, precision: Option<usize>) {
    const TOP: u32 = 60;
    const DIGITS: usize = 15;
    let (mut mantissa, mut exponent) = mantissa_and_exponent(value);
    if mantissa == 0 {
        exponent = 0;
    }
    mantissa <<= TOP - MANTISSA_BITS;
    while mantissa != 0 && mantissa & (1 << TOP) == 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    if let Some(precision) = precision.filter(|&precision| precision < DIGITS) {
        let shift = precision as u32 * 4;
        let extra = (mantissa << shift) & ((1 << TOP) - 1);
        mantissa >>= TOP - shift;
        if extra | (mantissa & 1) > 1 << (TOP - 1) {
            mantissa += 1;
        }
        mantissa <<= TOP - shift;
        if mantissa & (1 << (TOP + 1)) != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut digits = String::new();
    let mut rest = mantissa << 4;
    while precision.map_or(rest != 0, |precision| digits.len() < precision) {
        let _ = write!(digits, "{:x}", (rest >> TOP) & 15);
        rest <<= 4;
    }
    let point = if digits.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let first = (mantissa >> TOP) & 1;
    let text = format!(
        "0x{first}{point}{digits}p{sign}{:02}",
        exponent.unsigned_abs()
    );
    out.push_str(&if format == b'X' {
        text.to_uppercase()
    } else {
        text
    });
}
