//! Errors of templates in Helm's words (Helm 3.22 and 4.3, `pkg/engine/engine.go`).

use whipstaff_generator::Consulted;
use whipstaff_gotemplate::{Dialect, ExecuteError, FunctionErrorKind};

/// A template that failed while it ran.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct TemplateError {
    /// Helm's text.
    pub text: String,
    /// The template's own message, when `fail` or `required` raised it.
    pub raised: Option<String>,
    /// Whether a limit was reached that Helm does not have.
    pub limit: bool,
    /// Name of the outermost template.
    pub name: String,
    /// Line in the outermost template, from one.
    pub line: usize,
    /// Column in bytes, from zero.
    pub column: usize,
    /// What was consulted before it failed.
    pub consulted: Box<Consulted>,
}

impl TemplateError {
    /// Rewrites the engine's error as a dialect's Helm does.
    pub(crate) fn new(error: ExecuteError, dialect: Dialect) -> Self {
        let text = match &error.raised {
            Some(message) => {
                let ExecuteError {
                    name, line, column, ..
                } = &error;
                let location = location(&error.text)
                    .map_or_else(|| format!("{name}:{line}:{column}"), ToOwned::to_owned);
                format!("execution error at ({location}): {message}")
            }
            None if dialect.is_v4() => multiline(&error.text).unwrap_or(error.text),
            None => error.text,
        };
        Self {
            text,
            raised: error.raised,
            limit: error.kind == FunctionErrorKind::Limit,
            name: error.name,
            line: error.line,
            column: error.column,
            consulted: Box::default(),
        }
    }

    /// Adds what was consulted before it failed.
    pub(crate) fn after_consulting(mut self, consulted: Consulted) -> Self {
        self.consulted = Box::new(consulted);
        self
    }
}

/// `name:line:column` of the outermost frame.
fn location(text: &str) -> Option<&str> {
    text.strip_prefix("template: ")?.split(": ").next()
}

/// The form that Helm 4 gives to a chain of template errors; nothing when one of the chain is not a template's.
fn multiline(text: &str) -> Option<String> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut rest = text;
    loop {
        let frame = Frame::parse(rest)?;
        let next = frame
            .message
            .strip_prefix("error calling ")
            .map(|call| call.split_once(": ").map_or("", |(_, inner)| inner));
        let shown = Frame {
            message: cut(frame.message),
            ..frame
        };
        if frames.last() != Some(&shown) {
            frames.push(shown);
        }
        match next {
            Some(inner) => rest = inner,
            None => break,
        }
    }
    let text: String = frames.iter().map(Frame::print).collect();
    Some(text.trim().to_owned())
}

/// A message up to the error that it wraps.
fn cut(message: &str) -> &str {
    message
        .find(" template:")
        .map_or(message, |end| &message[..end])
}

/// One template's part of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame<'a> {
    location: &'a str,
    executing: &'a str,
    at: &'a str,
    message: &'a str,
}

impl<'a> Frame<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Self {
                location: "",
                executing: "",
                at: "",
                message: text,
            });
        }
        if let Some((location, after)) = rest.split_once(": executing ") {
            let (executing, after) = after.strip_prefix('"')?.split_once('"')?;
            let (at, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
            return Some(Self {
                location,
                executing,
                at,
                message,
            });
        }
        let (location, message) = rest.rsplit_once(": ")?;
        Some(Self {
            location,
            executing: "",
            at: "",
            message,
        })
    }

    fn print(&self) -> String {
        let location = match self.location {
            "" => String::new(),
            location => format!("{location}\n  "),
        };
        let executing = match self.executing {
            "" => String::new(),
            executing => format!("executing \"{executing}\" at <{}>:\n    ", self.at),
        };
        let message = match self.message {
            "" => String::new(),
            message => format!("{message}\n"),
        };
        location + &executing + &message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str, raised: Option<&str>) -> ExecuteError {
        ExecuteError {
            text: text.to_owned(),
            kind: FunctionErrorKind::Error,
            raised: raised.map(ToOwned::to_owned),
            name: "c/templates/a.yaml".to_owned(),
            line: 1,
            column: 2,
        }
    }

    const CHAIN: &str = "template: c/templates/a.yaml:1:3: executing \"c/templates/a.yaml\" at <include \"x\" .>: \
                         error calling include: template: c/templates/_h.tpl:2:4: executing \"x\" at <.a.b>: nil pointer";

    #[test]
    fn helm_3_keeps_the_line_and_helm_4_breaks_it() {
        assert_eq!(
            TemplateError::new(error(CHAIN, None), Dialect::V3).text,
            CHAIN
        );
        assert_eq!(
            TemplateError::new(error(CHAIN, None), Dialect::V4_3).text,
            "c/templates/a.yaml:1:3\n  executing \"c/templates/a.yaml\" at <include \"x\" .>:\n    \
             error calling include:\nc/templates/_h.tpl:2:4\n  executing \"x\" at <.a.b>:\n    nil pointer"
        );
    }

    #[test]
    fn a_chain_that_ends_outside_of_templates_is_not_broken() {
        let text = "template: a:1:3: executing \"a\" at <f>: error calling f: boom";
        assert_eq!(
            TemplateError::new(error(text, None), Dialect::V4_3).text,
            text
        );
    }

    #[test]
    fn raised_messages_stand_at_the_outermost_frame() {
        let found = TemplateError::new(error(CHAIN, Some("no: name")), Dialect::V3);
        assert_eq!(
            found.text,
            "execution error at (c/templates/a.yaml:1:3): no: name"
        );
    }
}
