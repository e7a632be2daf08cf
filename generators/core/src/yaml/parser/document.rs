//! Streams, documents and directives.

use std::borrow::Cow;

use super::super::error::Error;
use super::super::scanner::{Mark, TokenData, TokenKind};
use super::{Event, EventKind, Parser, State};

/// The tag handles every document knows.
const DEFAULT_TAG_DIRECTIVES: [(&str, &str); 2] = [("!", "!"), ("!!", "tag:yaml.org,2002:")];

impl<'a> Parser<'a> {
    pub(super) fn parse_stream_start(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        if token.kind != TokenKind::StreamStart {
            return Err(Error::parser(
                "did not find expected <stream-start>",
                token.start,
            ));
        }
        self.state = State::ImplicitDocumentStart;
        self.take();
        Ok(Event::new(EventKind::StreamStart, token.start))
    }

    /// Parses up to the start of a document's content; only the first document may do without
    /// `---`.
    pub(super) fn parse_document_start(&mut self, implicit: bool) -> Result<Event<'a>, Error> {
        let mut token = self.peek()?;
        if !implicit {
            while token.kind == TokenKind::DocumentEnd {
                token = self.advance()?;
            }
        }
        if token.kind == TokenKind::StreamEnd {
            self.state = State::End;
            self.take();
            return Ok(Event::new(EventKind::StreamEnd, token.start));
        }
        let explicit = matches!(
            token.kind,
            TokenKind::VersionDirective | TokenKind::TagDirective | TokenKind::DocumentStart
        );
        self.process_directives()?;
        self.states.push(State::DocumentEnd);
        if implicit && !explicit {
            self.state = State::BlockNode;
            return Ok(Event::new(EventKind::DocumentStart, token.start));
        }
        let start = self.peek()?;
        if start.kind != TokenKind::DocumentStart {
            return Err(Error::parser(
                "did not find expected <document start>",
                start.start,
            ));
        }
        self.state = State::DocumentContent;
        self.take();
        Ok(Event::new(EventKind::DocumentStart, token.start))
    }

    pub(super) fn parse_document_content(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        match token.kind {
            TokenKind::VersionDirective
            | TokenKind::TagDirective
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                self.pop_state();
                Ok(Event::empty_scalar(token.start))
            }
            _ => self.parse_node(true, false),
        }
    }

    pub(super) fn parse_document_end(&mut self) -> Result<Event<'a>, Error> {
        let token = self.peek()?;
        if token.kind == TokenKind::DocumentEnd {
            self.take();
        }
        self.tag_directives.clear();
        self.state = State::DocumentStart;
        Ok(Event::new(EventKind::DocumentEnd, token.start))
    }

    fn process_directives(&mut self) -> Result<(), Error> {
        let mut has_version = false;
        loop {
            let token = self.peek()?;
            match token.kind {
                TokenKind::VersionDirective if has_version => {
                    return Err(Error::parser(
                        "found duplicate %YAML directive",
                        token.start,
                    ));
                }
                TokenKind::VersionDirective => {
                    if self.take() != (TokenData::Version { major: 1, minor: 1 }) {
                        return Err(Error::parser(
                            "found incompatible YAML document",
                            token.start,
                        ));
                    }
                    has_version = true;
                }
                TokenKind::TagDirective => self.process_tag_directive(token.start)?,
                _ => break,
            }
        }
        for (handle, prefix) in DEFAULT_TAG_DIRECTIVES {
            if self.tag_prefix(handle).is_none() {
                self.tag_directives
                    .push((Cow::Borrowed(handle), prefix.to_owned()));
            }
        }
        Ok(())
    }

    fn process_tag_directive(&mut self, mark: Mark) -> Result<(), Error> {
        let TokenData::Tag { handle, rest } = self.take() else {
            return Ok(());
        };
        if self.tag_prefix(&handle).is_some() {
            return Err(Error::parser("found duplicate %TAG directive", mark));
        }
        self.tag_directives.push((handle, rest));
        Ok(())
    }

    /// What a tag handle stands for in the current document.
    pub(super) fn tag_prefix(&self, handle: &str) -> Option<&str> {
        let known = self
            .tag_directives
            .iter()
            .find(|(known, _)| known == handle)?;
        Some(&known.1)
    }
}
