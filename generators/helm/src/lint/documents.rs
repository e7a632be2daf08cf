//! The YAML documents of a file as Kubernetes' reader finds them, and what the checks read of each.

use crate::decode::Fields;
use serde_json::Value as Json;
use whipstaff_generator::yaml;
use whipstaff_gotemplate::Dialect;

const SEPARATOR: &[u8] = b"---";

/// Parts a file at lines that start with `---`. After an error there are no more documents.
#[derive(Debug)]
pub(super) struct Documents<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Documents<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    fn line_end(&self, from: usize) -> usize {
        self.text[from..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(self.text.len(), |length| from + length + 1)
    }
}

impl<'a> Iterator for Documents<'a> {
    type Item = Result<&'a [u8], String>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        while self.at < self.text.len() {
            let (line, end) = (self.at, self.line_end(self.at));
            self.at = end;
            let Some(rest) = self.text[line..end].strip_prefix(SEPARATOR) else {
                continue;
            };
            let rest = rest.trim_ascii();
            if !rest.is_empty() && !rest.starts_with(b"#") {
                self.at = self.text.len();
                let rest = String::from_utf8_lossy(rest);
                return Some(Err(format!("invalid Yaml document separator: {rest}")));
            }
            // A separator at the very beginning of a document belongs to it.
            if line > start {
                return Some(Ok(&self.text[start..line]));
            }
        }
        (start < self.text.len()).then(|| Ok(&self.text[start..]))
    }
}

/// What a document says that it is.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
}

impl Head {
    /// Reads a document; an empty one has no head.
    ///
    /// # Errors
    /// Helm's text when it is not YAML, or a field has the wrong type.
    pub(super) fn read(document: &[u8], dialect: Dialect) -> Result<Option<Self>, String> {
        let value = yaml::from_slice(document).map_err(|error| error.to_string())?;
        if value.is_null() {
            return Ok(None);
        }
        Self::of(&value, dialect).map(Some)
    }

    fn of(value: &Json, dialect: Dialect) -> Result<Self, String> {
        let (go_type, owner, metadata_owner) = if dialect.is_v4() {
            (
                "rules.k8sYamlStruct",
                "k8sYamlStruct",
                "k8sYamlMetadata.Metadata",
            )
        } else {
            (
                "rules.K8sYamlStruct",
                "K8sYamlStruct",
                "k8sYamlMetadata.Metadata",
            )
        };
        let read = || {
            let fields = Fields::of(owner, go_type, value)?;
            let (api_version, kind) = (fields.text("apiVersion")?, fields.text("Kind")?);
            let empty = Json::Null;
            let metadata = fields
                .map("Metadata", "rules.k8sYamlMetadata")?
                .unwrap_or(&empty);
            let metadata = Fields::of(metadata_owner, "rules.k8sYamlMetadata", metadata)?;
            let name = metadata.text("Name")?;
            metadata.text("Namespace")?;
            Ok(Self {
                api_version,
                kind,
                name,
            })
        };
        read().map_err(|error: crate::decode::DecodeError| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_parted_by_lines_of_dashes() {
        let parts = |text: &str| -> Vec<String> {
            Documents::new(text.as_bytes())
                .map(|part| match part {
                    Ok(text) => String::from_utf8_lossy(text).into_owned(),
                    Err(error) => format!("!{error}"),
                })
                .collect()
        };
        assert_eq!(parts("a\n---\nb"), ["a\n", "b"]);
        assert_eq!(parts("---\na\n--- # x\nb\n"), ["---\na\n", "b\n"]);
        assert_eq!(
            parts("a\n--- x\nb"),
            ["!invalid Yaml document separator: x"]
        );
        assert_eq!(parts(""), Vec::<String>::new());
    }
}
