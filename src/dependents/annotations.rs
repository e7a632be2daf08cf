//! Annotations that Whipstaff reads from dependents.

use super::names::Names;
use super::references::{Reference, ReferenceError};
use crate::api::v1alpha1::{
    AdoptionPolicy, DeletePolicy, DriftMode, DurationText, ImmutablePolicy, ReconcilePolicy,
    UpdatePolicy,
};
use crate::status::{HintError, Hints, kebab_case};
use std::time::Duration;
use whipstaff_generator::Object;

/// Annotation `<name>/…`: the wave in which an object is applied.
pub(crate) const APPLY_ORDER: &str = "apply-order";
/// Annotation `<name>/…`: the wave in which an object is deleted.
pub(crate) const DELETE_ORDER: &str = "delete-order";
/// Annotation `<name>/…`: the wave after which an object that did its work is deleted.
pub(crate) const PURGE_ORDER: &str = "purge-order";
/// Annotation `<name>/…`: how an object is changed.
pub(crate) const UPDATE_POLICY: &str = "update-policy";
/// Annotation `<name>/…`: what happens when a change touches a field that cannot be changed.
pub(crate) const IMMUTABLE_POLICY: &str = "immutable-policy";
const ADOPTION_POLICY: &str = "adoption-policy";
const RECONCILE_POLICY: &str = "reconcile-policy";
const DELETE_POLICY: &str = "delete-policy";
const DRIFT_MODE: &str = "drift-mode";
const REAPPLY_INTERVAL: &str = "reapply-interval";
const TIMEOUT: &str = "timeout";
const DEPENDS_ON: &str = "depends-on";
const STATUS_HINT: &str = "status-hint";
/// Helm's annotation that keeps an object from being deleted.
const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// Lowest and highest wave that an annotation may name.
pub(crate) const ORDER_RANGE: std::ops::RangeInclusive<i32> = -32_768..=32_767;
/// Most objects that one object may depend on.
const MAX_DEPENDENCIES: usize = 100;

/// An annotation whose value is not understood.
#[derive(Debug, thiserror::Error)]
#[error("annotation `{key}` is `{value}`; expected {expected}")]
pub(crate) struct AnnotationError {
    key: String,
    value: String,
    expected: &'static str,
    #[source]
    cause: Option<AnnotationCause>,
}

#[derive(Debug, thiserror::Error)]
enum AnnotationCause {
    #[error(transparent)]
    Hint(HintError),
    #[error(transparent)]
    Reference(ReferenceError),
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

    /// Whether an object that exists is taken over.
    pub(crate) fn adoption(&self) -> Result<Option<AdoptionPolicy>, AnnotationError> {
        let choices = [
            ("never", AdoptionPolicy::Never),
            ("if-unowned", AdoptionPolicy::IfUnowned),
            ("always", AdoptionPolicy::Always),
        ];
        let expected = "`never`, `if-unowned` or `always`";
        self.choice(ADOPTION_POLICY, &choices, expected)
    }

    /// How the object is changed.
    pub(crate) fn update(&self) -> Result<Option<UpdatePolicy>, AnnotationError> {
        let choices = [
            ("ssa-merge", UpdatePolicy::SsaMerge),
            ("ssa-override", UpdatePolicy::SsaOverride),
            ("replace", UpdatePolicy::Replace),
            ("recreate", UpdatePolicy::Recreate),
        ];
        let expected = "`ssa-merge`, `ssa-override`, `replace` or `recreate`";
        self.choice(UPDATE_POLICY, &choices, expected)
    }

    /// What happens when a change touches a field that cannot be changed.
    pub(crate) fn immutable(&self) -> Result<Option<ImmutablePolicy>, AnnotationError> {
        let choices = [
            ("refuse", ImmutablePolicy::Refuse),
            ("recreate", ImmutablePolicy::Recreate),
        ];
        self.choice(IMMUTABLE_POLICY, &choices, "`refuse` or `recreate`")
    }

    /// When the object is applied again.
    pub(crate) fn reconcile(&self) -> Result<Option<ReconcilePolicy>, AnnotationError> {
        let choices = [
            ("on-object-change", ReconcilePolicy::OnObjectChange),
            (
                "on-object-or-component-change",
                ReconcilePolicy::OnObjectOrComponentChange,
            ),
            ("once", ReconcilePolicy::Once),
        ];
        let expected = "`on-object-change`, `on-object-or-component-change` or `once`";
        self.choice(RECONCILE_POLICY, &choices, expected)
    }

