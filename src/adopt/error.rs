//! Why a release cannot be taken over, or not yet.

use super::source::SourceProblem;
use crate::class::Class;
use crate::cluster::{DiscoveryError, LookupError, RequestError};
use crate::release::{ManifestError, NotAdoptable, ReleaseName, StorageError};
use whipstaff_generator::ObjectId;

/// A release that cannot be taken over, or not yet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum AdoptError {
    /// No revision of it can be.
    #[error("the release `{release}` cannot be taken over: {problem}")]
    NotAdoptable {
        /// The release.
        release: ReleaseName,
        /// Why.
        problem: NotAdoptable,
    },
    /// Its records cannot be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Its manifest cannot be read.
    #[error("the manifest of the release cannot be read")]
    Manifest(#[from] ManifestError),
    /// Its chart cannot be used.
    #[error(transparent)]
    Source(#[from] SourceProblem),
    /// The chart cannot be rendered.
    #[error("{report}")]
    Render {
        /// Why.
        report: String,
    },
    /// Rendering was cut short.
    #[error("rendering was cut short")]
    Task(#[source] tokio::task::JoinError),
    /// Templates ask for ever more live objects.
    #[error("rendering asks for more live objects after {rounds} rounds")]
    LookupRounds {
        /// How often it was rendered.
        rounds: usize,
    },
    /// What templates look up cannot be read.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// What the cluster serves is unknown.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// A live object cannot be read or written.
    #[error("cannot {verb} {id}")]
    Object {
        /// What was tried.
        verb: &'static str,
        /// The object.
        id: Box<ObjectId>,
        /// Why it failed.
        #[source]
        cause: RequestError,
    },
    /// Another component has the release.
    #[error("the release `{release}` is taken over by the Component `{component}` already")]
    Claimed {
        /// The release.
        release: ReleaseName,
        /// Who has it.
        component: String,
    },
    /// Somebody made another revision.
    #[error(
        "Helm made revision {revision} ({status}) of the release `{release}` after revision {known} was taken over: {advice}"
    )]
    LaterRevision {
        /// The release.
        release: ReleaseName,
        /// The new revision.
        revision: i64,
        /// Its state.
        status: String,
        /// The revision that was taken over.
        known: i64,
        /// What to do.
        advice: &'static str,
    },
}

impl AdoptError {
    /// A chart that cannot be rendered.
    pub(crate) fn render(error: &whipstaff_generator::Error) -> Self {
        Self::Render {
            report: error.report(),
        }
    }

    /// What kind of failure it is.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::NotAdoptable {
                problem: NotAdoptable::Missing | NotAdoptable::Pending { .. },
                ..
            } => Class::NotReady,
            Self::Storage(error) => error.class(),
            Self::Claimed { .. } | Self::LaterRevision { .. } => Class::Conflict,
            Self::Lookup(LookupError::Request { cause, .. }) | Self::Object { cause, .. } => {
                match cause {
                    cause if cause.is_denied() => Class::Denied,
                    cause if cause.is_conflict() => Class::Conflict,
                    cause if cause.is_invalid() => Class::Invalid,
                    _ => Class::Transient,
                }
            }
            Self::NotAdoptable { .. }
            | Self::Manifest(_)
            | Self::Source(_)
            | Self::Render { .. }
            | Self::LookupRounds { .. } => Class::Invalid,
            Self::Task(_) | Self::Discovery(_) | Self::Lookup(_) => Class::Transient,
        }
    }

    /// The reason of conditions and events: one word, from a fixed set.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            _ if self.class() == Class::Denied => "Denied",
            Self::NotAdoptable {
                problem: NotAdoptable::Pending { .. },
                ..
            } => "ReleasePending",
            Self::NotAdoptable { .. } => "ReleaseNotAdoptable",
            Self::Storage(_) | Self::Manifest(_) => "ReleaseUnavailable",
            Self::Source(_) => "ChartMismatch",
            Self::Render { .. } | Self::Task(_) | Self::LookupRounds { .. } => "RenderFailed",
            Self::Lookup(_) => "LookupFailed",
            Self::Discovery(_) => "ClusterUnavailable",
            Self::Object { .. } => "AdoptionFailed",
            Self::Claimed { .. } => "ReleaseClaimed",
            Self::LaterRevision { .. } => "LaterRevision",
        }
    }
}
