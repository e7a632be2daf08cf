//! `${variable}` in objects.

mod reference;

use super::{TransformContext, Transformer};
use crate::{Error, ErrorKind, Location, Object, ObjectSet};
use reference::{Part, parse};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Deepest nesting of references in defaults.
pub const MAX_REFERENCE_DEPTH: usize = 16;
/// Bytes that one text may grow to.
pub const MAX_SUBSTITUTED_BYTES: usize = 4 * 1024 * 1024;
/// Annotation (or label) that keeps an object from being changed.
const DISABLED: (&str, &str) = ("whipstaff.dev/substitute", "disabled");

/// What becomes of a reference to a variable that is not defined and has no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undefined {
    /// It is an error.
    #[default]
    Refuse,
    /// It becomes an empty text.
    Empty,
    /// It stays as it is.
    Keep,
}

/// Whether a lone reference takes its variable's type.
#[derive(Clone, Copy)]
enum Types {
    Kept,
    Text,
}

/// Replaces `${variable}` in the texts of objects, keys of maps included.
///
/// Values are put into parsed objects, never into YAML text: no value can add a field or change the structure. A text that is nothing
/// but one plain reference takes the variable's type (`replicas: ${replicas}` becomes a number if the variable is one), but in
/// `metadata`; inside other text numbers and booleans are written as JSON writes them.
///
/// | form | gives |
/// |---|---|
/// | `${v}` | the value |
/// | `${v:-d}`, `${v-d}`, `${v:=d}`, `${v=d}` | the value; the default when it is undefined (with `:` also when it is empty) |
/// | `${v:+d}`, `${v+d}` | the other text when it is defined (with `:`: and not empty), else nothing |
/// | `${v:?text}`, `${v?text}` | the value, or an error with this text |
/// | `${#v}` | its length in characters |
/// | `${v:offset}`, `${v:offset:length}` | a part of it |
/// | `${v,}`, `${v,,}`, `${v^}`, `${v^^}` | first or all letters in lower or upper case |
/// | `${v#p}`, `${v##p}`, `${v%p}`, `${v%%p}` | without the shortest or longest prefix or suffix that matches; `*` and `?` match as in a shell |
/// | `${v/p/r}`, `${v//p/r}`, `${v/#p/r}`, `${v/%p/r}` | with the first, all, a leading or a trailing match replaced |
/// | `$${` | a literal `${` |
///
/// A `$` that is not followed by `{` is left alone. Objects with the annotation `whipstaff.dev/substitute: disabled` are left alone.
#[derive(Clone, Default)]
pub struct Substitution {
    variables: BTreeMap<String, Value>,
    undefined: Undefined,
}

impl std::fmt::Debug for Substitution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may come from Secrets: only the names are shown.
        f.debug_struct("Substitution")
            .field("variables", &self.variables.keys())
            .field("undefined", &self.undefined)
            .finish()
    }
}

/// A text whose references cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubstituteError {
    /// The variable has no value.
    #[error(
        "the variable `{name}` is not defined: define it, or give a default as in `${{{name}:-default}}`"
    )]
    Undefined {
        /// The variable.
        name: String,
    },
    /// The reference itself says that the variable is needed.
    #[error("the variable `{name}` is needed: {text}")]
    Needed {
        /// The variable.
        name: String,
        /// What the reference says.
        text: String,
    },
    /// A reference that cannot be read.
    #[error(
        "`{reference}` is not a reference to a variable: {problem}; write `$${{` for a literal `${{`"
    )]
    Malformed {
        /// The beginning of the reference.
        reference: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A list or a map inside a text.
    #[error("the variable `{name}` is a list or a map and cannot stand inside a text")]
    NotText {
        /// The variable.
        name: String,
    },
    /// Two keys became the same.
    #[error("two keys of a map both become `{key}`")]
    Key {
        /// The key.
        key: String,
    },
    /// A text became too long.
    #[error("a text becomes longer than {MAX_SUBSTITUTED_BYTES} bytes")]
    Limit,
}

