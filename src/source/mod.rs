//! Where the files of a component come from.
//!
//! A [`Fetcher`] turns an address into an [`Artifact`]: it downloads an archive, checks its digest and unpacks it, and does
//! none of that twice for the same content.
//!
//! ```text
//! FetchRequest ─► cache, by pinned digest ──────────────────────────────► Artifact
//!              └► conditional GET ─► 304: cache ────────────────────────┘
//!                                 └► 200: check digest ─► unpack ─► cache ┘
//! ```

mod address;
mod cache;
mod download;
mod error;
mod fetcher;
mod file;
mod request;
mod unpack;

pub use error::{ArchiveError, SourceError};
pub(crate) use fetcher::{FetchOptions, Fetcher};
pub(crate) use file::{FileFetcher, Trust, same_origin};
pub(crate) use request::{Credentials, FetchRequest};
pub(crate) use unpack::unpack as unpack_archive;

use whipstaff_generator::{Digest, FileTree};

/// One revision of the files of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// The files, with paths relative to the root of the chart or folder.
    pub files: FileTree,
    /// What the source calls this revision; for an archive behind a URL, the text of the digest.
    pub revision: String,
    /// Digest of the bytes that the files were unpacked from.
    pub digest: Digest,
    /// Where it came from, without the query, which may hold a secret.
    pub url: String,
}

impl Artifact {
    /// Files that need not be fetched.
    pub(crate) fn embedded(files: &FileTree) -> Self {
        let digest = files.digest();
        Self {
            files: files.clone(),
            revision: digest.to_string(),
            digest,
            url: String::new(),
        }
    }
}
