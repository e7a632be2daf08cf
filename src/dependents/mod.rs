//! Dependents: the objects that a component owns.
//!
//! The domain is pure (no I/O, no clock): [`Desired`] objects, the inventory and [`Observed`] states go in, a [`Plan`] comes out.
//! Only `execute` and `observe` talk to the API server, and only `execute` writes.

mod annotations;
mod claims;
mod delete_plan;
mod desired;
mod drift;
mod execute;
mod fields;
mod guard;
mod hooks;
mod inventory;
mod kinds;
mod made;
mod measure;
mod names;
mod observe;
mod order;
mod ownership;
mod plan;
mod preflight;
mod prune;
mod references;
mod rules;
mod takeover;
#[cfg(test)]
pub(crate) mod testing;
mod waves;
mod write;

pub(crate) use claims::{ClaimBook, Claims};
pub(crate) use delete_plan::plan_deletion;
pub(crate) use desired::{
    Desired, DesiredObject, PRECIOUS, PrepareError, PrepareOptions, normalise, prepare,
};
pub(crate) use drift::{Judgement, describe, differences, judge, over_live};
pub(crate) use execute::{Change, ExecuteError, Executor, Outcome, namespaces, served};
pub(crate) use fields::owned_fields;
pub(crate) use guard::unavailable;
pub(crate) use hooks::{DesiredHook, NextForHook, come_after_hooks, event_name, prepare_hooks};
pub(crate) use inventory::{refresh, with_desired};
pub(crate) use made::namespace_id;
pub use measure::Planning;
pub use names::{NameError, Names};
pub(crate) use observe::{IfUnseen, ObserveError, Observer, Target, live};
pub(crate) use ownership::{Owner, OwnerId, OwnerScope};
pub(crate) use plan::{
    Action, Live, Observed, Plan, Policies, Reason, Refusal, RefusalCause, Step, Waiting, plan,
};
pub(crate) use preflight::preflight;
pub(crate) use prune::Pruning;
pub(crate) use takeover::{TakeOver, Taken, changes, foreign, is_mark, put_marks_of};
