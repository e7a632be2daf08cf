//! Nodes: aliases, scalars and the starts of collections, with their anchors and tags.

use super::super::error::Error;
use super::super::scanner::{Mark, Peeked, ScalarStyle, TokenData, TokenKind};
use super::{Event, EventKind, Parser, State};

/// What stands in front of a node.
#[derive(Default)]
struct Properties<'a> {
    anchor: Option<&'a str>,
    tag: String,
}

impl<'a> Parser<'a> {
    /// Parses a node; in the `block` context it may be a block collection, and where `indentless`
    /// even one that is not indented.
    pub(super) fn parse_node(&mut self, block: bool, indentless: bool) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        if token.kind == TokenKind::Alias {
            return Ok(self.parse_alias(token.start));
        }
        let start = token.start;
        let (properties, token) = self.parse_properties(token)?;
        let collection = match token.kind {
            TokenKind::BlockEntry if indentless => {
                Some((EventKind::SequenceStart, State::IndentlessSequenceEntry))
            }
            TokenKind::Scalar => return Ok(self.parse_scalar(start, properties)),
            TokenKind::FlowSequenceStart => {
                Some((EventKind::SequenceStart, State::FlowSequenceFirstEntry))
            }
            TokenKind::FlowMappingStart => {
                Some((EventKind::MappingStart, State::FlowMappingFirstKey))
            }
            TokenKind::BlockSequenceStart if block => {
                Some((EventKind::SequenceStart, State::BlockSequenceFirstEntry))
            }
            TokenKind::BlockMappingStart if block => {
                Some((EventKind::MappingStart, State::BlockMappingFirstKey))
            }
            _ => None,
        };
        let Properties { anchor, tag } = properties;
        if let Some((kind, state)) = collection {
            self.state = state;
            let flow = matches!(
                state,
                State::FlowSequenceFirstEntry | State::FlowMappingFirstKey
            );
            return Ok(Event {
                anchor,
                tag,
                flow,
                ..Event::new(kind, start)
            });
        }
        if anchor.is_some() || !tag.is_empty() {
            self.pop_state();
            let implicit = tag.is_empty();
            return Ok(Event {
                anchor,
                tag,
                implicit,
                ..Event::new(EventKind::Scalar, start)
            });
        }
        Err(Error::parser("did not find expected node content", token.start).inside(start, false))
    }

    fn parse_alias(&mut self, start: Mark) -> Event<'a> {
        self.pop_state();
        let anchor = match self.take() {
            TokenData::Name(name) => Some(name),
            _ => None,
        };
        Event {
            anchor,
            ..Event::new(EventKind::Alias, start)
        }
    }

    fn parse_scalar(&mut self, start: Mark, properties: Properties<'a>) -> Event<'a> {
        self.pop_state();
        let TokenData::Scalar { value, style } = self.take() else {
            return Event::empty_scalar(start);
        };
        let Properties { anchor, tag } = properties;
        let implicit = (style == ScalarStyle::Plain && tag.is_empty()) || tag == "!";
        Event {
            anchor,
            tag,
            value,
            implicit,
            style,
            ..Event::new(EventKind::Scalar, start)
        }
    }

    /// Parses an anchor and a tag in either order, and gives the token behind them.
    fn parse_properties(&mut self, first: Peeked) -> Result<(Properties<'a>, Peeked), Error> {
        let mut properties = Properties::default();
        let mut tag = None;
        let start = first.start;
        let mut token = first;
        loop {
            match token.kind {
                TokenKind::Anchor if properties.anchor.is_none() => {
                    if let TokenData::Name(name) = self.take() {
                        properties.anchor = Some(name);
                    }
                }
                TokenKind::Tag if tag.is_none() => {
                    if let TokenData::Tag { handle, rest } = self.take() {
                        tag = Some((handle, rest, token.start));
                    }
                }
                _ => break,
            }
            token = self.peek()?;
        }
        if let Some((handle, rest, mark)) = tag {
            properties.tag = match (handle.is_empty(), self.tag_prefix(&handle)) {
                (true, _) => rest,
                (false, Some(prefix)) => format!("{prefix}{rest}"),
                (false, None) => {
                    return Err(
                        Error::parser("found undefined tag handle", mark).inside(start, false)
                    );
                }
            };
        }
        Ok((properties, token))
    }
}
