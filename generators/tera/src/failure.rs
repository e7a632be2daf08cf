//! Errors of Tera in the form that those of Go templates have.

use crate::{
    session::{By, Failed},
    templates::{Scope, Template, TeraCompileError, line_and_column, offset},
};
use tera::{Error, ErrorKind};
use whipstaff_gotemplate::{ExecuteError, FunctionErrorKind, format::quote};

/// What Tera puts before the places that a failed template was included from.
const CALLED_FROM: &str = "note: called from ";

/// What Tera says when its own limit of nested components is reached.
const TOO_MANY_COMPONENTS: &str = "Maximum render recursion depth for components exceeded.";

/// Longest piece of a source that an error quotes.
const MAX_QUOTED_BYTES: usize = 120;

/// A place in a template, and what stands there.
#[derive(Debug)]
pub(crate) struct Snippet<'t> {
    name: &'t str,
    line: usize,
    column: usize,
    text: String,
}

impl<'t> Snippet<'t> {
    /// A piece of a template as it was written.
    pub(crate) fn at(template: &'t Template, start: usize, end: usize) -> Self {
        let (line, column) = line_and_column(&template.text, start);
        let written = template.text.get(start..end.max(start)).unwrap_or_default();
        let mut text = written.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.len() > MAX_QUOTED_BYTES {
            let mut length = MAX_QUOTED_BYTES;
            while !text.is_char_boundary(length) {
                length -= 1;
            }
            text.truncate(length);
            text.push_str("...");
        }
        Self {
            name: &template.name,
            line,
            column,
            text,
        }
    }

    fn frame(&self) -> String {
        let Self {
            name,
            line,
            column,
            text,
        } = self;
        let quoted = String::from_utf8_lossy(&quote(name.as_bytes())).into_owned();
        format!("template: {name}:{line}:{column}: executing {quoted} at <{text}>: ")
    }

    /// A failure at this place.
    pub(crate) fn error(&self, kind: FunctionErrorKind, message: &str) -> ExecuteError {
        ExecuteError {
            text: self.frame() + message,
            kind,
            raised: None,
            name: self.name.to_owned(),
            line: self.line,
            column: self.column,
        }
    }
}

/// What Tera refuses to compile.
pub(crate) fn compile_error(error: &Error, templates: &[Template]) -> TeraCompileError {
    let find = |name: &str| templates.iter().find(|template| template.name == name);
    let placed = |template: &Template, at: usize, message: &str| {
        let (line, column) = line_and_column(&template.text, template.origins.original(at));
        TeraCompileError {
            name: template.name.clone(),
            line,
            column: column + 1,
            message: message.to_owned(),
        }
    };
    let message = error.to_string();
    match error.kind() {
        ErrorKind::SyntaxError(report) | ErrorKind::RenderingError(report) => {
            if let Some(template) = find(report.filename()) {
                return placed(template, report.span().range.start, report.message());
            }
        }
        ErrorKind::MissingParent { current, parent } => {
            if let Some(template) = find(current) {
                let at = template.guarded.find("extends").unwrap_or(0);
                return placed(template, at, &format!("there is no template `{parent}`"));
            }
        }
        ErrorKind::CircularExtend { tpl, .. } | ErrorKind::CircularInclude { tpl, .. } => {
            if let Some(template) = find(tpl) {
                return placed(template, 0, &message);
            }
        }
        _ => {}
    }
    let (told, place) = told(&message, templates);
    if let Some((template, at)) = place {
        return placed(template, at, told);
    }
    // What is left names templates in its text: the first of them is where it is wrong.
    let named = templates
        .iter()
        .filter_map(|template| Some((message.find(&template.name)?, template)));
    match named.min_by_key(|(at, _)| *at) {
        Some((_, template)) => placed(template, 0, told),
        None => TeraCompileError {
            name: templates
                .first()
                .map(|t| t.name.clone())
                .unwrap_or_default(),
            line: 1,
            column: 1,
            message: told.to_owned(),
        },
    }
}

/// What a message says and where. Unknown names are told as a text: `error: message`, ` --> name:line:column`, and the line itself.
fn told<'m, 't>(
    message: &'m str,
    templates: &'t [Template],
) -> (&'m str, Option<(&'t Template, usize)>) {
    let first = message.split("\n\n").next().unwrap_or_default();
    let mut lines = first.lines();
    let told = lines.next().and_then(|line| line.strip_prefix("error: "));
    let place = lines
        .next()
        .and_then(|line| line.trim_start().strip_prefix("--> "))
        .and_then(|place| compiled_place(place, templates));
    (told.unwrap_or(first), place)
}

