//! Several generators as one.

use crate::{Consulted, Digest, Error, ErrorKind, Generated, Input, ObjectId, Prepared, Seed};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most parts of one composite.
pub const MAX_PARTS: usize = 64;

/// A compiled file tree as a part of a [`Composite`].
#[derive(Debug, Clone)]
pub struct CompositePart {
    /// What the part is called in messages and sources. Its random values are derived from it.
    pub name: String,
    /// What renders it.
    pub prepared: Arc<dyn Prepared>,
    /// Its own parameters. They are merged over those of the whole: maps key by key, and a null removes.
    pub parameters: Map<String, Value>,
}

/// Renders several compiled file trees, one after the other, into one set of objects.
///
/// Each part has the limits of a rendering to itself. Sources are told as `part/source`. An object that two parts give is an error
/// that names both.
#[derive(Debug, Clone)]
pub struct Composite {
    parts: Vec<CompositePart>,
}

impl Composite {
    /// A composite of parts.
    ///
    /// # Errors
    /// [`ErrorKind::Parameters`] when two parts have one name, and [`ErrorKind::Limit`] when there are more than [`MAX_PARTS`].
    pub fn new(parts: Vec<CompositePart>) -> Result<Self, Error> {
        if parts.len() > MAX_PARTS {
            let message = format!("more than {MAX_PARTS} generators");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let mut names = BTreeSet::new();
        if let Some(part) = parts.iter().find(|part| !names.insert(&part.name)) {
            let message = format!("two generators are called `{}`", part.name);
            return Err(Error::new(ErrorKind::Parameters, message));
        }
        Ok(Self { parts })
    }
}

impl Prepared for Composite {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let mut all = Generated::default();
        let mut places = BTreeMap::new();
        for part in &self.parts {
            let rendered = part.generate(input).and_then(|generated| {
                check_duplicates(&generated, part, input, &mut places).map(|()| generated)
            });
            match rendered {
                Ok(generated) => append(&mut all, generated, &part.name),
                Err(error) => return Err(failed(&error, &part.name, all.consulted)),
            }
        }
        Ok(all)
    }
}

impl CompositePart {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let mut parameters = input.parameters.clone();
        overlay(&mut parameters, &self.parameters);
        let mut input = input.clone();
        input.parameters = &parameters;
        // Templates of two parts may have one name, and must not draw the same passwords.
        if let Seed::Stable { key, now } = input.seed {
            let key = *Digest::of_parts([key.as_slice(), self.name.as_bytes()]).as_bytes();
            input.seed = Seed::Stable { key, now };
        }
        self.prepared.generate(&input)
    }
}

/// Refuses an object that another part gave.
fn check_duplicates<'p>(
    generated: &Generated,
    part: &'p CompositePart,
    input: &Input<'_>,
    places: &mut BTreeMap<ObjectId, (&'p str, String)>,
) -> Result<(), Error> {
    let objects = generated.objects.iter().map(|o| (&o.object, &o.source));
    let hooks = generated.hooks.iter().map(|h| (&h.object, &h.source));
    for (object, source) in objects.chain(hooks) {
        let mut id = object.id();
        if id.namespace.is_empty() {
            input.namespace.clone_into(&mut id.namespace);
        }
        match places.get(&id) {
            Some((other, first)) if *other != part.name => {
                let message = format!(
                    "{} is generated twice: by `{other}`{} and by `{}`{}",
                    object.id(),
                    from(first),
                    part.name,
                    from(source)
                );
                let error = Error::new(ErrorKind::Output, message);
                return Err(error.after_consulting(generated.consulted.clone()));
            }
            // One part may give an object twice, for example as a hook of two events; that is not ours to judge.
            _ => {
                places.insert(id, (&part.name, source.clone()));
            }
        }
    }
    Ok(())
}

fn from(source: &str) -> String {
    if source.is_empty() {
        String::new()
    } else {
        format!(" (`{source}`)")
    }
}

