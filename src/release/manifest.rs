//! The manifest of a record as documents and objects.

use super::error::ManifestError;
use serde_json::Value;
use whipstaff_generator::{ObjectSet, yaml};

/// Most documents in a manifest.
const MAX_DOCUMENTS: usize = 50_000;
/// What Helm writes before each document.
const SOURCE: &str = "# Source: ";

/// A document of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredDocument {
    /// The template that it came from, with the names of charts; empty when it does not say.
    pub(crate) source: String,
    /// What it holds.
    pub(crate) value: Value,
}

/// The documents of a manifest in their order; those with nothing but comments are left out.
///
/// # Errors
/// [`ManifestError`] when one is not YAML.
pub(crate) fn stored_documents(manifest: &str) -> Result<Vec<StoredDocument>, ManifestError> {
    let mut documents = Vec::new();
    for (number, text) in split(manifest).into_iter().enumerate() {
        if number >= MAX_DOCUMENTS {
            return Err(ManifestError::Documents {
                limit: MAX_DOCUMENTS,
            });
        }
        let source = source(text);
        let value = yaml::from_str(text).map_err(|cause| ManifestError::Yaml {
            number: number + 1,
            file: source.to_owned(),
            cause: Box::new(cause),
        })?;
        if !value.is_null() {
            documents.push(StoredDocument {
                source: source.to_owned(),
                value,
            });
        }
    }
    Ok(documents)
}

/// The objects of a manifest; those of a list one by one.
///
/// # Errors
/// [`ManifestError`] when a document is not YAML or not an object.
pub(crate) fn stored_objects(manifest: &str) -> Result<ObjectSet, ManifestError> {
    let mut objects = ObjectSet::new();
    for (number, document) in stored_documents(manifest)?.into_iter().enumerate() {
        objects
            .push_document(document.value, &document.source)
            .map_err(|cause| ManifestError::Object {
                number: number + 1,
                cause,
            })?;
    }
    Ok(objects)
}

/// Helm splits what templates render to at every line that begins so, and so no document has one inside.
fn split(manifest: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    for line in manifest.split_inclusive('\n') {
        if is_separator(line) {
            parts.extend(manifest.get(begin..at));
            begin = at + line.len();
        }
        at += line.len();
    }
    parts.extend(manifest.get(begin..));
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn is_separator(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

fn source(text: &str) -> &str {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first
        .and_then(|line| line.strip_prefix(SOURCE))
        .unwrap_or_default()
        .trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_know_their_templates() {
        let manifest = "---\n# Source: c/templates/a.yaml\nkind: A\n--- \n# Source: c/templates/a.yaml\n# nothing\n---\n# Source: c/templates/b.yaml\nkind: B\ntext: |\n  ---\n  x\n";
        let found = stored_documents(manifest).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|d| (d.source.as_str(), &d.value))
            .collect();
        assert_eq!(
            shown,
            [
                ("c/templates/a.yaml", &json!({"kind": "A"})),
                (
                    "c/templates/b.yaml",
                    &json!({"kind": "B", "text": "---\nx\n"})
                ),
            ]
        );
    }

    #[test]
    fn manifests_without_sources_and_lists_are_understood() {
        let manifest = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n";
        assert_eq!(stored_objects(manifest).unwrap().len(), 2);
        assert!(stored_objects("").unwrap().is_empty());
        assert!(stored_objects("---\n- a\n").is_err());
        assert!(stored_objects("---\na: b: c\n").is_err());
    }
}
