//! Whipstaff.

mod class;
mod events;
mod http;
mod lease;
mod metrics;
mod source;
mod telemetry;

pub use class::Class;
pub use events::{Events, Notice};
pub use http::{AdminServer, Endpoints, ListenError, Readiness};
pub use lease::{Candidate, Leadership, LeadershipEnd, LeaseError, LeaseOptions, lease_identity};
pub use metrics::{ComponentState, ControllerMetrics, DependentStatus, FetchOutcome};
pub use metrics::{Metrics, Operation, ReconcileOutcome};
pub use source::{ArchiveError, Artifact, Credentials, FetchOptions, FetchRequest};
pub use source::{Fetcher, SourceError};
pub use telemetry::{DEFAULT_LOG_FILTER, LogFormat, TelemetryError, init as init_telemetry};
