//! Transformers one after the other, behind a generator.

use super::{TransformContext, Transformer};
use crate::{Digest, Error, Generated, Hook, Input, ObjectSet, Prepared};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Transformers in the order in which they run, and a digest of everything that they were made of.
#[derive(Debug, Clone)]
pub struct Pipeline {
    steps: Vec<Arc<dyn Transformer>>,
    digest: Digest,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            digest: Digest::of(b""),
        }
    }
}

impl Pipeline {
    /// A pipeline that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a transformer to the end. `made_of` is everything that what it does depends on: when it changes, objects are transformed
    /// anew.
    #[must_use]
    pub fn then(mut self, made_of: &Value, transformer: Arc<dyn Transformer>) -> Self {
        let made_of = made_of.to_string();
        self.digest = Digest::of_parts([self.digest.as_bytes().as_slice(), made_of.as_bytes()]);
        self.steps.push(transformer);
        self
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Digest of everything that the transformers were made of.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Changes the objects of a generator, those that are hooks included.
    ///
    /// # Errors
    /// That of the first transformer that fails.
    pub fn apply(
        &self,
        generated: &mut Generated,
        context: &TransformContext<'_>,
    ) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        // Hooks and objects use each other (a Job its ServiceAccount), so that they are changed together.
        let mut all = std::mem::take(&mut generated.objects);
        let mut hooks = BTreeMap::new();
        for (number, hook) in std::mem::take(&mut generated.hooks).into_iter().enumerate() {
            let mark = format!("{} (hook {number})", hook.source);
            all.push(hook.object.clone(), mark.clone());
            hooks.insert(mark, (number, hook));
        }
        for step in &self.steps {
            step.transform(&mut all, context)?;
        }
        let mut kept: Vec<(usize, Hook)> = Vec::new();
        let mut objects = ObjectSet::new();
        for item in all {
            match hooks.remove(&item.source) {
                None => objects.push(item.object, item.source),
                Some((number, hook)) => kept.push((
                    number,
                    Hook {
                        object: item.object,
                        ..hook
                    },
                )),
            }
        }
        kept.sort_by_key(|(number, _)| *number);
        generated.objects = objects;
        generated.hooks = kept.into_iter().map(|(_, hook)| hook).collect();
        Ok(())
    }
}

/// A compiled file tree whose objects go through a [`Pipeline`].
#[derive(Debug, Clone)]
pub struct Transformed {
    prepared: Arc<dyn Prepared>,
    pipeline: Pipeline,
}

impl Transformed {
    /// Puts a pipeline behind a compiled file tree.
    pub fn new(prepared: Arc<dyn Prepared>, pipeline: Pipeline) -> Self {
        Self { prepared, pipeline }
    }
}

impl Prepared for Transformed {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let mut generated = self.prepared.generate(input)?;
        let context = TransformContext::new(input.namespace, input.name);
        match self.pipeline.apply(&mut generated, &context) {
            Ok(()) => Ok(generated),
            Err(error) => Err(error.after_consulting(generated.consulted)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HookEvent, Object, transformer};
    use serde_json::json;

    fn object(name: &str) -> Object {
        let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        Object::from_value(value).unwrap()
    }

    #[test]
    fn hooks_are_changed_together_with_objects_and_stay_hooks() {
        let mut generated = Generated::default();
        generated.objects.push(object("a"), "a.yaml");
        for name in ["first", "gone", "last"] {
            generated.hooks.push(Hook {
                object: object(name),
                source: "hook.yaml".to_owned(),
                events: vec![HookEvent::PreInstall],
                weight: 0,
                delete_policies: Vec::new(),
            });
        }
        let mark = transformer(
            "mark",
            |objects: &mut ObjectSet, _: &TransformContext<'_>| {
                let kept: Vec<_> = std::mem::take(objects)
                    .into_iter()
                    .filter(|item| item.object.name() != "gone")
                    .rev()
                    .collect();
                objects.extend(kept);
                objects
                    .iter_mut()
                    .for_each(|item| item.object.set_label("seen", "yes"));
                Ok(())
            },
        );
        let pipeline = Pipeline::new().then(&json!("mark"), Arc::new(mark));
        pipeline
            .apply(&mut generated, &TransformContext::new("n", "c"))
            .unwrap();
        let hooks: Vec<_> = generated
            .hooks
            .iter()
            .map(|hook| (hook.object.name(), hook.object.label("seen"), &*hook.source))
            .collect();
        assert_eq!(
            hooks,
            [
                ("first", Some("yes"), "hook.yaml"),
                ("last", Some("yes"), "hook.yaml")
            ]
        );
        assert_eq!(generated.objects.len(), 1);
        assert_ne!(pipeline.digest(), Pipeline::new().digest());
    }
}
