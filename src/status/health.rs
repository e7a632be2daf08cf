//! What a user says of kinds whose status does not speak for itself, in expressions.

use super::expression::{Expression, ExpressionError};
use super::{Assessment, Status};
use crate::api::v1alpha1::HealthCheck;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// When objects of a kind are ready, and when they have failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HealthRule {
    ready: Expression,
    failed: Option<Expression>,
}

/// Rules by group and kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct HealthRules {
    rules: HashMap<(String, String), Arc<HealthRule>>,
}

/// A check that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`spec.health[{index}].{field}` cannot be used")]
pub(crate) struct HealthError {
    index: usize,
    field: &'static str,
    #[source]
    cause: ExpressionError,
}

impl HealthRules {
    /// Reads checks. Of several for one kind the last holds.
    pub(crate) fn compile(checks: &[HealthCheck]) -> Result<Self, HealthError> {
        let mut rules = HashMap::new();
        for (index, check) in checks.iter().enumerate() {
            let read = |field, source: &str| {
                Expression::compile(source).map_err(|cause| HealthError {
                    index,
                    field,
                    cause,
                })
            };
            let ready = read("ready", &check.ready)?;
            let failed = check.failed.as_deref().map(|source| read("failed", source));
            let failed = failed.transpose()?;
            let kind = (check.group.clone(), check.kind.clone());
            rules.insert(kind, Arc::new(HealthRule { ready, failed }));
        }
        Ok(Self { rules })
    }

    /// The rule for a kind.
    pub(crate) fn of(&self, group: &str, kind: &str) -> Option<&Arc<HealthRule>> {
        if self.rules.is_empty() {
            return None;
        }
        self.rules.get(&(group.to_owned(), kind.to_owned()))
    }
}

impl HealthRule {
    /// How an object is. What cannot be told yet is not ready: fields of the status come later.
    pub(super) fn assess(&self, object: &Value) -> Assessment {
        if let Some(failed) = &self.failed
            && failed.holds(object) == Ok(true)
        {
            let message = format!("{} is true", failed.describe());
            return Assessment::new(Status::Failed, message);
        }
        match self.ready.holds(object) {
            Ok(true) => Assessment::current(format!("{} is true", self.ready.describe())),
            Ok(false) => Assessment::in_progress(format!("{} is false", self.ready.describe())),
            Err(problem) => Assessment::in_progress(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hints, assess_with_hints};
    use super::*;
    use serde_json::json;

    fn hints(ready: &str, failed: Option<&str>) -> Hints {
        let check = HealthCheck {
            group: "example.org".to_owned(),
            kind: "Database".to_owned(),
            ready: ready.to_owned(),
            failed: failed.map(str::to_owned),
        };
        let rules = HealthRules::compile(&[check]).unwrap();
        assert!(rules.of("example.org", "Other").is_none());
        Hints::default().with_health(rules.of("example.org", "Database"))
    }

    #[test]
    fn a_rule_decides_instead_of_the_conditions() {
        let hints = hints("status.phase == 'Up'", Some("status.phase == 'Broken'"));
        let database = |status: Value| {
            json!({"apiVersion": "example.org/v1", "kind": "Database",
            "metadata": {"generation": 2}, "status": status})
        };
        let status = |value| assess_with_hints(&database(value), &hints).status;
        assert_eq!(status(json!(null)), Status::InProgress);
        let ready = json!([{"type": "Ready", "status": "True"}]);
        assert_eq!(
            status(json!({"phase": "Starting", "conditions": ready})),
            Status::InProgress
        );
        assert_eq!(status(json!({"phase": "Up"})), Status::Current);
        assert_eq!(status(json!({"phase": "Broken"})), Status::Failed);
        let old = json!({"phase": "Up", "observedGeneration": 1});
        assert_eq!(status(old), Status::InProgress);
    }

    #[test]
    fn what_is_waited_for_names_the_expression() {
        let hints = hints("status.replicas >= 3", None);
        let object = json!({"kind": "Database", "status": {"replicas": 1}});
        let message = assess_with_hints(&object, &hints).message;
        assert_eq!(message, "`status.replicas >= 3` is false");
    }

    #[test]
    fn checks_that_are_no_expressions_are_named() {
        let check = HealthCheck {
            group: String::new(),
            kind: "K".to_owned(),
            ready: "true".to_owned(),
            failed: Some("status.".to_owned()),
        };
        let error = HealthRules::compile(&[check]).unwrap_err();
        assert_eq!(error.to_string(), "`spec.health[0].failed` cannot be used");
    }
}
