//! Finds out what a scalar stands for.
//!
//! Mirrors `resolve.go` of go.yaml.in/yaml v2.4.3: YAML 1.1 words for booleans, Go's notation of
//! numbers.

mod binary;
mod number;
mod timestamp;

pub(super) use self::binary::{decode_base64, replace_invalid_utf8};
use super::error::Error;

/// What standard tags start with.
const STANDARD_PREFIX: &str = "tag:yaml.org,2002:";

/// A tag, as far as it means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    None,
    String,
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Merge,
    /// Any other: its scalars are strings.
    Other,
}

impl Tag {
    pub(super) fn of(tag: &str) -> Self {
        if tag.is_empty() {
            return Self::None;
        }
        match tag.strip_prefix(STANDARD_PREFIX) {
            Some("str") => Self::String,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("null") => Self::Null,
            Some("timestamp") => Self::Timestamp,
            Some("binary") => Self::Binary,
            Some("merge") => Self::Merge,
            _ => Self::Other,
        }
    }

    fn short(self) -> &'static str {
        match self {
            Self::None | Self::Other => "",
            Self::String => "!!str",
            Self::Bool => "!!bool",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Null => "!!null",
            Self::Timestamp => "!!timestamp",
            Self::Binary => "!!binary",
            Self::Merge => "!!merge",
        }
    }
}

/// What a scalar stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above the range of [`Resolved::Int`].
    Uint(u64),
    Float(f64),
    /// Its own text.
    Text,
    /// Its own text, which is a date or a time.
    Timestamp,
}

impl Resolved {
    fn tag(self) -> Tag {
        match self {
            Self::Null => Tag::Null,
            Self::Bool(_) => Tag::Bool,
            Self::Int(_) | Self::Uint(_) => Tag::Int,
            Self::Float(_) => Tag::Float,
            Self::Text => Tag::String,
            Self::Timestamp => Tag::Timestamp,
        }
    }
}

/// Resolves a scalar that carries `tag`.
pub(super) fn resolve(tag: Tag, text: &str) -> Result<Resolved, Error> {
    match tag {
        Tag::String | Tag::Binary | Tag::Merge | Tag::Other => return Ok(Resolved::Text),
        Tag::None => return Ok(resolve_untagged(text)),
        _ => {}
    }
    let resolved = match resolve_untagged(text) {
        Resolved::Text if tag == Tag::Timestamp && timestamp::is_timestamp(text) => {
            Resolved::Timestamp
        }
        other => other,
    };
    match (tag, resolved) {
        (Tag::Float, Resolved::Int(value)) => Ok(Resolved::Float(value as f64)),
        _ if resolved.tag() == tag => Ok(resolved),
        _ => Err(Error::plain(format!(
            "cannot decode {} `{text}` as a {}",
            resolved.tag().short(),
            tag.short()
        ))),
    }
}

/// Resolves a scalar without a tag, timestamps being text.
pub(super) fn resolve_untagged(text: &str) -> Resolved {
    let Some(&first) = text.as_bytes().first() else {
        return Resolved::Null;
    };
    match first {
        b'0'..=b'9' | b'+' | b'-' => infinity(text)
            .or_else(|| number::parse_number(text))
            .unwrap_or(Resolved::Text),
        b'.' => word(text)
            .or_else(|| infinity(text))
            .or_else(|| number::parse_float(text).map(Resolved::Float))
            .unwrap_or(Resolved::Text),
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => {
            word(text).unwrap_or(Resolved::Text)
        }
        _ => Resolved::Text,
    }
}

/// Whether the text, written plainly, would be read as something else than a string.
pub(super) fn looks_like_another_type(text: &str) -> bool {
    resolve_untagged(text) != Resolved::Text
        || timestamp::is_timestamp(text)
        || number::is_base_60(text)
}

/// Whether go-yaml v3, written plainly, would read it as something else than a string, or v2 as a
/// boolean.
pub(super) fn looks_like_another_type_v3(text: &str) -> bool {
    looks_like_another_type(text) || number::is_prefixed_octal(text)
}

fn word(text: &str) -> Option<Resolved> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Resolved::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Resolved::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        _ => return None,
    })
}

fn infinity(text: &str) -> Option<Resolved> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            Some(Resolved::Float(f64::INFINITY))
        }
        "-.inf" | "-.Inf" | "-.INF" => Some(Resolved::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}
