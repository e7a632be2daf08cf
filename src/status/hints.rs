//! What a user says about objects whose status does not speak for itself.

use super::health::HealthRule;
use std::sync::Arc;

/// Hints about what an object's controller will write into its status: the value of the annotation `status-hint`.
///
/// They matter for kinds of which nothing else is known: without them, an object that has no status yet counts as ready.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    has_observed_generation: bool,
    has_ready_condition: bool,
    conditions: Vec<String>,
    health: Option<Arc<HealthRule>>,
}

/// A text that is not a list of hints.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintError {
    /// There is no such hint.
    #[error(
        "unknown status hint `{hint}`; known are `has-observed-generation`, `has-ready-condition` and `conditions=…`"
    )]
    Unknown {
        /// The hint as it was given.
        hint: String,
    },
    /// The hint takes no value.
    #[error("the status hint `{hint}` takes no value")]
    UnexpectedValue {
        /// The hint without its value.
        hint: String,
    },
    /// The hint has no value, or a part of it is empty.
    #[error("the status hint `{hint}` needs the names of conditions, separated by `;`")]
    MissingValue {
        /// The hint without its value.
        hint: String,
    },
}

impl Hints {
    /// Reads hints that are separated by commas. An empty text has none.
    ///
    /// - `has-observed-generation`: `status.observedGeneration` will come, and the object is in progress until then. The
    ///   `observedGeneration` of the condition `Ready` does as well.
    /// - `has-ready-condition`: the condition `Ready` will come, and the object is in progress until then.
    /// - `conditions=A;B`: these conditions must be true in addition.
    ///
    /// Names of hints may be written in kebab, snake or camel case.
    ///
    /// # Errors
    /// [`HintError`] when a hint is unknown, or has a value where there must be none or none where there must be one.
    pub fn parse(text: &str) -> Result<Self, HintError> {
        let mut hints = Self::default();
        if text.trim().is_empty() {
            return Ok(hints);
        }
        for hint in text.split(',') {
            hints.add(hint.trim())?;
        }
        Ok(hints)
    }

    /// Whether `status.observedGeneration` is to be waited for.
    pub fn has_observed_generation(&self) -> bool {
        self.has_observed_generation
    }

    /// Whether the condition `Ready` is to be waited for.
    pub fn has_ready_condition(&self) -> bool {
        self.has_ready_condition
    }

    /// The conditions that must be true in addition.
    pub fn conditions(&self) -> &[String] {
        &self.conditions
    }

    /// A rule that decides when the object is ready, instead of its conditions.
    pub(crate) fn with_health(mut self, rule: Option<&Arc<HealthRule>>) -> Self {
        self.health = rule.cloned();
        self
    }

    /// The rule that decides, if there is one.
    pub(super) fn health(&self) -> Option<&HealthRule> {
        self.health.as_deref()
    }

    fn add(&mut self, hint: &str) -> Result<(), HintError> {
        let (name, value) = match hint.split_once('=') {
            Some((name, value)) => (kebab_case(name.trim()), Some(value)),
            None => (kebab_case(hint), None),
        };
        match (name.as_str(), value) {
            ("has-observed-generation", None) => self.has_observed_generation = true,
            ("has-ready-condition", None) => self.has_ready_condition = true,
            ("has-observed-generation" | "has-ready-condition", Some(_)) => {
                return Err(HintError::UnexpectedValue { hint: name });
            }
            ("conditions", Some(value)) => {
                let names: Vec<_> = value.split(';').map(str::trim).map(str::to_owned).collect();
                if names.iter().any(String::is_empty) {
                    return Err(HintError::MissingValue { hint: name });
                }
                self.conditions.extend(names);
            }
            ("conditions", None) => return Err(HintError::MissingValue { hint: name }),
            _ => {
                return Err(HintError::Unknown {
                    hint: hint.to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// `HasReadyCondition` and `has_ready_condition` become `has-ready-condition`.
/// A name in kebab case, whether it was written in kebab, snake or camel case.
pub(crate) fn kebab_case(text: &str) -> String {
    let mut kebab = String::with_capacity(text.len() + 4);
    for character in text.chars() {
        if character.is_uppercase() && !kebab.is_empty() && !kebab.ends_with('-') {
            kebab.push('-');
        }
        match character {
            '_' => kebab.push('-'),
            other => kebab.extend(other.to_lowercase()),
        }
    }
    kebab
}
