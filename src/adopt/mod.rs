//! Taking live Helm releases over, with proof that nothing will change.

mod component;
mod dialect;
mod documents;
mod error;
mod live;
mod pins;
mod proof;
#[cfg(test)]
mod recorded;
mod rendering;
mod source;
mod verify;

pub(crate) use component::{ChartSource, Manifests, pinned_secret};
pub(crate) use dialect::dialects;
pub(crate) use error::AdoptError;
pub(crate) use pins::{
    DATA_KEY as PINS_KEY, Pins, SECRET_TYPE as PINS_TYPE, secret_name as pins_secret_name,
};
pub(crate) use proof::Proof;
pub(crate) use rendering::Subject;
pub(crate) use source::{chart_files, check_chart, missing_charts};
pub(crate) use verify::{Adoptable, Verifier};

/// Annotation of the record that a release was taken over from: namespace and name of the Component that has it.
pub(crate) const ADOPTER: &str = "whipstaff.dev/adopted-by";
