//! Visiting the fields that a specification leads to.
//!
//! Mirrors `filters/fieldspec/fieldspec.go` of kustomize api v0.21.1 and `utils/pathsplitter.go` of kyaml v0.21.1.

use crate::configuration::{FieldSpec, FieldSpecs};
use crate::error::{Result, fail, over_limit};
use crate::limits::MAX_PATH_PARTS;
use crate::node::{Create, Kind, NodeId, Tag};
use crate::resource::{Gvk, Resource, Store};

/// What a field that is missing becomes, if its specification has it made.
pub(super) type Created = Option<(Kind, Tag)>;

/// Visits the fields of an object that a specification leads to.
///
/// # Errors
/// Those of `visit`, and when there is a scalar on the way.
pub(super) fn visit_field(
    store: &mut Store,
    resource: &Resource,
    spec: &FieldSpec,
    created: &Created,
    visit: &mut dyn FnMut(&mut Store, NodeId) -> Result<()>,
) -> Result<()> {
    let Some(root) = resource.node() else {
        return Ok(());
    };
    let gvk = Gvk::new(resource.api_version(store), resource.kind(store));
    if !spec.selects(&gvk) {
        return Ok(());
    }
    let path = split_path(&spec.path, '/');
    if path.len() > MAX_PATH_PARTS {
        return Err(over_limit("parts in the path of a field", MAX_PATH_PARTS));
    }
    let mut visitor = Visitor {
        store,
        created: created.as_ref().filter(|_| spec.create),
        visit,
    };
    visitor.node(root, &path).map_err(|error| {
        let id = resource.current_id(store);
        error.within(format!("considering field '{}' of object {id}", spec.path))
    })
}

/// Visits the fields of all specifications.
///
/// # Errors
/// As [`visit_field`].
pub(super) fn visit_fields(
    store: &mut Store,
    resource: &Resource,
    specs: &FieldSpecs,
    created: &Created,
    visit: &mut dyn FnMut(&mut Store, NodeId) -> Result<()>,
) -> Result<()> {
    for spec in &*specs.0 {
        visit_field(store, resource, spec, created, visit)?;
    }
    Ok(())
}

/// Splits a path at a delimiter that has no backslash in front; one at the start is passed over.
pub(crate) fn split_path(path: &str, delimiter: char) -> Vec<String> {
    let mut pieces: Vec<&str> = path.split(delimiter).collect();
    if pieces.len() > 1 && pieces.first() == Some(&"") {
        pieces.remove(0);
    }
    let mut parts: Vec<String> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match parts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

/// Splits a path at dots outside of brackets. Brackets without `=` hold a name with dots.
pub(crate) fn split_dotted(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut pieces = split_path(path, '.').into_iter();
    while let Some(piece) = pieces.next() {
        if !piece.starts_with('[') || piece.ends_with(']') {
            parts.push(piece);
            continue;
        }
        let mut bracketed = piece;
        for piece in pieces.by_ref() {
            bracketed.push('.');
            bracketed.push_str(&piece);
            if piece.ends_with(']') {
                break;
            }
        }
        if bracketed.contains('=') {
            parts.push(bracketed);
        } else {
            parts.push(bracketed.trim_matches(['[', ']']).to_owned());
        }
    }
    parts
}

struct Visitor<'a> {
    store: &'a mut Store,
    created: Option<&'a (Kind, Tag)>,
    visit: &'a mut dyn FnMut(&mut Store, NodeId) -> Result<()>,
}

impl Visitor<'_> {
    fn node(&mut self, node: NodeId, path: &[String]) -> Result<()> {
        let Some((part, rest)) = path.split_first() else {
            return (self.visit)(self.store, node);
        };
        let found = self.store.arena.get(node);
        if found.is_null() {
            return Ok(());
        }
        match found.kind {
            Kind::Sequence => {
                for item in found.children.clone() {
                    self.node(item, path).map_err(|error| {
                        error.within(format!("visit traversal on path: [{}]", path.join(" ")))
                    })?;
                }
                Ok(())
            }
            Kind::Mapping => self.field(node, part, rest),
            _ => Err(fail("expected sequence or mapping node")),
        }
    }

    fn field(&mut self, node: NodeId, part: &str, rest: &[String]) -> Result<()> {
        let (name, is_list) = part
            .strip_suffix("[]")
            .map_or((part, false), |name| (name, true));
        if name.is_empty() {
            return Err(fail("cannot set or create an empty field name"));
        }
        let wanted = match self.created {
            _ if is_list => Some((Kind::Sequence, Tag::None)),
            Some((kind, tag)) if rest.is_empty() => Some((*kind, tag.clone())),
            Some(_) => Some((Kind::Mapping, Tag::Map)),
            None => None,
        };
        let create = match (&wanted, self.created) {
            (Some((kind, _)), Some(_)) if !is_list => Create::As(*kind),
            _ => Create::Never,
        };
        let found = self
            .store
            .arena
            .lookup(node, &[name], create)
            .map_err(|error| error.within(format!("fieldName: {name}")))?;
        let Some(found) = found else { return Ok(()) };
        if let Some((kind, tag)) = wanted {
            self.store.arena.retype_null(found, kind, tag);
        }
        self.node(found, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_outside_of_brackets_and_escapes() {
        assert_eq!(
            split_path("/metadata/annotations/a\\/b", '/'),
            ["metadata", "annotations", "a/b"]
        );
        assert_eq!(
            split_dotted("a.[b.c/d].[e=f.g].h"),
            ["a", "b.c/d", "[e=f.g]", "h"]
        );
        assert_eq!(
            split_dotted("data.config\\.yaml.x"),
            ["data", "config.yaml", "x"]
        );
    }
}
