//! Watch loops.

mod component;

pub(crate) use component::run_components;
