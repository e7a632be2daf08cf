//! Why an execution stopped.

use crate::{FunctionError, FunctionErrorKind};

/// A template that failed while it ran.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ExecuteError {
    /// The whole text that Go's error would have, nested errors included.
    pub text: String,
    /// What follows from it.
    pub kind: FunctionErrorKind,
    /// The bare message of `fail` or `required`, when that is the cause.
    pub raised: Option<String>,
    /// Name of the outermost template's text.
    pub name: String,
    /// Line in the outermost template, from one.
    pub line: usize,
    /// Column in bytes, from zero as Go counts it.
    pub column: usize,
}

/// A failure on its way out. It is boxed because every evaluation may return it.
#[derive(Debug)]
pub(super) struct Failure(Box<ExecuteError>);

impl Failure {
    pub(super) fn new(error: ExecuteError) -> Self {
        Self(Box::new(error))
    }

    pub(super) fn into_error(self) -> ExecuteError {
        *self.0
    }
}

/// The result of an evaluation.
pub(super) type Outcome<T> = Result<T, Failure>;

/// What an include's failure is for the template that included.
impl From<Failure> for FunctionError {
    fn from(failure: Failure) -> Self {
        let ExecuteError { text, kind, .. } = failure.into_error();
        Self {
            message: text,
            kind,
        }
    }
}
