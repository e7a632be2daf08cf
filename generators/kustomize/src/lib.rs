//! Kustomizations, built natively: what `kustomize build` of kustomize 5.8.1 prints, without any program being run.
//!
//! ```
//! use whipstaff_generator::FileTree;
//! use whipstaff_kustomize::{BuildOptions, build};
//!
//! let mut files = FileTree::new();
//! files.insert("kustomization.yaml", b"namePrefix: dev-\nresources: [cm.yaml]\n".as_slice())?;
//! files.insert("cm.yaml", b"{apiVersion: v1, kind: ConfigMap, metadata: {name: app}}".as_slice())?;
//! let built = build(&files, "/", &BuildOptions::default())?;
//! assert_eq!(built.to_yaml(), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dev-app\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A build reads files of a [`FileSystem`] and nothing else: charts and remote sources come from the host, through
//! [`ChartInflator`] and [`RemoteSource`], and are refused without.

mod build;
mod configuration;
mod error;
mod expression;
mod files;
mod generate;
mod generator;
mod go_text;
mod kustomization;
mod limits;
mod node;
mod order;
mod patch;
mod redaction;
mod remote;
mod resource;
mod schema;
mod transform;
mod transformations;

pub use build::{BuildOptions, Built, BuiltObject, Reorder, build, build_in};
pub use error::{BuildError, BuildErrorKind};
pub use files::{FileSystem, LoadRestrictor, REMOTE_IS_OFF, Resolved};
pub use generate::{ChartHost, ChartInflator, ChartRequest, RecordingInflator};
pub use generator::KustomizeGenerator;
pub use limits::*;
pub use redaction::without_credentials;
pub use remote::{NoRepository, RemoteSource, RepoSpec};
pub use transformations::Transformations;
