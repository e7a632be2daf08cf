//! Watch loops.

mod component;
mod places;

pub(crate) use component::run_components;
