//! One Kubernetes object, as it was written.

use crate::Digest;
use serde_json::{Map, Value};
use std::fmt;

/// One Kubernetes object as an ordered JSON map that keeps every field it was given.
///
/// Typed accessors only read and write single fields; the stored form is never converted to a type that would drop what it does
/// not know.
#[derive(Clone, PartialEq, Eq)]
pub struct Object {
    fields: Map<String, Value>,
}

/// Group, version, kind, namespace and name of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// API group, empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// Group, kind, namespace and name: the identity of an object across API versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// API group, empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// A value that is not a Kubernetes object.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectError {
    /// The document is a list, a scalar or nothing.
    #[error("expected an object with `apiVersion` and `kind`, found {found}")]
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// A field that every object needs is missing or empty.
    #[error("`{field}` is missing{}", described(.object))]
    Missing {
        /// Path of the field.
        field: &'static str,
        /// What is known of the object.
        object: String,
    },
    /// A field has the wrong type.
    #[error("`{field}` must be {expected}{}", described(.object))]
    Type {
        /// Path of the field.
        field: String,
        /// What it must be.
        expected: &'static str,
        /// What is known of the object.
        object: String,
    },
}

fn described(object: &str) -> String {
    if object.is_empty() {
        String::new()
    } else {
        format!(" in {object}")
    }
}

impl Object {
    /// Takes a JSON value as an object.
    ///
    /// # Errors
    /// [`ObjectError`] unless it is a map with `apiVersion`, `kind` and, if present, a `metadata` map whose labels and
    /// annotations are maps of strings (null values are tolerated, as the API server does).
    pub fn from_value(value: Value) -> Result<Self, ObjectError> {
        let Value::Object(fields) = value else {
            return Err(ObjectError::NotAnObject {
                found: type_name(&value),
            });
        };
        let object = Self { fields };
        for (field, text) in [
            ("apiVersion", object.api_version()),
            ("kind", object.kind()),
        ] {
            if text.is_empty() {
                return Err(ObjectError::Missing {
                    field,
                    object: object.describe(),
                });
            }
        }
        object.check_metadata()?;
        Ok(object)
    }

    fn check_metadata(&self) -> Result<(), ObjectError> {
        let wrong = |field: String, expected| ObjectError::Type {
            field,
            expected,
            object: self.describe(),
        };
        let metadata = match self.fields.get("metadata") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Object(metadata)) => metadata,
            Some(_) => return Err(wrong("metadata".to_owned(), "a map")),
        };
        for field in ["name", "namespace", "generateName"] {
            if !matches!(
                metadata.get(field),
                None | Some(Value::Null | Value::String(_))
            ) {
                return Err(wrong(format!("metadata.{field}"), "a string"));
            }
        }
        for field in ["labels", "annotations"] {
            match metadata.get(field) {
                None | Some(Value::Null) => {}
                Some(Value::Object(entries)) => {
                    let odd = entries
                        .iter()
                        .find(|(_, v)| !matches!(v, Value::String(_) | Value::Null));
                    if let Some((key, _)) = odd {
                        return Err(wrong(
                            format!("metadata.{field}[{key}]"),
                            "a string (put it in quotes)",
                        ));
                    }
                }
                Some(_) => return Err(wrong(format!("metadata.{field}"), "a map")),
            }
        }
        Ok(())
    }

    /// `apiVersion`, or empty.
    pub fn api_version(&self) -> &str {
        self.fields
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// `kind`, or empty.
    pub fn kind(&self) -> &str {
        self.fields
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// API group, empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version()
            .rsplit_once('/')
            .map_or("", |(group, _)| group)
    }

    /// API version without the group.
    pub fn version(&self) -> &str {
        self.api_version()
            .rsplit_once('/')
            .map_or(self.api_version(), |(_, version)| version)
    }

    /// `metadata.name`, or empty.
    pub fn name(&self) -> &str {
        self.metadata_str("name")
    }

    /// `metadata.namespace`, or empty.
    pub fn namespace(&self) -> &str {
        self.metadata_str("namespace")
    }

    /// A string of `metadata`, or empty.
    pub fn metadata_str(&self, field: &str) -> &str {
        self.pointer(&["metadata", field])
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// A label's value.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.pointer(&["metadata", "labels", key])
            .and_then(Value::as_str)
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.pointer(&["metadata", "annotations", key])
            .and_then(Value::as_str)
    }

    /// A field by its path of map keys.
    pub fn pointer(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(self.fields.get(*first)?, |value, key| value.get(*key))
    }

    /// Sets `metadata.namespace`.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.change_metadata(|metadata| {
            metadata.insert("namespace".to_owned(), Value::String(namespace.to_owned()));
        });
    }

    /// Removes a field of `metadata`.
    pub fn remove_metadata(&mut self, field: &str) {
        if let Some(Value::Object(metadata)) = self.fields.get_mut("metadata") {
            metadata.shift_remove(field);
        }
    }

    /// Sets a label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.set_metadata_entry("labels", key, value);
    }

    /// Sets an annotation.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        self.set_metadata_entry("annotations", key, value);
    }

    /// Group, version, kind, namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            group: self.group().to_owned(),
            version: self.version().to_owned(),
            kind: self.kind().to_owned(),
            namespace: self.namespace().to_owned(),
            name: self.name().to_owned(),
        }
    }

    /// Identity across API versions.
    pub fn id(&self) -> ObjectId {
        self.key().id()
    }

    /// All fields, in order.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// All fields, to change them.
    pub fn fields_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.fields
    }

    /// The object as a JSON value.
    pub fn into_value(self) -> Value {
        Value::Object(self.fields)
    }

    /// Digest of the object's JSON with sorted keys: the order in which fields were written does not matter.
    pub fn digest(&self) -> Digest {
        let mut text = Vec::with_capacity(1024);
        write_canonical_map(&self.fields, &mut text);
        Digest::of(&text)
    }

    /// Kind and name for messages: `Deployment shop/web`.
    pub fn describe(&self) -> String {
        self.id().to_string().trim().to_owned()
    }

    fn change_metadata(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        change_map(&mut self.fields, "metadata", change);
    }

    fn set_metadata_entry(&mut self, field: &str, key: &str, value: &str) {
        self.change_metadata(|metadata| {
            change_map(metadata, field, |entries| {
                entries.insert(key.to_owned(), Value::String(value.to_owned()));
            });
        });
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Contents may be secret: only the identity is shown.
        f.debug_tuple("Object").field(&self.key()).finish()
    }
}

