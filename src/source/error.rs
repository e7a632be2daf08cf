//! Why an artifact cannot be had.

use crate::class::Class;
use reqwest::StatusCode;
use std::{error::Error, io, sync::Arc, time::Duration};
use whipstaff_generator::{Digest, FileTreeError};

/// A cause; shared, because everyone who waits for the same download gets the same error.
type Cause = Arc<dyn Error + Send + Sync>;

/// A fetch that failed. No text of it holds credentials or the query of an address.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The address is not one that can be fetched from.
    #[error("the source address cannot be used: {reason}")]
    Address {
        /// What is wrong with it.
        reason: String,
    },
    /// A user name, password or token cannot be sent.
    #[error("the credentials for `{url}` hold characters that cannot be sent")]
    Credentials {
        /// The address.
        url: String,
    },
    /// The HTTP client cannot be built.
    #[error("cannot set up the HTTP client")]
    Client {
        /// Why.
        #[source]
        source: Cause,
    },
    /// The server cannot be reached, or the connection broke.
    #[error("cannot fetch `{url}`")]
    Request {
        /// The address.
        url: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// The server took too long.
    #[error("cannot fetch `{url}`: no complete answer in time")]
    Timeout {
        /// The address.
        url: String,
    },
    /// The server sent a redirect that is not followed.
    #[error("`{url}` redirects where it may not: {reason}")]
    Redirect {
        /// The address that was asked for.
        url: String,
        /// What is wrong with the redirect.
        reason: String,
    },
    /// The server refused or failed.
    #[error("cannot fetch `{url}`: the server answered {status}")]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: StatusCode,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The archive is larger than allowed.
    #[error("the archive at `{url}` is larger than {limit} bytes")]
    Size {
        /// The address.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The archive is not the one that was asked for.
    #[error("the archive at `{url}` has the digest `{actual}` instead of `{expected}`")]
    Digest {
        /// The address.
        url: String,
        /// The digest that was asked for.
        expected: Digest,
        /// The digest of what came.
        actual: Digest,
    },
    /// The archive cannot be unpacked.
    #[error("cannot unpack `{url}` (content type: {content_type})")]
    Archive {
        /// The address.
        url: String,
        /// What the server said that it is, or `none`.
        content_type: String,
        /// Why.
        #[source]
        source: ArchiveError,
    },
    /// The process is stopping.
    #[error("the fetch of `{url}` was interrupted")]
    Interrupted {
        /// The address.
        url: String,
    },
}

/// An archive that cannot be unpacked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// It is not compressed with gzip.
    #[error("not a gzip archive: looks like {looks_like}")]
    Format {
        /// What it looks like.
        looks_like: &'static str,
    },
    /// It ends too early.
    #[error("the archive is truncated")]
    Truncated,
    /// It is damaged, or what was compressed is not a tar archive.
    #[error("the archive is damaged")]
    Damaged {
        /// What is wrong with it.
        #[source]
        source: Arc<io::Error>,
    },
    /// It holds no file.
    #[error("the archive holds no file")]
    Empty,
    /// A path leads out of the archive.
    #[error("the archive holds the path `{path}`: {reason}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file is larger than allowed.
    #[error("the file `{path}` in the archive is larger than {limit} bytes")]
    FileSize {
        /// The path of the file.
        path: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// It unpacks to more than is allowed.
    #[error("the archive unpacks to more than {limit} bytes")]
    UnpackedSize {
        /// The limit in bytes.
        limit: usize,
    },
    /// It holds more entries than is allowed.
    #[error("the archive holds more than {limit} entries")]
    Entries {
        /// The limit.
        limit: usize,
    },
    /// The files do not fit into a file tree.
    #[error("the files of the archive cannot be used")]
    Files {
        /// Why.
        #[source]
        source: Arc<FileTreeError>,
    },
}

impl SourceError {
    /// What kind of failure it is.
    pub fn class(&self) -> Class {
        match self {
            Self::Client { .. }
            | Self::Request { .. }
            | Self::Timeout { .. }
            | Self::Interrupted { .. } => Class::Transient,
            Self::Status { status, .. } => status_class(*status),
            Self::Address { .. }
            | Self::Credentials { .. }
            | Self::Redirect { .. }
            | Self::Size { .. }
            | Self::Digest { .. }
            | Self::Archive { .. } => Class::Invalid,
        }
    }

    /// How long the server asks to wait before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn status_class(status: StatusCode) -> Class {
    match status.as_u16() {
        401 | 403 | 407 => Class::Denied,
        // What is not published yet may be later.
        404 | 410 => Class::NotReady,
        408 | 425 | 429 | 500..=599 => Class::Transient,
        _ => Class::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_a_class() {
        let cases = [
            (401, Class::Denied),
            (403, Class::Denied),
            (404, Class::NotReady),
            (410, Class::NotReady),
            (408, Class::Transient),
            (429, Class::Transient),
            (500, Class::Transient),
            (503, Class::Transient),
            (400, Class::Invalid),
            (451, Class::Invalid),
            // No range was asked for, so a part is not an answer.
            (206, Class::Invalid),
        ];
        for (status, class) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            let error = SourceError::Status {
                url: String::new(),
                status,
                retry_after: None,
            };
            assert_eq!(error.class(), class, "{status}");
        }
    }
}
