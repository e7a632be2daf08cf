//! Compiled Tera templates.

use crate::{
    edit::Origins,
    failure::{Snippet, compile_error, execute_error},
    functions::{engine, has_namesake},
    guard::{GuardError, Surroundings, guard},
    session::{STACK_BYTES, Session},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};
use tera::{Context, Tera};
use whipstaff_gotemplate::{
    ExecuteError, ForeignTemplates, FunctionErrorKind, FunctionTable, Runtime, Value, with_stack,
};

/// The suffix of files that are Tera templates.
pub const SUFFIX: &str = ".tera";

/// The variable that holds everything a template is rendered with: Go's dot.
pub const DOT: &str = "dot";

/// A Tera template to be compiled.
#[derive(Debug, Clone, Copy)]
pub struct TeraSource<'s> {
    /// Name, which is a path with slashes.
    pub name: &'s str,
    /// Templates see the components of their own scope only, and include and extend templates of it: a scope is a chart, or a folder.
    pub scope: &'s str,
    /// The text.
    pub text: &'s [u8],
}

/// A template that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}:{column}: {message}")]
pub struct TeraCompileError {
    /// The template's name.
    pub name: String,
    /// Line, from one.
    pub line: usize,
    /// Column in bytes, from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Compiled Tera templates by name. They hold no values: rendering takes them.
///
/// They are [`ForeignTemplates`], so that a set of Go templates can include them. A name is a template's whole name, or the end of it
/// after a slash; of several such templates the one with the shortest name is meant. `name#part` renders a block or a component of the
/// template; a component takes the data's entries as its arguments.
#[derive(Debug, Default)]
pub struct TeraTemplates {
    scopes: Vec<Scope>,
    /// Whole names: number of the scope, and of the template in it.
    names: BTreeMap<String, (usize, usize)>,
}

/// Templates that see each other.
pub(crate) struct Scope {
    tera: Tera,
    pub(crate) templates: Vec<Template>,
    /// Every identifier in any of them: what none of them names need not be converted.
    identifiers: HashSet<String>,
}

/// A template as it was written and as it was compiled.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The text that Tera compiled.
    pub(crate) guarded: String,
    pub(crate) origins: Origins,
    blocks: BTreeSet<String>,
    components: BTreeSet<String>,
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.templates.iter().map(|template| &template.name))
            .finish()
    }
}

impl TeraTemplates {
    /// Compiles templates that may call a table's functions.
    ///
    /// # Errors
    /// [`TeraCompileError`] for the first template, by scope and name, that is not Tera or names what there is not.
    pub fn compile(
        sources: &[TeraSource<'_>],
        functions: &FunctionTable,
    ) -> Result<Self, TeraCompileError> {
        let mut compiled = Self::default();
        if sources.is_empty() {
            return Ok(compiled);
        }
        let engine = engine(functions);
        let mut scopes: BTreeMap<&str, Vec<&TeraSource<'_>>> = BTreeMap::new();
        for source in sources {
            scopes.entry(source.scope).or_default().push(source);
        }
        for mut sources in scopes.into_values() {
            sources.sort_by_key(|source| source.name);
            let scope = with_stack(STACK_BYTES, || {
                Scope::compile(&sources, engine.clone(), functions)
            })?;
            let number = compiled.scopes.len();
            for (index, template) in scope.templates.iter().enumerate() {
                compiled
                    .names
                    .insert(template.name.clone(), (number, index));
            }
            compiled.scopes.push(scope);
        }
        Ok(compiled)
    }

    /// Whether there are no templates.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Names of all templates, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The template of a name, and the part of it that is asked for.
    fn find<'n>(&self, name: &'n str) -> Option<(&Scope, &Template, Option<&'n str>)> {
        let (file, part) = match name.split_once('#') {
            Some((file, part)) => (file, Some(part)),
            None => (name, None),
        };
        let is_end = |whole: &str| {
            whole
                .strip_suffix(file)
                .is_some_and(|before| before.ends_with('/'))
        };
        let place = self.names.get(file).or_else(|| {
            let ends = self.names.iter().filter(|(whole, _)| is_end(whole));
            let nearest = ends.min_by_key(|(whole, _)| whole.matches('/').count());
            nearest.map(|(_, place)| place)
        });
        let (scope, template) = *place?;
        let scope = self.scopes.get(scope)?;
        let template = scope.templates.get(template)?;
        let has_part =
            |part: &str| template.blocks.contains(part) || template.components.contains(part);
        part.is_none_or(has_part).then_some((scope, template, part))
    }
}

impl ForeignTemplates for TeraTemplates {
    fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn render(
        &self,
        name: &str,
        data: &Value,
        runtime: &mut dyn Runtime,
    ) -> Result<Vec<u8>, ExecuteError> {
        match self.find(name) {
            Some((scope, template, part)) => scope.render(template, part, data, runtime),
            None => Err(ExecuteError {
                text: format!("template: no Tera template {name}"),
                kind: FunctionErrorKind::Error,
                raised: None,
                name: name.to_owned(),
                line: 0,
                column: 0,
            }),
        }
    }
}

