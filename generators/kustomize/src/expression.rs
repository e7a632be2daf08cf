//! Regular expressions in Go's syntax.

use crate::error::{Result, fail, over_limit};
use crate::limits::MAX_EXPRESSION_BYTES;
use std::rc::Rc;
use whipstaff_sprig::expression::Program;

/// Compiles an expression, or finds it compiled.
///
/// # Errors
/// When Go refuses it, or it is over the limit.
pub(crate) fn compile(expression: &str) -> Result<Rc<Program>> {
    if expression.len() > MAX_EXPRESSION_BYTES {
        return Err(over_limit(
            "bytes in a regular expression",
            MAX_EXPRESSION_BYTES,
        ));
    }
    Program::new(expression.as_bytes()).map_err(|error| fail(error.to_string()))
}

/// Compiles an expression that has to match the whole text.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_anchored(expression: &str) -> Result<Rc<Program>> {
    compile(&format!("^(?:{expression})$"))
}
