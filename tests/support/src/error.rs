use std::path::PathBuf;

/// What can go wrong when a control plane is built, started or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Go command could not be run at all.
    #[error("the Go toolchain (1.26 or newer) builds the control plane, but `go` does not run")]
    GoMissing(#[source] std::io::Error),
    /// The Go command ran and failed.
    #[error("building the Go module `{module}` failed:\n{output}")]
    Build {
        /// Folder of the module.
        module: PathBuf,
        /// The end of what the Go command wrote.
        output: String,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {action} `{path}`")]
    File {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        #[source]
        cause: std::io::Error,
    },
    /// The process that runs the control plane could not be started or read from.
    #[error("cannot {action} the supervisor of the control plane")]
    Supervisor {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        cause: std::io::Error,
    },
    /// The supervisor ended, or said something that is no message.
    #[error("the supervisor of the control plane did not answer as it should: {answer}")]
    Answer {
        /// What it said.
        answer: String,
    },
    /// A part did not start or did not get ready.
    #[error("the control plane did not start: {message}\n{log}")]
    Start {
        /// The part that failed, if it was one.
        part: Option<String>,
        /// What failed; begins with the part's name.
        message: String,
        /// The end of the part's log.
        log: String,
    },
    /// The API server refused a request.
    #[error("cannot {action}")]
    Api {
        /// What was tried.
        action: &'static str,
        /// The API server's answer.
        #[source]
        cause: Box<kube::Error>,
    },
    /// The audit log does not show a request that was answered long ago.
    #[error("the audit log `{path}` is not written any more")]
    AuditStuck {
        /// Path of the log.
        path: PathBuf,
    },
    /// There is no port to listen on.
    #[error("cannot listen on the loopback interface")]
    Listen(#[source] std::io::Error),
    /// A line of the audit log is not an event.
    #[error("the audit log has a line that is no event")]
    AuditLine(#[source] serde_json::Error),
    /// Something that a running task should have returned is lost.
    #[error("a background task ended early")]
    Task(#[from] tokio::task::JoinError),
}

impl Error {
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |cause| Self::File {
            action,
            path,
            cause,
        }
    }

    pub(crate) fn api(action: &'static str) -> impl FnOnce(kube::Error) -> Self {
        move |cause| Self::Api {
            action,
            cause: Box::new(cause),
        }
    }
}
