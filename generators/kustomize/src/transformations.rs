//! The transformers of kustomize for objects of any generator.

use crate::build::transform_objects;
use crate::error::{BuildError, BuildErrorKind, Result};
use crate::kustomization::{Kustomization, Mode, normalize, schema};
use serde_json::Value;
use whipstaff_generator::{Error, ErrorKind, Object, ObjectSet, TransformContext, Transformer};

/// The fields of a kustomization that transform.
const FIELDS: [&str; 10] = [
    "commonAnnotations",
    "images",
    "labels",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "replacements",
    "replicas",
    "commonLabels",
];

/// What is to be done to objects: the transforming fields of a kustomization, with its names, its order and its results.
///
/// `patches` (strategic merge or JSON 6902, with `target` and `options`), `namespace`, `namePrefix`, `nameSuffix`, `labels`,
/// `commonLabels`, `commonAnnotations`, `replicas`, `images` and `replacements`. Everything stands here itself: there are no files
/// that a `path` could name. Names of objects that change are changed where other objects use them.
#[derive(Debug, Clone, Default)]
pub struct Transformations {
    kustomization: Kustomization,
    is_empty: bool,
}

fn wrong(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Kustomization, message)
}

impl Transformations {
    /// Reads the fields; null stands for none.
    ///
    /// # Errors
    /// When a field is unknown or not one that transforms, or has the wrong type.
    pub fn from_json(fields: &Value) -> Result<Self> {
        let fields = normalize(fields.clone(), &schema::KUSTOMIZATION, Mode::Strict)?;
        if let Some(other) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            return Err(wrong(format!("`{other}` transforms nothing")));
        }
        let is_empty = fields.is_empty();
        let kustomization: Kustomization = serde_json::from_value(Value::Object(fields))
            .map_err(|error| wrong(error.to_string()))?;
        let path = kustomization.patches.iter().map(|patch| &patch.path);
        let paths = kustomization
            .replacements
            .iter()
            .map(|replacement| &replacement.path);
        if let Some(path) = path.chain(paths).find(|path| !path.is_empty()) {
            return Err(wrong(format!(
                "there is no file `{path}`: patches and replacements stand here themselves"
            )));
        }
        Ok(Self {
            kustomization,
            is_empty,
        })
    }

    /// Whether there is nothing to be done.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Does it to a set of objects. The order stays, and each object keeps the file that it came from.
    ///
    /// # Errors
    /// Where kustomize fails, with its text: a patch without a target, a field that is missing, two objects with one id.
    pub fn apply(&self, objects: &ObjectSet) -> Result<ObjectSet> {
        if self.is_empty {
            return Ok(objects.clone());
        }
        let values: Vec<Value> = objects
            .iter()
            .map(|sourced| sourced.object.clone().into_value())
            .collect();
        let references: Vec<&Value> = values.iter().collect();
        let sources: Vec<&str> = objects
            .iter()
            .map(|sourced| sourced.source.as_str())
            .collect();
        let mut transformed = ObjectSet::new();
        for (place, value) in transform_objects(&self.kustomization, &references)? {
            let object = Object::from_value(value)
                .map_err(|error| BuildError::new(BuildErrorKind::Build, error.to_string()))?;
            transformed.push(object, sources.get(place).copied().unwrap_or_default());
        }
        Ok(transformed)
    }
}

impl Transformer for Transformations {
    fn transform(
        &self,
        objects: &mut ObjectSet,
        _: &TransformContext<'_>,
    ) -> std::result::Result<(), Error> {
        let transformed = self.apply(objects);
        *objects = transformed.map_err(|error| {
            let kind = match error.kind() {
                BuildErrorKind::Limit => ErrorKind::Limit,
                _ => ErrorKind::Parameters,
            };
            Error::new(kind, "cannot transform the objects").caused_by(error)
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn objects() -> ObjectSet {
        let mut set = ObjectSet::new();
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "app" },
            "spec": { "containers": [{ "name": "c", "image": "web:1", "envFrom": [{ "configMapRef": { "name": "settings" } }] }] },
        });
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "settings" }, "data": { "n": "5" } });
        set.push(Object::from_value(pod).unwrap(), "pod.yaml");
        set.push(Object::from_value(map).unwrap(), "map.yaml");
        set
    }

    fn apply(fields: &Value) -> std::result::Result<ObjectSet, String> {
        let transformations =
            Transformations::from_json(fields).map_err(|error| error.to_string())?;
        transformations
            .apply(&objects())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn objects_are_transformed_in_place_and_references_follow() {
        let set = apply(&json!({
            "namePrefix": "p-",
            "namespace": "space",
            "images": [{ "name": "web", "newTag": "2" }],
            "patches": [{ "target": { "kind": "ConfigMap" }, "patch": "- {op: add, path: /data/x, value: five}" }],
        }))
        .unwrap();
        let (pod, map) = (set.iter().next().unwrap(), set.iter().nth(1).unwrap());
        assert_eq!(
            (pod.source.as_str(), map.source.as_str()),
            ("pod.yaml", "map.yaml")
        );
        assert_eq!(
            (pod.object.name(), pod.object.namespace()),
            ("p-app", "space")
        );
        let container = pod
            .object
            .pointer(&["spec", "containers"])
            .unwrap()
            .get(0)
            .unwrap();
        assert_eq!(container["image"], "web:2");
        assert_eq!(
            container["envFrom"][0]["configMapRef"]["name"],
            "p-settings"
        );
        assert_eq!(map.object.pointer(&["data", "x"]), Some(&json!("five")));
        assert!(
            pod.object
                .annotation("internal.config.kubernetes.io/previousNames")
                .is_none()
        );
    }

    #[test]
    fn deleted_objects_are_gone_and_the_others_keep_their_files() {
        let set = apply(&json!({
            "patches": [{ "patch": "{$patch: delete, apiVersion: v1, kind: Pod, metadata: {name: app}}" }],
        }))
        .unwrap();
        let sources: Vec<_> = set.iter().map(|sourced| sourced.source.as_str()).collect();
        assert_eq!(sources, ["map.yaml"]);
    }

    #[test]
    fn fields_that_transform_nothing_are_refused() {
        assert!(apply(&json!({ "resources": ["a"] })).is_err());
        assert!(apply(&json!({ "patches": [{ "path": "a" }] })).is_err());
        assert!(apply(&json!({ "replicas": [{ "name": "nope", "count": 1 }] })).is_err());
    }
}
