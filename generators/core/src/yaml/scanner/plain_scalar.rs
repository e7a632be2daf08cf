//! Scalars without quotes.

use std::borrow::Cow;

use super::super::character::{byte, is_blank_or_end, width};
use super::super::error::Error;
use super::quoted_scalar::fold;
use super::{Mark, ScalarStyle, Scanner, Token, TokenData, TokenKind};

/// The blanks and line breaks between two words.
#[derive(Default)]
struct Gap<'a> {
    blanks: &'a str,
    has_break: bool,
    leading_break: &'static str,
    trailing_breaks: String,
}

impl<'a> Scanner<'a> {
    /// Scans a plain scalar, which may go on over several lines.
    pub(in crate::yaml) fn scan_plain_scalar(&mut self) -> Result<Token<'a>, Error> {
        let start = self.mark;
        let start_position = self.position;
        let indent = self.indent + 1;
        let mut value: Cow<'a, str> = Cow::Borrowed("");
        let mut end: Mark = start;
        let mut gap = Gap::default();
        loop {
            if self.at_document_indicator() || self.byte(0) == b'#' {
                break;
            }
            let run_start = self.position;
            self.skip_to(self.end_of_plain_run());
            let run = self.text_from(run_start);
            if !run.is_empty() {
                value = self.append_run(value, &gap, start_position, run);
                gap = Gap::default();
                end = self.mark;
            }
            if !self.at_blank() && !self.at_break() {
                break;
            }
            self.scan_plain_blanks(&mut gap, indent)
                .map_err(|error| error.inside(start, true))?;
            if self.flow_level == 0 && i64::from(self.mark.column) < indent {
                break;
            }
        }
        if gap.has_break {
            self.simple_key_allowed = true;
        }
        let data = TokenData::Scalar {
            value,
            style: ScalarStyle::Plain,
        };
        Ok(Token {
            kind: TokenKind::Scalar,
            start,
            end,
            data,
        })
    }

    /// Where the run of characters that belong to the scalar ends.
    fn end_of_plain_run(&self) -> usize {
        let mut end = self.position;
        loop {
            match byte(self.bytes, end) {
                b':' if is_blank_or_end(self.bytes, end + 1) => break,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if self.flow_level > 0 => break,
                b'!'..=b'~' => end += 1,
                _ if is_blank_or_end(self.bytes, end) => break,
                first => end += width(first),
            }
        }
        end
    }

    /// Adds a run behind the gap. The value stays a piece of the text while it stands on one line.
    fn append_run(
        &self,
        value: Cow<'a, str>,
        gap: &Gap<'_>,
        start: usize,
        run: &str,
    ) -> Cow<'a, str> {
        if matches!(value, Cow::Borrowed(_)) && !gap.has_break {
            return Cow::Borrowed(self.text_from(start));
        }
        let mut value = value.into_owned();
        if gap.has_break {
            fold(&mut value, gap.leading_break, &gap.trailing_breaks);
        } else {
            value.push_str(gap.blanks);
        }
        value.push_str(run);
        Cow::Owned(value)
    }

    fn scan_plain_blanks(&mut self, gap: &mut Gap<'a>, indent: i64) -> Result<(), Error> {
        let start = self.position;
        loop {
            if self.at_blank() {
                let in_indentation = gap.has_break && i64::from(self.mark.column) < indent;
                if in_indentation && self.byte(0) == b'\t' {
                    return Err(self.error("found a tab character that violates indentation"));
                }
                self.skip();
            } else if self.at_break() {
                if gap.has_break {
                    gap.trailing_breaks.push_str(self.read_break());
                } else {
                    gap.leading_break = self.read_break();
                    gap.has_break = true;
                }
            } else {
                break;
            }
        }
        if !gap.has_break {
            gap.blanks = self.text_from(start);
        }
        Ok(())
    }
}
