//! Putting one value into fields.
//!
//! Mirrors `filters/valueadd` of kustomize api v0.21.1 and `InsertPathPart` in `filesys/util.go` of kyaml v0.21.1.

use super::namespace::set_one;
use super::select::Matcher;
use crate::error::{Result, fail};
use crate::kustomization::Selector;
use crate::node::{Create, Kind, Node};
use crate::resource::{Resource, Store};
use serde::Deserialize;

/// Where a value goes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ValueTarget {
    pub(crate) selector: Option<Selector>,
    pub(crate) field_path: String,
    pub(crate) file_path_position: i64,
}

/// Puts a value into the fields of the objects that the targets choose.
///
/// # Errors
/// When a field is no scalar.
pub(crate) fn add_value(
    store: &mut Store,
    resources: &[Resource],
    value: &str,
    targets: &[ValueTarget],
) -> Result<()> {
    for target in targets {
        let places = match &target.selector {
            None => (0..resources.len()).collect(),
            Some(selector) => {
                // An expression that cannot be read is an error even if there is nothing to choose from.
                Matcher::new(selector)?;
                super::select(store, resources, selector)?
            }
        };
        for resource in places.into_iter().filter_map(|at| resources.get(at)) {
            if target.field_path == "metadata/namespace" {
                set_one(store, resource, value)?;
            } else {
                set_field(store, resource, value, target)?;
            }
        }
    }
    Ok(())
}

fn set_field(
    store: &mut Store,
    resource: &Resource,
    value: &str,
    target: &ValueTarget,
) -> Result<()> {
    let mut parts: Vec<String> = Vec::new();
    for piece in target.field_path.split('/') {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('/');
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    let path: Vec<&str> = parts.iter().map(String::as_str).collect();
    let root = resource.root(store);
    let found = store.arena.lookup(root, &path, Create::As(Kind::Scalar))?;
    let Some(node) = found else {
        return Err(fail(format!("no field at '{}'", target.field_path)));
    };
    store.arena.require(node, Kind::Scalar)?;
    let new = match usize::try_from(target.file_path_position) {
        Ok(position @ 1..) => insert_part(&store.arena.get(node).text, position - 1, value),
        _ => value.to_owned(),
    };
    let new = store.arena.add(Node::scalar(new));
    store.arena.set_scalar(node, new)
}

/// Puts a part into a path; absolute paths stay absolute.
fn insert_part(path: &str, position: usize, part: &str) -> String {
    if part.is_empty() {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let cleaned = crate::files::clean(path);
    let mut parts: Vec<&str> = cleaned
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    parts.insert(position.min(parts.len()), part);
    let joined = parts.join("/");
    if absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::insert_part;

    #[test]
    fn parts_are_put_at_their_places() {
        let cases = [
            ("", 0, "PEACH"),
            ("/", 0, "/PEACH"),
            ("pie", 0, "PEACH/pie"),
            ("/pie", 0, "/PEACH/pie"),
            ("/raw", 9, "/raw/PEACH"),
            ("a/nice/warm/pie", 3, "a/nice/warm/PEACH/pie"),
        ];
        for (path, position, want) in cases {
            assert_eq!(insert_part(path, position, "PEACH"), want);
        }
    }
}
