//! Finding, making and setting fields.
//!
//! Mirrors `yaml/fns.go` of kyaml v0.21.1. Names of fields are compared as text, and of keys that are there twice the first counts.

use super::{Arena, Kind, Node, NodeId, Style, Tag, emit};
use crate::error::{Result, fail};
use whipstaff_generator::yaml;
use whipstaff_generator::yaml::syntax::ScalarStyle;

/// What becomes of parts of a path that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Create {
    /// The search ends.
    Never,
    /// They are made, the last one as this kind.
    As(Kind),
}

/// A part of a path through an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Field(&'a str),
    Index(usize),
    Last,
    Wildcard,
    /// `[field=value]`, the field empty for items that are scalars.
    Match {
        field: &'a str,
        value: &'a str,
    },
}

impl<'a> Part<'a> {
    /// Reads a part.
    ///
    /// # Errors
    /// For negative indices, and for brackets without `=`.
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        if let Some(index) = atoi(text) {
            return usize::try_from(index)
                .map(Self::Index)
                .map_err(|_| fail(format!("array index {index} cannot be negative")));
        }
        match text {
            "-" => Ok(Self::Last),
            "*" => Ok(Self::Wildcard),
            _ if is_list_index(text) => {
                let (field, value) = split_match(text)?;
                Ok(Self::Match { field, value })
            }
            _ => Ok(Self::Field(text)),
        }
    }

    /// The kind that has to stand in front of this part.
    fn holder(&self) -> Kind {
        match self {
            Self::Match { .. } | Self::Index(_) => Kind::Sequence,
            _ => Kind::Mapping,
        }
    }
}

/// `strconv.Atoi`.
pub(super) fn atoi(text: &str) -> Option<i64> {
    text.parse().ok()
}

pub(super) fn is_list_index(text: &str) -> bool {
    text.starts_with('[') && text.ends_with(']')
}

/// The two sides of `[field=value]`.
pub(super) fn split_match(text: &str) -> Result<(&str, &str)> {
    let inner = text.strip_suffix(']').unwrap_or(text);
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    inner.split_once('=').ok_or_else(|| {
        fail("list path element must contain fieldName=fieldValue for element to match")
    })
}

impl Arena {
    /// The keys and values of a mapping.
    pub(crate) fn pairs(&self, id: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let node = self.get(id);
        let children = if node.kind == Kind::Mapping {
            node.children.as_slice()
        } else {
            &[]
        };
        children
            .chunks_exact(2)
            .filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
    }

    /// The value of a field; none if the node is no mapping.
    pub(crate) fn field(&self, id: NodeId, name: &str) -> Option<NodeId> {
        self.pairs(id)
            .find(|(key, _)| self.get(*key).text == name)
            .map(|(_, value)| value)
    }

    /// The text of a field, empty if there is none.
    pub(crate) fn field_text(&self, id: NodeId, name: &str) -> &str {
        self.field(id, name)
            .map_or("", |value| self.get(value).text.as_str())
    }

    /// Whether there is nothing but null.
    pub(crate) fn is_missing_or_null(&self, id: Option<NodeId>) -> bool {
        id.is_none_or(|id| self.get(id).is_null())
    }

    /// Refuses a node of another kind; null is of any kind.
    pub(crate) fn require(&self, id: NodeId, kind: Kind) -> Result<()> {
        let node = self.get(id);
        if node.is_null() || node.kind == kind {
            return Ok(());
        }
        Err(fail(format!(
            "wrong node kind: expected {} but got {}: node contents:\n{}",
            kind.name(),
            node.kind.name(),
            emit(self, id)
        )))
    }

    /// Finds a field in a mapping.
    ///
    /// # Errors
    /// When the node is neither a mapping nor null.
    pub(crate) fn get_field(&self, id: NodeId, name: &str) -> Result<Option<NodeId>> {
        if self.get(id).is_null() {
            return Ok(None);
        }
        self.require(id, Kind::Mapping)?;
        Ok(self.field(id, name))
    }

