//! Scalars in single and double quotes.

use std::borrow::Cow;

use super::super::character::{byte, is_blank, is_break, width};
use super::super::error::Error;
use super::tag::hexadecimal;
use super::{ScalarStyle, Scanner, Token, TokenData, TokenKind};

impl<'a> Scanner<'a> {
    /// Scans a scalar in quotes.
    pub(in crate::yaml) fn scan_quoted_scalar(&mut self, single: bool) -> Result<Token<'a>, Error> {
        let start = self.mark;
        self.skip();
        let value = match self.scan_simple_quoted(single) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(
                self.scan_quoted_content(single)
                    .map_err(|error| error.inside(start, true))?,
            ),
        };
        self.skip();
        let data = TokenData::Scalar {
            value,
            style: if single {
                ScalarStyle::SingleQuoted
            } else {
                ScalarStyle::DoubleQuoted
            },
        };
        Ok(Token {
            kind: TokenKind::Scalar,
            start,
            end: self.mark,
            data,
        })
    }

    /// The content, if it stands on one line and holds no escapes.
    fn scan_simple_quoted(&mut self, single: bool) -> Option<&'a str> {
        let quote = if single { b'\'' } else { b'"' };
        let start = self.position;
        let mut end = start;
        loop {
            let next = byte(self.bytes, end);
            if next == quote {
                break;
            }
            if next == 0 || (next == b'\\' && !single) || is_break(self.bytes, end) {
                return None;
            }
            end += 1;
        }
        if single && byte(self.bytes, end + 1) == b'\'' {
            return None;
        }
        self.skip_to(end);
        Some(self.text_from(start))
    }

    /// Scans up to the closing quote, undoing escapes and folding lines.
    fn scan_quoted_content(&mut self, single: bool) -> Result<String, Error> {
        let quote = if single { b'\'' } else { b'"' };
        let mut value = String::new();
        loop {
            if self.at_document_indicator() {
                return Err(self.error("found unexpected document indicator"));
            }
            if self.at_end() {
                return Err(self.error("found unexpected end of stream"));
            }
            let escaped_break = self.scan_quoted_words(single, &mut value)?;
            if self.byte(0) == quote {
                return Ok(value);
            }
            self.scan_quoted_blanks(escaped_break, &mut value);
        }
    }

    /// Scans up to a blank, a line break, the end or the closing quote. True when a `\` took the
    /// line break away.
    fn scan_quoted_words(&mut self, single: bool, value: &mut String) -> Result<bool, Error> {
        while !self.at_blank_or_end(0) {
            match (self.byte(0), self.byte(1)) {
                (b'\'', b'\'') if single => {
                    value.push('\'');
                    self.skip();
                    self.skip();
                }
                (b'\'', _) if single => break,
                (b'"', _) if !single => break,
                (b'\\', _) if !single && is_break(self.bytes, self.position + 1) => {
                    self.skip();
                    self.read_break();
                    return Ok(true);
                }
                (b'\\', _) if !single => self.scan_escape(value)?,
                _ => self.scan_quoted_run(single, value),
            }
        }
        Ok(false)
    }

    /// Copies characters that mean themselves.
    fn scan_quoted_run(&mut self, single: bool, value: &mut String) {
        let start = self.position;
        let mut end = start;
        loop {
            let next = byte(self.bytes, end);
            let special = if single {
                next == b'\''
            } else {
                next == b'"' || next == b'\\'
            };
            if special || next == 0 || is_blank(next) || is_break(self.bytes, end) {
                break;
            }
            end += width(next);
        }
        self.skip_to(end);
        value.push_str(self.text_from(start));
    }

    /// Copies blanks, or folds lines.
    fn scan_quoted_blanks(&mut self, escaped_break: bool, value: &mut String) {
        let start = self.position;
        let mut folding = escaped_break;
        let mut leading_break = "";
        let mut trailing_breaks = String::new();
        loop {
            if self.at_blank() {
                self.skip();
            } else if self.at_break() {
                if folding {
                    trailing_breaks.push_str(self.read_break());
                } else {
                    leading_break = self.read_break();
                    folding = true;
                }
            } else {
                break;
            }
        }
        if folding {
            fold(value, leading_break, &trailing_breaks);
        } else {
            value.push_str(self.text_from(start));
        }
    }

    fn scan_escape(&mut self, value: &mut String) -> Result<(), Error> {
        let (character, digits) = match self.byte(1) {
            b'0' => ('\0', 0),
            b'a' => ('\x07', 0),
            b'b' => ('\x08', 0),
            b't' | b'\t' => ('\t', 0),
            b'n' => ('\n', 0),
            b'v' => ('\x0B', 0),
            b'f' => ('\x0C', 0),
            b'r' => ('\r', 0),
            b'e' => ('\x1B', 0),
            b' ' => (' ', 0),
            b'"' => ('"', 0),
            b'\'' => ('\'', 0),
            b'\\' => ('\\', 0),
            b'N' => ('\u{85}', 0),
            b'_' => ('\u{A0}', 0),
            b'L' => ('\u{2028}', 0),
            b'P' => ('\u{2029}', 0),
            b'x' => ('\0', 2),
            b'u' => ('\0', 4),
            b'U' => ('\0', 8),
            _ => return Err(self.error("found unknown escape character")),
        };
        self.skip();
        self.skip();
        if digits == 0 {
            value.push(character);
            return Ok(());
        }
        let mut code: u32 = 0;
        for offset in 0..digits {
            let Some(digit) = hexadecimal(self.byte(offset)) else {
                return Err(self.error("did not find expected hexdecimal number"));
            };
            code = code << 4 | digit;
        }
        let Some(character) = char::from_u32(code) else {
            return Err(self.error("found invalid Unicode character escape code"));
        };
        value.push(character);
        self.skip_to(self.position + digits);
        Ok(())
    }
}

/// Joins lines: one break becomes a space, of several the first goes.
pub(super) fn fold(value: &mut String, leading_break: &str, trailing_breaks: &str) {
    if leading_break != "\n" {
        value.push_str(leading_break);
        value.push_str(trailing_breaks);
    } else if trailing_breaks.is_empty() {
        value.push(' ');
    } else {
        value.push_str(trailing_breaks);
    }
}
