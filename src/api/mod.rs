//! The custom resources: types, schema and CEL rules, without logic.

pub mod v1alpha1;
