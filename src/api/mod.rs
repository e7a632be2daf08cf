//! The custom resources: types, schema and CEL rules, without logic.

pub mod fragments;
pub mod v1alpha1;
