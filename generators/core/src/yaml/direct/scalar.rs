//! Scalars.

use serde_json::Value;

use super::super::decode::scalar_to_json;
use super::super::resolve::{Resolved, resolve_untagged};
use super::super::scanner::{Scanner, Token, TokenData};
use super::{OUTSIDE, Reader};

/// The key that puts another mapping into this one.
const MERGE: &str = "<<";

impl<'a> Reader<'a> {
    /// Reads a scalar or a flow collection inside of a collection at a column, and goes to the token behind it.
    pub(super) fn scalar(&mut self, around: i64) -> Option<Value> {
        let start = self.at;
        let value = match self.byte(start) {
            b'[' | b'{' => {
                let value = self.flow()?;
                self.end_line()?;
                value
            }
            b'|' => self.block_scalar(around, true)?,
            b'>' => self.block_scalar(around, false)?,
            b'"' | b'\'' => self.quoted(around)?,
            _ if self.starts_plain(start) => return self.plain(around),
            _ => return None,
        };
        self.next_token()?;
        (self.indent <= around).then_some(value)
    }

    /// The text between quotes that close on the same line without any escapes, and the place behind them.
    pub(super) fn quoted_on_line(&self, start: usize) -> Option<(&'a str, usize)> {
        let quote = self.byte(start);
        let rest = self.bytes.get(start + 1..)?;
        let length = memchr::memchr3(quote, b'\\', b'\n', rest)?;
        if rest[length] == b'\n' {
            return None;
        }
        let is_end = rest[length] == quote;
        // A backslash means itself between single quotes.
        if quote == b'\'' && !is_end {
            return None;
        }
        let end = start + 1 + length;
        let escaped = !is_end || (quote == b'\'' && self.byte(end + 1) == b'\'');
        if escaped {
            return None;
        }
        Some((self.text.get(start + 1..end)?, end + 1))
    }

    fn quoted(&mut self, around: i64) -> Option<Value> {
        if let Some((text, end)) = self.quoted_on_line(self.at) {
            self.at = end;
            self.end_line()?;
            return Some(Value::String(self.kept(text)));
        }
        let single = self.byte(self.at) == b'\'';
        let text = self.scan(around, |scanner| scanner.scan_quoted_scalar(single).ok())?;
        self.end_line()?;
        Some(Value::String(text))
    }

