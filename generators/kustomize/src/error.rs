//! The error of a build.

use crate::redaction::without_credentials;
use std::fmt;

/// What kind of fault ended a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildErrorKind {
    /// A file or folder is missing, outside of the root, or cannot be read.
    Load,
    /// Text that is no YAML, or that holds what an object may not.
    Malformed,
    /// The kustomization is wrong.
    Kustomization,
    /// A request could not be answered by the server that was asked.
    Remote,
    /// Something that only runs on purpose or not at all: remote sources, charts, plugins.
    Refused,
    /// More than one of the limits allows.
    Limit,
    /// Everything else: patches without targets, objects that collide, fields that are missing.
    Build,
}

/// A build that failed.
///
/// The displayed text is the one of kustomize 5.8.1, the texts of the steps in front of each other. It is one text and not a
/// chain of causes, because kustomize quotes and repeats inner texts in outer ones.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: BuildErrorKind,
    message: String,
}

/// The result of a step.
pub(crate) type Result<T> = std::result::Result<T, BuildError>;

impl BuildError {
    /// An error with a text.
    pub fn new(kind: BuildErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
        }))
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> BuildErrorKind {
        self.0.kind
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The same error behind a text and `: `.
    pub(crate) fn within(mut self, prefix: impl fmt::Display) -> Self {
        self.0.message = format!("{prefix}: {}", self.0.message);
        self
    }

    /// The same error with another text.
    pub(crate) fn reworded(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// The same error without the passwords in its addresses.
    pub(crate) fn without_credentials(mut self) -> Self {
        self.0.message = without_credentials(&self.0.message);
        self
    }

    /// Whether text was no YAML.
    ///
    /// Mirrors kustomize, which looks for the word in the text.
    pub(crate) fn is_malformed_yaml(&self) -> bool {
        self.0.message.contains("MalformedYAMLError")
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuildError")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .finish()
    }
}

impl std::error::Error for BuildError {}

/// An error of the general kind.
pub(crate) fn fail(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Build, message)
}

/// The error for a limit.
pub(crate) fn over_limit(what: &str, limit: usize) -> BuildError {
    BuildError::new(
        BuildErrorKind::Limit,
        format!("more than {limit} {what}, which is the limit"),
    )
}
