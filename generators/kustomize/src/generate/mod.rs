//! Objects that kustomizations make.

mod charts;
mod data;
mod hash;
mod policy;

pub(crate) use charts::{Chart, HELM_IS_OFF, HelmSettings};
pub use charts::{ChartHost, ChartInflator, ChartRequest, RecordingInflator};
pub(crate) use data::{DataKind, make_data_object};
pub(crate) use hash::add_hashes;
pub(crate) use policy::{PolicyArgs, make_policy_account};
