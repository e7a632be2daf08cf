//! Bending what a generator gave before it is applied.

mod metadata;
mod names;
mod pipeline;
mod substitute;

pub use metadata::{CommonAnnotations, CommonLabels};
pub use names::CheckNames;
pub use pipeline::{Pipeline, Transformed};
pub use substitute::{
    MAX_REFERENCE_DEPTH, MAX_SUBSTITUTED_BYTES, SubstituteError, Substitution, Undefined,
};

use crate::{Error, ObjectSet};
use std::fmt;

/// What a transformer may depend on beside the objects.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TransformContext<'a> {
    /// Namespace that the objects were rendered for.
    pub namespace: &'a str,
    /// Name that the objects were rendered for.
    pub name: &'a str,
}

impl<'a> TransformContext<'a> {
    /// The context of what was rendered for a namespace and a name.
    pub fn new(namespace: &'a str, name: &'a str) -> Self {
        Self { namespace, name }
    }
}

/// Changes objects between rendering and applying: the same objects always become the same objects.
///
/// A closure `Fn(&mut ObjectSet, &TransformContext<'_>) -> Result<(), Error>` is a transformer too; see [`transformer`].
pub trait Transformer: Send + Sync + fmt::Debug {
    /// Changes the objects in place.
    ///
    /// # Errors
    /// When an object cannot be changed as asked; it is named.
    fn transform(
        &self,
        objects: &mut ObjectSet,
        context: &TransformContext<'_>,
    ) -> Result<(), Error>;
}

/// A closure as a transformer.
pub fn transformer<F>(name: &'static str, change: F) -> impl Transformer
where
    F: Fn(&mut ObjectSet, &TransformContext<'_>) -> Result<(), Error> + Send + Sync,
{
    Closure { name, change }
}

struct Closure<F> {
    name: &'static str,
    change: F,
}

impl<F> fmt::Debug for Closure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<F> Transformer for Closure<F>
where
    F: Fn(&mut ObjectSet, &TransformContext<'_>) -> Result<(), Error> + Send + Sync,
{
    fn transform(
        &self,
        objects: &mut ObjectSet,
        context: &TransformContext<'_>,
    ) -> Result<(), Error> {
        (self.change)(objects, context)
    }
}
