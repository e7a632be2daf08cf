//! Go's view of text: bytes that are decoded into runes one by one, and case mappings from rune to rune.

use unicode_general_category::{GeneralCategory, get_general_category};
use whipstaff_gotemplate::format;

/// What an invalid byte decodes to.
pub(crate) const ERROR: char = format::RUNE_ERROR;

/// The runes of a text, as `range` over a Go string gives them.
pub(crate) fn runes(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    format::runes(bytes).map(|(_, rune, _)| rune)
}

/// The text, with U+FFFD in place of each invalid byte.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => runes(bytes).collect(),
    }
}

/// `strings.Map`: each rune by its image, invalid bytes by U+FFFD.
pub(crate) fn map_runes(bytes: &[u8], image: impl FnMut(char) -> char) -> String {
    runes(bytes).map(image).collect()
}

/// `unicode.ToUpper`.
pub(crate) fn to_upper(rune: char) -> char {
    // Rust has the full mappings only; these runes have a simple one beside a longer full one.
    match rune as u32 {
        code @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => {
            char::from_u32(code + 8).unwrap_or(rune)
        }
        0x1fb3 => '\u{1fbc}',
        0x1fc3 => '\u{1fcc}',
        0x1ff3 => '\u{1ffc}',
        _ => single(rune.to_uppercase(), rune),
    }
}

/// `unicode.ToLower`.
pub(crate) fn to_lower(rune: char) -> char {
    match rune {
        '\u{130}' => 'i',
        _ => single(rune.to_lowercase(), rune),
    }
}

/// `unicode.ToTitle`.
pub(crate) fn to_title(rune: char) -> char {
    match rune as u32 {
        0x1c4..=0x1c6 => '\u{1c5}',
        0x1c7..=0x1c9 => '\u{1c8}',
        0x1ca..=0x1cc => '\u{1cb}',
        0x1f1..=0x1f3 => '\u{1f2}',
        // Georgian letters have capitals but no title case.
        0x10d0..=0x10fa | 0x10fd..=0x10ff => rune,
        _ => to_upper(rune),
    }
}

fn single(mut mapped: impl ExactSizeIterator<Item = char>, rune: char) -> char {
    if mapped.len() == 1 {
        mapped.next().unwrap_or(rune)
    } else {
        rune
    }
}

/// `unicode.IsUpper`.
pub(crate) fn is_upper(rune: char) -> bool {
    get_general_category(rune) == GeneralCategory::UppercaseLetter
}

/// `unicode.IsLower`.
pub(crate) fn is_lower(rune: char) -> bool {
    get_general_category(rune) == GeneralCategory::LowercaseLetter
}

/// `unicode.IsTitle`.
pub(crate) fn is_title(rune: char) -> bool {
    get_general_category(rune) == GeneralCategory::TitlecaseLetter
}

/// `unicode.IsLetter`.
pub(crate) fn is_letter(rune: char) -> bool {
    use GeneralCategory as C;
    matches!(
        get_general_category(rune),
        C::UppercaseLetter
            | C::LowercaseLetter
            | C::TitlecaseLetter
            | C::ModifierLetter
            | C::OtherLetter
    )
}

/// `unicode.IsDigit`.
pub(crate) fn is_digit(rune: char) -> bool {
    get_general_category(rune) == GeneralCategory::DecimalNumber
}

/// `unicode.IsNumber`.
pub(crate) fn is_number(rune: char) -> bool {
    use GeneralCategory as C;
    matches!(
        get_general_category(rune),
        C::DecimalNumber | C::LetterNumber | C::OtherNumber
    )
}

/// `unicode.IsPunct`.
pub(crate) fn is_punctuation(rune: char) -> bool {
    use GeneralCategory as C;
    matches!(
        get_general_category(rune),
        C::ConnectorPunctuation
            | C::DashPunctuation
            | C::OpenPunctuation
            | C::ClosePunctuation
            | C::InitialPunctuation
            | C::FinalPunctuation
            | C::OtherPunctuation
    )
}

/// `unicode.IsSpace`.
pub(crate) fn is_space(rune: char) -> bool {
    // U+0085 and U+00A0 are in both lists; the information separators are in neither.
    rune.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_invalid_byte_is_a_rune_of_its_own() {
        let decoded: Vec<char> = runes(b"a\xe2\x82b\xff\xed\xa0\x80").collect();
        assert_eq!(
            decoded,
            ['a', ERROR, ERROR, 'b', ERROR, ERROR, ERROR, ERROR]
        );
    }

    #[test]
    fn case_mappings_go_from_one_rune_to_one() {
        assert_eq!(to_upper('ß'), 'ß');
        assert_eq!(to_upper('\u{1f80}'), '\u{1f88}');
        assert_eq!(to_lower('İ'), 'i');
        assert_eq!(to_title('ǆ'), 'ǅ');
        assert_eq!(to_title('é'), 'É');
    }
}
