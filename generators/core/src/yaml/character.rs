//! Character classes of YAML 1.1, asked about the first bytes of UTF-8 text.
//!
//! The end of the text counts as a NUL, which no YAML text may contain.

/// The byte at `at`, or NUL behind the end.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// How many bytes the character starting with `first` takes.
pub(super) fn width(first: u8) -> usize {
    match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    }
}

/// A letter, a digit, `_` or `-`.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A space or a tab.
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A line break: CR, LF, NEL, LS or PS.
pub(super) fn is_break(bytes: &[u8], at: usize) -> bool {
    match byte(bytes, at) {
        b'\r' | b'\n' => true,
        0xC2 => byte(bytes, at + 1) == 0x85,
        0xE2 => byte(bytes, at + 1) == 0x80 && matches!(byte(bytes, at + 2), 0xA8 | 0xA9),
        _ => false,
    }
}

/// A line break or the end.
pub(super) fn is_break_or_end(bytes: &[u8], at: usize) -> bool {
    byte(bytes, at) == 0 || is_break(bytes, at)
}

/// A space, a tab, a line break or the end.
pub(super) fn is_blank_or_end(bytes: &[u8], at: usize) -> bool {
    is_blank(byte(bytes, at)) || is_break_or_end(bytes, at)
}

/// Whether the character can stand in a scalar without being escaped.
pub(super) fn is_printable(bytes: &[u8], at: usize) -> bool {
    let second = || byte(bytes, at + 1);
    match byte(bytes, at) {
        b'\n' | 0x20..=0x7E | 0xC3..=0xEC | 0xEE => true,
        0xC2 => second() >= 0xA0,
        0xED => second() < 0xA0,
        0xEF => match (second(), byte(bytes, at + 2)) {
            (0xBB, 0xBF) => false,
            (0xBF, third) => third != 0xBE && third != 0xBF,
            _ => true,
        },
        _ => false,
    }
}
