//! Values that a chart would make anew, kept as the release has them.

use crate::dependents::normalise;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use whipstaff_generator::{Error, Object, ObjectId, ObjectSet, TransformContext, Transformer};

/// Type of the Secrets that hold pinned values.
pub(crate) const SECRET_TYPE: &str = "whipstaff.dev/pinned";
/// The key of the values in their Secret.
pub(crate) const DATA_KEY: &str = "pinned.json";
/// What the names of these Secrets start with, unless a name is given.
const NAME_PREFIX: &str = "whipstaff-pinned-";
/// Longest name of a Secret in bytes.
const MAX_NAME: usize = 253;

/// Values by object and field, put in the place of those that are rendered.
///
/// A field whose surroundings are no longer rendered is left out: nothing is made that the chart does not have.
#[derive(Serialize, Deserialize, Clone, PartialEq, Default)]
pub(crate) struct Pins {
    /// The objects.
    pub(crate) objects: Vec<PinnedObject>,
}

/// The values of one object.
#[derive(Serialize, Deserialize, Clone, PartialEq)]
pub(crate) struct PinnedObject {
    /// API group, empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    /// Kind.
    pub(crate) kind: String,
    /// Namespace, empty for objects outside of namespaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    /// Name.
    pub(crate) name: String,
    /// Values by JSON pointer.
    pub(crate) fields: BTreeMap<String, Value>,
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values are passwords.
        f.debug_struct("Pins")
            .field("objects", &self.objects.len())
            .finish()
    }
}

impl Pins {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Adds a value.
    pub(crate) fn pin(&mut self, id: &ObjectId, pointer: &str, value: Value) {
        let mut objects = self.objects.iter_mut();
        if let Some(object) = objects.find(|object| object.is(id)) {
            object.fields.insert(pointer.to_owned(), value);
            return;
        }
        self.objects.push(PinnedObject {
            group: id.group.clone(),
            kind: id.kind.clone(),
            namespace: id.namespace.clone(),
            name: id.name.clone(),
            fields: BTreeMap::from([(pointer.to_owned(), value)]),
        });
    }

    /// The values as a Secret holds them.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what a Secret holds.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    fn apply(&self, object: &mut Object) {
        let fits = |pinned: &&PinnedObject| pinned.fits(object);
        let Some(pinned) = self.objects.iter().find(fits) else {
            return;
        };
        // Pointers are into objects as they are applied.
        normalise(object);
        let mut value = Value::Object(std::mem::take(object.fields_mut()));
        pinned.put_into(&mut value);
        if let Value::Object(fields) = value {
            *object.fields_mut() = fields;
        }
    }
}

impl Transformer for Pins {
    fn transform(&self, objects: &mut ObjectSet, _: &TransformContext<'_>) -> Result<(), Error> {
        for item in objects.iter_mut() {
            self.apply(&mut item.object);
        }
        Ok(())
    }
}

impl PinnedObject {
    /// Puts the values into an object.
    pub(super) fn put_into(&self, object: &mut Value) {
        for (pointer, value) in &self.fields {
            set(object, pointer, value);
        }
    }

    fn is(&self, id: &ObjectId) -> bool {
        (&self.group, &self.kind, &self.namespace, &self.name)
            == (&id.group, &id.kind, &id.namespace, &id.name)
    }

    /// Objects without a namespace get one only when they are applied.
    fn fits(&self, object: &Object) -> bool {
        let namespace = object.namespace();
        self.group == object.group()
            && self.kind == object.kind()
            && self.name == object.name()
            && (namespace.is_empty() || namespace == self.namespace)
    }
}

/// The name of the Secret that holds a component's pinned values, unless it names one.
pub(crate) fn secret_name(component: &str) -> String {
    let name = format!("{NAME_PREFIX}{component}");
    if name.len() <= MAX_NAME {
        return name;
    }
    let digest = whipstaff_generator::Digest::of(component.as_bytes());
    format!("{NAME_PREFIX}{}", digest.hex())
}

/// Sets a field whose surroundings are there.
fn set(object: &mut Value, pointer: &str, value: &Value) {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return;
    };
    match object.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            let key = last.replace("~1", "/").replace("~0", "~");
            fields.insert(key, value.clone());
        }
        Some(Value::Array(items)) => {
            let item = last.parse::<usize>().ok();
            if let Some(item) = item.and_then(|position| items.get_mut(position)) {
                *item = value.clone();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(namespace: &str) -> ObjectId {
        ObjectId {
            group: String::new(),
            kind: "Secret".to_owned(),
            namespace: namespace.to_owned(),
            name: "s".to_owned(),
        }
    }

    fn pinned(pins: &Pins, object: Value) -> Value {
        let mut objects = ObjectSet::new();
        objects.push(Object::from_value(object).unwrap(), "");
        pins.transform(&mut objects, &TransformContext::new("apps", "web"))
            .unwrap();
        let object = objects.into_iter().next().unwrap().object;
        object.into_value()
    }

    #[test]
    fn values_are_put_where_they_belong_and_nothing_is_made_up() {
        let mut pins = Pins::default();
        pins.pin(&secret("apps"), "/data/pass~1word", json!("old"));
        pins.pin(&secret("apps"), "/spec/gone/field", json!(1));
        pins.pin(&secret("apps"), "/list/1", json!("b"));
        let read = Pins::from_json(pins.to_json().as_bytes()).unwrap();
        assert_eq!(read, pins);
        let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "data": {"pass/word": "new", "user": "u"}, "list": ["a", "x"]});
        let found = pinned(&read, object);
        assert_eq!(found["data"], json!({"pass/word": "old", "user": "u"}));
        assert_eq!(found["list"], json!(["a", "b"]));
        assert_eq!(found.get("spec"), None);
        assert!(!format!("{pins:?}").contains("old"));
    }

    #[test]
    fn objects_of_the_same_name_elsewhere_are_left_alone() {
        let mut pins = Pins::default();
        pins.pin(&secret("apps"), "/data/a", json!("old"));
        for (namespace, kind) in [("other", "Secret"), ("apps", "ConfigMap")] {
            let object = json!({"apiVersion": "v1", "kind": kind,
                "metadata": {"name": "s", "namespace": namespace}, "data": {"a": "new"}});
            assert_eq!(pinned(&pins, object)["data"]["a"], "new");
        }
    }
}
