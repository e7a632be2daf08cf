//! Whipstaff.

mod class;
mod http;
mod metrics;
mod source;
mod telemetry;

pub use class::Class;
pub use http::{AdminServer, Endpoints, ListenError, Readiness};
pub use metrics::{ComponentState, ControllerMetrics, DependentStatus, FetchOutcome};
pub use metrics::{Metrics, Operation, ReconcileOutcome};
pub use source::{ArchiveError, Artifact, Credentials, FetchOptions, FetchRequest};
pub use source::{Fetcher, SourceError};
pub use telemetry::{DEFAULT_LOG_FILTER, LogFormat, TelemetryError, init as init_telemetry};
