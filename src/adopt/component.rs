//! The Component that a release becomes, with the Secrets that it needs.

use super::pins::{self, Pins};
use super::proof::Proof;
use super::verify::Adoptable;
use crate::api::v1alpha1::{ReleaseSource, UrlSource};
use crate::release::stored_objects;
use base64::Engine as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Shortest text of a Secret that is looked for among the values; shorter ones are everywhere.
const MIN_SECRET: usize = 6;
/// What the names of values have in them that are secrets.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "privatekey",
    "private_key",
    "credential",
];
/// What the names of values end with that only say where a secret is.
const REFERENCES: &[&str] = &["name", "ref", "key", "enabled", "create"];
/// The key of values in their Secret.
const VALUES_KEY: &str = "values.yaml";

/// Where the Component gets the chart from.
#[derive(Debug, Clone)]
pub(crate) enum ChartSource {
    /// An address.
    Url(UrlSource),
    /// The record of the release.
    Stored,
}

/// What is to be written.
#[derive(Debug, Clone)]
pub(crate) struct Manifests {
    /// The Component.
    pub(crate) component: Value,
    /// The Secret with values that are kept, if there are any.
    pub(crate) pinned: Option<Value>,
    /// The Secret with values that are secrets, if there are any.
    pub(crate) values: Option<Value>,
}

impl Manifests {
    /// The manifests for a release, as a Component of a name in the release's namespace.
    pub(crate) fn new(
        name: &str,
        adoptable: &Adoptable,
        proof: &Proof,
        source: &ChartSource,
    ) -> Self {
        let release = &adoptable.record.release;
        let namespace = &release.namespace;
        let (values, secret) = parted(adoptable);
        let mut spec = Map::new();
        let source = match source {
            ChartSource::Url(url) => json!({ "url": url }),
            ChartSource::Stored => json!({ "release": ReleaseSource {
                name: release.name.clone(),
                revision: release.version,
            }}),
        };
        spec.insert("source".to_owned(), source);
        if name != release.name {
            spec.insert("targetName".to_owned(), json!(release.name));
        }
        let dialect = proof.dialect.map(|dialect| dialect.to_string());
        // Helm does not touch definitions of the folder `crds` once they are there.
        spec.insert(
            "helm".to_owned(),
            json!({"dialect": dialect, "includeCRDs": false}),
        );
        let pinned = Some(&proof.documents.pins).filter(|pins| !pins.is_empty());
        let mut adopt = json!({ "helmRelease": {
            "name": release.name,
            "approval": "AutomaticIfIdentical",
        }});
        if pinned.is_some() {
            adopt["pinned"] = json!({"secretRef": {"name": pins::secret_name(name)}});
        }
        spec.insert("adopt".to_owned(), adopt);
        if !values.is_empty() {
            spec.insert("values".to_owned(), Value::Object(values));
        }
        let values_name = format!("{name}-values");
        if !secret.is_empty() {
            let from = json!([{"kind": "Secret", "name": values_name, "key": VALUES_KEY}]);
            spec.insert("valuesFrom".to_owned(), from);
        }
        if proof.counts().drifted > 0 {
            spec.insert("policies".to_owned(), json!({"drift": {"mode": "Report"}}));
        }
        let secret = Some(secret).filter(|secret| !secret.is_empty());
        Self {
            component: json!({
                "apiVersion": "whipstaff.dev/v1alpha1",
                "kind": "Component",
                "metadata": {"name": name, "namespace": namespace},
                "spec": spec,
            }),
            pinned: pinned.map(|pins| pinned_secret(name, namespace, pins)),
            values: secret.map(|secret| {
                let text = whipstaff_generator::yaml::to_string(&Value::Object(secret));
                json!({
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": {"name": values_name, "namespace": namespace},
                    "stringData": {(VALUES_KEY): text},
                })
            }),
        }
    }
}

