//! Regular expressions in Go's syntax.

use crate::error::{Result, fail, over_limit};
use crate::limits::MAX_EXPRESSION_BYTES;
use std::rc::Rc;
use whipstaff_sprig::expression::Program;

/// Characters that mean something else than themselves.
const SPECIAL: &str = r"\.+*?()|[]{}^$";

/// An expression. One that stands for itself is compared, for compiling is a large part of the time that a small kustomization takes.
#[derive(Debug)]
pub(crate) enum Expression {
    /// The whole text must be this one.
    Whole(String),
    /// This must be in the text.
    Part(String),
    /// The text must match.
    Program(Rc<Program>),
}

impl Expression {
    /// An expression that may match anywhere in a text.
    ///
    /// # Errors
    /// When Go refuses it, or it is over the limit.
    pub(crate) fn anywhere(expression: &str) -> Result<Self> {
        if is_plain(expression) {
            return Ok(Self::Part(expression.to_owned()));
        }
        compile(expression).map(Self::Program)
    }

    /// An expression that has to match the whole text.
    ///
    /// # Errors
    /// As [`anywhere`](Self::anywhere).
    pub(crate) fn whole(expression: &str) -> Result<Self> {
        if is_plain(expression) {
            return Ok(Self::Whole(expression.to_owned()));
        }
        compile(&format!("^(?:{expression})$")).map(Self::Program)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => text == whole,
            Self::Part(part) => text.contains(part.as_str()),
            Self::Program(program) => program.is_match(text.as_bytes()),
        }
    }
}

/// Whether an expression means nothing but its own text.
pub(crate) fn is_plain(expression: &str) -> bool {
    expression.len() <= MAX_EXPRESSION_BYTES && !expression.contains(|c| SPECIAL.contains(c))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_match_as_their_expressions_do() {
        for expression in ["", "web", "web-1", "a b", "ä", "a/b:c@d", "web.*", "w[e]b"] {
            let whole = Expression::whole(expression).unwrap();
            let anywhere = Expression::anywhere(expression).unwrap();
            let whole_program = compile(&format!("^(?:{expression})$")).unwrap();
            let program = compile(expression).unwrap();
            for text in [
                "", "web", "web-1", "my web-1", "web\n", "a b", "ä", "a/b:c@d",
            ] {
                let bytes = text.as_bytes();
                assert_eq!(whole.is_match(text), whole_program.is_match(bytes));
                assert_eq!(anywhere.is_match(text), program.is_match(bytes));
            }
        }
    }
}
