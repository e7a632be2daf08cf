//! Block collections.

use super::super::error::Error;
use super::super::scanner::TokenKind;
use super::{Event, EventKind, Parser, State};

impl<'a> Parser<'a> {
    pub(super) fn parse_block_sequence_entry(&mut self, first: bool) -> Result<Event<'a>, Error> {
        let token = self.peek_behind_start(first)?;
        match token.kind {
            TokenKind::BlockEntry => {
                let next = self.advance()?;
                if matches!(next.kind, TokenKind::BlockEntry | TokenKind::BlockEnd) {
                    return Ok(self.empty_then(State::BlockSequenceEntry, token.end));
                }
                self.states.push(State::BlockSequenceEntry);
                self.parse_node(true, false)
            }
            TokenKind::BlockEnd => {
                self.pop_state();
                self.marks.pop();
                self.take();
                Ok(Event::new(EventKind::SequenceEnd, token.start))
            }
            _ => Err(self.error_in_collection("did not find expected '-' indicator", token.start)),
        }
    }

    /// An entry of a sequence that is indented no further than the key it belongs to.
    pub(super) fn parse_indentless_sequence_entry(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        if token.kind != TokenKind::BlockEntry {
            self.pop_state();
            return Ok(Event::new(EventKind::SequenceEnd, token.start));
        }
        let next = self.advance()?;
        match next.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.empty_then(State::IndentlessSequenceEntry, token.end))
            }
            _ => {
                self.states.push(State::IndentlessSequenceEntry);
                self.parse_node(true, false)
            }
        }
    }

    pub(super) fn parse_block_mapping_key(&mut self, first: bool) -> Result<Event<'a>, Error> {
        let token = self.peek_behind_start(first)?;
        match token.kind {
            TokenKind::Key => {
                let next = self.advance()?;
                match next.kind {
                    TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                        Ok(self.empty_then(State::BlockMappingValue, token.end))
                    }
                    _ => {
                        self.states.push(State::BlockMappingValue);
                        self.parse_node(true, true)
                    }
                }
            }
            TokenKind::BlockEnd => {
                self.pop_state();
                self.marks.pop();
                self.take();
                Ok(Event::new(EventKind::MappingEnd, token.start))
            }
            _ => Err(self.error_in_collection("did not find expected key", token.start)),
        }
    }

    pub(super) fn parse_block_mapping_value(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        if token.kind != TokenKind::Value {
            return Ok(self.empty_then(State::BlockMappingKey, token.start));
        }
        let next = self.advance()?;
        match next.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.empty_then(State::BlockMappingKey, token.end))
            }
            _ => {
                self.states.push(State::BlockMappingKey);
                self.parse_node(true, true)
            }
        }
    }
}
