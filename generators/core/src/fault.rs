//! What an error says about trying again.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A failure that will pass: something that is needed is not there yet, or somebody is busy.
///
/// It counts wherever it stands in a chain of causes. It is no failure of the component: nothing is logged as broken, and the delays
/// between retries do not grow.
///
/// ```
/// use std::time::Duration;
/// use whipstaff_generator::{Fault, Retriable};
///
/// let error = Retriable::new("the database is starting").after(Duration::from_secs(5));
/// assert_eq!(error.to_string(), "the database is starting");
/// assert_eq!(Fault::of(&error), Some(Fault::Retriable(Some(Duration::from_secs(5)))));
/// ```
#[derive(Debug)]
pub struct Retriable {
    cause: Box<dyn Error + Send + Sync>,
    after: Option<Duration>,
}

impl Retriable {
    /// A failure that will pass; it is tried again after the component's retry interval.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: cause.into(),
            after: None,
        }
    }

    /// When to try again.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.after = Some(delay);
        self
    }
}

impl fmt::Display for Retriable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl Error for Retriable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

/// A failure that stays until somebody changes something: it is not tried again before.
///
/// It counts wherever it stands in a chain of causes.
#[derive(Debug)]
pub struct Terminal {
    cause: Box<dyn Error + Send + Sync>,
}

impl Terminal {
    /// A failure that stays.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: cause.into(),
        }
    }
}

impl fmt::Display for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl Error for Terminal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

/// What a chain of causes says about trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is a [`Retriable`] in it, with its delay if it has one.
    Retriable(Option<Duration>),
    /// There is a [`Terminal`] in it.
    Terminal,
}

impl Fault {
    /// Looks for the outermost [`Retriable`] or [`Terminal`] in a chain of causes.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(retriable) = error.downcast_ref::<Retriable>() {
                return Some(Self::Retriable(retriable.after));
            }
            if error.is::<Terminal>() {
                return Some(Self::Terminal);
            }
            next = error.source();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error as GeneratorError, ErrorKind};

    #[test]
    fn faults_are_found_anywhere_in_the_chain() {
        let second = Duration::from_secs(1);
        let error = GeneratorError::new(ErrorKind::Render, "a")
            .caused_by(Retriable::new(std::io::Error::other("b")).after(second));
        assert_eq!(Fault::of(&error), Some(Fault::Retriable(Some(second))));
        assert_eq!(error.report(), "a: b");
        let error = Retriable::new(Terminal::new("c"));
        assert_eq!(Fault::of(&error), Some(Fault::Retriable(None)));
        let error = GeneratorError::new(ErrorKind::Render, "a").caused_by(Terminal::new("c"));
        assert_eq!(Fault::of(&error), Some(Fault::Terminal));
        assert_eq!(
            Fault::of(&GeneratorError::new(ErrorKind::Render, "a")),
            None
        );
    }
}
