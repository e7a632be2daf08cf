//! Turns bytes into text that holds nothing but the characters YAML allows.
//!
//! Mirrors `readerc.go` of go.yaml.in/yaml v2.4.3, which reads the text piece by piece: a character
//! it cannot take is an error only once the scanner gets near it.

use std::borrow::Cow;

use super::character::is_break;
use super::error::Error;

/// The most bytes one text may have. (Our limit: Go has none.)
pub(super) const MAX_INPUT_BYTES: usize = 64 << 20;

/// How many bytes Go reads at once.
const PIECE: usize = 512;

/// Starts what is said of a character that is cut off at the end of the text: it spoils nothing in
/// front of it.
const INCOMPLETE: &str = "incomplete";

/// Text ready for the scanner.
#[derive(Debug)]
pub(super) struct Input<'a> {
    text: Cow<'a, str>,
    unreadable_rest: Option<Error>,
}

impl<'a> Input<'a> {
    /// Takes text.
    pub(super) fn from_str(text: &'a str) -> Result<Self, Error> {
        check_size(text.len())?;
        let mark = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        match first_forbidden(text) {
            None => Ok(Self {
                text: Cow::Borrowed(text.get(mark..).unwrap_or_default()),
                unreadable_rest: None,
            }),
            Some(position) => {
                let cut = start_of_piece(text.as_bytes(), mark, position);
                Ok(Self {
                    text: Cow::Borrowed(text.get(mark..cut).unwrap_or_default()),
                    unreadable_rest: Some(Error::plain("control characters are not allowed")),
                })
            }
        }
    }

    /// Takes bytes: UTF-8, or UTF-16 with a byte order mark.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        check_size(bytes.len())?;
        match bytes {
            [0xFF, 0xFE, rest @ ..] => Ok(Self::from_utf16(rest, u16::from_le_bytes)),
            [0xFE, 0xFF, rest @ ..] => Ok(Self::from_utf16(rest, u16::from_be_bytes)),
            _ => match std::str::from_utf8(bytes) {
                Ok(text) => Self::from_str(text),
                Err(error) => Self::from_broken_utf8(bytes, error.valid_up_to()),
            },
        }
    }

    /// The text up to the piece that cannot be read.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether all characters can be read, and all line breaks are line feeds.
    pub(super) fn is_simple(&self) -> bool {
        let bytes = self.text.as_bytes();
        self.unreadable_rest.is_none()
            && !self.text.starts_with('\u{feff}')
            && memchr::memchr(b'\r', bytes).is_none()
            && memchr::memchr2_iter(0xC2, 0xE2, bytes).all(|at| !is_break(bytes, at))
    }

    /// What is wrong with the piece behind the text, if there is one.
    pub(super) fn unreadable_rest(&self) -> Option<Error> {
        self.unreadable_rest.clone()
    }

    fn from_broken_utf8(bytes: &'a [u8], valid: usize) -> Result<Self, Error> {
        let (good, bad) = bytes.split_at_checked(valid).unwrap_or((bytes, &[]));
        let good = std::str::from_utf8(good).unwrap_or_default();
        let input = Self::from_str(good)?;
        if input.unreadable_rest.is_some() {
            return Ok(input);
        }
        let mark = good.len() - input.text.len();
        let problem = utf8_problem(bad);
        let cut = if problem.starts_with(INCOMPLETE) {
            valid
        } else {
            start_of_piece(bytes, mark, valid)
        };
        Ok(Self {
            text: Cow::Borrowed(good.get(mark..cut).unwrap_or_default()),
            unreadable_rest: Some(Error::plain(problem)),
        })
    }

    fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let mut text = String::with_capacity(bytes.len());
        // Both count from the byte order mark.
        let mut piece = (0, 0);
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len() + 2;
            let next = utf16_character(rest, unit);
            let width = next.map_or(2, |character| character.len_utf16() * 2);
            if at + width > piece.0 + PIECE {
                piece = (at, text.len());
            }
            match next {
                Ok(character) => text.push(character),
                Err(problem) => {
                    if !problem.starts_with(INCOMPLETE) {
                        text.truncate(piece.1);
                    }
                    let unreadable_rest = Some(Error::plain(problem));
                    return Self {
                        text: Cow::Owned(text),
                        unreadable_rest,
                    };
                }
            }
            rest = rest.get(width..).unwrap_or_default();
        }
        Self {
            text: Cow::Owned(text),
            unreadable_rest: None,
        }
    }
}

