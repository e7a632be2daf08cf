//! Dependents: the objects that a component owns.
//!
//! The domain is pure (no I/O, no clock): [`Desired`] objects, the inventory and [`Observed`] states go in, a [`Plan`] comes out.
//! Only `execute` and `observe` talk to the API server, and only `execute` writes.

mod annotations;
mod delete_plan;
mod desired;
mod execute;
mod hooks;
mod inventory;
mod names;
mod observe;
mod order;
mod ownership;
mod plan;
mod preflight;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use delete_plan::plan_deletion;
pub(crate) use desired::{Desired, PrepareError, PrepareOptions, prepare};
pub(crate) use execute::{Change, ExecuteError, Executor, Outcome, namespaces, served};
pub(crate) use inventory::{refresh, with_desired};
pub use names::{NameError, Names};
pub(crate) use observe::{IfUnseen, ObserveError, Observer, Target};
pub(crate) use ownership::{OwnerId, OwnerScope};
pub(crate) use plan::{Live, Observed, Plan, Policies, Refusal, Waiting, plan};
pub(crate) use preflight::preflight;
