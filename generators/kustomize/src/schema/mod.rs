//! What is known about types: which lists are merged by which keys, and which types have no namespace.
//!
//! Mirrors `openapi/openapi.go` of kyaml v0.21.1, whose schema is that of Kubernetes v1.21.2 unless a kustomization names another.

mod builtin;
mod swagger;

use crate::error::{Result, fail};
use std::cell::Cell;
use std::collections::HashMap;

/// A schema of a type or of a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaId {
    source: Source,
    index: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Builtin,
    Custom,
}

/// What a schema says, as far as it matters for merging.
#[derive(Debug, Default)]
struct Schema {
    fields: HashMap<String, usize>,
    /// Of the fields that have no schema of their own.
    values: Option<usize>,
    items: Option<usize>,
    is_array: bool,
    /// The strategy for patches: several words with commas between them.
    strategy: String,
    keys: Vec<String>,
    /// The definition that stands for this schema.
    reference: Option<String>,
}

/// The schemas of one document.
#[derive(Debug, Default)]
struct Schemas {
    all: Vec<Schema>,
    definitions: HashMap<String, usize>,
    /// By apiVersion and kind.
    types: HashMap<(String, String), usize>,
    /// Whether objects of the type have a namespace.
    scopes: HashMap<(String, String), bool>,
}

impl Schemas {
    /// The schema that a reference leads to, or the one itself; or the name of a definition that is not here.
    fn resolve(&self, mut index: usize) -> std::result::Result<usize, &str> {
        // A reference that leads in a circle leads nowhere.
        for _ in 0..self.all.len().max(1) {
            match self
                .all
                .get(index)
                .map(|schema| schema.reference.as_deref())
            {
                Some(None) => return Ok(index),
                Some(Some(name)) => index = *self.definitions.get(name).ok_or(name)?,
                None => break,
            }
        }
        Err("")
    }
}

/// The schemas that a build goes by.
#[derive(Debug, Default)]
pub(crate) struct Types {
    custom: Option<Schemas>,
    /// Whether `openapi.version` was set.
    has_version: bool,
    /// Whether the built-in schema was in use before a custom one came.
    used_builtin: Cell<bool>,
    /// Whether a type was asked for that only a schema can know.
    asked_scope: Cell<bool>,
    /// Whether the built-in schema stays in use beside the custom one.
    keeps_builtin: bool,
}

impl Types {
    /// Sets the schema that a kustomization names; one that is set already stays, but for the top kustomization.
    ///
    /// # Errors
    /// When both a version and a document are given, the version is unknown, or the document cannot be read.
    pub(crate) fn set(
        &mut self,
        version: Option<&str>,
        document: Option<&str>,
        is_top: bool,
    ) -> Result<()> {
        if (self.has_version || self.custom.is_some()) && !is_top {
            return Ok(());
        }
        if let Some(document) = document {
            if version.is_some() {
                return Err(fail(
                    "builtin version and custom schema provided, cannot use both",
                ));
            }
            self.keeps_builtin = self.used_builtin.get() || self.asked_scope.get();
            self.custom = Some(swagger::read(document)?);
            return Ok(());
        }
        match version {
            None | Some("") => Ok(()),
            Some(builtin::VERSION) => {
                self.has_version = true;
                Ok(())
            }
            Some(_) => Err(fail("the specified OpenAPI version is not built in")),
        }
    }

    fn source(&self, source: Source) -> Option<&Schemas> {
        match source {
            Source::Builtin => Some(builtin::schemas()),
            Source::Custom => self.custom.as_ref(),
        }
    }

    fn schema(&self, id: SchemaId) -> Option<&Schema> {
        self.source(id.source)?.all.get(id.index)
    }

    /// The schema of a type.
    pub(crate) fn of_type(&self, api_version: &str, kind: &str) -> Option<SchemaId> {
        let key = (api_version.to_owned(), kind.to_owned());
        let custom = self
            .custom
            .as_ref()
            .and_then(|custom| custom.types.get(&key));
        if let Some(&index) = custom {
            return Some(SchemaId {
                source: Source::Custom,
                index,
            });
        }
        if self.custom.is_some() && !self.keeps_builtin {
            return None;
        }
        self.used_builtin.set(true);
        builtin::schemas().types.get(&key).map(|&index| SchemaId {
            source: Source::Builtin,
            index,
        })
    }

    fn follow(&self, source: Source, index: usize) -> Option<SchemaId> {
        match self.source(source)?.resolve(index) {
            Ok(index) => Some(SchemaId { source, index }),
            Err(name) if source == Source::Custom && self.keeps_builtin => {
                let builtin = builtin::schemas();
                let index = builtin.resolve(*builtin.definitions.get(name)?).ok()?;
                Some(SchemaId {
                    source: Source::Builtin,
                    index,
                })
            }
            Err(_) => None,
        }
    }

    /// The schema of a field.
    pub(crate) fn field(&self, id: SchemaId, name: &str) -> Option<SchemaId> {
        let schema = self.schema(id)?;
        let index = schema.fields.get(name).copied().or(schema.values)?;
        self.follow(id.source, index)
    }

    /// The schema of the items of a list.
    pub(crate) fn items(&self, id: SchemaId) -> Option<SchemaId> {
        let schema = self.schema(id).filter(|schema| schema.is_array)?;
        self.follow(id.source, schema.items?)
    }

    /// Whether a list is merged, and not replaced.
    pub(crate) fn is_merged(&self, id: SchemaId) -> bool {
        self.schema(id)
            .is_some_and(|schema| schema.strategy.split(',').any(|word| word == "merge"))
    }

    /// The fields that tell the items of a merged list apart.
    pub(crate) fn merge_keys(&self, id: SchemaId) -> &[String] {
        self.schema(id).map_or(&[], |schema| schema.keys.as_slice())
    }

    /// Whether objects of a type have no namespace, for sure.
    pub(crate) fn is_cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        if let Some(namespaced) = builtin::is_namespaced(api_version, kind) {
            return !namespaced;
        }
        let Some(custom) = &self.custom else {
            self.asked_scope.set(true);
            return false;
        };
        let key = (api_version.to_owned(), kind.to_owned());
        custom.scopes.get(&key) == Some(&false)
    }
}