    /// Finds a field, or makes it as an empty node of a kind.
    ///
    /// # Errors
    /// When the node is neither a mapping nor null.
    pub(crate) fn get_or_create(
        &mut self,
        id: NodeId,
        name: &str,
        kind: Kind,
    ) -> Result<Option<NodeId>> {
        if self.get(id).is_null() {
            return Ok(None);
        }
        if let Some(found) = self.get_field(id, name)? {
            return Ok(Some(found));
        }
        let created = self.add(Node::of_kind(kind));
        self.append_pair(id, name, Style::default(), created);
        Ok(Some(created))
    }

    /// Adds a pair behind the others.
    pub(crate) fn append_pair(&mut self, id: NodeId, name: &str, style: Style, value: NodeId) {
        let key = self.add(Node {
            style,
            ..Node::scalar(name)
        });
        self.get_mut(id).children.extend([key, value]);
    }

    /// Follows a path; none where it ends early.
    ///
    /// # Errors
    /// When a part does not fit what is there.
    pub(crate) fn lookup(
        &mut self,
        id: NodeId,
        path: &[&str],
        create: Create,
    ) -> Result<Option<NodeId>> {
        let parts: Vec<_> = path
            .iter()
            .map(|part| part.trim())
            .filter(|part| !part.is_empty())
            .collect();
        let mut current = id;
        for (at, text) in parts.iter().enumerate() {
            let next = parts.get(at + 1).copied();
            let found = match Part::parse(text)? {
                Part::Index(index) => self.item(current, index)?,
                Part::Last => {
                    self.require(current, Kind::Sequence)?;
                    self.get(current).children.last().copied()
                }
                Part::Wildcard => {
                    return Err(fail("wildcard is not supported in PathGetter"));
                }
                Part::Match { field, value } => self.lookup_item(current, field, value, create)?,
                Part::Field(name) => match create {
                    Create::Never => self.get_field(current, name)?,
                    Create::As(kind) => {
                        let kind = kind_before(next, kind);
                        self.get_or_create(current, name, kind)?
                    }
                },
            };
            match found {
                Some(found) => current = found,
                None => return Ok(None),
            }
        }
        Ok(Some(current))
    }

    fn item(&self, id: NodeId, index: usize) -> Result<Option<NodeId>> {
        self.require(id, Kind::Sequence)?;
        Ok(self.get(id).children.get(index).copied())
    }

    fn lookup_item(
        &mut self,
        id: NodeId,
        field: &str,
        value: &str,
        create: Create,
    ) -> Result<Option<NodeId>> {
        self.require(id, Kind::Sequence)?;
        let found = self.find_item(id, field, value);
        if found.is_some() || create == Create::Never {
            return Ok(found);
        }
        let item = self.new_item(field, value);
        self.get_mut(id).children.push(item);
        Ok(Some(item))
    }

    /// The first item with a field of this text, or with this text itself.
    fn find_item(&self, id: NodeId, field: &str, value: &str) -> Option<NodeId> {
        self.get(id).children.iter().copied().find(|item| {
            if field.is_empty() {
                return self.get(*item).text == value;
            }
            self.field(*item, field)
                .is_some_and(|found| self.get(found).text == value)
        })
    }

    /// An item that `[field=value]` finds.
    pub(crate) fn new_item(&mut self, field: &str, value: &str) -> NodeId {
        let scalar = self.add(Node::scalar(value));
        if field.is_empty() {
            return scalar;
        }
        let item = self.add(Node::of_kind(Kind::Mapping));
        self.append_pair(item, field, Style::default(), scalar);
        item
    }

    /// Sets a field. A null value removes it.
    ///
    /// # Errors
    /// When the node is neither a mapping nor null.
    pub(crate) fn set_field(&mut self, id: NodeId, name: &str, value: NodeId) -> Result<()> {
        if self.get(value).is_null() {
            return self.clear_field(id, name);
        }
        self.set_field_keeping(id, name, value, Style::default())
    }

