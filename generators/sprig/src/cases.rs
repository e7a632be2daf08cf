//! Names in other spellings, as `github.com/huandu/xstrings` 1.5 spells them.

use crate::runes::{
    self, ERROR, is_letter, is_number, is_punctuation, is_space, is_upper, to_lower, to_upper,
};
use whipstaff_gotemplate::format::decode_rune;

/// `xstrings.ToPascalCase`: words begin with a capital and connectors between them go, but one of each run of them stays.
pub(crate) fn pascal_case(name: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = runes::runes(name).peekable();
    let mut is_capital_run = false;
    let mut current = None;
    for rune in rest.by_ref() {
        if is_connector(rune) {
            out.push(rune);
            continue;
        }
        is_capital_run = is_upper(rune);
        current = Some(to_upper(rune));
        break;
    }
    let Some(mut current) = current else {
        // Only connectors: the original writes the last of them twice.
        out.extend(out.chars().next_back());
        return out;
    };
    for rune in rest {
        let previous = std::mem::replace(&mut current, rune);
        if is_connector(previous) && is_connector(rune) {
            out.push(previous);
            continue;
        }
        if is_connector(previous) {
            is_capital_run = is_upper(rune);
            current = to_upper(rune);
            continue;
        }
        if is_capital_run && is_upper(rune) {
            current = to_lower(rune);
        } else {
            is_capital_run = false;
        }
        out.push(previous);
    }
    out.push(current);
    out
}

/// `xstrings.ToSnakeCase` and `ToKebabCase`: words in lower case with a connector between them.
pub(crate) fn connected_case(name: &[u8], connector: char) -> Vec<u8> {
    let mut out = Out {
        bytes: Vec::with_capacity(name.len()),
        connector,
    };
    if name.is_empty() {
        return out.bytes;
    }
    let mut word = next_word(name);
    while !word.rest.is_empty() {
        if word.kind != Kind::Connector {
            out.write(word.kind, word.text);
        }
        let previous = word;
        word = next_word(previous.rest);
        match previous.kind {
            Kind::Number => {
                word = out.write_alphanumeric(word);
                if !matches!(
                    word.kind,
                    Kind::Invalid | Kind::Punctuation | Kind::Connector
                ) {
                    out.connect();
                }
            }
            Kind::Connector => out.write(previous.kind, previous.text),
            Kind::Punctuation => {}
            _ => word = out.continue_after_letters(word),
        }
    }
    out.write(word.kind, word.text);
    out.bytes
}

struct Out {
    bytes: Vec<u8>,
    connector: char,
}

impl Out {
    fn connect(&mut self) {
        self.push(self.connector);
    }

    fn push(&mut self, rune: char) {
        self.bytes
            .extend_from_slice(rune.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn connect_unless_separated(&mut self, kind: Kind) {
        if !matches!(kind, Kind::Connector | Kind::Punctuation) {
            self.connect();
        }
    }

    /// Small letters and digits that follow digits belong to the same word.
    fn write_alphanumeric<'a>(&mut self, mut word: Word<'a>) -> Word<'a> {
        while matches!(word.kind, Kind::Letters | Kind::Number) {
            self.write(word.kind, word.text);
            word = next_word(word.rest);
        }
        word
    }

