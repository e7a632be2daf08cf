//! Objects that kustomizations make.

mod charts;
mod data;
mod hash;
mod policy;

pub(crate) use charts::{Chart, HelmSettings};
pub use charts::{ChartInflator, ChartRequest};
pub(crate) use data::{DataKind, make_data_object};
pub(crate) use hash::add_hashes;
pub(crate) use policy::{PolicyArgs, make_policy_account};
