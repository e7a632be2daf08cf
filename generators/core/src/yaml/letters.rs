//! Letters and digits as Go's `unicode` package tells them.

/// Whether the character is a letter (category L).
pub(super) fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphabetic();
    }
    character.is_alphabetic()
}

/// Whether the character is a decimal digit (category Nd).
pub(super) fn is_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_digit();
    }
    false
}
