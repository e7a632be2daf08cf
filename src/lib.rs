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
//! - [`Operator`] runs several kinds, each with a [`Reconciler`] that has a name, defaults and [hooks](HookContext) of yours.
//! - [`Reconciler::connect`] reconciles single resources, and [`ObjectReconciler`] objects without any custom resource.
//! - [`Reference`]s in a spec are loaded, digested and watched; [`Retriable`] and [`Terminal`] errors say when to try again.
//! - [`api::fragments`] has the parts of a spec that many kinds have.
//! - [`generator::guide`] says how to write a generator; [`Component::pipeline`] is where objects are changed before they are applied.
//! - [`api`] has the custom resources, [`crds`] their definitions.
//! - [`tree`] and [`headline`] show a component to a person, once [`load_inventory`] has read what is kept beside it.
//!
//! A kind of one's own, and what is done with it:
//!
//! ```
//! use kube::CustomResource;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use serde_json::{Map, Value, json};
//! use std::borrow::Cow;
//! use whipstaff::api::fragments::ImpersonationSpec;
//! use whipstaff::api::v1alpha1::{ComponentStatus, UrlSource};
//! use whipstaff::{Component, HookContext, HookError, Origin, Reconciler, Retriable, crd_of};
//!
//! /// A shop is a chart with a certain parameter.
//! #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "example.org", version = "v1", kind = "Shop", namespaced, status = "ComponentStatus")]
//! struct ShopSpec {
//!     chart: UrlSource,
//!     currency: String,
//!     #[serde(flatten)]
//!     impersonation: ImpersonationSpec,
//! }
//!
//! impl Component for Shop {
//!     fn status(&self) -> Option<&ComponentStatus> {
//!         self.status.as_ref()
//!     }
//!
//!     fn parameters(&self) -> Cow<'_, Map<String, Value>> {
//!         Cow::Owned(Map::from_iter([("currency".to_owned(), json!(self.spec.currency))]))
//!     }
//!
//!     fn origin(&self) -> Origin<'_> {
//!         Origin::Url(&self.spec.chart)
//!     }
//!
//!     fn service_account_name(&self) -> Option<&str> {
//!         self.spec.impersonation.service_account_name.as_deref()
//!     }
//! }
//!
//! /// Nothing is applied before the shop has a name.
//! async fn named(context: HookContext<Shop>) -> Result<(), HookError> {
//!     match context.component().metadata.labels {
//!         Some(_) => Ok(()),
//!         None => Err(Retriable::new("the shop has no labels yet").into()),
//!     }
//! }
//!
//! let definition = crd_of::<Shop>();
//! assert_eq!(definition.spec.names.kind, "Shop");
//! let reconciler = Reconciler::<Shop>::new("shops.example.org").service_account("deployer").pre_reconcile(named);
//! # let _ = reconciler;
//! ```

pub mod api;
pub mod cli;

mod adopt;
mod causes;
mod class;
mod cluster;
mod component;
mod controllers;
mod crd;
mod dependents;
mod differing;
mod events;
mod http;
mod inflate;
mod lease;
mod metrics;
mod operator;
mod reconciler;
mod release;
mod remote;
mod source;
mod status;
mod telemetry;
mod tree;

pub use class::Class;
pub use component::{
    ChangeSet, Component, GeneratorOptions, HookContext, HookEditError, HookError, InventoryError,
    ObjectAction, ObjectChange, ObjectReconciler, ObjectsError, Origin, Part, Reference,
    References, Variables, load_inventory,
};
pub use crd::{crd_files, crd_of, crds};
#[doc(hidden)]
pub use dependents::Planning;
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
