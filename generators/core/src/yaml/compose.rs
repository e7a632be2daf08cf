//! Builds the tree of one document out of events.
//!
//! Mirrors the first half of `decode.go` of go.yaml.in/yaml v2.4.3.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::Error;
use super::parser::{Event, EventKind, Parser};
use super::scanner::Mark;

/// How deep collections may be nested, aliases followed. (Go allows 10,000; every reader of the
/// values recurses, so ours is the depth that fits a small stack.)
pub(super) const MAX_DEPTH: usize = 1_000;

/// The place of a node in its [`Tree`].
pub(super) type NodeId = usize;

/// What a node is.
#[derive(Debug)]
pub(super) enum NodeKind<'a> {
    Scalar {
        value: Cow<'a, str>,
        implicit: bool,
    },
    Alias {
        name: &'a str,
        target: NodeId,
    },
    Sequence(Vec<NodeId>),
    /// Keys and values in turn.
    Mapping(Vec<NodeId>),
}

/// A node of a document.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) kind: NodeKind<'a>,
    /// The full tag of a scalar, empty without one. Collections need none.
    pub(super) tag: String,
    pub(super) start: Mark,
}

/// A document: its nodes, the root being the first.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

/// Reads the next document of the stream; none behind the last.
pub(super) fn compose<'a>(parser: &mut Parser<'a>) -> Result<Option<Tree<'a>>, Error> {
    loop {
        let Some(event) = parser.next_event()? else {
            return Ok(None);
        };
        match event.kind {
            EventKind::StreamEnd => return Ok(None),
            EventKind::DocumentStart => break,
            _ => {}
        }
    }
    let mut composer = Composer::default();
    loop {
        let Some(event) = parser.next_event()? else {
            // Go panics here: the end of the stream was taken for something else.
            return Err(Error::plain(
                "attempted to go past the end of stream; corrupted value?",
            ));
        };
        if composer.add(event)? {
            break;
        }
    }
    parser.next_event()?;
    Ok(Some(Tree {
        nodes: composer.nodes,
    }))
}

#[derive(Default)]
struct Composer<'a> {
    nodes: Vec<Node<'a>>,
    anchors: BTreeMap<&'a str, NodeId>,
    open: Vec<NodeId>,
}

impl<'a> Composer<'a> {
    /// Adds an event's node; true once the root is complete.
    fn add(&mut self, event: Event<'a>) -> Result<bool, Error> {
        let kind = match event.kind {
            EventKind::Scalar => NodeKind::Scalar {
                value: event.value,
                implicit: event.implicit,
            },
            EventKind::Alias => self.alias(event.anchor.unwrap_or_default(), event.start)?,
            EventKind::SequenceStart => NodeKind::Sequence(Vec::new()),
            EventKind::MappingStart => NodeKind::Mapping(Vec::new()),
            _ => {
                self.open.pop();
                return Ok(self.open.is_empty());
            }
        };
        let id = self.nodes.len();
        if let Some(name) = event.anchor
            && event.kind != EventKind::Alias
        {
            self.anchors.insert(name, id);
        }
        self.nodes.push(Node {
            kind,
            tag: event.tag,
            start: event.start,
        });
        self.attach(id);
        if matches!(
            event.kind,
            EventKind::SequenceStart | EventKind::MappingStart
        ) {
            self.open.push(id);
            if self.open.len() > MAX_DEPTH {
                let problem = format!("exceeded max depth of {MAX_DEPTH}");
                return Err(Error::scanner(problem, event.start));
            }
        }
        Ok(self.open.is_empty())
    }

    fn alias(&self, name: &'a str, start: Mark) -> Result<NodeKind<'a>, Error> {
        match self.anchors.get(name) {
            Some(&target) => Ok(NodeKind::Alias { name, target }),
            None => Err(Error::plain(format!("unknown anchor '{name}' referenced"))
                .at_line(start.line as usize + 1)),
        }
    }

    fn attach(&mut self, id: NodeId) {
        let Some(parent) = self
            .open
            .last()
            .and_then(|parent| self.nodes.get_mut(*parent))
        else {
            return;
        };
        if let NodeKind::Sequence(children) | NodeKind::Mapping(children) = &mut parent.kind {
            children.push(id);
        }
    }
}
