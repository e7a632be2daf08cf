//! What identifies an object.
//!
//! Mirrors `resid/gvk.go` and `resid/resid.go` of kyaml v0.21.1.

use crate::schema::Types;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The namespace that stands for none, for types that have no namespaces.
const NOT_A_NAMESPACE: &str = "_non_namespaceable_";
/// The namespace of objects that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// Group, version and kind; in a selector, empty ones are any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Gvk {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) kind: String,
}

impl Gvk {
    pub(crate) fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    /// Whether a selector takes this type.
    pub(crate) fn is_selected_by(&self, selector: &Self) -> bool {
        let fits = |wanted: &str, own: &str| wanted.is_empty() || wanted == own;
        fits(&selector.group, &self.group)
            && fits(&selector.version, &self.version)
            && fits(&selector.kind, &self.kind)
    }

    /// The type as a key that sorts, with words for empty parts.
    pub(crate) fn sort_text(&self) -> String {
        Self::sort_parts(&self.group, &self.version, &self.kind).concat()
    }

    /// What [`Gvk::sort_text`] consists of.
    pub(crate) fn sort_parts<'p>(group: &'p str, version: &'p str, kind: &'p str) -> [&'p str; 5] {
        [or(group, "~G"), "_", or(version, "~V"), "_", or(kind, "~K")]
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}",
            or(&self.kind, "[noKind]"),
            or(&self.version, "[noVer]"),
            or(&self.group, "[noGrp]")
        )
    }
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

/// Type, name and namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Id {
    pub(crate) gvk: Gvk,
    pub(crate) name: String,
    pub(crate) namespace: String,
    /// Whether the type is known to have no namespaces.
    pub(crate) is_cluster_scoped: bool,
}

/// What two equal ids have in common.
pub(crate) type IdKey = (Gvk, String, String);

impl Id {
    /// The id of an object of a type that has no namespaces if `types` says so.
    pub(crate) fn current(
        types: &Types,
        api_version: &str,
        kind: &str,
        name: &str,
        namespace: &str,
    ) -> Self {
        Self {
            gvk: Gvk::new(api_version, kind),
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            is_cluster_scoped: types.is_cluster_scoped(api_version, kind),
        }
    }

    /// The namespace that ids are compared by.
    pub(crate) fn effective_namespace(&self) -> &str {
        if self.is_cluster_scoped {
            NOT_A_NAMESPACE
        } else {
            or(&self.namespace, DEFAULT_NAMESPACE)
        }
    }

    pub(crate) fn key(&self) -> IdKey {
        (
            self.gvk.clone(),
            self.name.clone(),
            self.effective_namespace().to_owned(),
        )
    }

    /// Whether the ids are equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.gvk == other.gvk
            && self.effective_namespace() == other.effective_namespace()
    }

    /// Whether a selector of exact texts takes this id; empty ones are any.
    pub(crate) fn is_selected_by(&self, selector: &Self) -> bool {
        (selector.name.is_empty() || selector.name == self.name)
            && (selector.namespace.is_empty()
                || selector.effective_namespace() == self.effective_namespace())
            && self.gvk.is_selected_by(&selector.gvk)
    }

    /// The text that resources of one type are sorted by.
    pub(crate) fn sort_text(&self) -> String {
        format!(
            "{}|{}|{}",
            self.gvk,
            or(&self.namespace, "~X"),
            or(&self.name, "~N")
        )
    }

    /// What `%#v` of Go prints.
    pub(crate) fn go_syntax(&self) -> String {
        let Gvk {
            group,
            version,
            kind,
        } = &self.gvk;
        format!(
            "resid.ResId{{Gvk:resid.Gvk{{Group:{group:?}, Version:{version:?}, Kind:{kind:?}, isClusterScoped:{}}}, Name:{:?}, \
             Namespace:{:?}}}",
            self.is_cluster_scoped, self.name, self.namespace
        )
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}.{}",
            self.gvk,
            or(&self.name, "[noName]"),
            or(&self.namespace, "[noNs]")
        )
    }
}
