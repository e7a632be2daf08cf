//! Compiled template sets, kept from rendering to rendering.

use crate::context::Renderable;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};
use whipstaff_gotemplate::{FunctionTable, ParseError, TemplateSet};
use whipstaff_tera::{SUFFIX, TeraCompileError, TeraSource, TeraTemplates};

/// Most template sets that are kept. Which subcharts are enabled decides which templates there are, so that a chart usually needs
/// one set and rarely a few.
const MAX_KEPT_SETS: usize = 4;

/// A template that does not parse, with Helm's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parse error at ({name}:{line}{}): {message}", column.map(|column| format!(":{column}")).unwrap_or_default())]
pub struct CompileError {
    /// The template's name.
    pub name: String,
    /// Line, from one.
    pub line: usize,
    /// Column in bytes, from one. Go does not tell it of its templates; Tera does.
    pub column: Option<usize>,
    /// What is wrong, without the chain of causes before it.
    pub message: String,
}

impl From<ParseError> for CompileError {
    fn from(error: ParseError) -> Self {
        // Helm splits the whole text at `: ` and shows the last part.
        let message = error
            .message
            .rsplit(": ")
            .next()
            .unwrap_or_default()
            .to_owned();
        Self {
            name: error.name,
            line: error.line,
            column: None,
            message,
        }
    }
}

impl From<TeraCompileError> for CompileError {
    fn from(error: TeraCompileError) -> Self {
        Self {
            name: error.name,
            line: error.line,
            column: Some(error.column),
            message: error.message,
        }
    }
}

/// Compiles templates and keeps what it compiled.
pub(crate) struct Compiler {
    functions: Arc<FunctionTable>,
    kept: Mutex<Vec<(SetKey, Arc<TemplateSet>)>>,
}

/// Names of templates and the places of their texts, which live as long as the chart does.
type SetKey = Vec<(String, usize)>;

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiler").finish_non_exhaustive()
    }
}

impl Compiler {
    /// A compiler for templates that may call these functions.
    pub(crate) fn new(functions: FunctionTable) -> Self {
        Self {
            functions: Arc::new(functions),
            kept: Mutex::new(Vec::new()),
        }
    }

    /// The set of these templates.
    ///
    /// # Errors
    /// [`CompileError`] for the first template that does not parse, in Helm's order.
    pub(crate) fn compile(
        &self,
        templates: &BTreeMap<String, Renderable>,
    ) -> Result<Arc<TemplateSet>, CompileError> {
        let key: SetKey = templates
            .iter()
            .map(|(name, template)| (name.clone(), template.source.as_ptr() as usize))
            .collect();
        if let Some(set) = self.find(&key) {
            return Ok(set);
        }
        let mut set = TemplateSet::new(Arc::clone(&self.functions));
        let mut tera = Vec::new();
        for name in render_order(templates.keys()) {
            let template = &templates[name];
            if name.ends_with(SUFFIX) {
                // The charts of a tree do not know of each other's components.
                tera.push(TeraSource {
                    name,
                    scope: &template.base_path,
                    text: &template.source,
                });
            } else {
                set.parse(name, Arc::clone(&template.source))?;
            }
        }
        if !tera.is_empty() {
            let templates = TeraTemplates::compile(&tera, &self.functions)?;
            set.set_foreign(Arc::new(templates));
        }
        let set = Arc::new(set);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT_SETS {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(&set)));
        Ok(set)
    }

    fn find(&self, key: &SetKey) -> Option<Arc<TemplateSet>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .find(|(known, _)| known == key)
            .map(|(_, set)| Arc::clone(set))
    }
}

/// The order in which Helm parses and executes: deepest paths first, and within a depth the last name first.
pub(crate) fn render_order<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut names: Vec<(usize, &String)> = names
        .map(|name| (name.bytes().filter(|byte| *byte == b'/').count(), name))
        .collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deepest_paths_come_first_and_names_in_reverse() {
        let names = ["a/t/x", "a/t/y", "a/charts/b/t/x", "a/t/z/q"].map(String::from);
        assert_eq!(
            render_order(names.iter()),
            ["a/charts/b/t/x", "a/t/z/q", "a/t/y", "a/t/x"]
        );
    }

    #[test]
    fn parse_errors_show_the_last_part_of_their_text() {
        let error = ParseError {
            name: "c/templates/a.yaml".to_owned(),
            line: 3,
            message: "function \"x\" not defined".to_owned(),
        };
        assert_eq!(
            CompileError::from(error).to_string(),
            "parse error at (c/templates/a.yaml:3): function \"x\" not defined"
        );
    }
}
