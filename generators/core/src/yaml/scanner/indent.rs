//! Indentation: block collections open when it grows and close when it shrinks.

use super::super::error::Error;
use super::{MAX_INDENTS, Mark, Scanner, Token, TokenKind};

impl Scanner<'_> {
    /// Opens a block collection of `kind` at `column` unless one is open there already. With a
    /// `token_number`, in front of that token.
    pub(super) fn roll_indent(
        &mut self,
        column: u32,
        token_number: Option<usize>,
        kind: TokenKind,
        mark: Mark,
    ) -> Result<(), Error> {
        let column = i64::from(column);
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_INDENTS {
            let problem = format!("exceeded max depth of {MAX_INDENTS}");
            return Err(Error::scanner(problem, self.mark));
        }
        let index = token_number.and_then(|number| number.checked_sub(self.tokens_taken));
        self.queue(index, Token::simple(kind, mark, mark));
        Ok(())
    }

    /// Closes the block collections that are indented further than `column`.
    pub(super) fn unroll_indent(&mut self, column: i64) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.queue(
                None,
                Token::simple(TokenKind::BlockEnd, self.mark, self.mark),
            );
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}
