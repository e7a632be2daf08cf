//! What goes wrong with records.

use crate::class::Class;

/// A record that is not what Helm writes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CodecError {
    /// It is not base64.
    #[error("the record is not base64")]
    Base64(#[source] base64::DecodeError),
    /// It is damaged.
    #[error("the record cannot be unpacked")]
    Gzip(#[source] std::io::Error),
    /// It is not the JSON of a release.
    #[error("the record is not a release")]
    Json(#[source] Box<serde_json::Error>),
    /// It is larger than a limit.
    #[error("the record is larger than {limit} bytes")]
    Large {
        /// The limit.
        limit: u64,
    },
}

/// A manifest that is not what Helm writes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ManifestError {
    /// A document that is not YAML.
    #[error("document {number} of the manifest, from `{file}`, is not YAML")]
    Yaml {
        /// Which document, from one.
        number: usize,
        /// The template.
        file: String,
        /// What is wrong.
        #[source]
        cause: Box<whipstaff_generator::yaml::Error>,
    },
    /// A document that is not an object.
    #[error("document {number} of the manifest is not an object")]
    Object {
        /// Which document, from one.
        number: usize,
        /// What is wrong.
        #[source]
        cause: whipstaff_generator::ObjectSetError,
    },
    /// There are too many documents.
    #[error("the manifest has more than {limit} documents")]
    Documents {
        /// The limit.
        limit: usize,
    },
}

/// Records that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StorageError {
    /// The API server refused.
    #[error("cannot {verb}")]
    Request {
        /// What was tried.
        verb: String,
        /// Why it failed.
        #[source]
        cause: Box<kube::Error>,
    },
    /// A record that is not what Helm writes.
    #[error("cannot read {object}")]
    Codec {
        /// The Secret or ConfigMap.
        object: String,
        /// What is wrong.
        #[source]
        cause: CodecError,
    },
    /// A record in several parts, as other tools write them.
    #[error(
        "{object} is a part of a record that {tool} stores in several objects, which Helm cannot read either"
    )]
    Chunked {
        /// The Secret or ConfigMap.
        object: String,
        /// Whose way of storing records it is.
        tool: &'static str,
    },
    /// An object without a record.
    #[error("{object} holds no record")]
    Empty {
        /// The Secret or ConfigMap.
        object: String,
    },
    /// A record that is gone, or was made meanwhile.
    #[allow(dead_code, reason = "for handing releases back")]
    #[error("{object} {problem}")]
    Overtaken {
        /// The Secret or ConfigMap.
        object: String,
        /// What is the matter.
        problem: &'static str,
    },
}

impl StorageError {
    /// What kind of failure it is.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Request { cause, .. } => match &**cause {
                kube::Error::Api(status) if matches!(status.code, 401 | 403) => Class::Denied,
                kube::Error::Api(status) if matches!(status.code, 400 | 413 | 422) => {
                    Class::Invalid
                }
                _ => Class::Transient,
            },
            Self::Overtaken { .. } => Class::Conflict,
            Self::Codec { .. } | Self::Chunked { .. } | Self::Empty { .. } => Class::Invalid,
        }
    }
}
