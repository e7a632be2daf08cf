//! The syntax tree. It holds no values, so that it may be shared between threads.

use crate::Function;
use std::sync::Arc;

/// One template: what `{{define}}` or a file gives.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Name that the text was parsed under.
    pub(crate) parse_name: Arc<str>,
    /// The whole text, that of other templates included. Positions count bytes in it.
    pub(crate) text: Arc<[u8]>,
    pub(crate) root: Vec<Node>,
    /// How many variable slots an execution needs.
    pub(crate) slots: usize,
    /// Nothing but white space: such a body never replaces another.
    pub(crate) is_empty: bool,
}

impl Tree {
    /// Line from one and column in bytes from zero; on the first line Go counts the same way.
    pub(crate) fn line_and_column(&self, position: u32) -> (usize, usize) {
        let before = &self.text[..(position as usize).min(self.text.len())];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |index| index + 1);
        (line, before.len() - start)
    }
}

/// A piece of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

impl Span {
    pub(crate) fn of(self, text: &[u8]) -> &[u8] {
        let start = self.start as usize;
        text.get(start..start + self.length as usize)
            .unwrap_or_default()
    }
}

/// What a template consists of. Most nodes are texts and actions, and lists of them are what takes the most memory: whatever is larger
/// stands elsewhere.
#[derive(Debug)]
pub(crate) enum Node {
    Text(Span),
    Action(Pipe),
    If(Box<Branch>),
    With(Box<Branch>),
    Range(Box<Branch>),
    Template(Box<Call>),
    Break,
    Continue,
}

/// `if`, `with` or `range`.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) pipe: Pipe,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

/// `{{template "name" pipeline}}`.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) position: u32,
    pub(crate) name: Arc<str>,
    pub(crate) pipe: Option<Pipe>,
}

#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) position: u32,
    pub(crate) is_assignment: bool,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) commands: Vec<Command>,
}

/// A variable on the left of `:=` or `=`.
#[derive(Debug)]
pub(crate) struct Declaration {
    /// With the dollar sign.
    pub(crate) name: Arc<str>,
    /// None if the variable was never declared, which Go notices only when it executes the assignment.
    pub(crate) slot: Option<usize>,
}

/// Operands with spaces between them. There is always a first one.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) position: u32,
    pub(crate) first: Operand,
    pub(crate) arguments: Vec<Operand>,
}

#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) position: u32,
    pub(crate) kind: OperandKind,
}

#[derive(Debug)]
pub(crate) enum OperandKind {
    Dot,
    Nil,
    Bool(bool),
    Number(Box<Number>),
    String(Box<StringConstant>),
    Field(Box<[Arc<str>]>),
    Variable(Box<Variable>),
    Function(Callee),
    Chain(Box<Chain>),
    Pipe(Box<Pipe>),
}

/// A string constant: how it is written and what it means.
#[derive(Debug)]
pub(crate) struct StringConstant {
    pub(crate) written: Span,
    pub(crate) value: Box<[u8]>,
}

/// A variable, perhaps with fields after it.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    pub(crate) slot: Option<usize>,
    pub(crate) fields: Vec<Arc<str>>,
}

/// An operand with fields after it.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) operand: Operand,
    pub(crate) fields: Vec<Arc<str>>,
}

/// A number constant under all the types that can hold it.
#[derive(Debug)]
pub(crate) struct Number {
    pub(crate) written: Span,
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) ideal: Ideal,
}

/// What a number is where no type is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ideal {
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    /// Too large for an `int`.
    Overflow,
}

/// A function, found when the text was parsed.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    Function(Arc<Function>),
    Builtin(Builtin),
}

impl Callee {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Function(function) => function.name,
            Self::Builtin(builtin) => builtin.name(),
        }
    }
}

/// The functions that `text/template` has of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    And,
    Or,
    Call,
    Html,
    Index,
    Slice,
    Js,
    Len,
    Not,
    Print,
    Printf,
    Println,
    UrlQuery,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
}

impl Builtin {
    pub(crate) const ALL: [Self; 19] = [
        Self::And,
        Self::Or,
        Self::Call,
        Self::Html,
        Self::Index,
        Self::Slice,
        Self::Js,
        Self::Len,
        Self::Not,
        Self::Print,
        Self::Printf,
        Self::Println,
        Self::UrlQuery,
        Self::Eq,
        Self::Ge,
        Self::Gt,
        Self::Le,
        Self::Lt,
        Self::Ne,
    ];

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|builtin| builtin.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Call => "call",
            Self::Html => "html",
            Self::Index => "index",
            Self::Slice => "slice",
            Self::Js => "js",
            Self::Len => "len",
            Self::Not => "not",
            Self::Print => "print",
            Self::Printf => "printf",
            Self::Println => "println",
            Self::UrlQuery => "urlquery",
            Self::Eq => "eq",
            Self::Ge => "ge",
            Self::Gt => "gt",
            Self::Le => "le",
            Self::Lt => "lt",
            Self::Ne => "ne",
        }
    }
}
