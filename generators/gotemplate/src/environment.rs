//! What the host gives to a rendering, and what a rendering gives to functions.

use crate::{Bytes, Dialect, FunctionError, Value};
use std::fmt;
use whipstaff_generator::{Limits, LookupQuestion};

/// What a rendering gets from outside: live objects, randomness, the time. The host implements it; the engine keeps it for the time
/// of one rendering.
pub trait Environment: fmt::Debug {
    /// Answers `lookup`. Null is "not found"; the engine turns it into an empty map.
    ///
    /// # Errors
    /// The text that the template's error shall have.
    fn lookup(&mut self, question: LookupQuestion) -> Result<serde_json::Value, FunctionError>;

    /// Fills a buffer with random bytes. A stable environment gives the same bytes in the same order for each rendering.
    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError>;

    /// The time: seconds of the Unix epoch and nanoseconds.
    fn now(&mut self) -> (i64, u32);

    /// A value that the host lends to functions of its own, by a name that both agree on.
    fn value(&mut self, name: &str) -> Option<Value> {
        let _ = name;
        None
    }
}

/// How a [`Renderer`](crate::Renderer) executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Which Helm's behaviour is wanted.
    pub dialect: Dialect,
    /// Whether an absent map key is an error (`missingkey=error`, Helm's `--strict`).
    pub strict: bool,
    /// Whether `required` and `fail` pass, as in `helm lint`.
    pub lint: bool,
    /// What a rendering may use up.
    pub limits: Limits,
}

/// What functions may use of the rendering that calls them.
pub trait Runtime {
    /// Executes a template by name with a value as its dot (`include`).
    ///
    /// # Errors
    /// The template's own error, with its whole text.
    fn include(&mut self, name: &Bytes, data: &Value) -> Result<Bytes, FunctionError>;

    /// Parses and executes a text as a template (`tpl`).
    ///
    /// # Errors
    /// The text's own error.
    fn tpl(&mut self, source: &Bytes, data: &Value) -> Result<Bytes, FunctionError>;

    /// Takes steps from the budget, for work that the engine does not see: loops of functions and of other template engines.
    ///
    /// # Errors
    /// A limit error when the budget or the time is used up.
    fn step(&mut self, count: u64) -> Result<(), FunctionError>;

    /// The environment.
    fn environment(&mut self) -> &mut dyn Environment;

    /// How the rendering executes.
    fn options(&self) -> &Options;

    /// Takes bytes that a function is about to produce from the budget. Called before an allocation whose size a template controls.
    ///
    /// # Errors
    /// A limit error when the budget is used up.
    fn charge(&mut self, bytes: usize) -> Result<(), FunctionError>;
}
