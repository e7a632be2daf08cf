//! What kustomizations do to objects.

mod entries;
mod field;
mod image;
mod label_selector;
mod name;
mod namespace;
mod reference;
mod replacement;
mod replicas;
mod select;
mod structured;
mod value_add;
mod variable;

pub(crate) use entries::{annotate_all, set_entries};
pub(crate) use field::split_dotted;
pub(crate) use image::set_image;
pub(crate) use name::{Affix, add_affix};
pub(crate) use namespace::{RoleBindingSubjects, set_namespace};
pub(crate) use reference::fix_references;
pub(crate) use replacement::replace;
pub(crate) use replicas::set_replicas;
pub(crate) use select::select;
pub(crate) use value_add::{ValueTarget, add_value};
pub(crate) use variable::{Variable, replace_variables};
