//! Lexing and parsing of `text/template` (Go 1.26, `text/template/parse`).

/// A template that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template: {name}:{line}: {message}")]
pub struct ParseError {
    /// Name that the template was parsed under.
    pub name: String,
    /// Line, from one.
    pub line: usize,
    /// Go's text.
    pub message: String,
}
