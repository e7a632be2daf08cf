//! Finding out which token comes next, and queueing it.

use super::super::character::is_blank;
use super::super::error::Error;
use super::{Scanner, Stage, Token, TokenKind};

impl Scanner<'_> {
    /// Scans one token, and whatever has to be queued in front of it.
    pub(super) fn fetch_next_token(&mut self) -> Result<(), Error> {
        if self.stage == Stage::NotStarted {
            self.stage = Stage::Running;
            self.queue(
                None,
                Token::simple(TokenKind::StreamStart, self.mark, self.mark),
            );
            return Ok(());
        }
        self.scan_to_next_token();
        self.unroll_indent(i64::from(self.mark.column));
        // Go reads ahead as far as the longest indicator goes: `--- `.
        self.require(4)?;
        if self.at_end() {
            return self.fetch_stream_end();
        }
        if self.mark.column == 0 {
            if self.byte(0) == b'%' {
                return self.fetch_directive();
            }
            if self.at_document_marker(*b"---") {
                return self.fetch_document_indicator(TokenKind::DocumentStart);
            }
            if self.at_document_marker(*b"...") {
                return self.fetch_document_indicator(TokenKind::DocumentEnd);
            }
        }
        self.fetch_content()
    }

    fn fetch_content(&mut self) -> Result<(), Error> {
        let in_flow = self.flow_level > 0;
        match self.byte(0) {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.at_blank_or_end(1) => self.fetch_block_entry(),
            b'?' if in_flow || self.at_blank_or_end(1) => self.fetch_key(),
            b':' if in_flow || self.at_blank_or_end(1) => self.fetch_value(),
            b'*' => self.fetch_anchor(TokenKind::Alias),
            b'&' => self.fetch_anchor(TokenKind::Anchor),
            b'!' => self.fetch_tag(),
            b'|' if !in_flow => self.fetch_block_scalar(true),
            b'>' if !in_flow => self.fetch_block_scalar(false),
            quote @ (b'\'' | b'"') => self.fetch_quoted_scalar(quote == b'\''),
            _ if self.at_plain_scalar() => self.fetch_plain_scalar(),
            _ => Err(self.error("found character that cannot start any token")),
        }
    }

    fn at_plain_scalar(&self) -> bool {
        match self.byte(0) {
            b'-' => !is_blank(self.byte(1)),
            b'?' | b':' => self.flow_level == 0 && !self.at_blank_or_end(1),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
            | b'"' | b'%' | b'@' | b'`' => false,
            _ => !self.at_blank_or_end(0),
        }
    }

    /// Goes over blanks, comments and line breaks.
    fn scan_to_next_token(&mut self) {
        // A second byte order mark at the very start is passed over; later ones are content.
        if self.position == 0 && self.text.starts_with('\u{feff}') {
            self.skip();
        }
        loop {
            // A tab may not indent, nor follow an indicator that a block collection may follow.
            let tabs = self.flow_level > 0 || !self.simple_key_allowed;
            while self.byte(0) == b' ' || (tabs && self.byte(0) == b'\t') {
                self.skip();
            }
            self.skip_comment();
            if self.read_break().is_empty() {
                return;
            }
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }

    fn fetch_stream_end(&mut self) -> Result<(), Error> {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.leave_document()?;
        self.queue(
            None,
            Token::simple(TokenKind::StreamEnd, self.mark, self.mark),
        );
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), Error> {
        self.leave_document()?;
        let token = self.scan_directive()?;
        self.queue(None, token);
        Ok(())
    }

    fn fetch_document_indicator(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.leave_document()?;
        self.fetch_characters(kind, 3);
        Ok(())
    }

    /// Closes every block collection, whatever the indentation.
    fn leave_document(&mut self) -> Result<(), Error> {
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.save_simple_key()?;
        self.increase_flow_level()?;
        self.simple_key_allowed = true;
        self.fetch_characters(kind, 1);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.remove_simple_key()?;
        self.decrease_flow_level();
        self.simple_key_allowed = false;
        self.fetch_characters(kind, 1);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<(), Error> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.fetch_characters(TokenKind::FlowEntry, 1);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), Error> {
        // In a flow collection the parser complains: it can say where.
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.error("block sequence entries are not allowed in this context"));
            }
            let mark = self.mark;
            self.roll_indent(mark.column, None, TokenKind::BlockSequenceStart, mark)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.fetch_characters(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Error> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.error("mapping keys are not allowed in this context"));
            }
            let mark = self.mark;
            self.roll_indent(mark.column, None, TokenKind::BlockMappingStart, mark)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.fetch_characters(TokenKind::Key, 1);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Error> {
        let slot = self.simple_keys.len() - 1;
        if self.simple_key_is_valid(slot)? {
            self.insert_simple_key(slot)?;
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return Err(self.error("mapping values are not allowed in this context"));
                }
                let mark = self.mark;
                self.roll_indent(mark.column, None, TokenKind::BlockMappingStart, mark)?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.fetch_characters(TokenKind::Value, 1);
        Ok(())
    }

    /// Puts the tokens of a key in front of the token that turned out to start one.
    fn insert_simple_key(&mut self, slot: usize) -> Result<(), Error> {
        let Some(key) = self.simple_keys.get_mut(slot) else {
            return Ok(());
        };
        key.possible = false;
        let (number, mark) = (key.token_number, key.mark);
        let index = number.checked_sub(self.tokens_taken);
        self.queue(index, Token::simple(TokenKind::Key, mark, mark));
        self.roll_indent(
            mark.column,
            Some(number),
            TokenKind::BlockMappingStart,
            mark,
        )?;
        self.simple_key_of_token.remove(&number);
        Ok(())
    }

    fn fetch_anchor(&mut self, kind: TokenKind) -> Result<(), Error> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_anchor(kind)?;
        self.queue(None, token);
        Ok(())
    }

    fn fetch_tag(&mut self) -> Result<(), Error> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_tag()?;
        self.queue(None, token);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), Error> {
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        let token = self.scan_block_scalar(literal)?;
        self.queue(None, token);
        Ok(())
    }

    fn fetch_quoted_scalar(&mut self, single: bool) -> Result<(), Error> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_quoted_scalar(single)?;
        self.queue(None, token);
        Ok(())
    }

    fn fetch_plain_scalar(&mut self) -> Result<(), Error> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_plain_scalar()?;
        self.queue(None, token);
        Ok(())
    }

    /// Queues a token made of the next `count` ASCII characters.
    fn fetch_characters(&mut self, kind: TokenKind, count: usize) {
        let start = self.mark;
        for _ in 0..count {
            self.skip();
        }
        self.queue(None, Token::simple(kind, start, self.mark));
    }
}
