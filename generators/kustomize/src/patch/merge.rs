//! Strategic merge patches.
//!
//! Mirrors `yaml/merge2` and `yaml/walk` of kyaml v0.21.1. It differs from the patches of Kubernetes in many corners, and what it
//! does to parts of an object that a patch does not mention is part of the output.

use super::merge_list;
use crate::error::{Result, fail, over_limit};
use crate::limits::MAX_PATH_PARTS;
use crate::node::{Kind, Node, NodeId, Style, Tag};
use crate::resource::Store;
use crate::schema::SchemaId;
use std::collections::BTreeSet;

/// The field of a patch that says what is to be done.
pub(super) const DIRECTIVE: &str = "$patch";

/// Where items of a patch go that the list does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListGrowth {
    Prepend,
    Append,
}

/// Merges a patch into a node; none when nothing is left.
///
/// # Errors
/// When the two are of different kinds, or a directive is unknown.
pub(crate) fn merge(
    store: &mut Store,
    target: Option<NodeId>,
    patch: Option<NodeId>,
    growth: ListGrowth,
) -> Result<Option<NodeId>> {
    let mut walker = Walker { store, growth };
    Ok(walker.walk(target, patch, None, 0)?.node)
}

/// What a merge leaves.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    pub(super) node: Option<NodeId>,
    /// Whether null is kept and does not remove the field.
    keep_null: bool,
}

impl Outcome {
    fn of(node: Option<NodeId>) -> Self {
        Self {
            node,
            keep_null: false,
        }
    }
}

/// What a patch asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

impl Directive {
    fn of(word: &str) -> Result<Self> {
        match word {
            "delete" => Ok(Self::Delete),
            "replace" => Ok(Self::Replace),
            "merge" => Ok(Self::Merge),
            _ => Err(fail(format!("unknown patch strategy '{word}'"))),
        }
    }
}

pub(super) struct Walker<'s> {
    pub(super) store: &'s mut Store,
    pub(super) growth: ListGrowth,
}

