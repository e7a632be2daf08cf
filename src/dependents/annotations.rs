//! Annotations and labels that Whipstaff reads from and writes to dependents.

use super::names::Names;
use crate::api::v1alpha1::{AdoptionPolicy, DeletePolicy};
use crate::status::{HintError, Hints};
use whipstaff_generator::Object;

/// Annotation `<name>/…`: the wave in which an object is applied.
pub(crate) const APPLY_ORDER: &str = "apply-order";
/// Annotation `<name>/…`: the wave in which an object is deleted.
pub(crate) const DELETE_ORDER: &str = "delete-order";
/// Annotation `<name>/…`: whether an object that exists is taken over.
pub(crate) const ADOPTION_POLICY: &str = "adoption-policy";
/// Annotation `<name>/…`: what happens to an object that is no longer wanted.
pub(crate) const DELETE_POLICY: &str = "delete-policy";
/// Annotation `<name>/…`: how the object's readiness is read.
pub(crate) const STATUS_HINT: &str = "status-hint";
/// Helm's annotation that keeps an object from being deleted.
const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// Lowest and highest wave that an annotation may name.
pub(crate) const ORDER_RANGE: std::ops::RangeInclusive<i32> = -32_768..=32_767;

/// An annotation whose value is not understood.
#[derive(Debug, thiserror::Error)]
#[error("annotation `{key}` is `{value}`; expected {expected}")]
pub(crate) struct AnnotationError {
    key: String,
    value: String,
    expected: &'static str,
    #[source]
    cause: Option<HintError>,
}

/// The annotations of one object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Annotations<'a> {
    names: &'a Names,
    object: &'a Object,
}

impl<'a> Annotations<'a> {
    /// The annotations of an object for the reconciler with these names.
    pub(crate) fn of(object: &'a Object, names: &'a Names) -> Self {
        Self { names, object }
    }

    /// The wave that an annotation names.
    pub(crate) fn order(&self, suffix: &str) -> Result<Option<i32>, AnnotationError> {
        let Some(text) = self.get(suffix) else {
            return Ok(None);
        };
        match text.trim().parse() {
            Ok(order) if ORDER_RANGE.contains(&order) => Ok(Some(order)),
            _ => Err(self.unexpected(suffix, text, "a whole number from -32768 to 32767")),
        }
    }

    /// The adoption policy that an annotation names.
    pub(crate) fn adoption(&self) -> Result<Option<AdoptionPolicy>, AnnotationError> {
        let Some(text) = self.get(ADOPTION_POLICY) else {
            return Ok(None);
        };
        match text {
            "never" => Ok(Some(AdoptionPolicy::Never)),
            "if-unowned" => Ok(Some(AdoptionPolicy::IfUnowned)),
            "always" => Ok(Some(AdoptionPolicy::Always)),
            _ => Err(self.unexpected(ADOPTION_POLICY, text, "`never`, `if-unowned` or `always`")),
        }
    }

    /// The delete policy that an annotation, or Helm's `helm.sh/resource-policy: keep`, names.
    pub(crate) fn delete_policy(&self) -> Result<DeletePolicy, AnnotationError> {
        match self.get(DELETE_POLICY) {
            Some("delete") => Ok(DeletePolicy::Delete),
            Some("orphan") => Ok(DeletePolicy::Orphan),
            Some(text) => Err(self.unexpected(DELETE_POLICY, text, "`delete` or `orphan`")),
            None => match self.object.annotation(HELM_RESOURCE_POLICY) {
                Some(policy) if is_keep(policy) => Ok(DeletePolicy::Orphan),
                _ => Ok(DeletePolicy::Delete),
            },
        }
    }

    /// How the object's readiness is read.
    pub(crate) fn hints(&self) -> Result<Hints, AnnotationError> {
        let Some(text) = self.get(STATUS_HINT) else {
            return Ok(Hints::default());
        };
        Hints::parse(text).map_err(|cause| AnnotationError {
            cause: Some(cause),
            ..self.unexpected(STATUS_HINT, text, "a list of status hints")
        })
    }

    fn get(&self, suffix: &str) -> Option<&'a str> {
        self.object.annotation(&self.names.key(suffix))
    }

    fn unexpected(&self, suffix: &str, value: &str, expected: &'static str) -> AnnotationError {
        AnnotationError {
            key: self.names.key(suffix),
            value: value.to_owned(),
            expected,
            cause: None,
        }
    }
}

fn is_keep(policy: &str) -> bool {
    policy.trim().eq_ignore_ascii_case("keep")
}
