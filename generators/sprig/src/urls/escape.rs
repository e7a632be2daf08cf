//! Percent signs.

use super::url::UrlError;

/// The part of a URL, on which it depends what is escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Host,
    /// The zone of an address within brackets.
    Zone,
    UserInfo,
    Fragment,
}

const HOST_SYMBOLS: &[u8] = b"!$&'()*+,;=:[]<>\"";

impl Part {
    /// Whether a byte stands for itself here.
    pub(super) fn is_plain(self, byte: u8) -> bool {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            return true;
        }
        match self {
            Self::Path => b"$&+,/:;=@".contains(&byte),
            Self::Host | Self::Zone => HOST_SYMBOLS.contains(&byte),
            Self::UserInfo => b"$&+,;=".contains(&byte),
            Self::Fragment => b"$&+,/:;=?@!()*".contains(&byte),
        }
    }
}

/// Writes percent signs for what is not plain.
pub(super) fn escape(text: &[u8], part: Part) -> Vec<u8> {
    let mut output = Vec::with_capacity(text.len());
    for byte in text.iter().copied() {
        if part.is_plain(byte) {
            output.push(byte);
        } else {
            output.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    output
}

/// Reads percent signs.
///
/// # Errors
/// [`UrlError`] if what follows one is not hexadecimal, or a host has what it must not have.
pub(super) fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, UrlError> {
    let is_host = matches!(part, Part::Host | Part::Zone);
    let mut output = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        if byte != b'%' {
            if is_host && byte.is_ascii() && !part.is_plain(byte) {
                return Err(UrlError::HostCharacter(vec![byte]));
            }
            output.push(byte);
            at += 1;
            continue;
        }
        let sequence = text.get(at..text.len().min(at + 3)).unwrap_or_default();
        let value = match sequence {
            [_, high, low] => hexadecimal(*high).zip(hexadecimal(*low)),
            _ => None,
        };
        let value = value.map(|(high, low)| high << 4 | low);
        let value = value.filter(|value| is_allowed(*value, part));
        output.push(value.ok_or_else(|| UrlError::Escape(sequence.to_vec()))?);
        at += 3;
    }
    Ok(output)
}

/// Whether a byte may be written with a percent sign. In a host only bytes beyond ASCII may, and the percent sign itself.
fn is_allowed(value: u8, part: Part) -> bool {
    match part {
        Part::Host => value >= 0x80 || value == b'%',
        Part::Zone => matches!(value, b'%' | b' ') || Part::Host.is_plain(value),
        _ => true,
    }
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}
