//! What all formats are read into, and written from.

use crate::error::{SopsError, ValueProblem, shown};

/// How deep collections may be nested.
pub(crate) const MAX_DEPTH: usize = 100;

/// How many values and collections a file may have, aliases followed.
pub(crate) const MAX_NODES: usize = 500_000;

/// A value, with the distinctions that SOPS makes.
#[derive(Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Text, or in a binary file any bytes.
    Text(Vec<u8>),
    /// A point in time, as RFC 3339 writes it.
    Time(String),
    List(Vec<Self>),
    /// Keys are there once each; a comment has an empty key.
    Map(Vec<(String, Self)>),
    Comment(Vec<u8>),
}

/// The documents of a file, each a map.
pub(crate) type Documents = Vec<Node>;

impl Node {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }

    /// The text of a value that is text, and is UTF-8.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Time(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries
                .iter()
                .find_map(|(name, value)| (name == key).then_some(value)),
            _ => None,
        }
    }

    /// Whether it is a map without any key.
    pub(crate) fn is_empty_map(&self) -> bool {
        matches!(self, Self::Map(entries) if entries.is_empty())
    }
}

/// Text of a value that has to be UTF-8 because its file is text.
pub(crate) fn utf8<'t>(bytes: &'t [u8], key: &str) -> Result<&'t str, SopsError> {
    std::str::from_utf8(bytes).map_err(|_| SopsError::Value {
        key: shown(key),
        problem: ValueProblem::NotText,
    })
}

/// Counts nodes and levels while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    nodes: usize,
    depth: usize,
}

impl Extent {
    /// One more value.
    pub(crate) fn count(&mut self) -> Result<(), SopsError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(SopsError::Limit {
                what: "values",
                limit: MAX_NODES,
            });
        }
        Ok(())
    }

    /// One level deeper; [`Extent::leave`] undoes it.
    pub(crate) fn enter(&mut self) -> Result<(), SopsError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SopsError::Limit {
                what: "levels",
                limit: MAX_DEPTH,
            });
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