fn append(all: &mut Generated, generated: Generated, part: &str) {
    let place = |source: &str| match source {
        "" => part.to_owned(),
        source => format!("{part}/{source}"),
    };
    for item in generated.objects {
        let source = place(&item.source);
        all.objects.push(item.object, source);
    }
    for mut hook in generated.hooks {
        hook.source = place(&hook.source);
        all.hooks.push(hook);
    }
    if !generated.notes.is_empty() {
        if !all.notes.is_empty() {
            all.notes.push('\n');
        }
        all.notes.push_str(&generated.notes);
    }
    all.consulted.merge(generated.consulted);
    all.dialect = all.dialect.take().or(generated.dialect);
    let warnings = generated.warnings.into_iter();
    all.warnings
        .extend(warnings.map(|warning| format!("{part}: {warning}")));
}

/// The failure of a part, which it names, after everything that was consulted until then.
fn failed(error: &Error, part: &str, mut consulted: Consulted) -> Error {
    consulted.merge(error.consulted().clone());
    Error::new(error.kind(), format!("generator `{part}`"))
        .after_consulting(consulted)
        .caused_by(Reported(error.report()))
}

/// The text of a failure with its place, as a cause.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Reported(String);

fn overlay(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (_, Value::Null) => {
                base.shift_remove(key);
            }
            (Some(Value::Object(base)), Value::Object(over)) => overlay(base, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capabilities, LookupSnapshot, Object};
    use serde_json::json;

    /// Gives one object whose data are the parameters.
    #[derive(Debug)]
    struct One(&'static str);

    impl Prepared for One {
        fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.0},
                "data": input.parameters, "seed": format!("{:?}", key(input.seed))});
            let mut generated = Generated::default();
            generated
                .objects
                .push(Object::from_value(object)?, "a.yaml");
            generated.warnings.push("careful".to_owned());
            generated.consulted.clock = true;
            Ok(generated)
        }
    }

    fn key(seed: Seed) -> Option<[u8; 32]> {
        match seed {
            Seed::Stable { key, .. } => Some(key),
            _ => None,
        }
    }

    fn part(name: &str, object: &'static str, parameters: &Value) -> CompositePart {
        CompositePart {
            name: name.to_owned(),
            prepared: Arc::new(One(object)),
            parameters: parameters.as_object().unwrap().clone(),
        }
    }

    fn generate(parts: Vec<CompositePart>) -> Result<Generated, Error> {
        let capabilities = Capabilities {
            kube_version: "v1.34.0".parse().unwrap(),
            api_versions: BTreeSet::new(),
        };
        let lookups = LookupSnapshot::new();
        let parameters = json!({"shared": {"a": 1, "b": 2}});
        let mut input = Input::new(
            "n",
            "c",
            parameters.as_object().unwrap(),
            &capabilities,
            &lookups,
        );
        input.seed = Seed::Stable {
            key: [1; 32],
            now: 0,
        };
        Composite::new(parts)?.generate(&input)
    }

    #[test]
    fn parts_are_merged_in_their_order_each_with_parameters_and_randomness_of_its_own() {
        let own = json!({"shared": {"a": null, "c": 3}});
        let generated =
            generate(vec![part("two", "b", &own), part("one", "a", &json!({}))]).unwrap();
        let found: Vec<_> = generated
            .objects
            .iter()
            .map(|item| {
                let data = item.object.pointer(&["data", "shared"]).unwrap();
                (item.source.as_str(), data.to_string())
            })
            .collect();
        assert_eq!(
            found,
            [
                ("two/a.yaml", r#"{"b":2,"c":3}"#.to_owned()),
                ("one/a.yaml", r#"{"a":1,"b":2}"#.to_owned())
            ]
        );
        let seeds: BTreeSet<_> = generated
            .objects
            .iter()
            .map(|item| item.object.pointer(&["seed"]).unwrap().to_string())
            .collect();
        assert_eq!(seeds.len(), 2);
        assert_eq!(generated.warnings, ["two: careful", "one: careful"]);
        assert!(generated.consulted.clock);
    }

    #[test]
    fn object_of_two_parts_is_refused_with_both_named() {
        let error = generate(vec![
            part("one", "a", &json!({})),
            part("two", "a", &json!({})),
        ]);
        let error = error.unwrap_err();
        assert_eq!(
            error.report(),
            "generator `two`: ConfigMap a is generated twice: by `one` (`a.yaml`) and by `two` (`a.yaml`)"
        );
        assert!(error.consulted().clock);
        let twins = vec![part("one", "a", &json!({})), part("one", "b", &json!({}))];
        assert!(generate(twins).is_err());
    }
}
