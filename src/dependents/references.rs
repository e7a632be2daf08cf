//! References from one object of a component to another.

use std::fmt;
use std::str::FromStr;
use whipstaff_generator::ObjectId;

/// An object of the same component: `[group/]Kind/[namespace/]name`. Without a namespace it is in that of the object that refers to
/// it, or in none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    group: Option<String>,
    kind: String,
    namespace: Option<String>,
    name: String,
}

/// A text that is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not of the form `[group/]Kind/[namespace/]name`")]
pub(crate) struct ReferenceError {
    text: String,
}

impl Reference {
    /// Whether an object is meant, when an object of a namespace refers to it.
    pub(crate) fn matches(&self, id: &ObjectId, namespace: &str) -> bool {
        let is_group = |group: &String| *group == id.group;
        let in_namespace = match &self.namespace {
            Some(namespace) => *namespace == id.namespace,
            None => id.namespace == namespace || id.namespace.is_empty(),
        };
        self.kind == id.kind
            && self.name == id.name
            && in_namespace
            && self.group.as_ref().is_none_or(is_group)
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let parts: Vec<_> = text.split('/').collect();
        let is_kind = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
        let (group, kind, namespace, name) = match parts[..] {
            [kind, name] => (None, kind, None, name),
            // Kinds begin with a capital letter, and groups do not.
            [kind, namespace, name] if is_kind(kind) => (None, kind, Some(namespace), name),
            [group, kind, name] => (Some(group), kind, None, name),
            [group, kind, namespace, name] => (Some(group), kind, Some(namespace), name),
            _ => (None, "", None, ""),
        };
        let given = [group, Some(kind), namespace, Some(name)];
        if !is_kind(kind) || given.into_iter().flatten().any(str::is_empty) {
            let text = text.to_owned();
            return Err(ReferenceError { text });
        }
        Ok(Self {
            group: group.map(str::to_owned),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(group) = &self.group {
            write!(f, "{group}/")?;
        }
        write!(f, "{}/", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// An object's identity as it is recorded: `group/Kind/namespace/name`.
pub(crate) fn recorded(id: &ObjectId) -> String {
    format!("{}/{}/{}/{}", id.group, id.kind, id.namespace, id.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
        ObjectId {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn group_and_namespace_may_be_left_out() {
        let deployment = id("apps", "Deployment", "shop", "web");
        for text in [
            "Deployment/web",
            "apps/Deployment/web",
            "Deployment/shop/web",
            "apps/Deployment/shop/web",
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.to_string(), text);
            assert!(reference.matches(&deployment, "shop"), "{text}");
        }
        let short: Reference = "Deployment/web".parse().unwrap();
        assert!(!short.matches(&deployment, "other"));
        assert!(short.matches(&id("", "Deployment", "", "web"), "other"));
    }

    #[test]
    fn malformed_references_are_refused() {
        for text in [
            "",
            "web",
            "deployment/web",
            "Deployment/",
            "a/B/c/d/e",
            "//",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }
}
