//! What all templates of a rendering share; functions see it as [`Runtime`].

use super::{
    budget::Budget,
    evaluated::Evaluated,
    failure::{ExecuteError, Outcome},
    frame::Frame,
    set::{TemplateSet, Trees},
};
use crate::{
    Bytes, Environment, FunctionError, FunctionErrorKind, Options, ParseError, Runtime, Value,
    format::quote,
    grow_stack,
    parse::{Names, Tree, parse},
};
use std::{collections::HashMap, sync::Arc};

/// Name of the set's root template in Helm, under which `tpl` texts are parsed.
const ROOT_NAME: &str = "gotpl";

/// How often a template may include itself, directly or not, in Helm.
const MAX_INCLUDES: u32 = 1_000;

/// Parsed `tpl` texts that are kept.
const MAX_CACHED_TEXTS: usize = 4_096;

/// What Helm takes out of each output.
const NO_VALUE: &[u8] = b"<no value>";

#[derive(Debug)]
pub(super) struct Core<'a> {
    set: &'a TemplateSet,
    environment: &'a mut dyn Environment,
    pub(super) options: Options,
    pub(super) budget: Budget,
    /// Variables of all templates that are being executed, innermost last.
    pub(super) variables: Vec<Option<Evaluated>>,
    /// The bare message of the `fail` or `required` that is on its way out.
    pub(super) raised: Option<String>,
    /// How often each template is being included.
    includes: HashMap<Bytes, u32>,
    /// Definitions of the `tpl` texts that are being executed, innermost last.
    overlays: Vec<Arc<Trees>>,
    texts: HashMap<Bytes, Result<Arc<Trees>, ParseError>>,
    /// Those of `tpl` texts.
    names: Names,
}

impl<'a> Core<'a> {
    pub(super) fn new(
        set: &'a TemplateSet,
        environment: &'a mut dyn Environment,
        options: Options,
    ) -> Self {
        Self {
            set,
            environment,
            options,
            budget: Budget::new(options.limits),
            variables: Vec::new(),
            raised: None,
            includes: HashMap::new(),
            overlays: Vec::new(),
            texts: HashMap::new(),
            names: Names::default(),
        }
    }

    pub(super) fn render(&mut self, name: &str, dot: &Value) -> Result<Vec<u8>, ExecuteError> {
        self.raised = None;
        let Some(tree) = self.find(name) else {
            if let Some(foreign) = self.set.foreign(name) {
                return foreign.render(name, dot, self).map_err(|error| {
                    self.forget();
                    let raised = self.raised.take().or(error.raised);
                    ExecuteError { raised, ..error }
                });
            }
            let text = no_template(name);
            let kind = FunctionErrorKind::Error;
            let name = name.to_owned();
            return Err(ExecuteError {
                text,
                kind,
                raised: None,
                name,
                line: 0,
                column: 0,
            });
        };
        self.execute(&tree, dot).map_err(|failure| {
            self.forget();
            ExecuteError {
                raised: self.raised.take(),
                ..failure.into_error()
            }
        })
    }

    /// Drops what a failed execution left behind.
    fn forget(&mut self) {
        self.variables.clear();
        self.overlays.clear();
        self.includes.clear();
    }

    /// The template of a name: an empty definition never hides another, and of several the innermost counts.
    pub(super) fn find(&self, name: &str) -> Option<Arc<Tree>> {
        let overlays = self.overlays.iter().rev().map(|trees| trees.get(name));
        let mut last = None;
        for tree in overlays.chain([self.set.get(name)]).flatten() {
            last = Some(tree);
            if !tree.is_empty {
                break;
            }
        }
        last.cloned()
    }

