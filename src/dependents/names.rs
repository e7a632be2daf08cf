//! Everything that carries a reconciler's name.

use std::sync::Arc;

/// Longest name of a reconciler: a prefix of label keys holds this much.
const MAX_NAME: usize = 253;
/// Longest name of a field manager.
const MAX_MANAGER: usize = 128;
/// The name that Whipstaff's own operator has.
const DEFAULT_NAME: &str = "whipstaff.dev";
/// The field manager of Whipstaff's own operator.
const DEFAULT_MANAGER: &str = "whipstaff";

/// Everything that carries a reconciler's name: keys of labels and annotations (`<name>/owner-id`), the finalizer
/// (`<name>/finalizer`) and the field manager.
///
/// Reconcilers with different names do not take each other's dependents for theirs, whatever kinds they have. The default is
/// `whipstaff.dev`, whose field manager is `whipstaff`; the field manager of any other name is the name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Names {
    name: String,
    manager: String,
    owner: String,
    digest: String,
    finalizer: String,
}

/// A name that no reconciler can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is not a name of a reconciler; expected a DNS name of at most {MAX_NAME} characters, like `shops.example.org`"
)]
pub struct NameError {
    name: String,
}

impl Names {
    /// What carries the name of a reconciler: a DNS name like `shops.example.org`.
    ///
    /// # Errors
    /// [`NameError`] when it is not a DNS name.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let is_label = |label: &str| {
            let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let (bytes, dash) = (label.as_bytes(), |byte: u8| byte == b'-');
            bytes.first().is_some_and(|byte| inside(*byte))
                && bytes.last().is_some_and(|byte| inside(*byte))
                && bytes.iter().all(|byte| inside(*byte) || dash(*byte))
        };
        if name.len() > MAX_NAME || !name.split('.').all(is_label) {
            let name = name.to_owned();
            return Err(NameError { name });
        }
        Ok(Self::unchecked(name))
    }

    /// The name that Whipstaff's own operator has, shared.
    pub(crate) fn shared() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn unchecked(name: &str) -> Self {
        let mut manager = match name {
            DEFAULT_NAME => DEFAULT_MANAGER,
            other => other,
        }
        .to_owned();
        manager.truncate(MAX_MANAGER);
        Self {
            manager,
            owner: format!("{name}/owner-id"),
            digest: format!("{name}/digest"),
            finalizer: format!("{name}/finalizer"),
            name: name.to_owned(),
        }
    }

    /// The name itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name under which every field is applied.
    pub fn field_manager(&self) -> &str {
        &self.manager
    }

    /// What holds a component until its dependents are gone.
    pub fn finalizer(&self) -> &str {
        &self.finalizer
    }

    /// Key of the label with the hash of the owner's id, which watches and lists select by, and of the annotation with the id in full.
    pub fn owner_key(&self) -> &str {
        &self.owner
    }

    /// Key of the annotation with the digest of the manifest that was applied.
    pub fn digest_key(&self) -> &str {
        &self.digest
    }

    /// Any other key: `<name>/<suffix>`.
    pub fn key(&self, suffix: &str) -> String {
        format!("{}/{suffix}", self.name)
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::unchecked(DEFAULT_NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_operator_keeps_its_short_field_manager() {
        let names = Names::default();
        assert_eq!(names.field_manager(), "whipstaff");
        assert_eq!(names.finalizer(), "whipstaff.dev/finalizer");
        assert_eq!(Names::new("whipstaff.dev"), Ok(names));
    }

    #[test]
    fn another_name_is_in_everything() {
        let names = Names::new("shops.example.org").unwrap();
        assert_eq!(names.field_manager(), "shops.example.org");
        assert_eq!(names.owner_key(), "shops.example.org/owner-id");
        assert_eq!(
            names.key("update-policy"),
            "shops.example.org/update-policy"
        );
    }

    #[test]
    fn what_is_no_dns_name_is_refused() {
        let long = "a".repeat(254);
        for name in ["", "Shops", "a..b", "-a", "a-", "a/b", "a_b", &long] {
            assert!(Names::new(name).is_err(), "{name}");
        }
    }
}
