//! Variables out of ConfigMaps and Secrets.

use super::error::ReconcileError;
use super::mask::Mask;
use super::resource::Component;
use super::run::Run;
use super::secrets::{SecretEntries, SecretReader, entries};
use crate::api::v1alpha1::{VariableSource, VariableSourceKind};
use crate::class::Class;
use crate::cluster::{RequestError, Resource, Versions, WatchedQuestion};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::Digest;

/// Values by name that are put into the texts of objects, beside those that stand in a resource itself.
///
/// They may be secret: they are not shown, and their digest says nothing to whoever cannot read where they come from.
#[derive(Clone)]
pub struct Variables {
    values: Map<String, Value>,
    digest: Digest,
}

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.values.keys().collect();
        f.debug_tuple("Variables").field(&names).finish()
    }
}

impl Default for Variables {
    fn default() -> Self {
        Self {
            values: Map::new(),
            digest: Digest::of_parts([]),
        }
    }
}

impl Variables {
    /// The values.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Changes when a value does.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// What was read, and what there is to know of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadVariables {
    pub(super) variables: Arc<Variables>,
    /// What must not be told of them.
    pub(super) mask: Mask,
    /// The versions that were read; none of those that were given.
    versions: Vec<(VariableSource, String)>,
}

/// What is remembered of a component's variables.
#[derive(Debug, Clone)]
pub(crate) struct KnownVariables {
    /// What they were read from.
    of: Vec<VariableSource>,
    /// How often the watches had told of changes before.
    changes: u64,
    /// When to read them again.
    pub(super) next: Instant,
    pub(super) read: ReadVariables,
}

/// Reads variables, those of later sources over those of earlier ones.
pub(super) async fn read_variables(
    sources: &[VariableSource],
    reader: SecretReader<'_>,
    namespace: &str,
) -> Result<ReadVariables, ReconcileError> {
    let mut values = Map::new();
    let mut secrets = Vec::new();
    let mut versions = Vec::new();
    let mut digest = Digest::of_parts([]);
    for source in sources {
        let Some(found) = find_source(source, reader, namespace).await? else {
            versions.push((source.clone(), String::new()));
            continue;
        };
        // The UID is as good as a key: whoever does not see the object cannot find its values out by trying.
        let mut parts = vec![digest.as_bytes().to_vec(), found.uid.into_bytes()];
        for (key, bytes) in found.entries {
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            parts.extend([key.clone().into_bytes(), text.clone().into_bytes()]);
            if source.kind == VariableSourceKind::Secret {
                secrets.push(text.clone());
            }
            values.insert(key, Value::String(text));
        }
        digest = Digest::of_parts(parts.iter().map(Vec::as_slice));
        versions.push((source.clone(), found.version));
    }
    let variables = Variables { values, digest };
    Ok(ReadVariables {
        variables: Arc::new(variables),
        mask: Mask::of(&secrets),
        versions,
    })
}

/// A ConfigMap or Secret as it was found.
pub(super) struct Found {
    pub(super) entries: SecretEntries,
    pub(super) uid: String,
    pub(super) version: String,
}

/// Reads a ConfigMap or Secret; an error without a cause means that it is not given and that there is no cluster to ask.
pub(super) async fn find(
    kind: VariableSourceKind,
    name: &str,
    reader: SecretReader<'_>,
    namespace: &str,
) -> Result<Option<Found>, Option<RequestError>> {
    if let Some(entries) = reader.given(kind, name) {
        return Ok(Some(Found {
            entries: entries.clone(),
            uid: String::new(),
            version: String::new(),
        }));
    }
    let objects = reader.objects.ok_or(None)?;
    let object = objects.read(&resource(kind), namespace, name).await?;
    let Some(object) = object else {
        return Ok(None);
    };
    let text = |field: &str| {
        let value = object
            .pointer("/metadata")
            .and_then(|m| m.get(field)?.as_str());
        value.unwrap_or_default().to_owned()
    };
    Ok(Some(Found {
        entries: variable_entries(kind, &object),
        uid: text("uid"),
        version: text("resourceVersion"),
    }))
}

async fn find_source(
    source: &VariableSource,
    reader: SecretReader<'_>,
    namespace: &str,
) -> Result<Option<Found>, ReconcileError> {
    let (kind, name) = (source.kind, source.name.clone());
    match find(kind, &name, reader, namespace).await {
        Ok(None) if !source.optional => Err(ReconcileError::VariablesMissing { kind, name }),
        Err(None) if source.optional => Ok(None),
        Err(None) => Err(ReconcileError::VariablesNotGiven { kind, name }),
        Err(Some(cause)) => Err(ReconcileError::ReadVariables { kind, name, cause }),
        Ok(found) => Ok(found),
    }
}

