//! Objects while they are being built.

mod id;
mod metadata;
mod read;
mod set;

pub(crate) use id::{Gvk, Id};
pub(crate) use metadata::annotation;
pub(crate) use read::{check, read_objects, read_text};
pub(crate) use set::{ResourceSet, encode_base64};

use crate::error::Result;
use crate::node::{Arena, Node, NodeId, to_value};
use crate::schema::Types;
use serde_json::Value;

/// The nodes of a build and what is known about types.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) arena: Arena,
    pub(crate) types: Types,
}

/// An object.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    /// None behind a patch that deleted the object.
    root: Option<NodeId>,
    /// Names of the variables that point here.
    pub(crate) variables: Vec<String>,
    /// The place of the object in what was given to a build from outside.
    pub(crate) place: usize,
}

impl Resource {
    pub(crate) fn new(root: NodeId) -> Self {
        Self {
            root: Some(root),
            variables: Vec::new(),
            place: 0,
        }
    }

    /// The node of the object; a deleted one has none.
    pub(crate) fn node(&self) -> Option<NodeId> {
        self.root
    }

    /// The node of the object; for a deleted one, a new one that is nothing.
    pub(crate) fn root(&self, store: &mut Store) -> NodeId {
        self.root
            .unwrap_or_else(|| store.arena.add(Node::default()))
    }

    /// Marks the object as deleted.
    pub(crate) fn delete(&mut self) {
        self.root = None;
    }

    /// Whether there is nothing left of the object.
    pub(crate) fn is_empty(&self, store: &Store) -> bool {
        self.root
            .is_none_or(|root| store.arena.get(root).is_empty_value())
    }

    /// A copy that shares nothing.
    pub(crate) fn deep_copy(&self, store: &mut Store) -> Self {
        Self {
            root: self.root.map(|root| store.arena.copy(root)),
            variables: self.variables.clone(),
            place: self.place,
        }
    }

    /// The object as JSON.
    ///
    /// # Errors
    /// Where Go cannot make JSON of it.
    pub(crate) fn value(&self, store: &Store) -> Result<Value> {
        self.root
            .map_or(Ok(Value::Null), |root| to_value(&store.arena, root))
    }

    pub(crate) fn kind<'s>(&self, store: &'s Store) -> &'s str {
        self.root
            .map_or("", |root| store.arena.field_text(root, "kind"))
    }

    pub(crate) fn api_version<'s>(&self, store: &'s Store) -> &'s str {
        self.root
            .map_or("", |root| store.arena.field_text(root, "apiVersion"))
    }
}
