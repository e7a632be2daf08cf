//! Labels and annotations that all objects get.

use super::{TransformContext, Transformer};
use crate::{Error, ObjectSet};
use std::collections::BTreeMap;

/// Labels for all objects. They go into `metadata` only: selectors and pod templates stay as they are, so that nothing restarts and
/// no immutable field changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonLabels(pub BTreeMap<String, String>);

/// Annotations for all objects, in `metadata` only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonAnnotations(pub BTreeMap<String, String>);

impl Transformer for CommonLabels {
    fn transform(&self, objects: &mut ObjectSet, _: &TransformContext<'_>) -> Result<(), Error> {
        for item in objects.iter_mut() {
            for (key, value) in &self.0 {
                item.object.set_label(key, value);
            }
        }
        Ok(())
    }
}

impl Transformer for CommonAnnotations {
    fn transform(&self, objects: &mut ObjectSet, _: &TransformContext<'_>) -> Result<(), Error> {
        for item in objects.iter_mut() {
            for (key, value) in &self.0 {
                item.object.set_annotation(key, value);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;
    use serde_json::json;

    #[test]
    fn metadata_is_added_and_replaced_on_all_objects() {
        let mut objects = ObjectSet::new();
        for labels in [json!(null), json!({"a": "old", "b": "kept"})] {
            let value = json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "c", "labels": labels}});
            objects.push(Object::from_value(value).unwrap(), "");
        }
        let context = TransformContext::new("n", "c");
        let entries = BTreeMap::from([("a".to_owned(), "new".to_owned())]);
        CommonLabels(entries.clone())
            .transform(&mut objects, &context)
            .unwrap();
        CommonAnnotations(entries)
            .transform(&mut objects, &context)
            .unwrap();
        let labels: Vec<_> = objects
            .iter()
            .map(|item| {
                let object = &item.object;
                (object.label("a"), object.label("b"), object.annotation("a"))
            })
            .collect();
        assert_eq!(
            labels,
            [
                (Some("new"), None, Some("new")),
                (Some("new"), Some("kept"), Some("new"))
            ]
        );
    }
}