/// A ConfigMap or Secret as it can be watched, with the version that was read; an empty one for what is missing.
pub(super) fn watched(
    kind: VariableSourceKind,
    name: &str,
    version: &str,
    namespace: &str,
    identity: &str,
) -> (WatchedQuestion, Versions) {
    let question = WatchedQuestion {
        identity: identity.to_owned(),
        resource: resource(kind),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        selector: String::new(),
    };
    let name = (namespace.to_owned(), name.to_owned());
    let known = (!version.is_empty()).then(|| (name, version.to_owned()));
    (question, Versions::from_iter(known))
}

/// The entries of a ConfigMap or Secret as the API server, or a manifest, has it.
pub(crate) fn variable_entries(kind: VariableSourceKind, object: &Value) -> SecretEntries {
    match kind {
        VariableSourceKind::Secret => entries(object),
        VariableSourceKind::ConfigMap => {
            let data = object.get("data").and_then(Value::as_object);
            let texts = data.into_iter().flatten().filter_map(|(key, value)| {
                Some((key.clone(), value.as_str()?.as_bytes().to_vec()))
            });
            texts.collect()
        }
    }
}

fn resource(kind: VariableSourceKind) -> Resource {
    let plural = match kind {
        VariableSourceKind::ConfigMap => "configmaps",
        VariableSourceKind::Secret => "secrets",
    };
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        kind: kind.to_string(),
        plural: plural.to_owned(),
        namespaced: true,
    }
}

impl<C: Component> Run<'_, C> {
    /// The variables of the component: those of last time unless a watch told of a change, or the interval is over.
    pub(super) async fn variables(
        &mut self,
        interval: Duration,
    ) -> Result<Arc<Variables>, ReconcileError> {
        let sources = self.component.variable_sources();
        if sources.is_empty() {
            if self.memory.variables.take().is_some() {
                self.watch_variables(&[]);
            }
            return Ok(Arc::default());
        }
        let changes = self
            .context
            .variable_watches
            .changes(&self.component_name());
        let now = Instant::now();
        let known =
            self.memory.variables.as_ref().filter(|known| {
                known.of == sources && known.changes == changes && now < known.next
            });
        if let Some(known) = known {
            return Ok(Arc::clone(&known.read.variables));
        }
        let reader = SecretReader::of_cluster(&self.local);
        let read = match read_variables(sources, reader, &self.namespace).await {
            Ok(read) => read,
            Err(error) => {
                // What is missing is waited for; whoever may not read may not watch.
                if error.class() != Class::Denied {
                    let missing = sources.iter().map(|s| (s.clone(), String::new()));
                    self.watch_variables(&missing.collect::<Vec<_>>());
                }
                return Err(error);
            }
        };
        self.watch_variables(&read.versions);
        let variables = Arc::clone(&read.variables);
        self.memory.variables = Some(KnownVariables {
            of: sources.to_vec(),
            changes,
            next: now + interval,
            read,
        });
        Ok(variables)
    }

    /// Watches the objects that variables come from, as whoever reads them.
    fn watch_variables(&self, versions: &[(VariableSource, String)]) {
        let versions = versions.iter().map(|(source, version)| {
            let VariableSource { kind, name, .. } = source;
            watched(*kind, name, version, &self.namespace, &self.identity)
        });
        let watches = &self.context.variable_watches;
        watches.require(
            &self.component_name(),
            &self.local_client,
            versions.collect(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn source(kind: VariableSourceKind, name: &str, optional: bool) -> VariableSource {
        VariableSource {
            kind,
            name: name.to_owned(),
            optional,
        }
    }

    fn given(kind: VariableSourceKind, object: &Value) -> BTreeMap<String, SecretEntries> {
        BTreeMap::from([("a".to_owned(), variable_entries(kind, object))])
    }

    #[tokio::test]
    async fn later_sources_come_over_earlier_ones_and_secrets_are_masked() {
        use VariableSourceKind::{ConfigMap, Secret};
        let maps = given(ConfigMap, &json!({"data": {"x": "shown-text", "y": "one"}}));
        let secrets = given(
            Secret,
            &json!({"stringData": {"y": "hunter2"}, "data": {"z": "/w==", "n": "aHVudGVyMw=="}}),
        );
        let reader = SecretReader {
            given: Some(&secrets),
            given_maps: Some(&maps),
            objects: None,
        };
        let sources = [
            source(ConfigMap, "a", false),
            source(Secret, "a", false),
            source(Secret, "none", true),
        ];
        let read = read_variables(&sources, reader, "n").await.unwrap();
        let values = Value::Object(read.variables.values().clone());
        assert_eq!(
            values,
            json!({"x": "shown-text", "y": "hunter2", "n": "hunter3"})
        );
        assert_eq!(
            read.mask.apply("hunter2 aHVudGVyMw== shown-text"),
            "*** *** shown-text"
        );
        assert!(!format!("{:?}", read.variables).contains("hunter"));

        let again = read_variables(&sources[..1], reader, "n").await.unwrap();
        assert_ne!(again.variables.digest(), read.variables.digest());
        let missing = [source(ConfigMap, "b", false)];
        let error = read_variables(&missing, reader, "n").await.unwrap_err();
        assert!(
            error.report().contains("ConfigMap `b`"),
            "{}",
            error.report()
        );
    }
}
