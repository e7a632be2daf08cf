//! ConfigMaps and Secrets that a component refers to: loaded, digested and watched.

use super::error::ReconcileError;
use super::mask::Mask;
use super::resource::Component;
use super::run::Run;
use super::secrets::{SecretEntries, SecretReader};
use super::variables::{find, watched};
use crate::api::v1alpha1::VariableSourceKind;
use crate::class::Class;
use crate::cluster::RequestError;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::Digest;

/// A ConfigMap or Secret in a component's namespace, or one entry of it.
///
/// ```
/// use whipstaff::Reference;
///
/// let password = Reference::secret("db").key("password");
/// let kubeconfig = Reference::secret("cluster").fallback_keys(["value", "value.yaml", "value.yml"]);
/// let settings = Reference::config_map("settings").ignored_on_deletion();
/// assert_ne!(password, kubeconfig);
/// # let _ = settings;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    kind: VariableSourceKind,
    name: String,
    key: Option<String>,
    fallback_keys: Vec<String>,
    optional: bool,
    ignored_on_deletion: bool,
}

impl Reference {
    /// A whole ConfigMap.
    pub fn config_map(name: impl Into<String>) -> Self {
        Self::new(VariableSourceKind::ConfigMap, name.into())
    }

    /// A whole Secret.
    pub fn secret(name: impl Into<String>) -> Self {
        Self::new(VariableSourceKind::Secret, name.into())
    }

    fn new(kind: VariableSourceKind, name: String) -> Self {
        Self {
            kind,
            name,
            key: None,
            fallback_keys: Vec::new(),
            optional: false,
            ignored_on_deletion: false,
        }
    }

    /// One entry of it.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Entries that are looked for in this order when no [`key`](Self::key) is named. One of them must be there.
    #[must_use]
    pub fn fallback_keys<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.fallback_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// It may be missing.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// It may be missing while the component is deleted.
    #[must_use]
    pub fn ignored_on_deletion(mut self) -> Self {
        self.ignored_on_deletion = true;
        self
    }

    /// Name of the ConfigMap or Secret.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is missing of it, if anything is; otherwise the entry that it means, or nothing for all of them.
    fn entry(&self, entries: &SecretEntries) -> Result<Option<String>, String> {
        let (kind, name) = (self.kind, &self.name);
        if let Some(key) = &self.key {
            if entries.contains_key(key) {
                return Ok(Some(key.clone()));
            }
            return Err(format!("the {kind} `{name}` has no entry `{key}`"));
        }
        if self.fallback_keys.is_empty() {
            return Ok(None);
        }
        let mut keys = self.fallback_keys.iter();
        if let Some(key) = keys.find(|key| entries.contains_key(*key)) {
            return Ok(Some(key.clone()));
        }
        let keys = self.fallback_keys.join("`, `");
        Err(format!(
            "the {kind} `{name}` has none of the entries `{keys}`"
        ))
    }
}

/// What a component's references lead to.
///
/// It may be secret: it is not shown, and its digest says nothing to whoever cannot read where it comes from.
#[derive(Clone)]
pub struct References {
    loaded: Vec<(Reference, Loaded)>,
    digest: Digest,
}

#[derive(Clone)]
struct Loaded {
    entries: SecretEntries,
    key: Option<String>,
}

impl std::fmt::Debug for References {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let loaded: Vec<_> = self.loaded.iter().map(|(reference, _)| reference).collect();
        f.debug_tuple("References").field(&loaded).finish()
    }
}

impl Default for References {
    fn default() -> Self {
        Self {
            loaded: Vec::new(),
            digest: Digest::of_parts([]),
        }
    }
}

impl References {
    /// All entries of what a reference names; nothing when it may be missing, and is.
    pub fn entries(&self, reference: &Reference) -> Option<&BTreeMap<String, Vec<u8>>> {
        self.loaded(reference).map(|loaded| &loaded.entries)
    }

    /// The entry that a reference names; nothing when it may be missing, and is, or when it names none.
    pub fn bytes(&self, reference: &Reference) -> Option<&[u8]> {
        let loaded = self.loaded(reference)?;
        let bytes = loaded.entries.get(loaded.key.as_ref()?)?;
        Some(bytes)
    }

    /// The entry that a reference names, if it is a text.
    pub fn text(&self, reference: &Reference) -> Option<&str> {
        std::str::from_utf8(self.bytes(reference)?).ok()
    }

