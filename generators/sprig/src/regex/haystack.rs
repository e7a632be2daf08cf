//! Texts to search, which need not be UTF-8.

use std::borrow::Cow;

/// A text in the form that the automata search, with a way back to the offsets of the original.
///
/// Go takes each byte that is not UTF-8 for one U+FFFD. The search therefore runs on a text where such bytes are replaced, three
/// bytes for one.
#[derive(Debug)]
pub(crate) struct Haystack<'a> {
    /// What is searched.
    pub(crate) text: Cow<'a, str>,
    /// For each replaced byte, the offset of its replacement, ascending.
    replaced: Vec<usize>,
}

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
/// Bytes by which a replacement is longer than what it replaces.
const SURPLUS: usize = 2;

impl<'a> Haystack<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Self {
                text: Cow::Borrowed(text),
                replaced: Vec::new(),
            };
        }
        let mut text = String::with_capacity(bytes.len() + 16);
        let mut replaced = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for _ in chunk.invalid() {
                replaced.push(text.len());
                text.push(REPLACEMENT);
            }
        }
        Self {
            text: Cow::Owned(text),
            replaced,
        }
    }

    /// The offset in the original of an offset in the searched text.
    pub(crate) fn original(&self, offset: usize) -> usize {
        offset - SURPLUS * self.replaced.partition_point(|start| *start < offset)
    }

    /// Bytes of the character at an offset of the searched text; none at its end.
    pub(crate) fn width(&self, offset: usize) -> usize {
        self.text
            .get(offset..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8)
    }
}