    /// What happens when the object is no longer wanted, if the annotation, or Helm's `helm.sh/resource-policy: keep`, says so.
    pub(crate) fn delete_policy(&self) -> Result<Option<DeletePolicy>, AnnotationError> {
        let choices = [
            ("delete", DeletePolicy::Delete),
            ("orphan", DeletePolicy::Orphan),
            ("orphan-on-apply", DeletePolicy::OrphanOnApply),
            ("orphan-on-delete", DeletePolicy::OrphanOnDelete),
        ];
        let expected = "`delete`, `orphan`, `orphan-on-apply` or `orphan-on-delete`";
        let named = self.choice(DELETE_POLICY, &choices, expected)?;
        let keep = self.object.annotation(HELM_RESOURCE_POLICY);
        Ok(named.or(keep.is_some_and(is_keep).then_some(DeletePolicy::Orphan)))
    }

    /// What happens when somebody else changes the object.
    pub(crate) fn drift(&self) -> Result<Option<DriftMode>, AnnotationError> {
        let choices = [
            ("correct", DriftMode::Correct),
            ("report", DriftMode::Report),
            ("ignore", DriftMode::Ignore),
        ];
        self.choice(DRIFT_MODE, &choices, "`correct`, `report` or `ignore`")
    }

    /// How often the object is applied although nothing is known to have changed.
    pub(crate) fn reapply_interval(&self) -> Result<Option<Duration>, AnnotationError> {
        self.duration(REAPPLY_INTERVAL)
    }

    /// How long the object may take to become ready.
    pub(crate) fn timeout(&self) -> Result<Option<Duration>, AnnotationError> {
        self.duration(TIMEOUT)
    }

    /// What the object depends on.
    pub(crate) fn depends_on(&self) -> Result<Vec<Reference>, AnnotationError> {
        let expected =
            "at most 100 objects as `[group/]Kind/[namespace/]name`, separated by commas";
        let Some(text) = self.get(DEPENDS_ON).filter(|text| !text.trim().is_empty()) else {
            return Ok(Vec::new());
        };
        let fail = |cause: Option<ReferenceError>| AnnotationError {
            cause: cause.map(AnnotationCause::Reference),
            ..self.unexpected(DEPENDS_ON, text, expected)
        };
        let parts = text.split(',').map(str::trim);
        let references: Result<Vec<Reference>, _> = parts.map(str::parse).collect();
        let references = references.map_err(|cause| fail(Some(cause)))?;
        if references.len() > MAX_DEPENDENCIES {
            return Err(fail(None));
        }
        Ok(references)
    }

    /// How the object's readiness is read.
    pub(crate) fn hints(&self) -> Result<Hints, AnnotationError> {
        let Some(text) = self.get(STATUS_HINT) else {
            return Ok(Hints::default());
        };
        Hints::parse(text).map_err(|cause| AnnotationError {
            cause: Some(AnnotationCause::Hint(cause)),
            ..self.unexpected(STATUS_HINT, text, "a list of status hints")
        })
    }

    fn choice<T: Copy>(
        &self,
        suffix: &str,
        choices: &[(&str, T)],
        expected: &'static str,
    ) -> Result<Option<T>, AnnotationError> {
        let Some(text) = self.get(suffix).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let name = kebab_case(text);
        match choices.iter().find(|(known, _)| *known == name) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(self.unexpected(suffix, text, expected)),
        }
    }

    fn duration(&self, suffix: &str) -> Result<Option<Duration>, AnnotationError> {
        let Some(text) = self.get(suffix).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let duration = text.parse::<DurationText>().and_then(|text| text.get());
        match duration {
            Ok(duration) if !duration.is_zero() => Ok(Some(duration)),
            _ => Err(self.unexpected(
                suffix,
                text,
                "a duration of more than zero, like `30s`, `5m` or `1h30m`",
            )),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(suffix: &str, value: &str) -> Object {
        let key = Names::default().key(suffix);
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "annotations": {key: value}}});
        Object::from_value(object).unwrap()
    }

    #[test]
    fn values_may_be_written_in_any_case_and_empty_ones_are_not_there() {
        let names = Names::default();
        for text in ["if-unowned", "IfUnowned", "ifUnowned", "if_unowned"] {
            let object = object(ADOPTION_POLICY, text);
            let policy = Annotations::of(&object, &names).adoption().unwrap();
            assert_eq!(policy, Some(AdoptionPolicy::IfUnowned), "{text}");
        }
        let object = object(UPDATE_POLICY, "");
        assert_eq!(Annotations::of(&object, &names).update().unwrap(), None);
    }

    #[test]
    fn no_time_at_all_is_no_interval() {
        let names = Names::default();
        for text in ["0s", "-1m", "soon", "0"] {
            let object = object(REAPPLY_INTERVAL, text);
            let read = Annotations::of(&object, &names).reapply_interval();
            assert!(read.is_err(), "{text}");
        }
        let object = object(REAPPLY_INTERVAL, "90m");
        let read = Annotations::of(&object, &names).reapply_interval();
        assert_eq!(read.unwrap(), Some(Duration::from_mins(90)));
    }
}
