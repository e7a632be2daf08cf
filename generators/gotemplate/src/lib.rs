//! Go's `text/template` and the Sprig and Helm functions, on a value model of its own.
//!
//! Templates are parsed into a [`TemplateSet`] once, and rendered by a [`Renderer`] many times. Values behave as Go's do: strings are
//! bytes, maps are shared and mutable, integers and floats are different kinds, and host objects have methods.
//!
//! ```text
//! source ── parse ──► TemplateSet ── execute (Renderer, Environment, Value) ──► bytes
//!                          ▲                        │
//!                          └── FunctionTable ◄── functions/*
//! ```

mod dialect;
mod environment;
mod function;
mod host;
mod list;
mod stack;
mod value;

pub mod format;

mod execute;
mod parse;

pub use dialect::{Dialect, DialectError};
pub use environment::{Environment, Options, Runtime};
pub use execute::{
    ExecuteError, ForeignTemplates, Renderer, TemplateSet, core_functions, without_no_value,
};
pub use function::{Function, FunctionError, FunctionErrorKind, FunctionTable, Signature, Type};
pub use host::{Host, Method, MethodCall};
pub use list::{List, ListType};
pub use parse::{Delimiters, ParseError};
pub use stack::{grow_stack, with_stack};
pub use value::{Bytes, IntKind, Kind, Map, MapType, MapZero, UintKind, Value};
