//! Annotations and labels that Whipstaff reads from and writes to dependents.

use crate::api::v1alpha1::{AdoptionPolicy, DeletePolicy};
use crate::status::{HintError, Hints};
use whipstaff_generator::Object;

/// Label with the hash of the owner's id: watches and lists select by it.
pub(crate) const OWNER_LABEL: &str = "whipstaff.dev/owner-id";
/// Annotation with the owner's id in full.
pub(crate) const OWNER_ANNOTATION: &str = "whipstaff.dev/owner-id";
/// Annotation with the digest of the manifest that was applied.
pub(crate) const DIGEST_ANNOTATION: &str = "whipstaff.dev/digest";
/// Annotation: the wave in which an object is applied.
pub(crate) const APPLY_ORDER: &str = "whipstaff.dev/apply-order";
/// Annotation: the wave in which an object is deleted.
pub(crate) const DELETE_ORDER: &str = "whipstaff.dev/delete-order";
/// Annotation: whether an object that exists is taken over.
pub(crate) const ADOPTION_POLICY: &str = "whipstaff.dev/adoption-policy";
/// Annotation: what happens to an object that is no longer wanted.
pub(crate) const DELETE_POLICY: &str = "whipstaff.dev/delete-policy";
/// Annotation: how the object's readiness is read.
pub(crate) const STATUS_HINT: &str = "whipstaff.dev/status-hint";
/// Helm's annotation that keeps an object from being deleted.
const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// Lowest and highest wave that an annotation may name.
pub(crate) const ORDER_RANGE: std::ops::RangeInclusive<i32> = -32_768..=32_767;

/// An annotation whose value is not understood.
#[derive(Debug, thiserror::Error)]
#[error("annotation `{key}` is `{value}`; expected {expected}")]
pub(crate) struct AnnotationError {
    key: &'static str,
    value: String,
    expected: &'static str,
    #[source]
    cause: Option<HintError>,
}

/// The wave that an annotation names; zero when there is none.
pub(crate) fn order(object: &Object, key: &'static str) -> Result<i32, AnnotationError> {
    let Some(text) = object.annotation(key) else {
        return Ok(0);
    };
    match text.trim().parse() {
        Ok(order) if ORDER_RANGE.contains(&order) => Ok(order),
        _ => Err(unexpected(key, text, "a whole number from -32768 to 32767")),
    }
}

/// The adoption policy that an annotation names.
pub(crate) fn adoption(object: &Object) -> Result<Option<AdoptionPolicy>, AnnotationError> {
    let Some(text) = object.annotation(ADOPTION_POLICY) else {
        return Ok(None);
    };
    match text {
        "never" => Ok(Some(AdoptionPolicy::Never)),
        "if-unowned" => Ok(Some(AdoptionPolicy::IfUnowned)),
        "always" => Ok(Some(AdoptionPolicy::Always)),
        _ => Err(unexpected(
            ADOPTION_POLICY,
            text,
            "`never`, `if-unowned` or `always`",
        )),
    }
}

/// The delete policy that an annotation, or Helm's `helm.sh/resource-policy: keep`, names.
pub(crate) fn delete_policy(object: &Object) -> Result<DeletePolicy, AnnotationError> {
    match object.annotation(DELETE_POLICY) {
        Some("delete") => Ok(DeletePolicy::Delete),
        Some("orphan") => Ok(DeletePolicy::Orphan),
        Some(text) => Err(unexpected(DELETE_POLICY, text, "`delete` or `orphan`")),
        None if object.annotation(HELM_RESOURCE_POLICY).is_some_and(is_keep) => {
            Ok(DeletePolicy::Orphan)
        }
        None => Ok(DeletePolicy::Delete),
    }
}

/// How the object's readiness is read.
pub(crate) fn hints(object: &Object) -> Result<Hints, AnnotationError> {
    let Some(text) = object.annotation(STATUS_HINT) else {
        return Ok(Hints::default());
    };
    Hints::parse(text).map_err(|cause| AnnotationError {
        key: STATUS_HINT,
        value: text.to_owned(),
        expected: "a list of status hints",
        cause: Some(cause),
    })
}

fn is_keep(policy: &str) -> bool {
    policy.trim().eq_ignore_ascii_case("keep")
}

fn unexpected(key: &'static str, value: &str, expected: &'static str) -> AnnotationError {
    AnnotationError {
        key,
        value: value.to_owned(),
        expected,
        cause: None,
    }
}
