//! From token to token.

use super::{OUTSIDE, Reader};

impl Reader<'_> {
    /// The byte at a place, or a line break behind the end.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    /// The column of the current place, if all before it on its line is ASCII.
    pub(super) fn column(&self) -> usize {
        self.at - self.line
    }

    /// Whether the entry of a block sequence starts here.
    pub(super) fn at_entry(&self) -> bool {
        self.byte(self.at) == b'-' && matches!(self.byte(self.at + 1), b' ' | b'\t' | b'\n')
    }

    /// Whether the colon of a block mapping is at a place.
    pub(super) fn is_colon(&self, at: usize) -> bool {
        at < self.bytes.len()
            && self.byte(at) == b':'
            && matches!(self.byte(at + 1), b' ' | b'\t' | b'\n')
    }

    /// Where the line of a place ends.
    pub(super) fn end_of_line(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |length| at + length)
    }

    /// Goes over blanks on the line. True if a token is behind them, false if nothing or a comment is.
    pub(super) fn skip_blanks(&mut self) -> Option<bool> {
        let start = self.at;
        self.at = self.end_of_blanks(start);
        match self.byte(self.at) {
            b'\n' => Some(false),
            b'#' if self.at > start => Some(false),
            b'#' | b'\t' => None,
            _ => Some(true),
        }
    }

    /// Where the spaces at a place end.
    pub(super) fn end_of_blanks(&self, mut at: usize) -> usize {
        // Half of a deeply nested document is indentation: eight spaces are taken at a time.
        let rest = self.bytes.get(at..).unwrap_or_default();
        for chunk in rest.as_chunks::<8>().0 {
            let others = u64::from_le_bytes(*chunk) ^ u64::from_le_bytes([b' '; 8]);
            if others != 0 {
                return at + (others.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while self.byte(at) == b' ' {
            at += 1;
        }
        at
    }

    /// Makes sure that nothing but blanks and a comment is left on the line.
    pub(super) fn end_line(&mut self) -> Option<()> {
        (!self.skip_blanks()?).then_some(())
    }

    /// Goes to the next token, which is on the current line behind blanks, or on a later one.
    pub(super) fn next_token(&mut self) -> Option<()> {
        self.skip_to_content()?;
        if self.at >= self.bytes.len() {
            self.indent = OUTSIDE;
            return Some(());
        }
        self.indent = self.column() as i64;
        let rest = &self.bytes[self.at..];
        let may_leave_document =
            rest.starts_with(b"---") || rest.starts_with(b"...") || rest[0] == b'%';
        (self.indent > 0 || !may_leave_document).then_some(())
    }

    /// Goes over blanks, comments and line breaks.
    pub(super) fn skip_to_content(&mut self) -> Option<()> {
        loop {
            self.at = self.end_of_blanks(self.at);
            let Some(byte) = self.bytes.get(self.at) else {
                break;
            };
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line = self.at;
                }
                b'#' => self.at = self.end_of_line(self.at),
                b'\t' => return None,
                _ => break,
            }
        }
        Some(())
    }
}
