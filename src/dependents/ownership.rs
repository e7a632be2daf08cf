//! Who owns an object.

use super::names::Names;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::fmt;
use std::sync::Arc;
use whipstaff_generator::Digest;

/// Hexadecimal digits in the owner label; a label's value holds 63 characters, and 160 bits do not collide.
const LABEL_LENGTH: usize = 40;
/// What the keys of owners end with, whatever the reconciler's name.
const OWNER_SUFFIX: &str = "/owner-id";
/// What the owner ids of one kind on one cluster begin with: `<cluster>/<Kind.group>/`. Two kinds never share dependents, however
/// their resources are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnerScope {
    prefix: String,
    names: Arc<Names>,
}

impl OwnerScope {
    /// The scope of a kind. `cluster` is the UID of the namespace `kube-system` where the components live.
    pub(crate) fn new(names: Arc<Names>, cluster: &str, kind: &str, group: &str) -> Self {
        Self {
            prefix: format!("{cluster}/{kind}.{group}/"),
            names,
        }
    }

    /// What carries the reconciler's name.
    pub(crate) fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// The namespace and name of the component that an annotation names, if it is one of this scope.
    pub(crate) fn component(&self, annotation: &str) -> Option<(String, String)> {
        let (namespace, name) = annotation.strip_prefix(&self.prefix)?.split_once('/')?;
        Some((namespace.to_owned(), name.to_owned()))
    }
}

/// The component that owns objects: `<cluster>/<Kind.group>/<namespace>/<name>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OwnerId {
    text: String,
    label: String,
    names: Arc<Names>,
}

impl OwnerId {
    /// The owner id of a component.
    pub(crate) fn new(scope: &OwnerScope, namespace: &str, name: &str) -> Self {
        let text = format!("{}{namespace}/{name}", scope.prefix);
        let mut label = Digest::of(text.as_bytes()).hex();
        label.truncate(LABEL_LENGTH);
        Self {
            text,
            label,
            names: Arc::clone(&scope.names),
        }
    }

    /// What carries the reconciler's name.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// The value of the owner label.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The value of the owner annotation.
    pub(crate) fn annotation(&self) -> &str {
        &self.text
    }
}

/// Who owns a live object, as far as its metadata says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// This component.
    Us,
    /// Nobody that we know of.
    Nobody,
    /// Somebody else, described for a person.
    Other(String),
}

impl Owner {
    /// Reads the owner from an object's metadata.
    pub(crate) fn of(metadata: &ObjectMeta, us: &OwnerId) -> Self {
        let labels = metadata.labels.as_ref();
        let annotations = metadata.annotations.as_ref();
        let annotation = |key: &str| annotations.and_then(|a| a.get(key)).map(String::as_str);
        if let Some(label) = labels.and_then(|labels| labels.get(us.names.owner_key())) {
            if label == us.label() {
                return Self::Us;
            }
            let owner = annotation(us.names.owner_key()).unwrap_or(label);
            return Self::Other(readable(owner));
        }
        let mut keys = labels.into_iter().flat_map(|labels| labels.keys());
        if let Some(owner) = keys.find_map(|key| {
            // Label and annotation together are what a reconciler of another name leaves.
            key.ends_with(OWNER_SUFFIX)
                .then(|| annotation(key))
                .flatten()
        }) {
            return Self::Other(readable(owner));
        }
        if let Some(release) = annotation("meta.helm.sh/release-name") {
            let namespace = annotation("meta.helm.sh/release-namespace").unwrap_or_default();
            return Self::Other(format!("the Helm release `{namespace}/{release}`"));
        }
        let references = metadata.owner_references.as_deref().unwrap_or_default();
        match references
            .iter()
            .find(|reference| reference.controller == Some(true))
        {
            Some(owner) => Self::Other(format!("its controller {} {}", owner.kind, owner.name)),
            None => Self::Nobody,
        }
    }
}

impl fmt::Display for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The part of an owner's id that a person can use: all but the cluster's UID.
fn readable(owner: &str) -> String {
    let parts: Vec<_> = owner.splitn(3, '/').collect();
    match parts[..] {
        [_, kind, name] => {
            let kind = kind.split('.').next().unwrap_or(kind);
            format!("the {kind} `{name}`")
        }
        _ => format!("`{owner}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    const KEY: &str = "whipstaff.dev/owner-id";

    fn scope(cluster: &str) -> OwnerScope {
        OwnerScope::new(Names::shared(), cluster, "Component", "whipstaff.dev")
    }

    fn us() -> OwnerId {
        OwnerId::new(&scope("cluster"), "apps", "shop")
    }

    #[test]
    fn annotation_leads_back_to_the_component() {
        let found = scope("cluster").component(us().annotation());
        assert_eq!(found, Some(("apps".to_owned(), "shop".to_owned())));
        assert_eq!(scope("another").component(us().annotation()), None);
    }

    #[test]
    fn owners_are_told_apart() {
        let mut metadata = ObjectMeta::default();
        assert_eq!(Owner::of(&metadata, &us()), Owner::Nobody);
        metadata.labels = Some([(KEY.to_owned(), us().label().to_owned())].into());
        assert_eq!(Owner::of(&metadata, &us()), Owner::Us);

        let other = OwnerId::new(&scope("cluster"), "apps", "other");
        metadata.labels = Some([(KEY.to_owned(), other.label().to_owned())].into());
        metadata.annotations = Some([(KEY.to_owned(), other.to_string())].into());
        let owner = Owner::of(&metadata, &us());
        assert_eq!(owner, Owner::Other("the Component `apps/other`".to_owned()));
    }

    #[test]
    fn reconcilers_of_other_names_are_owners() {
        let key = "shops.example.org/owner-id".to_owned();
        let owner = "cluster/Shop.shops.example.org/apps/web".to_owned();
        let mut metadata = ObjectMeta {
            labels: Some([(key.clone(), "0123".to_owned())].into()),
            ..ObjectMeta::default()
        };
        assert_eq!(Owner::of(&metadata, &us()), Owner::Nobody);
        metadata.annotations = Some([(key, owner)].into());
        let owner = Owner::Other("the Shop `apps/web`".to_owned());
        assert_eq!(Owner::of(&metadata, &us()), owner);
    }

    #[test]
    fn helm_releases_and_controllers_are_owners() {
        let release = ObjectMeta {
            annotations: Some(
                [
                    ("meta.helm.sh/release-name".to_owned(), "web".to_owned()),
                    (
                        "meta.helm.sh/release-namespace".to_owned(),
                        "apps".to_owned(),
                    ),
                ]
                .into(),
            ),
            ..ObjectMeta::default()
        };
        let owner = Owner::of(&release, &us());
        assert_eq!(
            owner,
            Owner::Other("the Helm release `apps/web`".to_owned())
        );

        let reference = OwnerReference {
            kind: "ReplicaSet".to_owned(),
            name: "web".to_owned(),
            controller: Some(true),
            ..OwnerReference::default()
        };
        let pod = ObjectMeta {
            owner_references: Some(vec![reference]),
            ..ObjectMeta::default()
        };
        let owner = Owner::of(&pod, &us());
        assert_eq!(
            owner,
            Owner::Other("its controller ReplicaSet web".to_owned())
        );
    }
}
