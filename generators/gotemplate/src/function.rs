//! Functions that templates may call, and how their arguments are typed.

use crate::{Runtime, Value};
use foldhash::HashMap;
use std::{fmt, sync::Arc};

/// A function with its name and signature. The engine checks and converts arguments before the call, as Go's reflection does, so
/// that a function sees exactly the kinds that its signature names.
#[derive(Clone, Copy)]
pub struct Function {
    /// Name in templates.
    pub name: &'static str,
    /// Parameters.
    pub signature: Signature,
    /// The implementation. Variadic arguments follow the fixed ones.
    pub call: fn(&mut dyn Runtime, &[Value]) -> Result<Value, FunctionError>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.name)
    }
}

/// Parameters of a function or method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Types of the fixed parameters.
    pub parameters: &'static [Type],
    /// Type of each further argument, if any are taken.
    pub variadic: Option<Type>,
}

/// The Go type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: anything, nil included.
    Any,
    /// `reflect.Value`: anything, as the built-in functions take it.
    Reflect,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `int64`.
    Int64,
    /// `uint32`.
    Uint32,
    /// `uint64`.
    Uint64,
    /// `float64`.
    Float64,
    /// `string`.
    String,
    /// `[]interface {}`.
    List,
    /// `[]string`.
    Strings,
    /// `map[string]interface {}`; named types over it may be assigned.
    Map,
    /// `map[string]string`.
    StringMap,
    /// A host object's type, by its Go name.
    Host(&'static str),
}

/// Why a function failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// The text that Go's error would have.
    pub message: String,
    /// What follows from it.
    pub kind: FunctionErrorKind,
}

/// What follows from a function's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionErrorKind {
    /// An ordinary error.
    Error,
    /// `fail` and `required`: the message alone is what the user wants to read.
    Raised,
    /// A limit of this engine was reached; Helm itself would have gone on.
    Limit,
}

impl FunctionError {
    /// An ordinary error with the text that Go's would have.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: FunctionErrorKind::Error,
        }
    }

    /// An error that the template raised itself.
    pub fn raised(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: FunctionErrorKind::Raised,
        }
    }

    /// A limit that was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: FunctionErrorKind::Limit,
        }
    }
}

/// Functions by name.
#[derive(Debug, Clone, Default)]
pub struct FunctionTable {
    /// Shared with the syntax trees that call them.
    functions: HashMap<&'static str, Arc<Function>>,
}

impl FunctionTable {
    /// A table without functions; the built-in ones of `text/template` are always there.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds functions; a later one of the same name replaces an earlier one.
    pub fn extend(&mut self, functions: impl IntoIterator<Item = Function>) {
        self.functions.extend(
            functions
                .into_iter()
                .map(|function| (function.name, Arc::new(function))),
        );
    }

    /// Removes a function.
    pub fn remove(&mut self, name: &str) {
        self.functions.remove(name);
    }

    /// The function of a name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.functions.get(name).map(AsRef::as_ref)
    }

    pub(crate) fn shared(&self, name: &str) -> Option<&Arc<Function>> {
        self.functions.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.functions.keys().copied().collect();
        names.sort_unstable();
        names
    }
}
