//! Turns tokens into events: the grammar of YAML 1.1 as a state machine, as in libyaml.
//!
//! Mirrors `parserc.go` of go.yaml.in/yaml v2.4.3, oddities included.

mod block;
mod document;
mod flow;
mod node;

use std::borrow::Cow;

use super::error::Error;
use super::input::Input;
use super::scanner::{Mark, Peeked, ScalarStyle, Scanner, TokenData};

/// Where the parser is in the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    StreamStart,
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceFirstEntry,
    BlockSequenceEntry,
    IndentlessSequenceEntry,
    BlockMappingFirstKey,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirstEntry,
    FlowSequenceEntry,
    FlowSequenceEntryMappingKey,
    FlowSequenceEntryMappingValue,
    FlowSequenceEntryMappingEnd,
    FlowMappingFirstKey,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
    End,
}

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    StreamStart,
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias,
    Scalar,
    SequenceStart,
    SequenceEnd,
    MappingStart,
    MappingEnd,
}

/// One step through the structure of a stream.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) kind: EventKind,
    pub(super) start: Mark,
    /// The name of the anchor, or of the anchor an alias refers to.
    pub(super) anchor: Option<&'a str>,
    /// The full tag, empty without one.
    pub(super) tag: String,
    pub(super) value: Cow<'a, str>,
    /// Whether the value of a scalar decides what it is.
    pub(super) implicit: bool,
    /// How a scalar is written.
    pub(super) style: ScalarStyle,
    /// Whether a collection is written in brackets.
    pub(super) flow: bool,
}

impl Event<'_> {
    fn new(kind: EventKind, start: Mark) -> Self {
        Self {
            kind,
            start,
            anchor: None,
            tag: String::new(),
            value: Cow::Borrowed(""),
            implicit: false,
            style: ScalarStyle::Plain,
            flow: false,
        }
    }

    /// The scalar that stands where nothing is written.
    fn empty_scalar(mark: Mark) -> Self {
        Self {
            implicit: true,
            ..Self::new(EventKind::Scalar, mark)
        }
    }
}

/// The state of parsing one stream.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    /// What to go on with once the innermost node is complete.
    states: Vec<State>,
    /// Where the open collections start, but for those that are not indented.
    marks: Vec<Mark>,
    /// Prefixes of tag handles in the current document.
    tag_directives: Vec<(Cow<'a, str>, String)>,
}

impl<'a> Parser<'a> {
    /// A parser at the start of `input`.
    pub(super) fn new(input: &'a Input<'_>) -> Self {
        Self {
            scanner: Scanner::new(input),
            state: State::StreamStart,
            states: Vec::new(),
            marks: Vec::new(),
            tag_directives: Vec::new(),
        }
    }

    /// The next event; none behind the end of the stream.
    pub(super) fn next_event(&mut self) -> Result<Option<Event<'a>>, Error> {
        if self.scanner.has_ended() || self.state == State::End {
            return Ok(None);
        }
        let event = match self.state {
            State::StreamStart => self.parse_stream_start(),
            State::ImplicitDocumentStart => self.parse_document_start(true),
            State::DocumentStart => self.parse_document_start(false),
            State::DocumentContent => self.parse_document_content(),
            State::DocumentEnd => self.parse_document_end(),
            State::BlockNode => self.parse_node(true, false),
            State::BlockSequenceFirstEntry => self.parse_block_sequence_entry(true),
            State::BlockSequenceEntry => self.parse_block_sequence_entry(false),
            State::IndentlessSequenceEntry => self.parse_indentless_sequence_entry(),
            State::BlockMappingFirstKey => self.parse_block_mapping_key(true),
            State::BlockMappingKey => self.parse_block_mapping_key(false),
            State::BlockMappingValue => self.parse_block_mapping_value(),
            State::FlowSequenceFirstEntry => self.parse_flow_sequence_entry(true),
            State::FlowSequenceEntry => self.parse_flow_sequence_entry(false),
            State::FlowSequenceEntryMappingKey => self.parse_flow_pair_key(),
            State::FlowSequenceEntryMappingValue => self.parse_flow_pair_value(),
            State::FlowSequenceEntryMappingEnd => self.parse_flow_pair_end(),
            State::FlowMappingFirstKey => self.parse_flow_mapping_key(true),
            State::FlowMappingKey => self.parse_flow_mapping_key(false),
            State::FlowMappingValue => self.parse_flow_mapping_value(false),
            State::FlowMappingEmptyValue => self.parse_flow_mapping_value(true),
            State::End => return Ok(None),
        }?;
        Ok(Some(event))
    }

    fn peek(&mut self) -> Result<Peeked, Error> {
        self.scanner.peek()
    }

    fn take(&mut self) -> TokenData<'a> {
        self.scanner.take()
    }

    /// Takes the token just peeked at away, and peeks at the next.
    fn advance(&mut self) -> Result<Peeked, Error> {
        self.scanner.take();
        self.scanner.peek()
    }

    /// Goes back to what waits for the innermost node.
    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// An error in the innermost collection.
    fn error_in_collection(&self, problem: &'static str, mark: Mark) -> Error {
        let start = self.marks.last().copied().unwrap_or_default();
        Error::parser(problem, mark).inside(start, false)
    }

    /// An empty node in place of `mark`, then `state`.
    fn empty_then(&mut self, state: State, mark: Mark) -> Event<'a> {
        self.state = state;
        Event::empty_scalar(mark)
    }
}