    fn execute(&mut self, tree: &Tree, dot: &Value) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        grow_stack(|| Frame::run(self, tree, &mut out, &Evaluated::concrete(dot.clone())))?;
        Ok(out)
    }

    /// Executes one template call deeper.
    fn execute_nested(&mut self, tree: &Tree, dot: &Value) -> Result<Vec<u8>, FunctionError> {
        let depth = self.budget.enter()?;
        let result = self.execute(tree, dot);
        self.budget.leave(depth);
        Ok(result?)
    }

    pub(super) fn has_foreign(&self, name: &str) -> bool {
        self.set.foreign(name).is_some()
    }

    /// Renders another engine's template one call deeper, if it has one of this name.
    pub(super) fn execute_foreign(
        &mut self,
        name: &str,
        dot: &Value,
    ) -> Option<Result<Vec<u8>, FunctionError>> {
        let foreign = self.set.foreign(name)?;
        let depth = match self.budget.enter() {
            Ok(depth) => depth,
            Err(error) => return Some(Err(error)),
        };
        let result = foreign.render(name, dot, self);
        self.budget.leave(depth);
        Some(result.map_err(|error| {
            if self.raised.is_none() {
                self.raised.clone_from(&error.raised);
            }
            FunctionError {
                message: error.text,
                kind: error.kind,
            }
        }))
    }

    fn parse_text(&mut self, source: &Bytes) -> Result<Arc<Trees>, ParseError> {
        if let Some(known) = self.texts.get(source) {
            return known.clone();
        }
        let (functions, delimiters) = (self.set.functions(), self.set.delimiters());
        let text: Arc<[u8]> = (**source).into();
        let parsed = parse(ROOT_NAME, &text, functions, delimiters, &mut self.names);
        let parsed = parsed.map(Arc::new);
        if self.texts.len() < MAX_CACHED_TEXTS {
            self.texts.insert(source.clone(), parsed.clone());
        }
        parsed
    }
}

impl Runtime for Core<'_> {
    fn include(&mut self, name: &Bytes, data: &Value) -> Result<Bytes, FunctionError> {
        let count = self.includes.entry(name.clone()).or_insert(0);
        if *count > MAX_INCLUDES {
            return Err(FunctionError::new(format!(
                "rendering template has a nested reference name: {name}: unable to execute template"
            )));
        }
        *count += 1;
        let text = name.to_text();
        let result = match self.find(&text) {
            Some(tree) => self.execute_nested(&tree, data),
            None => self
                .execute_foreign(&text, data)
                .unwrap_or_else(|| Err(FunctionError::new(no_template(&text)))),
        };
        if let Some(count) = self.includes.get_mut(name) {
            *count -= 1;
        }
        result.map(Bytes::from)
    }

    fn tpl(&mut self, source: &Bytes, data: &Value) -> Result<Bytes, FunctionError> {
        self.charge(source.len())?;
        let trees = self.parse_text(source).map_err(|error| {
            FunctionError::new(format!("cannot parse template {}: {error}", quoted(source)))
        })?;
        let Some(tree) = trees.get(ROOT_NAME).cloned() else {
            return Ok(Bytes::default());
        };
        self.overlays.push(trees);
        let result = self.execute_nested(&tree, data);
        self.overlays.pop();
        match result {
            Ok(out) => Ok(without_no_value(out).into()),
            Err(error) => {
                let shown = quoted(source);
                let message = format!(
                    "error during tpl function execution for {shown}: {}",
                    error.message
                );
                Err(FunctionError {
                    message,
                    kind: error.kind,
                })
            }
        }
    }

    fn step(&mut self, count: u64) -> Result<(), FunctionError> {
        self.budget.steps(count)
    }

    fn environment(&mut self) -> &mut dyn Environment {
        self.environment
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn charge(&mut self, bytes: usize) -> Result<(), FunctionError> {
        self.budget.charge(bytes)
    }
}

fn no_template(name: &str) -> String {
    let (name, root) = (quoted(name.as_bytes()), quoted(ROOT_NAME.as_bytes()));
    format!("template: no template {name} associated with template {root}")
}

pub(super) fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(&quote(text)).into_owned()
}

/// Takes every `<no value>` out of an output: Helm cannot tell those that the engine wrote from others.
pub fn without_no_value(out: Vec<u8>) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut rest = out.as_slice();
    while let Some(offset) = memchr::memmem::find(rest, NO_VALUE) {
        kept.extend_from_slice(&rest[..offset]);
        rest = &rest[offset + NO_VALUE.len()..];
    }
    if kept.is_empty() && rest.len() == out.len() {
        return out;
    }
    kept.extend_from_slice(rest);
    kept
}