impl Scope {
    fn compile(
        sources: &[&TeraSource<'_>],
        mut tera: Tera,
        functions: &FunctionTable,
    ) -> Result<Self, TeraCompileError> {
        let names: BTreeSet<&str> = sources.iter().map(|source| source.name).collect();
        let mut templates = Vec::with_capacity(sources.len());
        let mut identifiers = HashSet::new();
        for (number, source) in sources.iter().enumerate() {
            let text = read(source)?;
            let surroundings = Surroundings {
                template: number,
                has_namesake: &|name| has_namesake(functions, name),
                resolve: &|name| resolve(source.name, name, &names),
            };
            let guarded = guard(&text, &surroundings)
                .map_err(|GuardError { at, message }| error_at(source.name, &text, at, message))?;
            identifiers.extend(guarded.identifiers);
            templates.push(Template {
                name: source.name.to_owned(),
                text,
                guarded: guarded.source,
                origins: guarded.origins,
                blocks: guarded.blocks,
                components: guarded.components,
            });
        }
        let guarded = templates
            .iter()
            .map(|template| (&template.name, &template.guarded));
        caught(|| tera.add_raw_templates(guarded))
            .map_err(|error| compile_error(&error, &templates))?;
        Ok(Self {
            tera,
            templates,
            identifiers,
        })
    }

    fn render(
        &self,
        template: &Template,
        part: Option<&str>,
        data: &Value,
        runtime: &mut dyn Runtime,
    ) -> Result<Vec<u8>, ExecuteError> {
        let mut session = Session::new(runtime, data.clone());
        let number = self.templates.iter().position(|t| t.name == template.name);
        session.entered.0 = number.unwrap_or(0);
        let mut out = Vec::new();
        let result = self
            .context(
                part.is_some_and(|part| template.components.contains(part)),
                data,
                &mut session,
            )
            .and_then(|context| {
                session.run(|| {
                    caught(|| match part {
                        None => self.tera.render_to(&template.name, &context, &mut out),
                        Some(part) if template.blocks.contains(part) => {
                            self.tera
                                .render_block_to(&template.name, part, &context, &mut out)
                        }
                        Some(part) => self
                            .tera
                            .render_component_to(part, &context, None, false, &mut out),
                    })
                })
            });
        match result {
            Ok(Ok(())) => Ok(out),
            Ok(Err(error)) => {
                let Session {
                    entered, failure, ..
                } = session;
                Err(execute_error(&error, template, self, entered, failure))
            }
            Err(error) => Err(Snippet::at(template, 0, 0).error(error.kind, &error.message)),
        }
    }

    /// The variables of a rendering. A component takes the data's entries and nothing else.
    fn context(
        &self,
        is_component: bool,
        data: &Value,
        session: &mut Session<'_>,
    ) -> Result<Context, whipstaff_gotemplate::FunctionError> {
        let mut context = Context::new();
        let runtime = &mut *session.runtime;
        let Value::Map(map) = data else {
            if !is_component {
                let dot = session.exchange.give(data, runtime)?;
                context.insert_value(DOT, dot);
            }
            return Ok(context);
        };
        let wants_all = is_component || self.identifiers.contains(DOT);
        let mut dot = indexmap::IndexMap::new();
        for (key, value) in map.entries() {
            let key = key.to_text().into_owned();
            if !wants_all && !self.identifiers.contains(&key) {
                continue;
            }
            let value = session.exchange.give(&value, runtime)?;
            dot.insert(tera::value::Key::from(key.clone()), value.clone());
            context.insert_value(key, value);
        }
        if !is_component && !context.contains_key(DOT) {
            let dot = tera::Value::from(dot);
            session.exchange.stands_for(&dot, data);
            context.insert_value(DOT, dot);
        }
        Ok(context)
    }
}

/// A source as text that Tera can parse. Tera sees it without guards first, so that its errors quote what was written.
fn read(source: &TeraSource<'_>) -> Result<String, TeraCompileError> {
    let text = match std::str::from_utf8(source.text) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let text = String::from_utf8_lossy(source.text);
            let message = "this is not UTF-8".to_owned();
            return Err(error_at(source.name, &text, error.valid_up_to(), message));
        }
    };
    let parsed = caught(|| Tera::new().add_raw_template(source.name, &text));
    if let Err(error) = parsed
        && let tera::ErrorKind::SyntaxError(report) = error.kind()
    {
        // At the end of the input, only line and column are right.
        let span = report.span();
        let at = offset(&text, span.start_line, span.start_col);
        return Err(error_at(
            source.name,
            &text,
            at,
            report.message().to_owned(),
        ));
    }
    Ok(text)
}

fn error_at(name: &str, text: &str, at: usize, message: String) -> TeraCompileError {
    let (line, column) = line_and_column(text, at);
    TeraCompileError {
        name: name.to_owned(),
        line,
        column: column + 1,
        message,
    }
}

/// The line, from one, and the column in bytes, from zero, of a place in a text.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line_start = before.iter().rposition(|byte| *byte == b'\n');
    let line_start = line_start.map_or(0, |newline| newline + 1);
    let lines = before.split(|byte| *byte == b'\n').count();
    (lines, before.len() - line_start)
}

/// The place in a text of a line, from one, and a column in characters, from zero.
pub(crate) fn offset(text: &str, line: usize, column: usize) -> usize {
    let mut lines = text.split_inclusive('\n');
    let above = lines.by_ref().take(line.saturating_sub(1));
    let above: usize = above.map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let inside = line.char_indices().nth(column);
    above + inside.map_or(line.len(), |(at, _)| at)
}

/// The template that another one names: by its whole name, or by a path from its folder or one above it.
fn resolve(from: &str, name: &str, names: &BTreeSet<&str>) -> Option<String> {
    if names.contains(name) {
        return Some(name.to_owned());
    }
    let mut folder = from;
    while let Some((above, _)) = folder.rsplit_once('/') {
        let candidate = format!("{above}/{name}");
        if names.contains(candidate.as_str()) {
            return Some(candidate);
        }
        folder = above;
    }
    None
}

/// Runs Tera; a panic inside of it is an error like others.
fn caught<T>(step: impl FnOnce() -> tera::TeraResult<T>) -> tera::TeraResult<T> {
    catch_unwind(AssertUnwindSafe(step))
        .unwrap_or_else(|_| Err(tera::Error::message("Tera failed on this template")))
}
