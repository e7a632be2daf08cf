//! Whipstaff joins Helm charts, kustomizations and plain manifests to a cluster that keeps them true.
//!
//! The binary is an operator and a command line; this library is what both are made of, for operators of your own.
//!
//! ```text
//! source ─► Artifact ─► Generator ─► ObjectSet ─► Desired ─┐
//!                              inventory + observed ───────┴─► Plan ─► execute ─► status, events, metrics
//! ```
//!
//! - [`run_operator`] runs the operator in a process of yours, with [`OperatorOptions`] that may hold generators of yours.
//! - [`run_operator_for`] does the same for a kind of your own: any custom resource that implements [`Component`].
//! - [`generator::guide`] says how to write a generator; [`Component::pipeline`] is where objects are changed before they are applied.
//! - [`api`] has the custom resources, [`crds`] their definitions.
//! - [`tree`] and [`headline`] show a component to a person.

pub mod api;
pub mod cli;

mod causes;
mod class;
mod cluster;
mod component;
mod controllers;
mod crd;
mod dependents;
mod events;
mod http;
mod inflate;
mod lease;
mod metrics;
mod operator;
mod reconciler;
mod remote;
mod source;
mod status;
mod telemetry;
mod tree;

pub use class::Class;
pub use component::{
    ChangeSet, Component, GeneratorOptions, HookContext, HookEditError, HookError, ObjectAction,
    ObjectChange, ObjectReconciler, ObjectsError, Origin, Part, Reference, References, Variables,
};
pub use crd::{crd_files, crd_of, crds};
pub use dependents::{NameError, Names};
pub use http::ListenError;
pub use lease::{LeaseError, LeaseOptions, lease_identity};
pub use operator::{
    Operator, OperatorError, OperatorOptions, StoppedError, Trigger, default_generators,
    default_generators_with_remote, run_operator, run_operator_for,
};
pub use reconciler::{Connected, Reconciler};
pub use source::{ArchiveError, SourceError};
pub use status::{
    Assessment, HintError, Hints, MAX_MESSAGE_LENGTH, Status, assess, assess_with_hints,
};
pub use telemetry::{DEFAULT_LOG_FILTER, LogFormat, TelemetryError, init as init_telemetry};
pub use tree::{headline, tree};
pub use whipstaff_generator as generator;
pub use whipstaff_generator::{Fault, Retriable, Terminal};
