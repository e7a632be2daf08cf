//! Writing strings in each style.

use std::fmt::Write as _;

use super::super::character::{is_break, is_printable};
use super::INDENT;
use super::analysis::Style;
use super::writer::Writer;

impl Writer {
    /// Writes a string in a style that suits it; long lines are folded if `folds`.
    pub(super) fn scalar(&mut self, text: &str, style: Style, folds: bool) {
        match style {
            Style::Plain => self.plain(text, folds),
            Style::SingleQuoted => self.single_quoted(text, folds),
            Style::DoubleQuoted => self.double_quoted(text, folds),
            Style::Literal => self.literal(text),
        }
    }

    pub(super) fn plain(&mut self, text: &str, folds: bool) {
        if !self.whitespace {
            self.put(' ');
        }
        self.words(text, folds, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn single_quoted(&mut self, text: &str, folds: bool) {
        self.indicator("'", true, false, false);
        self.words(text, folds, true);
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    /// Writes text as it is but for folding, and for quotes that have to be doubled.
    fn words(&mut self, text: &str, folds: bool, quoted: bool) {
        let fits = !folds || self.column + text.len() <= self.best_width;
        let as_it_is = text.is_ascii() && !text.contains('\n') && !(quoted && text.contains('\''));
        if fits && as_it_is {
            self.put_str(text);
            return;
        }
        let mut behind_space = false;
        let mut behind_break = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if character == ' ' {
                let inside = !quoted || (at > 0 && next.is_some());
                let may_fold = folds && !behind_space && self.column > self.best_width;
                if may_fold && inside && next != Some(' ') {
                    self.write_indent();
                } else {
                    self.put(' ');
                }
                behind_space = true;
            } else if is_break(text.as_bytes(), at) {
                if !behind_break && character == '\n' {
                    self.put_break('\n');
                }
                self.put_break(character);
                behind_break = true;
            } else {
                if behind_break {
                    self.write_indent();
                }
                if quoted && character == '\'' {
                    self.put('\'');
                }
                self.put(character);
                self.indention = false;
                behind_space = false;
                behind_break = false;
            }
        }
    }

    fn double_quoted(&mut self, text: &str, folds: bool) {
        self.indicator("\"", true, false, false);
        // Go looks for the mark at the start of the string whatever character it is at.
        let escape_all = text.starts_with('\u{feff}');
        let mut behind_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let bytes = text.as_bytes();
            let next = characters.peek().map(|(_, next)| *next);
            let escape = !is_printable(bytes, at) || is_break(bytes, at) || escape_all;
            if escape || character == '"' || character == '\\' {
                self.escape(character);
                behind_space = false;
            } else if character == ' ' {
                let may_fold = folds && !behind_space && self.column > self.best_width;
                if may_fold && at > 0 && next.is_some() {
                    self.write_indent();
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                behind_space = true;
            } else {
                self.put(character);
                behind_space = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, character: char) {
        let letter = match character {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0B' => 'v',
            '\x0C' => 'f',
            '\r' => 'r',
            '\x1B' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{A0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => return self.escape_code(u32::from(character)),
        };
        self.put('\\');
        self.put(letter);
    }

    fn escape_code(&mut self, code: u32) {
        let start = self.text.len();
        // Writing to a string cannot fail.
        let _ = match code {
            0..=0xFF => write!(self.text, "\\x{code:02X}"),
            0x100..=0xFFFF => write!(self.text, "\\u{code:04X}"),
            _ => write!(self.text, "\\U{code:08X}"),
        };
        self.column += self.text.len() - start;
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false, false);
        self.block_hints(text);
        self.put_break('\n');
        self.whitespace = true;
        let mut behind_break = true;
        for (at, character) in text.char_indices() {
            if is_break(text.as_bytes(), at) {
                self.put_break(character);
                behind_break = true;
            } else {
                if behind_break {
                    self.write_indent();
                }
                self.put(character);
                self.indention = false;
                behind_break = false;
            }
        }
    }

    /// Writes what a reader cannot guess: the indentation, and what becomes of the line breaks at
    /// the end.
    fn block_hints(&mut self, text: &str) {
        if text.starts_with(' ') || is_break(text.as_bytes(), 0) {
            let hint = INDENT.to_string();
            self.indicator(&hint, false, false, false);
        }
        let mut from_end = text.char_indices().rev();
        let mut ends_in_break = || {
            let last = from_end.next();
            last.map(|(at, _)| is_break(text.as_bytes(), at))
        };
        let hint = match (ends_in_break(), ends_in_break()) {
            (None | Some(false), _) => "-",
            (Some(true), None | Some(true)) => "+",
            (Some(true), Some(false)) => return,
        };
        self.indicator(hint, false, false, false);
    }
}
