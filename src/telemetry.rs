//! Logging to standard error.

use std::io::{self, IsTerminal};
use tracing_subscriber::{
    EnvFilter,
    filter::ParseError,
    fmt,
    util::{SubscriberInitExt, TryInitError},
};

/// The filter that is used unless told otherwise: kube's own request logging is for debugging only.
pub const DEFAULT_LOG_FILTER: &str = "info,kube_client=warn";

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LogFormat {
    /// One line of text, for people.
    #[default]
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// Logging that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The filter is malformed.
    #[error("`{filter}` is not a log filter: expected directives like `info,whipstaff=debug`")]
    Filter {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: ParseError,
    },
    /// Logging is set up already.
    #[error("logging cannot be set up")]
    Init {
        /// Why.
        #[source]
        source: TryInitError,
    },
}

/// Sets up logging for the process: events that pass the filter go to standard error. To be called once, by a binary.
///
/// The filter has the syntax of [`EnvFilter`]: a level, or `target=level`, several of them with commas between.
///
/// # Errors
/// [`TelemetryError`] when the filter is malformed or logging is set up already.
pub fn init(filter: &str, format: LogFormat) -> Result<(), TelemetryError> {
    let builder = fmt()
        .with_env_filter(parse(filter)?)
        .with_writer(io::stderr)
        .with_ansi(format == LogFormat::Text && io::stderr().is_terminal());
    let result = match format {
        LogFormat::Text => builder.finish().try_init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    result.map_err(|source| TelemetryError::Init { source })
}

fn parse(filter: &str) -> Result<EnvFilter, TelemetryError> {
    let filter = if filter.trim().is_empty() {
        DEFAULT_LOG_FILTER
    } else {
        filter
    };
    EnvFilter::builder()
        .parse(filter)
        .map_err(|source| TelemetryError::Filter {
            filter: filter.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_parsed() {
        let cases = [
            ("", Some("kube_client=warn,info")),
            (DEFAULT_LOG_FILTER, Some("kube_client=warn,info")),
            ("whipstaff=debug", Some("whipstaff=debug")),
            ("off", Some("off")),
            ("info,whipstaff=loud", None),
            ("=[", None),
        ];
        for (filter, expected) in cases {
            let parsed = parse(filter).ok().map(|filter| filter.to_string());
            assert_eq!(parsed.as_deref(), expected, "{filter}");
        }
    }

    #[test]
    fn logging_is_set_up_once() {
        assert!(matches!(
            init("=[", LogFormat::Text),
            Err(TelemetryError::Filter { .. })
        ));
        init("off", LogFormat::Json).unwrap();
        assert!(matches!(
            init("off", LogFormat::Text),
            Err(TelemetryError::Init { .. })
        ));
    }
}
