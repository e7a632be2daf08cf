//! Decrypted texts, kept out of everything that is told.

use base64::Engine as _;
use serde_json::Value;
use std::collections::BTreeSet;
use whipstaff_generator::{FileTree, yaml};

/// Shortest text in bytes that is taken for a secret: shorter ones are parts of ordinary words.
const MIN_LENGTH: usize = 4;
/// What stands in the place of a secret.
const MASK: &str = "***";

/// Texts that were encrypted in the files of a source. Errors of templates and of the API server quote what they do not like, and
/// must not tell these.
#[derive(Default, Clone, PartialEq, Eq)]
pub(crate) struct Mask {
    /// The longest first, so that none is cut by a part of it.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask(…)")
    }
}

impl Mask {
    /// The texts that are in a tree only since it was decrypted.
    pub(crate) fn between(encrypted: &FileTree, decrypted: &FileTree) -> Self {
        let mut secrets = BTreeSet::new();
        for (path, content) in decrypted.iter() {
            let before = encrypted.get(path);
            if before == Some(content) {
                continue;
            }
            let known = before.map(|before| texts(before)).unwrap_or_default();
            secrets.extend(texts(content).difference(&known).cloned());
        }
        Self::all(secrets)
    }

    /// Texts that are secret as a whole, and their lines.
    pub(crate) fn of(texts: &[String]) -> Self {
        let mut secrets = BTreeSet::new();
        for text in texts {
            add(text, &mut secrets);
            text.lines().for_each(|line| add(line, &mut secrets));
        }
        Self::all(secrets)
    }

    fn all(mut secrets: BTreeSet<String>) -> Self {
        let encoded: Vec<_> = secrets
            .iter()
            .map(|secret| base64::engine::general_purpose::STANDARD.encode(secret))
            .collect();
        secrets.extend(encoded);
        let mut secrets: Vec<_> = secrets
            .into_iter()
            .filter(|text| text.len() >= MIN_LENGTH)
            .collect();
        secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self { secrets }
    }

    /// A text without the secrets.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), MASK);
            }
        }
        text
    }
}

/// Everything in a file that may be a value: scalars of YAML and JSON, lines, what stands behind an equals sign, and whatever is
/// encoded in these.
fn texts(content: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let text = String::from_utf8_lossy(content);
    for document in yaml::documents(&text).unwrap_or_default() {
        scalars(&document.value, &mut found);
    }
    for line in text.lines() {
        add(line, &mut found);
        if let Some((_, value)) = line.split_once('=') {
            add(value.trim().trim_matches(['"', '\'']), &mut found);
        }
    }
    found
}

fn scalars(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.values().for_each(|value| scalars(value, found)),
        Value::Array(items) => items.iter().for_each(|item| scalars(item, found)),
        Value::Number(number) => {
            add(&number.to_string(), found);
            // Templates may print it with an exponent.
            let exponential = number.as_f64().map(|number| format!("{number:e}"));
            let mantissa = exponential
                .as_deref()
                .and_then(|text| text.split('e').next());
            add(mantissa.unwrap_or_default(), found);
        }
        Value::String(text) => {
            add(text, found);
            text.lines().for_each(|line| add(line, found));
            let decoded = base64::engine::general_purpose::STANDARD.decode(text);
            if let Some(text) = decoded.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
                add(&text, found);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn add(text: &str, found: &mut BTreeSet<String>) {
    let text = text.trim();
    if text.len() >= MIN_LENGTH {
        found.insert(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> FileTree {
        let mut tree = FileTree::new();
        tree.insert("a.yaml", text.as_bytes()).unwrap();
        tree
    }

    #[test]
    fn what_was_encrypted_is_masked_and_what_was_not_is_shown() {
        let before = tree("kind: Secret\ndata:\n  password: ENC[x]\n  note: ENC[y]\n");
        let after = tree("kind: Secret\ndata:\n  password: aHVudGVyMg==\n  note: plain\n");
        let mask = Mask::between(&before, &after);
        assert_eq!(
            mask.apply("Secret: bad hunter2, aHVudGVyMg== and plain"),
            "Secret: bad ***, *** and ***"
        );
        assert_eq!(Mask::default().apply("Secret"), "Secret");
        assert!(!format!("{mask:?}").contains("hunter2"));
    }

    #[test]
    fn numbers_are_masked_however_they_are_printed() {
        let mask = Mask::between(&tree("n: ENC[x]\n"), &tree("n: 12345678\n"));
        assert_eq!(mask.apply("12345678 or 1.2345678e+07"), "*** or ***e+07");
    }

    #[test]
    fn values_of_dotenv_files_are_masked() {
        let mask = Mask::between(&tree("A=ENC[x]\n"), &tree("A=\"hunter2\"\n"));
        assert_eq!(mask.apply("is hunter2 it?"), "is *** it?");
    }
}