/// The Secret with values that are kept.
pub(crate) fn pinned_secret(component: &str, namespace: &str, pins: &Pins) -> Value {
    let note = "Values that the chart would make anew, kept as the Helm release had them. Whoever deletes this makes them change.";
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": pins::secret_name(component),
            "namespace": namespace,
            "annotations": {"whipstaff.dev/component": component, "whipstaff.dev/note": note},
        },
        "type": pins::SECRET_TYPE,
        "stringData": {(pins::DATA_KEY): pins.to_json()},
    })
}

/// The user's values: those for everybody to see, and those that are secrets.
fn parted(adoptable: &Adoptable) -> (Map<String, Value>, Map<String, Value>) {
    let release = &adoptable.record.release;
    let mut secrets = BTreeSet::new();
    for item in &stored_objects(&release.manifest).unwrap_or_default() {
        if item.object.kind() == "Secret" && item.object.group().is_empty() {
            collect(item.object.fields(), &mut secrets);
        }
    }
    part(&release.config, &secrets)
}

/// The texts of a Secret, decoded.
fn collect(secret: &Map<String, Value>, texts: &mut BTreeSet<String>) {
    let entries = |field: &str| secret.get(field).and_then(Value::as_object);
    let plain = entries("stringData").into_iter().flatten();
    texts.extend(plain.filter_map(|(_, value)| value.as_str().map(str::to_owned)));
    let decode = |text: &str| {
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .ok()?;
        String::from_utf8(bytes).ok()
    };
    let encoded = entries("data").into_iter().flatten();
    texts.extend(encoded.filter_map(|(_, value)| decode(value.as_str()?)));
    texts.retain(|text| text.len() >= MIN_SECRET);
}

fn part(
    values: &Map<String, Value>,
    secrets: &BTreeSet<String>,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut open, mut secret) = (Map::new(), Map::new());
    for (key, value) in values {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                let (open_part, secret_part) = part(inner, secrets);
                if !open_part.is_empty() {
                    open.insert(key.clone(), Value::Object(open_part));
                }
                if !secret_part.is_empty() {
                    secret.insert(key.clone(), Value::Object(secret_part));
                }
            }
            value if is_secret(key, value, secrets) => {
                secret.insert(key.clone(), value.clone());
            }
            value => {
                open.insert(key.clone(), value.clone());
            }
        }
    }
    (open, secret)
}

/// Lists are merged as a whole, and so are as secret as what is in them.
fn is_secret(key: &str, value: &Value, secrets: &BTreeSet<String>) -> bool {
    match value {
        Value::String(text) if text.is_empty() => false,
        Value::String(text) => {
            let key = key.to_lowercase();
            let is_named = SECRET_NAMES.iter().any(|name| key.contains(name))
                && !REFERENCES.iter().any(|end| {
                    key.ends_with(end)
                        && key != "apikey"
                        && key != "privatekey"
                        && key != "api_key"
                        && key != "private_key"
                });
            is_named || secrets.contains(text)
        }
        Value::Array(items) => items.iter().any(|item| is_secret(key, item, secrets)),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| is_secret(key, value, secrets)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_parted_from_other_values_and_nothing_is_lost() {
        let values = json!({
            "auth": {"password": "hunter22", "existingSecretName": "s", "user": "app"},
            "replicas": 2, "dsn": "from-a-secret", "empty": {}, "token": "",
            "env": [{"name": "A", "value": "from-a-secret"}],
        });
        let secrets = BTreeSet::from(["from-a-secret".to_owned()]);
        let (open, secret) = part(values.as_object().unwrap(), &secrets);
        assert_eq!(
            Value::Object(secret),
            json!({"auth": {"password": "hunter22"}, "dsn": "from-a-secret",
                "env": [{"name": "A", "value": "from-a-secret"}]})
        );
        assert_eq!(
            Value::Object(open),
            json!({"auth": {"existingSecretName": "s", "user": "app"}, "replicas": 2,
                "empty": {}, "token": ""})
        );
    }
}