impl Walker<'_> {
    fn is_null(&self, node: Option<NodeId>) -> bool {
        self.store.arena.is_missing_or_null(node)
    }

    pub(super) fn walk(
        &mut self,
        target: Option<NodeId>,
        patch: Option<NodeId>,
        schema: Option<SchemaId>,
        depth: usize,
    ) -> Result<Outcome> {
        if depth > MAX_PATH_PARTS {
            return Err(over_limit("levels in a patched object", MAX_PATH_PARTS));
        }
        let schema = schema
            .or_else(|| self.type_schema(target))
            .or_else(|| self.type_schema(patch));
        let first = [target, patch]
            .into_iter()
            .find(|node| !self.is_null(*node))
            .flatten();
        let kind = first.map_or(Kind::Mapping, |node| self.store.arena.get(node).kind);
        for node in [target, patch].into_iter().flatten() {
            if first.is_some() {
                self.store.arena.require(node, kind)?;
            }
        }
        self.copy_style(target, patch);
        match kind {
            Kind::Mapping => self.walk_map(target, patch, schema, depth),
            Kind::Sequence if schema.is_some_and(|schema| self.store.types.is_merged(schema)) => {
                let node = merge_list::walk(self, target, patch, schema, depth)?;
                Ok(Outcome::of(node))
            }
            Kind::Sequence | Kind::Scalar => Ok(Outcome::of(patch.or(target))),
            Kind::Zero => Ok(Outcome::of(None)),
        }
    }

    /// The schema of an object that says what it is.
    fn type_schema(&self, node: Option<NodeId>) -> Option<SchemaId> {
        let node = node.filter(|node| !self.store.arena.get(*node).is_null())?;
        let arena = &self.store.arena;
        let text = |name| {
            let value = arena.field(node, name).map(|value| arena.get(value))?;
            (!value.is_empty_value()).then_some(value.text.as_str())
        };
        self.store.types.of_type(text("apiVersion")?, text("kind")?)
    }

    fn copy_style(&mut self, target: Option<NodeId>, patch: Option<NodeId>) {
        let (Some(target), Some(patch)) = (target, patch) else {
            return;
        };
        let style = self.store.arena.get(patch).style;
        let node = self.store.arena.get_mut(target);
        if node.kind != Kind::Scalar && node.children.is_empty() {
            node.style = style;
        }
    }

    fn walk_map(
        &mut self,
        target: Option<NodeId>,
        patch: Option<NodeId>,
        schema: Option<SchemaId>,
        depth: usize,
    ) -> Result<Outcome> {
        let start = self.start_map(target, patch)?;
        let Some(node) = start.node else {
            return Ok(start);
        };
        let mut names = BTreeSet::new();
        for source in [Some(node), patch].into_iter().flatten() {
            let arena = &self.store.arena;
            names.extend(
                arena
                    .pairs(source)
                    .map(|(key, _)| arena.get(key).text.clone()),
            );
        }
        for name in names {
            let field_schema = schema.and_then(|schema| self.store.types.field(schema, &name));
            let old = self.store.arena.field(node, &name);
            let new = patch.and_then(|patch| self.pair(patch, &name));
            let outcome = self.walk(old, new.map(|(_, value)| value), field_schema, depth + 1)?;
            self.set(node, patch, &name, outcome)?;
        }
        Ok(start)
    }

    fn pair(&self, map: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
        let arena = &self.store.arena;
        arena
            .pairs(map)
            .find(|(key, _)| arena.get(*key).text == name)
    }

    fn set(
        &mut self,
        node: NodeId,
        patch: Option<NodeId>,
        name: &str,
        outcome: Outcome,
    ) -> Result<()> {
        let arena = &self.store.arena;
        let Some(value) = outcome.node else {
            return self.store.arena.clear_field(node, name);
        };
        if arena.get(value).is_null() && !outcome.keep_null {
            return self.store.arena.clear_field(node, name);
        }
        let key = patch
            .and_then(|patch| self.pair(patch, name))
            .filter(|(_, patched)| *patched == value);
        let style = key.map_or(Style::default(), |(key, _)| self.store.arena.get(key).style);
        self.store.arena.set_field_keeping(node, name, value, style)
    }

    /// The map that the fields are put into.
    fn start_map(&mut self, target: Option<NodeId>, patch: Option<NodeId>) -> Result<Outcome> {
        if self.is_null(target) {
            if patch.is_some_and(|patch| {
                self.map_directive(patch)
                    .is_ok_and(|d| d == Directive::Delete)
            }) {
                return Ok(Outcome::of(None));
            }
            let written = target.map(|node| self.store.arena.get(node).text.clone());
            if let (None, Some(text)) = (patch, written.filter(|text| !text.is_empty())) {
                let null = self.store.arena.add(Node::tagged(text, Tag::Null));
                return Ok(Outcome {
                    node: Some(null),
                    keep_null: true,
                });
            }
            return Ok(Outcome::of(patch));
        }
        let Some(patch) = patch else {
            return Ok(Outcome::of(target));
        };
        if self.is_null(Some(patch)) {
            return Ok(Outcome::of(None));
        }
        Ok(Outcome::of(match self.map_directive(patch)? {
            Directive::Delete => None,
            Directive::Replace => Some(patch),
            Directive::Merge => target,
        }))
    }

    /// What a map of a patch asks for; the directive is taken out of it.
    fn map_directive(&mut self, patch: NodeId) -> Result<Directive> {
        let arena = &mut self.store.arena;
        match arena.get(patch).kind {
            Kind::Mapping => {}
            Kind::Sequence => return self.list_directive(patch),
            _ => {
                let tag = arena.get(patch).tag.short().to_owned();
                let text = crate::node::emit(arena, patch);
                return Err(fail(format!(
                    "no implemented strategic merge patch strategy for '{tag}' ('{text}')"
                )));
            }
        }
        let Some(word) = arena.field(patch, DIRECTIVE) else {
            return Ok(Directive::Merge);
        };
        let directive = Directive::of(&arena.get(word).text)?;
        arena.clear_field(patch, DIRECTIVE)?;
        Ok(directive)
    }

    /// What a list of a patch asks for: its first item with a directive and nothing else says so, and is taken out.
    pub(super) fn list_directive(&mut self, patch: NodeId) -> Result<Directive> {
        let arena = &mut self.store.arena;
        let items = &arena.get(patch).children;
        let first = items.iter().copied().find(|item| {
            let node = arena.get(*item);
            !node.is_null() && arena.field(*item, DIRECTIVE).is_some()
        });
        let Some(item) = first.filter(|item| arena.get(*item).children.len() <= 2) else {
            return Ok(Directive::Merge);
        };
        let word = arena.field_text(item, DIRECTIVE).to_owned();
        let directive = Directive::of(&word)?;
        arena.set_element(patch, None, &[DIRECTIVE], &[word])?;
        Ok(directive)
    }
}
