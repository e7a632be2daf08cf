//! Kinds that objects of a component serve: definitions, and extension API servers.

use super::order::{Stage, stage};
use crate::api::v1alpha1::{InventoryItem, TypePattern};
use serde_json::Value;
use whipstaff_generator::{Object, ObjectKey};

/// What an object serves, as it is recorded: `group/version/Kind` with `*` for any.
pub(crate) fn served_by(object: &Object) -> Vec<String> {
    let text = |path: &[&str]| object.pointer(path).and_then(Value::as_str);
    let served = match stage(&object.id(), false) {
        Stage::Definition => text(&["spec", "group"])
            .zip(text(&["spec", "names", "kind"]))
            .map(|(group, kind)| format!("{group}/*/{kind}")),
        Stage::ApiService => text(&["spec", "group"])
            .zip(text(&["spec", "version"]))
            .map(|(group, version)| format!("{group}/{version}/*")),
        _ => None,
    };
    served.into_iter().collect()
}

/// Whether a kind is among what an object serves.
pub(crate) fn serves(served: &str, key: &ObjectKey) -> bool {
    let mut parts = served.split('/');
    let mut next_is = |wanted: &str| {
        parts
            .next()
            .is_some_and(|part| part == "*" || part == wanted)
    };
    next_is(&key.group) && next_is(&key.version) && next_is(&key.kind)
}

/// Kinds whose objects need other objects of the component: they are applied late and deleted early.
#[derive(Debug, Clone, Default)]
pub(crate) struct ManagedKinds {
    served: Vec<String>,
    additional: Vec<TypePattern>,
}

impl ManagedKinds {
    /// What objects serve, and what the component names in addition.
    pub(crate) fn new(served: Vec<String>, additional: &[TypePattern]) -> Self {
        Self {
            served,
            additional: additional.to_vec(),
        }
    }

    /// What recorded objects serve, and what the component names in addition.
    pub(crate) fn of<'i>(
        items: impl Iterator<Item = &'i InventoryItem>,
        additional: &[TypePattern],
    ) -> Self {
        let served = items.flat_map(|item| item.manages.clone());
        Self::new(served.collect(), additional)
    }

    /// Whether a kind is among them.
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.served.iter().any(|served| serves(served, key))
            || self
                .additional
                .iter()
                .any(|pattern| pattern.matches(&key.group, &key.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependents::testing::crd;
    use serde_json::json;

    fn key(group: &str, version: &str, kind: &str) -> ObjectKey {
        ObjectKey {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            namespace: "apps".to_owned(),
            name: "n".to_owned(),
        }
    }

    #[test]
    fn definition_serves_every_version_of_its_kind() {
        let served = served_by(&Object::from_value(crd()).unwrap());
        let kinds = ManagedKinds::new(served, &[]);
        assert!(kinds.contains(&key("example.org", "v7", "Widget")));
        assert!(!kinds.contains(&key("example.org", "v1", "Gadget")));
        assert!(!kinds.contains(&key("", "v1", "Widget")));
    }

    #[test]
    fn extension_api_server_serves_every_kind_of_its_version() {
        let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1.example.org"}, "spec": {"group": "example.org", "version": "v1"}});
        let served = served_by(&Object::from_value(service).unwrap());
        let kinds = ManagedKinds::new(served, &[]);
        assert!(kinds.contains(&key("example.org", "v1", "Anything")));
        assert!(!kinds.contains(&key("example.org", "v2", "Anything")));
    }
}