    /// Changes when what is referred to does.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether nothing is referred to.
    pub fn is_empty(&self) -> bool {
        self.loaded.is_empty()
    }

    fn loaded(&self, reference: &Reference) -> Option<&Loaded> {
        let mut loaded = self.loaded.iter();
        loaded
            .find(|(known, _)| known == reference)
            .map(|(_, loaded)| loaded)
    }
}

/// What was read, and what there is to know of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadReferences {
    pub(super) references: Arc<References>,
    /// What must not be told of them.
    pub(super) mask: Mask,
    /// What was read in which version; an empty one for what is missing.
    versions: BTreeMap<(VariableSourceKind, String), String>,
}

/// What is remembered of a component's references.
#[derive(Debug, Clone)]
pub(crate) struct KnownReferences {
    of: Vec<Reference>,
    deleting: bool,
    changes: u64,
    /// When to read them again.
    pub(super) next: Instant,
    pub(super) read: ReadReferences,
}

/// Reads what references name; the first `digested` of them go into the digest. Everything that is missing is in the one error.
pub(super) async fn read_references(
    wanted: &[Reference],
    digested: usize,
    reader: SecretReader<'_>,
    namespace: &str,
    deleting: bool,
) -> Result<ReadReferences, ReconcileError> {
    let mut read = ReadReferences::default();
    let mut loaded = Vec::new();
    let mut missing = Vec::new();
    let mut secrets = Vec::new();
    let mut digest = Digest::of_parts([]);
    for (index, reference) in wanted.iter().enumerate() {
        let (kind, name) = (reference.kind, &reference.name);
        let found = match find(kind, name, reader, namespace).await {
            Ok(found) => found,
            Err(None) if reference.optional => None,
            Err(cause) => return Err(cannot_read(reference, cause)),
        };
        let version = found.as_ref().map(|found| found.version.clone());
        let place = (kind, name.clone());
        read.versions.insert(place, version.unwrap_or_default());
        let Some(found) = found else {
            let is_tolerated = deleting && reference.ignored_on_deletion;
            if !reference.optional && !is_tolerated {
                missing.push(format!("the {kind} `{name}` does not exist"));
            }
            continue;
        };
        let key = match reference.entry(&found.entries) {
            Ok(key) => key,
            Err(_) if reference.optional => continue,
            Err(problem) => {
                missing.push(problem);
                continue;
            }
        };
        // The UID is as good as a key: whoever does not see the object cannot find its values out by trying.
        let mut parts = vec![digest.as_bytes().to_vec(), found.uid.into_bytes()];
        for (name, bytes) in &found.entries {
            if key.as_ref().is_some_and(|key| key != name) {
                continue;
            }
            parts.extend([name.clone().into_bytes(), bytes.clone()]);
            if kind == VariableSourceKind::Secret
                && let Ok(text) = String::from_utf8(bytes.clone())
            {
                if let Ok(value) = whipstaff_generator::yaml::from_str(&text) {
                    collect_texts(&value, &mut secrets);
                }
                secrets.push(text);
            }
        }
        // New credentials for the same cluster are no new input.
        if index < digested {
            digest = Digest::of_parts(parts.iter().map(Vec::as_slice));
        }
        let entries = found.entries;
        loaded.push((reference.clone(), Loaded { entries, key }));
    }
    if !missing.is_empty() {
        return Err(ReconcileError::ReferencesMissing { missing });
    }
    read.references = Arc::new(References { loaded, digest });
    read.mask = Mask::of(&secrets);
    Ok(read)
}

/// What is in a document is as secret as the document.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields
            .values()
            .for_each(|value| collect_texts(value, texts)),
        Value::Array(items) => items.iter().for_each(|value| collect_texts(value, texts)),
        Value::String(text) => texts.push(text.clone()),
        _ => {}
    }
}

fn cannot_read(reference: &Reference, cause: Option<RequestError>) -> ReconcileError {
    let (kind, name) = (reference.kind, reference.name.clone());
    match cause {
        Some(cause) => ReconcileError::ReadReference { kind, name, cause },
        None => ReconcileError::ReferenceNotGiven { kind, name },
    }
}

