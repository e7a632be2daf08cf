//! Choosing objects by expressions.
//!
//! Mirrors `types/selector.go` and `Select` in `resmap/reswrangler.go` of kustomize api v0.21.1.

use super::label_selector::LabelSelector;
use crate::error::Result;
use crate::expression::Expression;
use crate::kustomization::Selector;
use crate::resource::{Gvk, Id, Resource, Store};

/// A selector with its expressions compiled; without one, everything fits.
#[derive(Debug)]
pub(super) struct Matcher {
    group: Option<Expression>,
    version: Option<Expression>,
    kind: Option<Expression>,
    name: Option<Expression>,
    namespace: Option<Expression>,
    pub(super) labels: LabelSelector,
    pub(super) annotations: LabelSelector,
}

fn fits(expression: Option<&Expression>, text: &str) -> bool {
    expression.is_none_or(|expression| expression.is_match(text))
}

impl Matcher {
    pub(super) fn new(selector: &Selector) -> Result<Self> {
        let compile = |text: &str| {
            if text.is_empty() {
                Ok(None)
            } else {
                Expression::whole(text).map(Some)
            }
        };
        Ok(Self {
            group: compile(&selector.group)?,
            version: compile(&selector.version)?,
            kind: compile(&selector.kind)?,
            name: compile(&selector.name)?,
            namespace: compile(&selector.namespace)?,
            labels: LabelSelector::parse(&selector.label_selector)?,
            annotations: LabelSelector::parse(&selector.annotation_selector)?,
        })
    }

    pub(super) fn fits_gvk(&self, gvk: &Gvk) -> bool {
        fits(self.group.as_ref(), &gvk.group)
            && fits(self.version.as_ref(), &gvk.version)
            && fits(self.kind.as_ref(), &gvk.kind)
    }

    pub(super) fn fits_name(&self, name: &str) -> bool {
        fits(self.name.as_ref(), name)
    }

    pub(super) fn fits_namespace(&self, namespace: &str) -> bool {
        fits(self.namespace.as_ref(), namespace)
    }

    /// Whether type, name and namespace of an id fit, the namespace as it is written.
    pub(super) fn fits_id(&self, id: &Id) -> bool {
        self.fits_gvk(&id.gvk) && self.fits_name(&id.name) && self.fits_namespace(&id.namespace)
    }

    /// Whether labels and annotations fit.
    pub(super) fn fits_metadata(&self, store: &Store, resource: &Resource) -> bool {
        (self.annotations.is_everything() || self.annotations.matches(&resource.annotations(store)))
            && (self.labels.is_everything() || self.labels.matches(&resource.labels(store)))
    }
}

/// The places of the objects that a selector chooses, by their current or original names and namespaces.
///
/// # Errors
/// When an expression or a label selector cannot be read.
pub(crate) fn select(
    store: &Store,
    resources: &[Resource],
    selector: &Selector,
) -> Result<Vec<usize>> {
    let matcher = Matcher::new(selector)?;
    let mut places = Vec::new();
    for (at, resource) in resources.iter().enumerate() {
        if !matcher.fits_gvk(&resource.gvk(store)) {
            continue;
        }
        let (current, original) = (resource.current_id(store), resource.original_id(store)?);
        let ids = [&original, &current];
        let fits = ids
            .iter()
            .any(|id| matcher.fits_namespace(id.effective_namespace()))
            && ids.iter().any(|id| matcher.fits_name(&id.name))
            && matcher.fits_metadata(store, resource);
        if fits {
            places.push(at);
        }
    }
    Ok(places)
}
