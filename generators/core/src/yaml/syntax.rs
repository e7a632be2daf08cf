//! The tree of a document as it is written: nothing is resolved, and styles, tags and anchors are kept.

use super::compose::MAX_DEPTH;
use super::error::Error;
use super::input::Input;
use super::parser::{Event, EventKind, Parser};
pub use super::scanner::ScalarStyle;

/// The place of a node in its [`SyntaxTree`].
pub type SyntaxId = usize;

/// What a node of a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyntaxKind {
    /// Text.
    Scalar(String),
    /// Another node, by its anchor.
    Alias(SyntaxId),
    /// Nodes in their order.
    Sequence(Vec<SyntaxId>),
    /// Keys and values in turn.
    Mapping(Vec<SyntaxId>),
}

/// A node of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxNode {
    /// What it is.
    pub kind: SyntaxKind,
    /// The full tag that is written in front of it, empty without one.
    pub tag: String,
    /// How a scalar is written.
    pub style: ScalarStyle,
    /// Whether a collection is written in brackets.
    pub flow: bool,
    /// The line it starts at, counted from 1.
    pub line: usize,
}

/// A document: its nodes, the root being the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxTree {
    /// All nodes, each behind the one that holds it.
    pub nodes: Vec<SyntaxNode>,
}

/// Reads the first document of a text as it is written; none if there is no document.
///
/// # Errors
/// When the text is not YAML, or an alias has no anchor.
///
/// **Source**: the parser half of `decode.go` of go.yaml.in/yaml v3.0.4, without comments.
pub fn parse_tree(text: &str) -> Result<Option<SyntaxTree>, Error> {
    let input = Input::from_str(text)?;
    next_tree(&mut Parser::new(&input))
}

/// Reads all documents of a text as [`parse_tree`] reads the first.
///
/// # Errors
/// As [`parse_tree`], for the first document that cannot be read.
pub fn parse_trees(text: &str) -> Result<Vec<SyntaxTree>, Error> {
    let input = Input::from_str(text)?;
    let mut parser = Parser::new(&input);
    let mut trees = Vec::new();
    while let Some(tree) = next_tree(&mut parser)? {
        trees.push(tree);
    }
    Ok(trees)
}

fn next_tree(parser: &mut Parser<'_>) -> Result<Option<SyntaxTree>, Error> {
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
    let mut builder = Builder::default();
    loop {
        let Some(event) = parser.next_event()? else {
            return Err(Error::plain(
                "attempted to go past the end of stream; corrupted value?",
            ));
        };
        if builder.add(event)? {
            break;
        }
    }
    parser.next_event()?;
    Ok(Some(SyntaxTree {
        nodes: builder.nodes,
    }))
}

#[derive(Default)]
struct Builder {
    nodes: Vec<SyntaxNode>,
    anchors: std::collections::HashMap<String, SyntaxId>,
    open: Vec<SyntaxId>,
}

impl Builder {
    /// Adds an event's node; true once the root is complete.
    fn add(&mut self, event: Event<'_>) -> Result<bool, Error> {
        let opens = matches!(
            event.kind,
            EventKind::SequenceStart | EventKind::MappingStart
        );
        let kind = match event.kind {
            EventKind::Scalar => SyntaxKind::Scalar(event.value.into_owned()),
            EventKind::Alias => SyntaxKind::Alias(self.anchored(event.anchor.unwrap_or_default())?),
            EventKind::SequenceStart => SyntaxKind::Sequence(Vec::new()),
            EventKind::MappingStart => SyntaxKind::Mapping(Vec::new()),
            _ => {
                self.open.pop();
                return Ok(self.open.is_empty());
            }
        };
        let id = self.nodes.len();
        if let Some(name) = event.anchor
            && event.kind != EventKind::Alias
        {
            self.anchors.insert(name.to_owned(), id);
        }
        self.nodes.push(SyntaxNode {
            kind,
            tag: event.tag,
            style: event.style,
            flow: event.flow,
            line: event.start.line as usize + 1,
        });
        self.attach(id);
        if opens {
            self.open.push(id);
            if self.open.len() > MAX_DEPTH {
                let problem = format!("exceeded max depth of {MAX_DEPTH}");
                return Err(Error::scanner(problem, event.start));
            }
        }
        Ok(self.open.is_empty())
    }

    fn anchored(&self, name: &str) -> Result<SyntaxId, Error> {
        self.anchors
            .get(name)
            .copied()
            .ok_or_else(|| Error::plain(format!("unknown anchor '{name}' referenced")))
    }

    fn attach(&mut self, id: SyntaxId) {
        let Some(parent) = self
            .open
            .last()
            .and_then(|parent| self.nodes.get_mut(*parent))
        else {
            return;
        };
        if let SyntaxKind::Sequence(children) | SyntaxKind::Mapping(children) = &mut parent.kind {
            children.push(id);
        }
    }
}
