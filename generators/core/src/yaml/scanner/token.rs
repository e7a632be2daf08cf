//! What the scanner hands to the parser.

use std::borrow::Cow;

/// A place in the text. Everything counts from 0; columns and the index count characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::yaml) struct Mark {
    pub(in crate::yaml) index: u32,
    pub(in crate::yaml) line: u32,
    pub(in crate::yaml) column: u32,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::yaml) enum TokenKind {
    StreamStart,
    StreamEnd,
    VersionDirective,
    TagDirective,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias,
    Anchor,
    Tag,
    Scalar,
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// Without quotes.
    #[default]
    Plain,
    /// In `'`.
    SingleQuoted,
    /// In `"`.
    DoubleQuoted,
    /// Behind `|`.
    Literal,
    /// Behind `>`.
    Folded,
}

/// What a token carries beside its kind and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::yaml) enum TokenData<'a> {
    None,
    Version {
        major: u8,
        minor: u8,
    },
    /// The name of an anchor or alias.
    Name(&'a str),
    /// A `%TAG` directive (handle and prefix) or a tag (handle and suffix).
    Tag {
        handle: Cow<'a, str>,
        rest: String,
    },
    Scalar {
        value: Cow<'a, str>,
        style: ScalarStyle,
    },
}

/// A token with the places it starts at and ends before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::yaml) struct Token<'a> {
    pub(in crate::yaml) kind: TokenKind,
    pub(in crate::yaml) start: Mark,
    pub(in crate::yaml) end: Mark,
    pub(in crate::yaml) data: TokenData<'a>,
}

impl Token<'_> {
    /// A token that is nothing but its kind.
    pub(super) fn simple(kind: TokenKind, start: Mark, end: Mark) -> Self {
        Self {
            kind,
            start,
            end,
            data: TokenData::None,
        }
    }
}
