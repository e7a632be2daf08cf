//! Printing of numbers and strings with flags (`fmt/format.go`).

use super::{
    float::float_precision,
    printer::Printer,
    quote::{can_backquote, quote, quote_rune, quote_to_ascii},
    unicode::{RUNE_ERROR, is_print, runes},
};
use crate::Value;
use std::fmt::Write;

impl Printer {
    pub(super) fn integer(&mut self, value: &Value, bits: u64, signed: bool, verb: char) {
        match verb {
            'v' if self.flags.go_syntax && !signed => self.hexadecimal_literal(bits),
            'v' | 'd' => self.digits(bits, 10, signed, verb),
            'b' => self.digits(bits, 2, signed, verb),
            'o' | 'O' => self.digits(bits, 8, signed, verb),
            'x' | 'X' => self.digits(bits, 16, signed, verb),
            'c' => {
                let character = character_of(bits);
                self.pad(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            'q' => self.pad(&quote_rune(character_of(bits), self.flags.plus)),
            'U' => self.unicode(bits),
            _ => self.bad_verb(value, verb),
        }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        if self.flags.go_syntax {
            self.hexadecimal_literal(byte.into());
        } else {
            self.digits(byte.into(), 10, false, 'd');
        }
    }

    fn hexadecimal_literal(&mut self, bits: u64) {
        let sharp = std::mem::replace(&mut self.flags.sharp, true);
        self.digits(bits, 16, false, 'v');
        self.flags.sharp = sharp;
    }

    fn digits(&mut self, bits: u64, base: u64, signed: bool, verb: char) {
        let negative = signed && (bits as i64) < 0;
        let magnitude = if negative { bits.wrapping_neg() } else { bits };
        let flags = self.flags;
        let minimum = match flags.precision {
            Some(0) if magnitude == 0 => {
                let zero = std::mem::take(&mut self.flags.zero);
                self.write_padding(flags.width.unwrap_or(0));
                self.flags.zero = zero;
                return;
            }
            Some(precision) => precision,
            None if flags.zero && !flags.minus => {
                let sign = usize::from(negative || flags.plus || flags.space);
                flags.width.unwrap_or(0).saturating_sub(sign)
            }
            None => 0,
        };
        let mut reversed = reversed_digits(magnitude, base, verb == 'X');
        if reversed.len() < minimum {
            reversed.resize(minimum, b'0');
        }
        if flags.sharp {
            match base {
                2 => reversed.extend(b"b0"),
                8 if reversed.last() != Some(&b'0') => reversed.push(b'0'),
                16 => reversed.extend(if verb == 'X' { b"X0" } else { b"x0" }),
                _ => {}
            }
        }
        if verb == 'O' {
            reversed.extend(b"o0");
        }
        if negative {
            reversed.push(b'-');
        } else if flags.plus {
            reversed.push(b'+');
        } else if flags.space {
            reversed.push(b' ');
        }
        reversed.reverse();
        self.pad_with_spaces(&reversed);
    }

    /// `U+0078`, or `U+0078 'x'` with the sharp flag.
    fn unicode(&mut self, bits: u64) {
        let digits = self.flags.precision.unwrap_or(0).max(4);
        let shown = format!("{bits:X}");
        let zeros = "0".repeat(digits.saturating_sub(shown.len()));
        let mut text = format!("U+{zeros}{shown}");
        let character = u32::try_from(bits).ok().and_then(char::from_u32);
        if let Some(character) =
            character.filter(|&character| self.flags.sharp && is_print(character))
        {
            let _ = write!(text, " '{character}'");
        }
        self.pad_with_spaces(text.as_bytes());
    }

    pub(super) fn float(&mut self, value: &Value, number: f64, verb: char) {
        let (format, default) = match verb {
            'v' => (b'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => (verb as u8, None),
            'e' | 'E' | 'f' => (verb as u8, Some(6)),
            'F' => (b'f', Some(6)),
            _ => return self.bad_verb(value, verb),
        };
        let precision = self.flags.precision.or(default);
        let mut text = float_precision(number, format, precision).into_bytes();
        if !matches!(text.first(), Some(b'-' | b'+')) {
            text.insert(0, b'+');
        }
        let flags = self.flags;
        if flags.space && !flags.plus && text[0] == b'+' {
            text[0] = b' ';
        }
        if !number.is_finite() {
            if number.is_nan() && !flags.space && !flags.plus {
                text.remove(0);
            }
            return self.pad_with_spaces(&text);
        }
        if flags.sharp && format != b'b' {
            text = with_decimal_point(&text, format, precision);
        }
        if !flags.plus && text[0] == b'+' {
            return self.pad(&text[1..]);
        }
        match flags.width {
            Some(width) if flags.zero && !flags.minus && width > text.len() => {
                self.write(&text[..1]);
                self.write_padding(width - text.len());
                self.write(&text[1..]);
            }
            _ => self.pad(&text),
        }
    }

    /// A string by one of the verbs that strings have.
    pub(super) fn string(&mut self, text: &[u8], verb: char) {
        match verb {
            'x' | 'X' => self.hexadecimal(text, verb == 'X'),
            'q' => self.quoted(text),
            _ => self.pad(self.truncated(text)),
        }
    }

    pub(super) fn quoted(&mut self, text: &[u8]) {
        let text = self.truncated(text);
        if self.flags.sharp && can_backquote(text) {
            return self.pad(&[b"`", text, b"`"].concat());
        }
        self.pad(&if self.flags.plus {
            quote_to_ascii(text)
        } else {
            quote(text)
        });
    }

    /// The first characters, as many as the precision says.
    fn truncated<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let end = self
            .flags
            .precision
            .and_then(|precision| runes(text).nth(precision));
        end.map_or(text, |(offset, ..)| &text[..offset])
    }

    fn hexadecimal(&mut self, text: &[u8], upper: bool) {
        let flags = self.flags;
        let text = &text[..text.len().min(flags.precision.unwrap_or(usize::MAX))];
        let prefix = if upper { "0X" } else { "0x" };
        let mut out = String::with_capacity(text.len() * 2);
        for (index, byte) in text.iter().enumerate() {
            if flags.space && index > 0 {
                out.push(' ');
            }
            if flags.sharp && (flags.space || index == 0) {
                out.push_str(prefix);
            }
            let _ = if upper {
                write!(out, "{byte:02X}")
            } else {
                write!(out, "{byte:02x}")
            };
        }
        self.pad(out.as_bytes());
    }
}

fn character_of(bits: u64) -> char {
    u32::try_from(bits)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or(RUNE_ERROR)
}

fn reversed_digits(mut number: u64, base: u64, upper: bool) -> Vec<u8> {
    let digits = if upper {
        b"0123456789ABCDEF"
    } else {
        b"0123456789abcdef"
    };
    let mut out = Vec::with_capacity(24);
    loop {
        out.push(digits[(number % base) as usize]);
        number /= base;
        if number == 0 {
            return out;
        }
    }
}

/// The sharp flag: a decimal point always, and for `%g` the zeros that were left out.
fn with_decimal_point(text: &[u8], format: u8, precision: Option<usize>) -> Vec<u8> {
    let is_hexadecimal = matches!(format, b'x' | b'X');
    let is_exponent = |byte: &u8| match byte {
        b'p' | b'P' => true,
        b'e' | b'E' => !is_hexadecimal,
        _ => false,
    };
    let end = text.iter().position(is_exponent).unwrap_or(text.len());
    let mut missing = match format {
        // Go forgets the capital X here.
        b'g' | b'G' | b'x' => precision.map_or(6, |precision| precision as i64),
        _ => 0,
    };
    let mut has_point = false;
    let mut in_digits = false;
    for &byte in &text[1..end] {
        if byte == b'.' {
            has_point = true;
            continue;
        }
        in_digits |= byte != b'0';
        missing -= i64::from(in_digits);
    }
    let mut out = text[..end].to_vec();
    if !has_point {
        if out.len() == 2 && out[1] == b'0' {
            missing -= 1;
        }
        out.push(b'.');
    }
    out.extend(std::iter::repeat_n(
        b'0',
        usize::try_from(missing).unwrap_or(0),
    ));
    out.extend_from_slice(&text[end..]);
    out
}
