//! Flow collections.

use super::super::error::Error;
use super::super::scanner::{Peeked, TokenKind};
use super::{Event, EventKind, Parser, State};

impl<'a> Parser<'a> {
    /// Peeks at the first token inside a collection, or at the next one of it.
    pub(super) fn peek_behind_start(&mut self, first: bool) -> Result<Peeked, Error> {
        let token = self.peek()?;
        if first {
            self.marks.push(token.start);
            self.advance()
        } else {
            Ok(token)
        }
    }

    pub(super) fn parse_flow_sequence_entry(&mut self, first: bool) -> Result<Event<'a>, Error> {
        let mut token = self.peek_behind_start(first)?;
        if token.kind != TokenKind::FlowSequenceEnd {
            if !first {
                if token.kind != TokenKind::FlowEntry {
                    return Err(
                        self.error_in_collection("did not find expected ',' or ']'", token.start)
                    );
                }
                token = self.advance()?;
            }
            if token.kind == TokenKind::Key {
                self.state = State::FlowSequenceEntryMappingKey;
                self.take();
                return Ok(Event {
                    flow: true,
                    ..Event::new(EventKind::MappingStart, token.start)
                });
            }
            if token.kind != TokenKind::FlowSequenceEnd {
                self.states.push(State::FlowSequenceEntry);
                return self.parse_node(false, false);
            }
        }
        self.pop_state();
        self.marks.pop();
        self.take();
        Ok(Event::new(EventKind::SequenceEnd, token.start))
    }

    /// The key of a mapping that is one pair inside a sequence: `[key: value]`.
    pub(super) fn parse_flow_pair_key(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        match token.kind {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // Taking the token away is what Go does, although it leaves `[?: value]` without
                // its `:`.
                self.take();
                Ok(self.empty_then(State::FlowSequenceEntryMappingValue, token.end))
            }
            _ => {
                self.states.push(State::FlowSequenceEntryMappingValue);
                self.parse_node(false, false)
            }
        }
    }

    pub(super) fn parse_flow_pair_value(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        if token.kind == TokenKind::Value {
            let next = self.advance()?;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
                self.states.push(State::FlowSequenceEntryMappingEnd);
                return self.parse_node(false, false);
            }
        }
        Ok(self.empty_then(State::FlowSequenceEntryMappingEnd, token.start))
    }

    pub(super) fn parse_flow_pair_end(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        self.state = State::FlowSequenceEntry;
        Ok(Event::new(EventKind::MappingEnd, token.start))
    }

    pub(super) fn parse_flow_mapping_key(&mut self, first: bool) -> Result<Event<'a>, Error> {
        let mut token = self.peek_behind_start(first)?;
        if token.kind != TokenKind::FlowMappingEnd {
            if !first {
                if token.kind != TokenKind::FlowEntry {
                    return Err(
                        self.error_in_collection("did not find expected ',' or '}'", token.start)
                    );
                }
                token = self.advance()?;
            }
            if token.kind == TokenKind::Key {
                return self.parse_flow_mapping_explicit_key();
            }
            if token.kind != TokenKind::FlowMappingEnd {
                self.states.push(State::FlowMappingEmptyValue);
                return self.parse_node(false, false);
            }
        }
        self.pop_state();
        self.marks.pop();
        self.take();
        Ok(Event::new(EventKind::MappingEnd, token.start))
    }

    fn parse_flow_mapping_explicit_key(&mut self) -> Result<Event<'a>, Error> {
        let next = self.advance()?;
        match next.kind {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                Ok(self.empty_then(State::FlowMappingValue, next.start))
            }
            _ => {
                self.states.push(State::FlowMappingValue);
                self.parse_node(false, false)
            }
        }
    }

    /// The value of a pair; `empty` where no `:` follows the key.
    pub(super) fn parse_flow_mapping_value(&mut self, empty: bool) -> Result<Event<'a>, Error> {
        let mut token = self.peek()?;
        if !empty && token.kind == TokenKind::Value {
            token = self.advance()?;
            if !matches!(token.kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
                self.states.push(State::FlowMappingKey);
                return self.parse_node(false, false);
            }
        }
        Ok(self.empty_then(State::FlowMappingKey, token.start))
    }
}