/// The place in a compiled text that `name:line:column` tells, with both counted from one and columns in characters.
fn compiled_place<'t>(place: &str, templates: &'t [Template]) -> Option<(&'t Template, usize)> {
    let (rest, column) = place.rsplit_once(':')?;
    let (name, line) = rest.rsplit_once(':')?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let template = templates.iter().find(|template| template.name == name)?;
    let at = offset(&template.guarded, line, column.checked_sub(1)?);
    Some((template, at))
}

/// A rendering that failed.
pub(crate) fn execute_error(
    error: &Error,
    rendered: &Template,
    scope: &Scope,
    entered: (usize, usize),
    failure: Option<Failed>,
) -> ExecuteError {
    let templates = &scope.templates;
    let last_entered = || match templates.get(entered.0) {
        Some(template) => Snippet::at(template, entered.1, entered.1),
        None => Snippet::at(rendered, 0, 0),
    };
    let report = match error.kind() {
        ErrorKind::RenderingError(report) => Some(report),
        _ => None,
    };
    let by = failure.as_ref().map(|failed| failed.by);
    let reported = report.and_then(|report| {
        let template = templates.iter().find(|t| t.name == report.filename())?;
        let span = &report.span().range;
        let start = template.origins.original(span.start);
        let end = match by {
            Some(By::Undefined) => path_end(&template.text, start),
            _ => template.origins.original(span.end),
        };
        Some(Snippet::at(template, start, end))
    });
    let place = match (by, reported) {
        (Some(By::Entering), _) | (_, None) => last_entered(),
        (_, Some(reported)) => reported,
    };
    let (message, kind) = match &failure {
        Some(failed) => (failed.message(&place), failed.error.kind),
        None => own_message(error),
    };
    let mut text = place.frame() + &message;
    let mut outermost = place;
    for caller in callers(error, templates) {
        let what = if caller.text.starts_with('<') {
            "component"
        } else {
            "include"
        };
        text = format!("{}error calling {what}: {text}", caller.frame());
        outermost = caller;
    }
    let raised = failure
        .filter(|failed| failed.error.kind == FunctionErrorKind::Raised)
        .map(|failed| failed.error.message);
    ExecuteError {
        text,
        kind,
        raised,
        name: outermost.name.to_owned(),
        line: outermost.line,
        column: outermost.column,
    }
}

/// The places that led to an error that has a report, the innermost first.
fn callers<'t>(error: &Error, templates: &'t [Template]) -> Vec<Snippet<'t>> {
    if !matches!(error.kind(), ErrorKind::RenderingError(_)) {
        return Vec::new();
    }
    let report = error.to_string();
    report
        .lines()
        .filter_map(|line| line.strip_prefix(CALLED_FROM))
        .filter_map(|caller| compiled_place(caller, templates))
        .map(|(template, at)| caller_at(template, at))
        .collect()
}

/// Where a path such as `a.b.c` ends; Tera tells only its first part.
fn path_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '?');
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    start + length
}

/// What stands at a place where another template or a component is called: the rest of the tag.
fn caller_at(template: &Template, at: usize) -> Snippet<'_> {
    let start = template.origins.original(at);
    let rest = template.text.get(start..).unwrap_or_default();
    let ends = ["-%}", "%}", "-}}", "}}", "\n"];
    let length = ends.iter().filter_map(|end| rest.find(end)).min();
    Snippet::at(template, start, start + length.unwrap_or(rest.len()))
}

fn own_message(error: &Error) -> (String, FunctionErrorKind) {
    match error.kind() {
        ErrorKind::RenderingError(report) => {
            (report.message().to_owned(), FunctionErrorKind::Error)
        }
        ErrorKind::Msg(message) if message == TOO_MANY_COMPONENTS => (
            "components are nested deeper than 20 calls".to_owned(),
            FunctionErrorKind::Limit,
        ),
        _ => (error.to_string(), FunctionErrorKind::Error),
    }
}

impl Failed {
    fn message(&self, place: &Snippet<'_>) -> String {
        let message = &self.error.message;
        match self.by {
            By::Function(name) => format!("error calling {name}: {message}"),
            By::Guard | By::Entering => message.clone(),
            By::Undefined => format!("`{}` is not defined", place.text),
        }
    }
}
