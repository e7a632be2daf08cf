//! Named templates.

use super::failure::ExecuteError;
use crate::{
    Delimiters, FunctionTable, ParseError, Runtime, Value,
    parse::{Names, Tree, parse},
};
use foldhash::{HashMap, HashMapExt as _};
use std::{fmt, sync::Arc};

/// Templates of one text, or of several.
pub(super) type Trees = HashMap<Arc<str>, Arc<Tree>>;

/// Compiled templates by name. Sending it to another thread and sharing it are fine: it holds no values.
#[derive(Debug, Clone)]
pub struct TemplateSet {
    functions: Arc<FunctionTable>,
    delimiters: Delimiters,
    trees: Trees,
    /// Those of all its texts, most of which have the same.
    names: Names,
    foreign: Option<Arc<dyn ForeignTemplates>>,
}

/// Templates of another engine, which Go templates include by name as if they were their own.
pub trait ForeignTemplates: fmt::Debug + Send + Sync {
    /// Whether there is a template of this name.
    fn contains(&self, name: &str) -> bool;

    /// Renders a template. The rendering that it is a part of gives functions, environment and budgets.
    ///
    /// # Errors
    /// [`ExecuteError`] with a text in Go's form: `template: name:line:column: executing "name" at <node>: message`.
    fn render(
        &self,
        name: &str,
        data: &Value,
        runtime: &mut dyn Runtime,
    ) -> Result<Vec<u8>, ExecuteError>;
}

impl TemplateSet {
    /// A set without templates, whose templates may call these functions.
    pub fn new(functions: Arc<FunctionTable>) -> Self {
        Self {
            functions,
            delimiters: Delimiters::default(),
            trees: Trees::new(),
            names: Names::default(),
            foreign: None,
        }
    }

    /// Adds another engine's templates, for names that no template of this set has.
    pub fn set_foreign(&mut self, templates: Arc<dyn ForeignTemplates>) {
        self.foreign = Some(templates);
    }

    /// The same set, whose texts from here on, those given to `tpl` too, have actions between these delimiters.
    #[must_use]
    pub fn with_delimiters(self, delimiters: Delimiters) -> Self {
        Self { delimiters, ..self }
    }

    /// Parses a text under a name, and the templates that it defines. A later definition replaces an earlier one unless it is
    /// empty, as in Go. The text is kept: one that is shared already is not copied.
    ///
    /// # Errors
    /// [`ParseError`] with Go's text.
    pub fn parse(&mut self, name: &str, source: impl Into<Arc<[u8]>>) -> Result<(), ParseError> {
        let trees = parse(
            name,
            &source.into(),
            &self.functions,
            &self.delimiters,
            &mut self.names,
        )?;
        for (name, tree) in trees {
            if !tree.is_empty || !self.trees.contains_key(&name) {
                self.trees.insert(name, tree);
            }
        }
        Ok(())
    }

    /// Whether a template of this name exists.
    pub fn contains(&self, name: &str) -> bool {
        self.trees.contains_key(name)
    }

    /// Names of all templates, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.trees.keys().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names
    }

    pub(super) fn get(&self, name: &str) -> Option<&Arc<Tree>> {
        self.trees.get(name)
    }

    /// The other engine's templates, if they have this one.
    pub(super) fn foreign(&self, name: &str) -> Option<Arc<dyn ForeignTemplates>> {
        let foreign = self.foreign.as_ref()?;
        foreign.contains(name).then(|| Arc::clone(foreign))
    }

    pub(super) fn delimiters(&self) -> &Delimiters {
        &self.delimiters
    }

    pub(super) fn functions(&self) -> &FunctionTable {
        &self.functions
    }
}
