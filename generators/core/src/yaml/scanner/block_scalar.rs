//! Scalars introduced by `|` and `>`.

use std::borrow::Cow;

use super::super::character::is_blank;
use super::super::error::Error;
use super::{ScalarStyle, Scanner, Token, TokenData, TokenKind};

/// What becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl<'a> Scanner<'a> {
    /// Scans a literal (`|`) or folded (`>`) scalar.
    pub(in crate::yaml) fn scan_block_scalar(&mut self, literal: bool) -> Result<Token<'a>, Error> {
        let start = self.mark;
        self.skip();
        let inside = |error: Error| error.inside(start, true);
        let (chomping, increment) = self.scan_block_header().map_err(inside)?;
        let mut indent = match increment {
            Some(increment) => self.indent.max(0) + i64::from(increment),
            None => 0,
        };
        let mut value = String::new();
        let mut leading_break = "";
        let mut trailing_breaks = String::new();
        let mut leading_blank = false;
        let mut end = self
            .scan_block_breaks(&mut indent, &mut trailing_breaks)
            .map_err(inside)?;
        while i64::from(self.mark.column) == indent && !self.at_end() {
            // Lines are folded together unless one of the two starts with a blank.
            let trailing_blank = is_blank(self.byte(0));
            if !literal && !leading_blank && !trailing_blank && leading_break == "\n" {
                if trailing_breaks.is_empty() {
                    value.push(' ');
                }
            } else {
                value.push_str(leading_break);
            }
            value.push_str(&trailing_breaks);
            trailing_breaks.clear();
            leading_blank = trailing_blank;
            let line = self.position;
            self.skip_to(self.end_of_line());
            value.push_str(self.text_from(line));
            leading_break = self.read_break();
            end = self
                .scan_block_breaks(&mut indent, &mut trailing_breaks)
                .map_err(inside)?;
        }
        if chomping != Chomping::Strip {
            value.push_str(leading_break);
        }
        if chomping == Chomping::Keep {
            value.push_str(&trailing_breaks);
        }
        let data = TokenData::Scalar {
            value: Cow::Owned(value),
            style: if literal {
                ScalarStyle::Literal
            } else {
                ScalarStyle::Folded
            },
        };
        Ok(Token {
            kind: TokenKind::Scalar,
            start,
            end,
            data,
        })
    }

    /// Scans the indicators behind `|` or `>`, in either order, and the rest of the line.
    fn scan_block_header(&mut self) -> Result<(Chomping, Option<u8>), Error> {
        let mut chomping = self.scan_chomping();
        let increment = self.scan_indentation_indicator()?;
        if chomping.is_none() && increment.is_some() {
            chomping = self.scan_chomping();
        }
        self.skip_blanks();
        self.skip_comment();
        if !self.at_break_or_end() {
            return Err(self.error("did not find expected comment or line break"));
        }
        self.read_break();
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn scan_chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.byte(0) {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return None,
        };
        self.skip();
        Some(chomping)
    }

    fn scan_indentation_indicator(&mut self) -> Result<Option<u8>, Error> {
        let digit = self.byte(0);
        if !digit.is_ascii_digit() {
            return Ok(None);
        }
        if digit == b'0' {
            return Err(self.error("found an indentation indicator equal to 0"));
        }
        self.skip();
        Ok(Some(digit - b'0'))
    }

    /// Goes over indentation and empty lines; an `indent` of 0 is set to the one found. Gives the
    /// end of the last empty line.
    fn scan_block_breaks(
        &mut self,
        indent: &mut i64,
        breaks: &mut String,
    ) -> Result<super::Mark, Error> {
        let mut end = self.mark;
        let mut widest = 0;
        loop {
            let inside = |column: u32| *indent == 0 || i64::from(column) < *indent;
            while inside(self.mark.column) && self.byte(0) == b' ' {
                self.skip();
            }
            widest = widest.max(i64::from(self.mark.column));
            if inside(self.mark.column) && self.byte(0) == b'\t' {
                return Err(
                    self.error("found a tab character where an indentation space is expected")
                );
            }
            if !self.at_break() {
                break;
            }
            breaks.push_str(self.read_break());
            end = self.mark;
        }
        if *indent == 0 {
            *indent = widest.max(self.indent + 1).max(1);
        }
        Ok(end)
    }
}
