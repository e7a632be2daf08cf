//! Moving through the text.

use super::super::character::{byte, is_blank, is_blank_or_end, is_break, is_break_or_end, width};
use super::Scanner;

impl<'a> Scanner<'a> {
    /// The byte `offset` bytes ahead, NUL at the end.
    pub(super) fn byte(&self, offset: usize) -> u8 {
        byte(self.bytes, self.position + offset)
    }

    pub(super) fn at_end(&self) -> bool {
        self.byte(0) == 0
    }

    pub(super) fn at_blank(&self) -> bool {
        is_blank(self.byte(0))
    }

    pub(super) fn at_break(&self) -> bool {
        is_break(self.bytes, self.position)
    }

    pub(super) fn at_break_or_end(&self) -> bool {
        is_break_or_end(self.bytes, self.position)
    }

    /// Whether a blank, a line break or the end is `offset` bytes ahead.
    pub(super) fn at_blank_or_end(&self, offset: usize) -> bool {
        is_blank_or_end(self.bytes, self.position + offset)
    }

    /// Whether a line holding `---` or `...` starts here.
    pub(super) fn at_document_indicator(&self) -> bool {
        self.mark.column == 0
            && (self.at_document_marker(*b"---") || self.at_document_marker(*b"..."))
    }

    /// Whether `marker` is here with a blank, a line break or the end behind it.
    pub(super) fn at_document_marker(&self, marker: [u8; 3]) -> bool {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        rest.starts_with(&marker) && self.at_blank_or_end(3)
    }

    /// The text from `start` up to the current place.
    pub(super) fn text_from(&self, start: usize) -> &'a str {
        self.text.get(start..self.position).unwrap_or_default()
    }

    /// Goes over one character that is no line break.
    pub(super) fn skip(&mut self) {
        self.position = (self.position + width(self.byte(0))).min(self.bytes.len());
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Goes to `position`, which must be ahead on the same line.
    pub(super) fn skip_to(&mut self, position: usize) {
        let passed = self.bytes.get(self.position..position).unwrap_or_default();
        let characters = passed.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u32;
        self.mark.index += characters;
        self.mark.column += characters;
        self.position = position;
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.at_blank() {
            self.skip();
        }
    }

    /// Goes over a comment, if one starts here, up to the end of its line.
    pub(super) fn skip_comment(&mut self) {
        if self.byte(0) == b'#' {
            self.skip_to(self.end_of_line());
        }
    }

    /// Where the current line ends, its break excluded.
    pub(super) fn end_of_line(&self) -> usize {
        let mut end = self.position;
        while !is_break_or_end(self.bytes, end) {
            end += 1;
        }
        end
    }

    /// Goes over a line break, if there is one, and gives the break it stands for in a scalar.
    pub(super) fn read_break(&mut self) -> &'static str {
        let (taken, characters, read) = match (self.byte(0), self.byte(1), self.byte(2)) {
            (b'\r', b'\n', _) => (2, 2, "\n"),
            (b'\r' | b'\n', _, _) => (1, 1, "\n"),
            (0xC2, 0x85, _) => (2, 1, "\n"),
            (0xE2, 0x80, 0xA8) => (3, 1, "\u{2028}"),
            (0xE2, 0x80, 0xA9) => (3, 1, "\u{2029}"),
            _ => return "",
        };
        self.position += taken;
        self.mark.index += characters;
        self.mark.column = 0;
        self.mark.line += 1;
        read
    }
}
