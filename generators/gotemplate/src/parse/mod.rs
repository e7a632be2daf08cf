//! Lexing and parsing of `text/template` (Go 1.26, `text/template/parse`).

mod delimiters;
mod lexer;
mod names;
mod number;
mod parser;
mod pipeline;
mod print;
mod scope;
mod tree;

pub use delimiters::Delimiters;
pub(crate) use names::Names;
pub(crate) use parser::parse;
pub(crate) use print::NodePrinter;
pub(crate) use tree::{
    Branch, Builtin, Call, Callee, Chain, Command, Declaration, Ideal, Node, Number, Operand,
    OperandKind, Pipe, Tree, Variable,
};

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
