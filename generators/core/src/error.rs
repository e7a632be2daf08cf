//! What a generator reports when it cannot render.

use crate::{Consulted, ObjectError};
use std::fmt;

/// Why generation failed; drives whether the host retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The files are not what the generator expects: a missing `Chart.yaml`, a template that does not parse.
    Source,
    /// The parameters are wrong: a value of the wrong type, a schema that is not met, a `required` value that is missing.
    Parameters,
    /// A template failed while it ran.
    Render,
    /// The text that came out is not Kubernetes objects.
    Output,
    /// A named limit was reached.
    Limit,
}

/// A place in a file. Lines and columns count from one; a column is in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Location {
    /// Path of the file, relative to the file tree's root.
    pub file: String,
    /// Line, when it is known.
    pub line: Option<usize>,
    /// Column in bytes, when it is known.
    pub column: Option<usize>,
}

impl Location {
    /// The file as a whole.
    pub fn file(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
        }
    }

    /// A line of a file.
    pub fn line(file: impl Into<String>, line: usize) -> Self {
        Self {
            file: file.into(),
            line: Some(line),
            column: None,
        }
    }

    /// A line and column of a file.
    pub fn column(file: impl Into<String>, line: usize, column: usize) -> Self {
        Self {
            file: file.into(),
            line: Some(line),
            column: Some(column),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        Ok(())
    }
}

/// A failure of a generator, with the place where it happened.
///
/// Display is the message alone; [`Error::location`] says where and [`std::error::Error::source`] says what caused it, so that a
/// chain prints nothing twice. A message that already names its place (Helm's own texts do) has no separate location shown by
/// [`Error::report`].
#[derive(Debug)]
pub struct Error(Box<Parts>);

#[derive(Debug)]
struct Parts {
    kind: ErrorKind,
    message: String,
    location: Option<Location>,
    consulted: Consulted,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A failure of a kind, with a message for a person: lower case, no final period.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            message: message.into(),
            location: None,
            consulted: Consulted::default(),
            source: None,
        }))
    }

    /// Says where it happened.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.0.location = Some(location);
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds what was consulted before it failed: when the host has not given some of it yet, the failure is not final, and the host
    /// renders again.
    #[must_use]
    pub fn after_consulting(mut self, consulted: Consulted) -> Self {
        self.0.consulted = consulted;
        self
    }

    /// What was consulted before it failed.
    pub fn consulted(&self) -> &Consulted {
        &self.0.consulted
    }

    /// Why it failed.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where it failed, if that is known.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// The whole chain on one line, `location: message: cause: cause`; the location is left out when the message names it already.
    pub fn report(&self) -> String {
        let mut text = String::new();
        if let Some(location) = &self.0.location
            && !self.0.message.contains(&location.file)
        {
            text.push_str(&location.to_string());
            text.push_str(": ");
        }
        text.push_str(&self.0.message);
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl From<ObjectError> for Error {
    fn from(cause: ObjectError) -> Self {
        Self::new(ErrorKind::Output, "invalid object").caused_by(cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|s| &**s as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_prints_location_message_and_causes_once() {
        let error = Error::new(ErrorKind::Source, "cannot read chart")
            .at(Location::column("Chart.yaml", 3, 7))
            .caused_by(std::io::Error::other("bad bytes"));
        assert_eq!(
            error.report(),
            "Chart.yaml:3:7: cannot read chart: bad bytes"
        );
    }

    #[test]
    fn report_leaves_out_a_location_that_the_message_names() {
        let error = Error::new(ErrorKind::Render, "template: a.yaml:1:2: boom")
            .at(Location::column("a.yaml", 1, 2));
        assert_eq!(error.report(), "template: a.yaml:1:2: boom");
    }
}
