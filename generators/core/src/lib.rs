//! The generator interface of Whipstaff.
//!
//! A [`Generator`] turns a [`FileTree`] and parameters into an [`ObjectSet`]. It does no I/O of its own: files are handed in,
//! live objects come from a [`LookupSnapshot`], and the same [`Input`] always gives the same bytes. Helm charts, directories of
//! manifests and generators of your own all stand behind the same two traits:
//!
//! ```text
//! FileTree ── Generator::prepare ──► Prepared ── generate(Input) ──► Generated { objects, hooks, notes, consulted }
//!             (once per digest)                  (once per input)
//! ```
//!
//! What comes out can be put together with the output of other generators ([`Composite`]) and changed by transformers
//! ([`Pipeline`]). The [`guide`] says how to write a generator.

pub mod go_json;
pub mod guide;
pub mod yaml;

mod capabilities;
mod composite;
mod consulted;
mod digest;
mod error;
mod fault;
mod file_tree;
mod generator;
mod lookup;
mod object;
mod object_set;
mod registry;
mod transform;

pub use capabilities::{Capabilities, KubeVersion, KubeVersionError};
pub use composite::{Composite, CompositePart, MAX_PARTS};
pub use consulted::Consulted;
pub use digest::{Digest, DigestError};
pub use error::{Error, ErrorKind, Location};
pub use fault::{Fault, Retriable, Terminal};
pub use file_tree::{FileTree, FileTreeError, MAX_FILES, MAX_PATH_LENGTH, MAX_TREE_BYTES};
pub use generator::{
    Generated, Generator, Hook, HookDeletePolicy, HookEvent, Input, Limits, Prepared, Release, Seed,
};
pub use lookup::{LookupQuestion, LookupSnapshot};
pub use object::{Object, ObjectError, ObjectId, ObjectKey};
pub use object_set::{ObjectSet, ObjectSetError, Sourced};
pub use registry::{Detected, Registry, RegistryError};
pub use transform::{
    CheckNames, CommonAnnotations, CommonLabels, MAX_REFERENCE_DEPTH, MAX_SUBSTITUTED_BYTES,
    Pipeline, SubstituteError, Substitution, TransformContext, Transformed, Transformer, Undefined,
    transformer,
};
