//! What kind of failure an error is.

use std::fmt;

/// The class of a failure: it decides the retry, the reason of the event and the label of the metric.
///
/// Every error enum of the crate has a `class()`; nothing else about an error reaches a metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The other side failed or could not be reached; the same request may succeed soon.
    Transient,
    /// Somebody else holds or changed what was to be written.
    Conflict,
    /// The identity in use may not do this.
    Denied,
    /// The input is wrong: nothing changes until somebody changes it.
    Invalid,
    /// Something that is needed is not there yet.
    NotReady,
    /// Code that the operator was built with failed.
    Failed,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 6] = [
        Self::Transient,
        Self::Conflict,
        Self::Denied,
        Self::Invalid,
        Self::NotReady,
        Self::Failed,
    ];

    /// The class as a metric label, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Conflict => "conflict",
            Self::Denied => "denied",
            Self::Invalid => "invalid",
            Self::NotReady => "not_ready",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
