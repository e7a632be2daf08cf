//! The tree that objects are changed in.
//!
//! Mirrors the nodes of go.yaml.in/yaml v3.0.3. Nodes live in an [`Arena`] and are named by [`NodeId`], because in kustomize
//! one node may hang in several places of an object: a label that was created in a selector and in the metadata is one node, and
//! a later patch of one changes both. The output depends on it.

mod access;
mod associative;
mod emit;
mod parse;
mod path_match;
mod resolve;
mod timestamp;
mod value;

pub(crate) use access::Create;
pub(crate) use associative::match_all;
pub(crate) use emit::emit;
pub(crate) use parse::{parse_document, parse_documents};
pub(crate) use path_match::match_path;
pub(crate) use resolve::{Resolved, resolve};
pub(crate) use value::{UNSUPPORTED_KEYS, from_value, go_syntax, to_value};

use whipstaff_generator::yaml::syntax::ScalarStyle;

/// A node of an [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// What a node is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing yet: the node that stands for what a patch removes.
    #[default]
    Zero,
    Scalar,
    Sequence,
    Mapping,
}

impl Kind {
    /// The name that messages use.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zero => "",
            Self::Scalar => "ScalarNode",
            Self::Sequence => "SequenceNode",
            Self::Mapping => "MappingNode",
        }
    }
}

/// The tag of a node, in its short form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Tag {
    /// To be found out by the text.
    #[default]
    None,
    Null,
    Bool,
    Str,
    Int,
    Float,
    Timestamp,
    Seq,
    Map,
    Binary,
    Merge,
    /// One of the user's.
    Other(Box<str>),
}

/// What long tags start with.
const LONG_PREFIX: &str = "tag:yaml.org,2002:";

impl Tag {
    /// The tag as it is written.
    pub(crate) fn of(text: &str) -> Self {
        if text.is_empty() || text == "!" {
            return Self::None;
        }
        let short = match text.strip_prefix(LONG_PREFIX) {
            Some(rest) => rest,
            None => match text.strip_prefix("!!") {
                Some(rest) => rest,
                None => return Self::Other(text.into()),
            },
        };
        match short {
            "null" => Self::Null,
            "bool" => Self::Bool,
            "str" => Self::Str,
            "int" => Self::Int,
            "float" => Self::Float,
            "timestamp" => Self::Timestamp,
            "seq" => Self::Seq,
            "map" => Self::Map,
            "binary" => Self::Binary,
            "merge" => Self::Merge,
            _ => Self::Other(format!("!!{short}").into()),
        }
    }

    /// The short form, empty without a tag.
    pub(crate) fn short(&self) -> &str {
        match self {
            Self::None => "",
            Self::Null => "!!null",
            Self::Bool => "!!bool",
            Self::Str => "!!str",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Timestamp => "!!timestamp",
            Self::Seq => "!!seq",
            Self::Map => "!!map",
            Self::Binary => "!!binary",
            Self::Merge => "!!merge",
            Self::Other(text) => text,
        }
    }
}

/// How a node is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) scalar: ScalarStyle,
    /// In brackets.
    pub(crate) flow: bool,
    /// With its tag in front.
    pub(crate) tagged: bool,
}

impl Style {
    pub(crate) const DOUBLE_QUOTED: Self = Self::scalar(ScalarStyle::DoubleQuoted);
    pub(crate) const SINGLE_QUOTED: Self = Self::scalar(ScalarStyle::SingleQuoted);
    pub(crate) const LITERAL: Self = Self::scalar(ScalarStyle::Literal);

    const fn scalar(scalar: ScalarStyle) -> Self {
        Self {
            scalar,
            flow: false,
            tagged: false,
        }
    }

    pub(crate) fn is_default(self) -> bool {
        self == Self::default()
    }
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) tag: Tag,
    pub(crate) style: Style,
    /// The text of a scalar.
    pub(crate) text: String,
    /// The items of a sequence; keys and values of a mapping in turn.
    pub(crate) children: Vec<NodeId>,
}

impl Node {
    /// A scalar that its text decides about.
    pub(crate) fn scalar(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Scalar,
            text: text.into(),
            ..Self::default()
        }
    }

    /// A string, whatever its text looks like.
    pub(crate) fn string(text: impl Into<String>) -> Self {
        let text = text.into();
        let style = if text.contains('\n') {
            Style::LITERAL
        } else {
            Style::default()
        };
        Self {
            tag: Tag::Str,
            style,
            ..Self::scalar(text)
        }
    }

    /// A scalar with a tag.
    pub(crate) fn tagged(text: impl Into<String>, tag: Tag) -> Self {
        Self {
            tag,
            ..Self::scalar(text)
        }
    }

    /// An empty node of a kind.
    pub(crate) fn of_kind(kind: Kind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Whether the node stands for null.
    pub(crate) fn is_null(&self) -> bool {
        self.tag == Tag::Null
    }

    /// Whether the node is null, an empty collection, or nothing yet.
    pub(crate) fn is_empty_value(&self) -> bool {
        let empty_collection =
            matches!(self.kind, Kind::Mapping | Kind::Sequence) && self.children.is_empty();
        self.is_null() || empty_collection || *self == Self::default()
    }

    /// Whether the node is a scalar that is or may be a string.
    pub(crate) fn is_string(&self) -> bool {
        self.kind == Kind::Scalar && matches!(self.tag, Tag::Str | Tag::None)
    }
}

/// The nodes of a build.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    nothing: Node,
}

impl Arena {
    /// Adds a node.
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        // The limits on input bytes keep the number of nodes far below this.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// A node.
    pub(crate) fn get(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&self.nothing)
    }

    /// A node, to be changed.
    pub(crate) fn get_mut(&mut self, id: NodeId) -> &mut Node {
        match self.nodes.get_mut(id.0 as usize) {
            Some(node) => node,
            None => &mut self.nothing,
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Puts the content of one node into another; both have the same children then.
    pub(crate) fn assign(&mut self, target: NodeId, source: NodeId) {
        if target != source {
            let node = self.get(source).clone();
            *self.get_mut(target) = node;
        }
    }

    /// A copy of a node and everything below it.
    pub(crate) fn copy(&mut self, id: NodeId) -> NodeId {
        let mut node = self.get(id).clone();
        for child in &mut node.children {
            *child = self.copy(*child);
        }
        self.add(node)
    }

    /// A copy of a node of another arena and everything below it.
    pub(crate) fn copy_from(&mut self, other: &Self, id: NodeId) -> NodeId {
        let mut node = other.get(id).clone();
        for child in &mut node.children {
            *child = self.copy_from(other, *child);
        }
        self.add(node)
    }

    /// Whether two trees are equal, however they are shared.
    pub(crate) fn is_equal(&self, first: NodeId, other: &Self, second: NodeId) -> bool {
        let (a, b) = (self.get(first), other.get(second));
        a.kind == b.kind
            && a.tag == b.tag
            && a.text == b.text
            && a.children.len() == b.children.len()
            && a.children
                .iter()
                .zip(&b.children)
                .all(|(x, y)| self.is_equal(*x, other, *y))
    }
}