impl ObjectKey {
    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Identity across API versions.
    pub fn id(&self) -> ObjectId {
        ObjectId {
            group: self.group.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.id(), f)
    }
}

impl fmt::Display for ObjectId {
    /// `Deployment shop/web`, `ClusterRole reader`, `Widget.example.org shop/w`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        // Built-in groups have no dot or end in `k8s.io`: naming them would only make messages longer.
        if self.group.contains('.') && !self.group.ends_with(".k8s.io") {
            write!(f, ".{}", self.group)?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// Changes the map under a key in place; what is not a map there is replaced by one.
fn change_map(
    fields: &mut Map<String, Value>,
    key: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let mut inner = match fields.get_mut(key).map(Value::take) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    change(&mut inner);
    fields.insert(key.to_owned(), Value::Object(inner));
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

fn write_canonical_map(map: &Map<String, Value>, out: &mut Vec<u8>) {
    let mut keys: Vec<_> = map.keys().collect();
    keys.sort_unstable();
    out.push(b'{');
    for key in keys {
        write_canonical(&Value::String(key.clone()), out);
        out.push(b':');
        write_canonical(&map[key], out);
        out.push(b',');
    }
    out.push(b'}');
}

fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(map) => write_canonical_map(map, out),
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write_canonical(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        scalar => out.extend_from_slice(scalar.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Object {
        Object::from_value(value).unwrap()
    }

    #[test]
    fn unknown_fields_and_their_order_are_kept() {
        let value = json!({"kind": "X", "apiVersion": "g.io/v1", "zeta": 1, "alpha": {"b": null, "a": 1.5}});
        assert_eq!(
            object(value.clone()).into_value().to_string(),
            value.to_string()
        );
    }

    #[test]
    fn digest_ignores_the_order_of_fields() {
        let one = object(json!({"apiVersion": "v1", "kind": "X", "data": {"a": "1", "b": "2"}}));
        let two = object(json!({"kind": "X", "apiVersion": "v1", "data": {"b": "2", "a": "1"}}));
        assert_eq!(one.digest(), two.digest());
    }

    #[test]
    fn malformed_objects_are_refused_with_the_field_named() {
        let cases = [
            (
                json!([1]),
                "expected an object with `apiVersion` and `kind`, found a list",
            ),
            (json!({"kind": "X"}), "`apiVersion` is missing in X"),
            (
                json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "n", "labels": {"a": 1}}}),
                "`metadata.labels[a]` must be a string (put it in quotes) in X n",
            ),
            (
                json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": 5}}),
                "`metadata.name` must be a string in X",
            ),
        ];
        for (value, message) in cases {
            assert_eq!(Object::from_value(value).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn display_names_group_only_where_it_is_needed() {
        let text = |api_version: &str| {
            object(json!({"apiVersion": api_version, "kind": "K", "metadata": {"name": "n", "namespace": "s"}})).describe()
        };
        assert_eq!(text("apps/v1"), "K s/n");
        assert_eq!(text("networking.k8s.io/v1"), "K s/n");
        assert_eq!(text("example.org/v1"), "K.example.org s/n");
    }
}