    /// Digits belong to the letters before them, unless small letters follow: `bld4_floor`, but `http_2xx`.
    fn continue_after_letters<'a>(&mut self, word: Word<'a>) -> Word<'a> {
        if word.kind != Kind::Number {
            self.connect_unless_separated(word.kind);
            return word;
        }
        if word.rest.is_empty() {
            return word;
        }
        let digits = word.text;
        let word = next_word(word.rest);
        if word.kind != Kind::Letters {
            self.write(Kind::Number, digits);
            self.connect_unless_separated(word.kind);
            return word;
        }
        self.connect();
        self.write(Kind::Number, digits);
        let word = self.write_alphanumeric(word);
        if word.kind != Kind::Invalid {
            self.connect_unless_separated(word.kind);
        }
        word
    }

    fn write(&mut self, kind: Kind, text: &[u8]) {
        if !matches!(kind, Kind::Capitals | Kind::Connector) {
            self.bytes.extend_from_slice(text);
            return;
        }
        for rune in runes::runes(text) {
            match rune {
                _ if is_connector(rune) => self.connect(),
                _ if is_upper(rune) => self.push(to_lower(rune)),
                _ => self.push(rune),
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invalid,
    Number,
    /// Begins with a capital.
    Capitals,
    /// Begins with a small letter.
    Letters,
    Connector,
    Punctuation,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    kind: Kind,
    text: &'a [u8],
    rest: &'a [u8],
}

fn is_connector(rune: char) -> bool {
    rune == '-' || rune == '_' || is_space(rune)
}

/// Whether a rune is a letter of a script with words: the ideographs are not.
fn is_alphabetic(rune: char) -> bool {
    is_letter(rune)
        && !matches!(rune,
            '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}')
}

/// The next rune that is valid, and the width of it and of the invalid ones before it. At the end it is the previous one.
fn next_valid(bytes: &[u8], previous: char) -> (char, usize) {
    let mut width = 0;
    while let Some(rest) = bytes.get(width..).filter(|rest| !rest.is_empty()) {
        let (rune, step) = decode_rune(rest);
        width += step;
        if rune != ERROR {
            return (rune, width);
        }
    }
    (previous, width)
}

/// A position in a text, with the rune that was read last.
struct Cursor<'a> {
    text: &'a [u8],
    offset: usize,
    rune: char,
    /// Width of the rune that was taken last.
    width: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// Takes runes as long as they satisfy the condition; `rune` is afterwards the one that does not.
    fn take_while(&mut self, condition: impl Fn(char, usize) -> bool) {
        while !self.rest().is_empty() {
            let (rune, width) = next_valid(self.rest(), self.rune);
            self.rune = rune;
            if !condition(rune, width) {
                return;
            }
            self.offset += width;
            self.width = width;
        }
    }

    fn word(&self, kind: Kind) -> Word<'a> {
        let (text, rest) = self.text.split_at(self.offset.min(self.text.len()));
        Word { kind, text, rest }
    }
}

fn next_word(text: &[u8]) -> Word<'_> {
    let (rune, width) = next_valid(text, ERROR);
    let mut cursor = Cursor {
        text,
        offset: width,
        rune,
        width,
    };
    let kind = match rune {
        ERROR => Kind::Invalid,
        _ if is_connector(rune) => {
            cursor.take_while(|rune, _| is_connector(rune));
            Kind::Connector
        }
        _ if is_punctuation(rune) => {
            cursor.take_while(|rune, _| is_punctuation(rune));
            Kind::Punctuation
        }
        _ if is_upper(rune) => {
            take_capitalized(&mut cursor);
            Kind::Capitals
        }
        _ if is_alphabetic(rune) => {
            cursor.take_while(|rune, _| is_alphabetic(rune) && !is_upper(rune));
            Kind::Letters
        }
        _ if is_number(rune) => {
            cursor.take_while(|rune, _| is_number(rune));
            Kind::Number
        }
        _ => {
            cursor.take_while(|rune, width| {
                width != 0
                    && !is_connector(rune)
                    && !is_alphabetic(rune)
                    && !is_number(rune)
                    && !is_punctuation(rune)
            });
            Kind::Other
        }
    };
    cursor.word(kind)
}

/// After a first capital: either more capitals, of which the last begins the next word if small letters follow, or small letters.
fn take_capitalized(cursor: &mut Cursor<'_>) {
    if cursor.rest().is_empty() {
        return;
    }
    let (second, _) = next_valid(cursor.rest(), cursor.rune);
    if is_upper(second) {
        cursor.take_while(|rune, _| is_upper(rune));
        if !cursor.rest().is_empty() && is_alphabetic(cursor.rune) {
            cursor.offset -= cursor.width;
        }
    } else {
        cursor.take_while(|rune, _| is_alphabetic(rune) && !is_upper(rune));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_by_case_digits_and_connectors() {
        for (name, snake, pascal) in [
            ("FirstName", "first_name", "FirstName"),
            ("HTTPServer", "http_server", "Httpserver"),
            ("http2xx", "http_2xx", "Http2xx"),
            ("HTTP20xOK", "http_20x_ok", "Http20xOK"),
            ("Bld4Floor3rd", "bld4_floor_3rd", "Bld4Floor3rd"),
            ("GO PATH", "go_path", "GoPath"),
            ("", "", ""),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&connected_case(name.as_bytes(), '_')),
                snake
            );
            assert_eq!(pascal_case(name.as_bytes()), pascal, "{name}");
        }
    }
}
