//! The ordered output of a generator.

use crate::{Object, ObjectError, ObjectId};
use serde_json::Value;
use std::collections::BTreeMap;

/// Objects in the order in which the generator gave them, each with the file that it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectSet {
    items: Vec<Sourced>,
}

/// An object and the file that it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced {
    /// The object.
    pub object: Object,
    /// Path of the file or template, relative to the file tree; empty when there is none.
    pub source: String,
}

/// Objects that cannot be a set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectSetError {
    /// A value that is not an object.
    #[error("invalid object{}", in_file(.file))]
    Object {
        /// The file that it came from.
        file: String,
        /// What is wrong with it.
        #[source]
        cause: ObjectError,
    },
    /// Two objects with the same group, kind, namespace and name.
    #[error("{id} is defined twice: in `{first}` and in `{second}`")]
    Duplicate {
        /// Identity of both.
        id: Box<ObjectId>,
        /// File of the first.
        first: String,
        /// File of the second.
        second: String,
    },
}

fn in_file(file: &str) -> String {
    if file.is_empty() {
        String::new()
    } else {
        format!(" in `{file}`")
    }
}

impl ObjectSet {
    /// A set without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object and the file that it came from.
    pub fn push(&mut self, object: Object, source: impl Into<String>) {
        self.items.push(Sourced {
            object,
            source: source.into(),
        });
    }

    /// Adds a document: nothing for an empty one, each item for a `List`, else the object.
    ///
    /// # Errors
    /// [`ObjectSetError::Object`] when the document, or an item of the list, is not an object.
    pub fn push_document(&mut self, value: Value, source: &str) -> Result<(), ObjectSetError> {
        let fail = |cause| ObjectSetError::Object {
            file: source.to_owned(),
            cause,
        };
        if value.is_null() {
            return Ok(());
        }
        let object = Object::from_value(value).map_err(fail)?;
        if !is_list(&object) {
            self.push(object, source);
            return Ok(());
        }
        let mut fields = object.into_value();
        let Some(Value::Array(items)) = fields.get_mut("items").map(Value::take) else {
            return Ok(());
        };
        for item in items {
            self.push(Object::from_value(item).map_err(fail)?, source);
        }
        Ok(())
    }

    /// The objects and their files.
    pub fn iter(&self) -> std::slice::Iter<'_, Sourced> {
        self.items.iter()
    }

    /// The objects and their files, to change them.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Sourced> {
        self.items.iter_mut()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Refuses two objects with the same identity.
    ///
    /// # Errors
    /// [`ObjectSetError::Duplicate`] with both files named.
    pub fn check_duplicates(&self) -> Result<(), ObjectSetError> {
        let mut seen: BTreeMap<ObjectId, &str> = BTreeMap::new();
        for item in &self.items {
            let id = item.object.id();
            if let Some(first) = seen.insert(id.clone(), &item.source) {
                return Err(ObjectSetError::Duplicate {
                    id: Box::new(id),
                    first: first.to_owned(),
                    second: item.source.clone(),
                });
            }
        }
        Ok(())
    }
}

impl IntoIterator for ObjectSet {
    type Item = Sourced;
    type IntoIter = std::vec::IntoIter<Sourced>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a ObjectSet {
    type Item = &'a Sourced;
    type IntoIter = std::slice::Iter<'a, Sourced>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a> IntoIterator for &'a mut ObjectSet {
    type Item = &'a mut Sourced;
    type IntoIter = std::slice::IterMut<'a, Sourced>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl Extend<Sourced> for ObjectSet {
    fn extend<T: IntoIterator<Item = Sourced>>(&mut self, items: T) {
        self.items.extend(items);
    }
}

/// A `v1 List` or a typed list such as `ConfigMapList`: a kind that ends in `List` and has an `items` array.
fn is_list(object: &Object) -> bool {
    object.kind().ends_with("List") && object.pointer(&["items"]).is_some_and(Value::is_array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config_map(name: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    }

    #[test]
    fn lists_are_taken_apart_and_empty_documents_are_passed_over() {
        let mut set = ObjectSet::new();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [config_map("a"), config_map("b")]});
        set.push_document(list, "l.yaml").unwrap();
        set.push_document(Value::Null, "e.yaml").unwrap();
        let names: Vec<_> = set.iter().map(|s| s.object.name().to_owned()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn duplicates_name_both_files() {
        let mut set = ObjectSet::new();
        set.push_document(config_map("a"), "one.yaml").unwrap();
        set.push_document(config_map("a"), "two.yaml").unwrap();
        assert_eq!(
            set.check_duplicates().unwrap_err().to_string(),
            "ConfigMap a is defined twice: in `one.yaml` and in `two.yaml`"
        );
    }
}
