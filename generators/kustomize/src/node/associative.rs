//! Lists whose items are told apart by the texts of their fields.
//!
//! Mirrors `ElementSetter` and `ElementMatcher` in `yaml/fns.go` of kyaml v0.21.1.

use super::{Arena, Kind, NodeId};
use crate::error::Result;

/// Finds the first item that has all these texts in these fields.
///
/// No fields, or an empty first one, compare the items themselves.
pub(crate) fn match_all(
    arena: &Arena,
    list: NodeId,
    keys: &[&str],
    values: &[String],
) -> Option<NodeId> {
    let node = arena.get(list);
    if node.kind != Kind::Sequence {
        return None;
    }
    let first_value = values.first().map_or("", String::as_str);
    if keys.first().is_none_or(|key| key.is_empty()) {
        return node
            .children
            .iter()
            .copied()
            .find(|item| arena.get(*item).text == first_value);
    }
    node.children.iter().copied().find(|item| {
        arena.get(*item).kind == Kind::Mapping
            && !arena.get(*item).is_null()
            && keys.iter().zip(values).all(|(key, value)| {
                arena
                    .field(*item, key)
                    .is_some_and(|field| arena.get(field).text == *value)
            })
    })
}

impl Arena {
    /// Replaces the items that match, or removes them without an `element`; a new one goes to the end.
    ///
    /// An empty text matches any item that has the field at all. Items that are null or `{}` are dropped.
    ///
    /// # Errors
    /// When an item is no scalar although the list is one of scalars.
    pub(crate) fn set_element(
        &mut self,
        list: NodeId,
        element: Option<NodeId>,
        keys: &[&str],
        values: &[String],
    ) -> Result<()> {
        self.require(list, Kind::Sequence)?;
        let keys = if keys.is_empty() { &[""][..] } else { keys };
        let sets_mapping = keys.first().is_some_and(|key| !key.is_empty())
            && values.first().is_some_and(|value| !value.is_empty());
        let mut content = Vec::with_capacity(self.get(list).children.len() + 1);
        let mut found_any = false;
        for at in 0..self.get(list).children.len() {
            let Some(item) = self.get(list).children.get(at).copied() else {
                break;
            };
            let node = self.get(item);
            if node.is_null() || (node.kind == Kind::Mapping && node.children.is_empty()) {
                continue;
            }
            if node.kind != Kind::Mapping && sets_mapping {
                content.push(item);
                continue;
            }
            if !self.has_texts(item, keys, values)? {
                if !values.is_empty() {
                    content.push(item);
                }
                continue;
            }
            found_any = true;
            content.extend(element);
        }
        self.get_mut(list).children = content;
        if let Some(element) = element
            && !self.get(element).is_null()
            && !found_any
        {
            self.get_mut(list).children.push(element);
        }
        Ok(())
    }

    fn has_texts(&self, item: NodeId, keys: &[&str], values: &[String]) -> Result<bool> {
        let mut last = None;
        for (at, key) in keys.iter().enumerate() {
            if let Some(value) = values.get(at) {
                last = self.match_field(item, key, value)?;
            }
            if last.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A field, if its text is this one or this one is empty; without a name, the item itself by its text.
    fn match_field(&self, item: NodeId, key: &str, value: &str) -> Result<Option<NodeId>> {
        let node = self.get(item);
        if node.is_null() {
            return Ok(None);
        }
        if key.is_empty() {
            self.require(item, Kind::Scalar)?;
            return Ok((node.text == value).then_some(item));
        }
        self.require(item, Kind::Mapping)?;
        let found = self.field(item, key);
        Ok(found.filter(|field| value.is_empty() || self.get(*field).text == value))
    }

    /// The texts of some fields of each item; empty for those that are missing or empty.
    pub(crate) fn element_texts(&self, list: NodeId, keys: &[&str]) -> Vec<Vec<String>> {
        let texts = |item: &NodeId| {
            keys.iter()
                .map(|key| match self.field(*item, key) {
                    Some(field) if !self.get(field).is_empty_value() => {
                        self.get(field).text.clone()
                    }
                    _ => String::new(),
                })
                .collect()
        };
        self.get(list).children.iter().map(texts).collect()
    }
}