    /// Sets a field, also to null; a new key gets the style.
    ///
    /// # Errors
    /// When the node is neither a mapping nor null.
    pub(crate) fn set_field_keeping(
        &mut self,
        id: NodeId,
        name: &str,
        value: NodeId,
        key_style: Style,
    ) -> Result<()> {
        self.quote_words(value);
        match self.get_field(id, name)? {
            Some(field) => {
                let style = self.get(field).style;
                self.get_mut(value).style = style;
                self.assign(field, value);
            }
            None => self.append_pair(id, name, key_style, value),
        }
        Ok(())
    }

    /// Sets the text and the tag of a scalar; how it is written stays.
    ///
    /// # Errors
    /// When the node is no scalar.
    pub(crate) fn set_scalar(&mut self, id: NodeId, value: NodeId) -> Result<()> {
        self.quote_words(value);
        self.require(id, Kind::Scalar)?;
        if self.get(value).is_null() {
            return Ok(());
        }
        let style = self.get(id).style;
        self.get_mut(value).style = style;
        self.assign(id, value);
        Ok(())
    }

    /// Quotes a string that is something else in YAML 1.1.
    fn quote_words(&mut self, value: NodeId) {
        let node = self.get(value);
        if node.is_string() && node.style.is_default() && is_word_1_1(&node.text) {
            self.get_mut(value).style = Style::DOUBLE_QUOTED;
        }
    }

    /// Removes a field, the first of its name.
    ///
    /// # Errors
    /// When the node is neither a mapping nor null.
    pub(crate) fn clear_field(&mut self, id: NodeId, name: &str) -> Result<()> {
        self.require(id, Kind::Mapping)?;
        let position = self
            .get(id)
            .children
            .iter()
            .step_by(2)
            .position(|key| self.get(*key).text == name);
        if let Some(position) = position {
            self.get_mut(id)
                .children
                .drain(position * 2..position * 2 + 2);
        }
        Ok(())
    }

    /// Sets a scalar below mappings, which are made where they are missing.
    ///
    /// # Errors
    /// When there is something else on the way.
    pub(crate) fn set_path(&mut self, id: NodeId, path: &[&str], text: &str) -> Result<()> {
        let Some((last, parents)) = path.split_last() else {
            return Ok(());
        };
        let value = self.add(Node::scalar(text));
        match self.lookup(id, parents, Create::As(Kind::Mapping))? {
            Some(parent) => self.set_field(parent, last, value),
            None => Ok(()),
        }
    }

    /// Gives null the kind and tag of what is to be made in its place.
    pub(crate) fn retype_null(&mut self, id: NodeId, kind: Kind, tag: Tag) {
        let node = self.get_mut(id);
        if node.is_null() {
            node.kind = kind;
            node.tag = tag;
        }
    }
}

/// The kind of a part that is to be made in front of another.
pub(super) fn kind_before(next: Option<&str>, last: Kind) -> Kind {
    match next {
        None | Some("") => last,
        Some(text) if is_list_index(text) => Kind::Sequence,
        Some(text) if atoi(text).is_some_and(|index| index >= 0) => Kind::Sequence,
        Some(text) => Part::parse(text).map_or(Kind::Mapping, |part| part.holder()),
    }
}

/// Whether a plain text is no string in YAML 1.1.
fn is_word_1_1(text: &str) -> bool {
    if text.is_empty() || text.contains('\n') {
        return false;
    }
    // A plain text of letters that starts with none of these is a string in any case.
    let starts_word = text
        .bytes()
        .next()
        .is_some_and(|byte| b"0123456789+-.~yYnNtTfFoO[{\"'!&*#|>%@`?,".contains(&byte));
    if !starts_word && !text.contains([':', '#']) {
        return false;
    }
    yaml::from_str(text).is_ok_and(|value| !value.is_string())
}

/// Whether a style quotes.
pub(super) fn is_quoted(style: Style) -> bool {
    style.scalar != ScalarStyle::Plain
}
