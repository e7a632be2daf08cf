//! Helm's releases as Helm stores them: one record for each revision, in a Secret or a ConfigMap.
//!
//! [`Storage`] finds and reads records, and writes them as Helm does; [`Release`] is what is in one, and loses nothing of it when it is
//! written back; [`History`] says which revision of a release counts.
//!
//! **Source**: `pkg/storage` and `pkg/release` of Helm 3.22 and 4.3.

mod codec;
mod error;
mod history;
mod manifest;
mod record;
mod storage;
mod store;

pub(crate) use codec::decode;
#[cfg(test)]
pub(crate) use codec::encode;
pub(crate) use error::{CodecError, ManifestError, StorageError};
pub(crate) use history::{History, NotAdoptable, Present};
pub(crate) use manifest::stored_objects;
pub(crate) use record::{ApplyMethod, Release, Status, StoredChart};
pub(crate) use storage::{Driver, Head, OWNER_LABEL, Record, ReleaseName, Storage, record_name};