fn check_size(bytes: usize) -> Result<(), Error> {
    if bytes <= MAX_INPUT_BYTES {
        return Ok(());
    }
    Err(Error::plain(format!(
        "the text has {bytes} bytes, more than the {MAX_INPUT_BYTES} allowed"
    )))
}

/// The character at the start of UTF-16 text.
fn utf16_character(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<char, &'static str> {
    let units: Vec<_> = bytes
        .chunks_exact(2)
        .take(2)
        .flat_map(<[u8; 2]>::try_from)
        .map(unit)
        .collect();
    let character = match (units.as_slice(), bytes.len()) {
        ([], _) => return Err("incomplete UTF-16 character"),
        ([0xDC00..=0xDFFF, ..], _) => return Err("unexpected low surrogate area"),
        ([0xD800..=0xDBFF, ..], 0..4) => return Err("incomplete UTF-16 surrogate pair"),
        (units, _) => char::decode_utf16(units.iter().copied()).next(),
    };
    let character = character
        .and_then(Result::ok)
        .ok_or("expected low surrogate area")?;
    let mut encoded = [0; 4];
    match first_forbidden(character.encode_utf8(&mut encoded)) {
        None => Ok(character),
        Some(_) => Err("control characters are not allowed"),
    }
}

/// A line feed or printable ASCII.
fn is_plain(byte: u8) -> bool {
    (byte == b'\n') | (b' '..=b'~').contains(&byte)
}

/// Where the first character is that YAML does not allow.
fn first_forbidden(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Nearly all text is made of pieces like this.
        if let Some(piece) = bytes[at..].first_chunk::<16>()
            && piece
                .iter()
                .fold(true, |plain, byte| plain & is_plain(*byte))
        {
            at += piece.len();
            continue;
        }
        let second = || bytes.get(at + 1).copied().unwrap_or(0);
        let third = || bytes.get(at + 2).copied().unwrap_or(0);
        match byte {
            b'\t' | b'\n' | b'\r' | 0x20..=0x7E => at += 1,
            0xC2 if second() != 0x85 && second() < 0xA0 => return Some(at),
            0xEF if second() == 0xBF && third() >= 0xBE => return Some(at),
            0xC2..=0xDF => at += 2,
            0xE0..=0xEF => at += 3,
            0xF0..=0xF7 => at += 4,
            _ => return Some(at),
        }
    }
    None
}

/// Where the piece that holds `position` starts, if the first one starts at 0 and `mark` bytes of
/// it are a byte order mark.
///
/// A character cut in two at the end of a piece is read with the next one.
fn start_of_piece(bytes: &[u8], mark: usize, position: usize) -> usize {
    let mut start = 0;
    loop {
        let mut end = start + PIECE;
        while end > start && end < bytes.len() && bytes.get(end).is_some_and(|b| b & 0xC0 == 0x80) {
            end -= 1;
        }
        if position < end || end <= start {
            return start.max(mark);
        }
        start = end;
    }
}

/// What Go says about bytes that are no UTF-8.
fn utf8_problem(bytes: &[u8]) -> &'static str {
    let Some(&first) = bytes.first() else {
        return "incomplete UTF-8 octet sequence";
    };
    let width = match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(character) = bytes.get(..width) else {
        return "incomplete UTF-8 octet sequence";
    };
    let trailing = character.get(1..).unwrap_or_default();
    if trailing.iter().any(|octet| octet & 0xC0 != 0x80) {
        return "invalid trailing UTF-8 octet";
    }
    let lead = u32::from(first) & (0x7F >> width);
    let value = trailing
        .iter()
        .fold(lead, |value, octet| value << 6 | u32::from(octet & 0x3F));
    let smallest = match width {
        2 => 0x80,
        3 => 0x800,
        _ => 0x1_0000,
    };
    if value < smallest {
        "invalid length of a UTF-8 sequence"
    } else {
        "invalid Unicode character"
    }
}
