//! Secrets that a component names.

use crate::api::v1alpha1::VariableSourceKind;
use crate::cluster::{Objects, RequestError, Resource};
use base64::Engine as _;
use serde_json::Value;
use std::collections::BTreeMap;

/// The entries of a Secret.
pub(crate) type SecretEntries = BTreeMap<String, Vec<u8>>;

/// Reads Secrets as the component, or out of those that were given.
#[derive(Clone, Copy)]
pub(crate) struct SecretReader<'a> {
    /// Secrets that are at hand, by name.
    pub(crate) given: Option<&'a BTreeMap<String, SecretEntries>>,
    /// ConfigMaps that are at hand, by name.
    pub(crate) given_maps: Option<&'a BTreeMap<String, SecretEntries>>,
    /// Where the others are read; nowhere without a cluster.
    pub(crate) objects: Option<&'a Objects>,
}

impl std::fmt::Debug for SecretReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretReader").finish_non_exhaustive()
    }
}

impl<'a> SecretReader<'a> {
    /// Reads from a cluster.
    pub(crate) fn of_cluster(objects: &'a Objects) -> Self {
        Self {
            given: None,
            given_maps: None,
            objects: Some(objects),
        }
    }

    /// The entries of what is at hand.
    pub(super) fn given(&self, kind: VariableSourceKind, name: &str) -> Option<&'a SecretEntries> {
        let given = match kind {
            VariableSourceKind::ConfigMap => self.given_maps,
            VariableSourceKind::Secret => self.given,
        };
        given?.get(name)
    }

    /// The entries of a Secret; nothing when there is none.
    pub(crate) async fn read(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<SecretEntries>, RequestError> {
        if let Some(entries) = self.given.and_then(|given| given.get(name)) {
            return Ok(Some(entries.clone()));
        }
        let Some(objects) = self.objects else {
            return Ok(None);
        };
        let secret = objects.read(&secrets(), namespace, name).await?;
        Ok(secret.map(|secret| entries(&secret)))
    }
}

/// The entries of a Secret as the API server, or a manifest, has it.
pub(crate) fn entries(secret: &Value) -> SecretEntries {
    let texts = |field: &str| secret.get(field).and_then(Value::as_object);
    let mut entries = SecretEntries::new();
    for (key, value) in texts("data").into_iter().flatten() {
        let encoded = value.as_str().unwrap_or_default();
        let decoded = base64::engine::general_purpose::STANDARD.decode(encoded);
        entries.extend(decoded.ok().map(|bytes| (key.clone(), bytes)));
    }
    for (key, value) in texts("stringData").into_iter().flatten() {
        let text = value.as_str().unwrap_or_default();
        entries.insert(key.clone(), text.as_bytes().to_vec());
    }
    entries
}

fn secrets() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        plural: "secrets".to_owned(),
        namespaced: true,
    }
}