    /// Lets the scanner take a scalar from here on, and goes behind it.
    fn scan(
        &mut self,
        around: i64,
        take: impl FnOnce(&mut Scanner<'a>) -> Option<Token<'a>>,
    ) -> Option<String> {
        let (at, column) = (self.at, self.column() as u32);
        let input = self.input;
        let scanner = self.scanner.get_or_insert_with(|| Scanner::new(input));
        scanner.go_to(at, column, around);
        let token = take(scanner)?;
        self.at = scanner.position();
        self.line = memchr::memrchr(b'\n', &self.bytes[..self.at]).map_or(0, |at| at + 1);
        match token.data {
            TokenData::Scalar { value, .. } => Some(value.into_owned()),
            _ => None,
        }
    }

    /// Whether a plain scalar starts at a place. Some that do are left to the complete reader.
    pub(super) fn starts_plain(&self, at: usize) -> bool {
        match self.byte(at) {
            b'-' => self.byte(at + 1) > b' ',
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
            | b'"' | b'%' | b'@' | b'`' | b'?' | b':' => false,
            byte => byte > b' ',
        }
    }

    /// Where a plain scalar ends on its line: at a colon, or behind its last word.
    pub(super) fn end_of_plain(&self, start: usize) -> Option<usize> {
        let mut from = start;
        let mut end = loop {
            let rest = self.bytes.get(from..)?;
            let Some(length) = memchr::memchr3(b'\n', b':', b'#', rest) else {
                break self.bytes.len();
            };
            let at = from + length;
            let follows_blank = at > start && self.byte(at - 1) == b' ';
            match rest[length] {
                b'\n' => break at,
                b':' if self.is_colon(at) => {
                    // A blank before the colon is rare enough.
                    return (!follows_blank && !self.has_tab(start, at)).then_some(at);
                }
                b'#' if follows_blank => break at,
                _ => from = at + 1,
            }
        };
        if self.has_tab(start, end) {
            return None;
        }
        while end > start && self.byte(end - 1) == b' ' {
            end -= 1;
        }
        Some(end)
    }

    fn has_tab(&self, start: usize, end: usize) -> bool {
        self.has_tabs
            && self
                .bytes
                .get(start..end)
                .is_some_and(|part| part.contains(&b'\t'))
    }

    fn plain(&mut self, around: i64) -> Option<Value> {
        let start = self.at;
        let end = self.end_of_plain(start)?;
        if self.is_colon(end) {
            return None;
        }
        self.at = end;
        let ends_here = self.byte(self.end_of_blanks(end)) == b'#';
        self.next_token()?;
        if self.indent <= around {
            return self.plain_value(self.text.get(start..end)?);
        }
        if ends_here {
            return None;
        }
        self.at = start;
        self.line = memchr::memrchr(b'\n', &self.bytes[..start]).map_or(0, |at| at + 1);
        let text = if self.has_tabs || around == OUTSIDE {
            self.scan(around, |scanner| scanner.scan_plain_scalar().ok())?
        } else {
            self.plain_lines(end, around)?
        };
        self.next_token()?;
        (self.indent <= around).then(|| self.plain_value(&text))?
    }

    /// Reads a plain scalar of several lines, of which the first ends at a place, and goes behind it.
    fn plain_lines(&mut self, first_end: usize, around: i64) -> Option<String> {
        let mut text = self.kept(self.text.get(self.at..first_end)?);
        self.at = first_end;
        loop {
            let (mut at, mut line, mut breaks) = (self.end_of_blanks(self.at), self.line, 0);
            while at < self.bytes.len() && self.byte(at) == b'\n' {
                breaks += 1;
                line = at + 1;
                at = self.end_of_blanks(line);
            }
            let is_over = at >= self.bytes.len()
                || breaks == 0
                || self.byte(at) == b'#'
                || (at - line) as i64 <= around;
            if is_over {
                return Some(text);
            }
            let end = self.end_of_plain(at)?;
            if self.is_colon(end) {
                return None;
            }
            if self.keeps {
                // One line break is a blank, of more the first goes.
                match breaks {
                    1 => text.push(' '),
                    _ => text.extend(std::iter::repeat_n('\n', breaks - 1)),
                }
                text.push_str(self.text.get(at..end)?);
            }
            self.at = end;
            self.line = line;
        }
    }

    /// Reads a literal or folded scalar; see the scanner's for what its parts mean.
    fn block_scalar(&mut self, around: i64, literal: bool) -> Option<Value> {
        if !literal {
            let text = self.scan(around, |scanner| scanner.scan_block_scalar(false).ok())?;
            return Some(Value::String(text));
        }
        self.at += 1;
        let chomping = self.byte(self.at);
        if matches!(chomping, b'-' | b'+') {
            self.at += 1;
        }
        if self.skip_blanks()? || self.byte(self.at) == b'#' {
            return None;
        }
        self.next_line();
        let indent = self.block_indent(around)?;
        let mut text = String::new();
        // How many line breaks are still to be written: that of the last line, and those of empty lines behind it.
        let (mut own, mut empty) = (0, self.empty_lines(indent)?);
        while self.at < self.bytes.len() && self.column() == indent {
            let end = self.end_of_line(self.at);
            if self.keeps {
                text.extend(std::iter::repeat_n('\n', own + empty));
                text.push_str(self.text.get(self.at..end)?);
            }
            own = usize::from(end < self.bytes.len());
            self.at = end;
            self.next_line();
            empty = self.empty_lines(indent)?;
        }
        match chomping {
            b'-' => {}
            b'+' => text.extend(std::iter::repeat_n('\n', own + empty)),
            _ => text.extend(std::iter::repeat_n('\n', own)),
        }
        Some(Value::String(text))
    }

    fn next_line(&mut self) {
        if self.at < self.bytes.len() {
            self.at += 1;
            self.line = self.at;
        }
    }

    /// The indentation of a block scalar: that of its first line, or of the widest empty one before it.
    fn block_indent(&self, around: i64) -> Option<usize> {
        let mut widest = 0;
        let mut at = self.at;
        loop {
            let end = self.end_of_blanks(at);
            widest = widest.max(end - at);
            match self.byte(end) {
                b'\t' => return None,
                b'\n' if end < self.bytes.len() => at = end + 1,
                _ => break,
            }
        }
        Some(widest.max((around + 1).max(1) as usize))
    }

    /// Goes over empty lines and the indentation of the line behind them, and counts the empty ones.
    fn empty_lines(&mut self, indent: usize) -> Option<usize> {
        let mut count = 0;
        loop {
            if self.column() < indent {
                self.at = self.end_of_blanks(self.at).min(self.line + indent);
            }
            match self.bytes.get(self.at) {
                Some(b'\t') if self.column() < indent => return None,
                Some(b'\n') => {
                    count += 1;
                    self.next_line();
                }
                _ => return Some(count),
            }
        }
    }

    pub(super) fn plain_key(&self, start: usize, end: usize) -> Option<String> {
        let text = self.text.get(start..end)?;
        match resolve_untagged(text) {
            Resolved::Text if text == MERGE => None,
            Resolved::Text => Some(self.kept(text)),
            Resolved::Bool(value) => Some(value.to_string()),
            Resolved::Int(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// What a plain scalar stands for.
    pub(super) fn plain_value(&self, text: &str) -> Option<Value> {
        match resolve_untagged(text) {
            Resolved::Text => Some(Value::String(self.kept(text))),
            resolved => scalar_to_json(resolved, text),
        }
    }

    /// A text, if it is kept.
    pub(super) fn kept(&self, text: &str) -> String {
        if self.keeps {
            text.to_owned()
        } else {
            String::new()
        }
    }
}