impl Substitution {
    /// Variables by name.
    pub fn new(variables: BTreeMap<String, Value>, undefined: Undefined) -> Self {
        Self {
            variables,
            undefined,
        }
    }

    /// Replaces the references in a value.
    ///
    /// # Errors
    /// [`SubstituteError`] for the first reference that cannot be replaced.
    pub fn apply(&self, value: &mut Value) -> Result<(), SubstituteError> {
        self.apply_as(value, Types::Kept)
    }

    fn apply_as(&self, value: &mut Value, types: Types) -> Result<(), SubstituteError> {
        match value {
            Value::String(text) if text.contains("${") => {
                *value = match types {
                    Types::Kept => self.value(text)?,
                    Types::Text => Value::String(self.text(text)?),
                };
                Ok(())
            }
            Value::Array(items) => items
                .iter_mut()
                .try_for_each(|item| self.apply_as(item, types)),
            Value::Object(map) => self.apply_map(map, types),
            _ => Ok(()),
        }
    }

    fn apply_map(&self, map: &mut Map<String, Value>, types: Types) -> Result<(), SubstituteError> {
        for (key, value) in map.iter_mut() {
            // Names, labels and annotations are texts whatever they look like.
            let types = if key == "metadata" {
                Types::Text
            } else {
                types
            };
            self.apply_as(value, types)?;
        }
        if !map.keys().any(|key| key.contains("${")) {
            return Ok(());
        }
        let mut renamed = Map::with_capacity(map.len());
        for (key, value) in std::mem::take(map) {
            let key = self.text(&key)?;
            if renamed.contains_key(&key) {
                return Err(SubstituteError::Key { key });
            }
            renamed.insert(key, value);
        }
        *map = renamed;
        Ok(())
    }

    fn value(&self, text: &str) -> Result<Value, SubstituteError> {
        let parts = parse(text)?;
        if let [Part::Reference(reference)] = parts.as_slice()
            && reference.is_plain()
            && let Some(value) = self.variables.get(&reference.name)
        {
            return Ok(value.clone());
        }
        self.join(&parts).map(Value::String)
    }

    fn text(&self, text: &str) -> Result<String, SubstituteError> {
        self.join(&parse(text)?)
    }

    fn join(&self, parts: &[Part]) -> Result<String, SubstituteError> {
        let mut joined = String::new();
        for part in parts {
            match part {
                Part::Text(text) => joined.push_str(text),
                Part::Reference(reference) => joined.push_str(&reference.evaluate(self)?),
            }
            if joined.len() > MAX_SUBSTITUTED_BYTES {
                return Err(SubstituteError::Limit);
            }
        }
        Ok(joined)
    }

    /// The text of a variable; nothing when it is not defined.
    fn variable(&self, name: &str) -> Result<Option<Cow<'_, str>>, SubstituteError> {
        Ok(match self.variables.get(name) {
            None => None,
            Some(Value::String(text)) => Some(Cow::Borrowed(text)),
            Some(Value::Null) => Some(Cow::Borrowed("")),
            Some(Value::Array(_) | Value::Object(_)) => {
                let name = name.to_owned();
                return Err(SubstituteError::NotText { name });
            }
            Some(other) => Some(Cow::Owned(other.to_string())),
        })
    }
}

impl Transformer for Substitution {
    fn transform(&self, objects: &mut ObjectSet, _: &TransformContext<'_>) -> Result<(), Error> {
        for item in objects.iter_mut() {
            let (key, disabled) = DISABLED;
            if item.object.annotation(key) == Some(disabled) {
                continue;
            }
            let source = item.source.clone();
            let object = item.object.describe();
            let failed = |cause: Box<dyn std::error::Error + Send + Sync>| {
                let message = format!("cannot substitute variables in {object}");
                let error = Error::new(ErrorKind::Parameters, message).caused_by(cause);
                error.at(Location::file(source.clone()))
            };
            let mut value = item.object.clone().into_value();
            self.apply(&mut value)
                .map_err(|error| failed(error.into()))?;
            item.object = Object::from_value(value).map_err(|error| failed(error.into()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