impl<C: Component> Run<'_, C> {
    /// What the component's references lead to: that of last time unless a watch told of a change, or the interval is over.
    /// A kubeconfig is read with them, and is none of them.
    pub(super) async fn references(
        &mut self,
        interval: Duration,
        deleting: bool,
    ) -> Result<(Arc<References>, Option<Vec<u8>>), ReconcileError> {
        let mut wanted = self.component.references();
        let kubeconfig = self.component.kube_config();
        let own = wanted.len();
        wanted.extend(kubeconfig.clone());
        if wanted.is_empty() {
            if self.memory.references.take().is_some() {
                self.watch_references(&BTreeMap::new());
            }
            return Ok((Arc::default(), None));
        }
        let name = self.component_name();
        let changes = self.context.reference_watches.changes(&name);
        let now = Instant::now();
        let known = self.memory.references.as_ref().filter(|known| {
            known.of == wanted
                && known.deleting == deleting
                && known.changes == changes
                && now < known.next
        });
        if known.is_none() {
            let read = self.read_references(&wanted, own, deleting).await?;
            self.memory.references = Some(KnownReferences {
                of: wanted.clone(),
                deleting,
                changes,
                next: now + interval,
                read,
            });
        }
        let Some(known) = &self.memory.references else {
            return Ok((Arc::default(), None));
        };
        let all = &known.read.references;
        let text = kubeconfig.and_then(|kubeconfig| Some(all.bytes(&kubeconfig)?.to_vec()));
        Ok((Arc::clone(all), text))
    }

    async fn read_references(
        &self,
        wanted: &[Reference],
        own: usize,
        deleting: bool,
    ) -> Result<ReadReferences, ReconcileError> {
        let reader = SecretReader::of_cluster(&self.local);
        let read = read_references(wanted, own, reader, &self.namespace, deleting).await;
        match &read {
            Ok(read) => self.watch_references(&read.versions),
            // Whoever may not read may not watch.
            Err(error) if error.class() == Class::Denied => {}
            Err(_) => {
                // What is missing is waited for.
                let missing = wanted
                    .iter()
                    .map(|r| ((r.kind, r.name.clone()), String::new()));
                self.watch_references(&missing.collect());
            }
        }
        read
    }

    /// Watches what is referred to, as whoever reads it.
    fn watch_references(&self, versions: &BTreeMap<(VariableSourceKind, String), String>) {
        let questions = versions.iter().map(|((kind, name), version)| {
            watched(*kind, name, version, &self.namespace, &self.identity)
        });
        let watches = &self.context.reference_watches;
        watches.require(
            &self.component_name(),
            &self.local_client,
            questions.collect(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::variables::variable_entries;
    use serde_json::json;

    fn given() -> BTreeMap<String, SecretEntries> {
        let object = json!({"stringData": {"value.yaml": "hunter2", "user": "admin"}});
        let entries = variable_entries(VariableSourceKind::Secret, &object);
        BTreeMap::from([("a".to_owned(), entries)])
    }

    async fn read(wanted: &[Reference], deleting: bool) -> Result<ReadReferences, ReconcileError> {
        let given = given();
        let reader = SecretReader {
            given: Some(&given),
            given_maps: None,
            objects: None,
        };
        read_references(wanted, wanted.len(), reader, "n", deleting).await
    }

    #[tokio::test]
    async fn entries_are_found_by_key_and_by_fallback_and_secrets_are_masked() {
        let by_key = Reference::secret("a").key("user");
        let by_fallback = Reference::secret("a").fallback_keys(["value", "value.yaml"]);
        let whole = Reference::secret("a");
        let wanted = [by_key.clone(), by_fallback.clone(), whole.clone()];
        let found = read(&wanted, false).await.unwrap();
        let references = &found.references;
        assert_eq!(references.text(&by_key), Some("admin"));
        assert_eq!(references.text(&by_fallback), Some("hunter2"));
        assert_eq!(references.entries(&whole).unwrap().len(), 2);
        assert_eq!(references.bytes(&whole), None);
        assert_eq!(found.mask.apply("hunter2"), "***");
        assert!(!format!("{references:?}").contains("hunter2"));

        let other = read(&[by_key], false).await.unwrap();
        assert_ne!(other.references.digest(), references.digest());
    }

    #[tokio::test]
    async fn all_that_is_missing_is_named_at_once() {
        let wanted = [
            Reference::secret("a").key("none"),
            Reference::secret("a").fallback_keys(["x", "y"]),
            Reference::secret("a").key("z").optional(),
        ];
        let error = read(&wanted, true).await.unwrap_err().report();
        assert!(
            error.contains("`none`") && error.contains("`x`, `y`"),
            "{error}"
        );
        assert!(!error.contains("`z`"), "{error}");
    }
}
