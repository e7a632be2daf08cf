//! Images.
//!
//! Mirrors `filters/imagetag` and `internal/image` of kustomize api v0.21.1.

use super::field::visit_fields;
use crate::configuration::FieldSpecs;
use crate::error::Result;
use crate::expression::{compile, is_plain};
use crate::kustomization::Image;
use crate::node::{Kind, Node, NodeId};
use crate::resource::{Resource, Store};

/// Lists whose items have images, wherever they are.
const LISTS: [&str; 2] = ["containers", "initContainers"];

/// Changes name, tag or digest of the images that match.
///
/// Each image is changed twice, once in any list of containers and once where the specifications lead, which shows when a suffix is
/// added to its tag.
///
/// # Errors
/// When an image is no scalar, or the name is no expression.
pub(crate) fn set_image(
    store: &mut Store,
    resources: &[Resource],
    image: &Image,
    specs: &FieldSpecs,
) -> Result<()> {
    let is_changed =
        |store: &Store, resource: &Resource| resource.kind(store) != "CustomResourceDefinition";
    for resource in resources {
        if let Some(root) = resource.node().filter(|_| is_changed(store, resource)) {
            visit_lists(store, root, image)?;
        }
    }
    for resource in resources {
        if is_changed(store, resource) {
            visit_fields(store, resource, specs, &None, &mut |store, node| {
                set(store, node, image)
            })?;
        }
    }
    Ok(())
}

fn visit_lists(store: &mut Store, node: NodeId, image: &Image) -> Result<()> {
    match store.arena.get(node).kind {
        Kind::Mapping => {
            let pairs: Vec<_> = store.arena.pairs(node).collect();
            for (key, value) in pairs {
                visit_lists(store, value, image)?;
                let is_list = LISTS.contains(&store.arena.get(key).text.as_str());
                if is_list && store.arena.get(value).kind == Kind::Sequence {
                    set_in_items(store, value, image)?;
                }
            }
        }
        Kind::Sequence => {
            for item in store.arena.get(node).children.clone() {
                visit_lists(store, item, image)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn set_in_items(store: &mut Store, list: NodeId, image: &Image) -> Result<()> {
    for item in store.arena.get(list).children.clone() {
        if let Some(field) = store.arena.get_field(item, "image")? {
            set(store, field, image)?;
        }
    }
    Ok(())
}

fn set(store: &mut Store, node: NodeId, image: &Image) -> Result<()> {
    store.arena.require(node, Kind::Scalar)?;
    let text = &store.arena.get(node).text;
    if !matches(text, &image.name)? {
        return Ok(());
    }
    let new = changed(text, image);
    let new = store.arena.add(Node::scalar(new));
    store.arena.set_scalar(node, new)
}

/// Whether an image has a name, which is an expression.
fn matches(image: &str, name: &str) -> Result<bool> {
    // Names are hardly ever more than names with dots, and compiling takes longer than all the rest.
    if is_plain(&name.replace('.', "")) {
        return Ok(after_name(image, name).is_some_and(is_version));
    }
    let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
    Ok(compile(&pattern)?.is_match(image.as_bytes()))
}

/// What follows a name at the beginning of an image. A dot stands for any character.
fn after_name<'i>(image: &'i str, name: &str) -> Option<&'i str> {
    let mut rest = image.chars();
    for wanted in name.chars() {
        let found = rest.next()?;
        if found != wanted && (wanted != '.' || found == '\n') {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Whether a text is a tag, a digest, both or nothing.
fn is_version(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "_.{}-".contains(c);
    let rest = text.strip_prefix(':');
    let rest = rest.map_or(text, |tag| tag.trim_start_matches(is_inner));
    match rest.strip_prefix("@sha256:") {
        Some(digest) => digest.chars().all(is_inner),
        None => rest.is_empty(),
    }
}

fn changed(old: &str, image: &Image) -> String {
    let (name, mut tag, mut digest) = split(old);
    let mut new = if image.new_name.is_empty() {
        name.to_owned()
    } else {
        image.new_name.clone()
    };
    let mut suffix = "";
    match (image.new_tag.as_str(), image.digest.as_str()) {
        ("", "") if !image.tag_suffix.is_empty() => {
            suffix = &image.tag_suffix;
            digest = "";
        }
        ("", "") => {}
        (new_tag, new_digest) => {
            tag = new_tag;
            digest = new_digest;
        }
    }
    if !tag.is_empty() || !suffix.is_empty() {
        new = format!("{new}:{tag}{suffix}");
    }
    if !digest.is_empty() {
        new = format!("{new}@{digest}");
    }
    new
}

/// Name, tag and digest of an image.
fn split(image: &str) -> (&str, &str, &str) {
    let start = image.find('/').unwrap_or(0);
    let rest = image.get(start..).unwrap_or_default();
    let colon = rest.find(':').map(|at| start + at);
    let at_sign = rest.find('@').map(|at| start + at);
    let cut = |from: usize, to: usize| image.get(from..to).unwrap_or_default();
    let end = image.len();
    match (colon, at_sign) {
        (None, None) => (image, "", ""),
        (Some(colon), Some(at)) if colon < at => {
            (cut(0, colon), cut(colon + 1, at), cut(at + 1, end))
        }
        (_, Some(at)) => (cut(0, at), "", cut(at + 1, end)),
        (Some(colon), None) => (cut(0, colon), cut(colon + 1, end), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_split_behind_the_registry() {
        let cases = [
            ("nginx", ("nginx", "", "")),
            ("nginx:1.2", ("nginx", "1.2", "")),
            ("host:80/a/b:1@sha256:ff", ("host:80/a/b", "1", "sha256:ff")),
            ("nginx@sha256:ff", ("nginx", "", "sha256:ff")),
        ];
        for (image, want) in cases {
            assert_eq!(split(image), want);
        }
    }

    #[test]
    fn names_are_expressions() {
        assert_eq!(matches("my/nginx:1", ".*nginx"), Ok(true));
        assert_eq!(matches("nginx-extra:1", "nginx"), Ok(false));
        for (image, name, fits) in [
            ("example.org/web:1.2-a_{}", "example.org/web", true),
            ("example.org/web@sha256:ff", "example.org/web", true),
            ("example.org/web:1@sha256:ff", "example.org/web", true),
            ("exampleXorg/web", "example.org/web", true),
            ("example.org/web:1:2", "example.org/web", false),
            ("example.org/web@sha512:ff", "example.org/web", false),
            ("example.org/web/more", "example.org/web", false),
            ("example.org/we", "example.org/web", false),
            ("example.org/web\n", "example.org/web", false),
        ] {
            let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
            let whole = compile(&pattern).unwrap().is_match(image.as_bytes());
            assert_eq!((matches(image, name), whole), (Ok(fits), fits), "{image}");
        }
        assert!(matches("x", "[").is_err());
    }
}
