//! Reading text into nodes.
//!
//! Mirrors `kio/byteio_reader.go`, `yaml/rnode.go` (`DeAnchor`) of kyaml v0.21.1 and the parser of go.yaml.in/yaml v3.0.3. Aliases
//! and merge keys are expanded right away.

use super::{Arena, Kind, Node, NodeId, Style, Tag, resolve};
use crate::error::{BuildError, BuildErrorKind, Result, fail, over_limit};
use crate::limits::MAX_NODES;
use std::borrow::Cow;
use whipstaff_generator::yaml::syntax::{
    ScalarStyle, SyntaxId, SyntaxKind, SyntaxTree, parse_tree,
};

/// Reads all documents of a text; empty ones are left out.
///
/// # Errors
/// When a document is no YAML, or something but a comment stands behind `---`.
pub(crate) fn parse_documents(arena: &mut Arena, text: &str) -> Result<Vec<NodeId>> {
    let text: Cow<'_, str> = if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let pieces = split_documents(&text)?;
    let mut documents = Vec::new();
    for piece in &pieces {
        let tree = parse_tree(piece).map_err(|error| {
            BuildError::new(
                BuildErrorKind::Malformed,
                format!("MalformedYAMLError: {}", error.message_v3()),
            )
        })?;
        let Some(tree) = tree else { continue };
        let root = expand(arena, &tree)?;
        if !arena.get(root).is_null() {
            documents.push(root);
        }
    }
    if let ([_], [only]) = (pieces.as_slice(), documents.as_slice())
        && let Some(items) = unwrap_list(arena, *only)
    {
        return Ok(items);
    }
    Ok(documents)
}

/// Reads the first document of a text; none if there is none.
///
/// # Errors
/// When it is no YAML.
pub(crate) fn parse_document(arena: &mut Arena, text: &str) -> Result<Option<NodeId>> {
    let tree = parse_tree(text)
        .map_err(|error| BuildError::new(BuildErrorKind::Malformed, error.message_v3()))?;
    tree.map(|tree| expand(arena, &tree)).transpose()
}

/// Cuts a text at the lines that start with `---`, but for the first line.
fn split_documents(text: &str) -> Result<Vec<String>> {
    let mut pieces = Vec::new();
    if text.is_empty() {
        return Ok(pieces);
    }
    let mut start = 0;
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find("\n---")) {
        let at = from + found;
        let line = text.get(at + 1..).unwrap_or_default();
        let Some(length) = line.find('\n') else { break };
        let behind = line.get(3..length).unwrap_or_default().trim();
        if !behind.is_empty() && !behind.starts_with('#') {
            let separator = line.get(..length).unwrap_or_default().trim();
            return Err(fail(format!("invalid document separator: {separator}")));
        }
        pieces.push(format!("{}\n", text.get(start..at).unwrap_or_default()));
        start = at + 1 + length + 1;
        // The line break behind a separator is not looked at again.
        from = start;
    }
    pieces.push(text.get(start..).unwrap_or_default().to_owned());
    Ok(pieces)
}

/// The items of the one document that is a list.
fn unwrap_list(arena: &Arena, root: NodeId) -> Option<Vec<NodeId>> {
    let kind = arena.field_text(root, "kind");
    if !matches!(kind, "List" | "ResourceList") {
        return None;
    }
    let items = arena.field(root, "items");
    if items.is_none() && arena.field(root, "functionConfig").is_none() {
        return None;
    }
    Some(items.map_or_else(Vec::new, |items| arena.get(items).children.clone()))
}

/// Puts a document into the arena.
fn expand(arena: &mut Arena, tree: &SyntaxTree) -> Result<NodeId> {
    Expander {
        arena,
        tree,
        open: Vec::new(),
    }
    .node(0)
}

struct Expander<'a> {
    arena: &'a mut Arena,
    tree: &'a SyntaxTree,
    /// Targets of the aliases that are being expanded.
    open: Vec<SyntaxId>,
}

/// A key and a value of a mapping.
type Pair = (SyntaxId, SyntaxId);

impl Expander<'_> {
    fn node(&mut self, id: SyntaxId) -> Result<NodeId> {
        if self.arena.len() >= MAX_NODES {
            return Err(over_limit("nodes", MAX_NODES));
        }
        let tree = self.tree;
        let Some(source) = tree.nodes.get(id) else {
            return Ok(self.arena.add(Node::default()));
        };
        let tag = Tag::of(&source.tag);
        let style = Style {
            scalar: source.style,
            flow: source.flow,
            tagged: tag != Tag::None,
        };
        let (kind, default, text, children) = match &source.kind {
            SyntaxKind::Scalar(text) => {
                let default = if source.style != ScalarStyle::Plain {
                    Tag::Str
                } else if text == "<<" {
                    Tag::Merge
                } else {
                    resolve(text).tag()
                };
                (Kind::Scalar, default, text.clone(), Vec::new())
            }
            SyntaxKind::Alias(target) => return self.alias(*target),
            SyntaxKind::Sequence(children) => {
                let children: Result<Vec<_>> =
                    children.iter().map(|child| self.node(*child)).collect();
                (Kind::Sequence, Tag::Seq, String::new(), children?)
            }
            SyntaxKind::Mapping(_) => {
                let mut children = Vec::new();
                for (key, value) in self.pairs(id)? {
                    children.push(self.node(key)?);
                    children.push(self.node(value)?);
                }
                (Kind::Mapping, Tag::Map, String::new(), children)
            }
        };
        Ok(self.arena.add(Node {
            kind,
            tag: if style.tagged { tag } else { default },
            style,
            text,
            children,
        }))
    }

    fn alias(&mut self, target: SyntaxId) -> Result<NodeId> {
        if self.open.contains(&target) {
            return Err(fail("anchor contains itself"));
        }
        self.open.push(target);
        let node = self.node(target)?;
        self.open.pop();
        Ok(node)
    }

    fn text(&self, id: SyntaxId) -> &str {
        match self.tree.nodes.get(id).map(|node| &node.kind) {
            Some(SyntaxKind::Scalar(text)) => text,
            _ => "",
        }
    }

    fn is_merge(&self, id: SyntaxId) -> bool {
        self.tree.nodes.get(id).is_some_and(|node| {
            let plain = matches!(&node.kind, SyntaxKind::Scalar(text) if text == "<<")
                && node.style == ScalarStyle::Plain;
            Tag::of(&node.tag) == Tag::Merge || (plain && node.tag.is_empty())
        })
    }

    /// The pairs of a mapping, merged ones behind its own.
    fn pairs(&mut self, id: SyntaxId) -> Result<Vec<Pair>> {
        let tree = self.tree;
        let Some(SyntaxKind::Mapping(children)) = tree.nodes.get(id).map(|node| &node.kind) else {
            return Ok(Vec::new());
        };
        let mut own: Vec<Pair> = children
            .chunks_exact(2)
            .filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
            .collect();
        let Some(first) = own.iter().position(|(key, _)| self.text(*key) == "<<") else {
            return Ok(own);
        };
        let mut merge_keys = own.iter().filter(|(key, _)| self.is_merge(*key));
        let merged = merge_keys.next().map(|(_, value)| *value);
        if merge_keys.next().is_some() {
            return Err(fail("duplicate merge key"));
        }
        let sources = match merged {
            Some(value) => self.merge_sources(value)?,
            None => Vec::new(),
        };
        own.remove(first);
        for source in sources {
            self.merge(&mut own, source)?;
        }
        Ok(own)
    }

    /// Adds the pairs of a mapping whose keys are not there yet.
    fn merge(&mut self, own: &mut Vec<Pair>, source: SyntaxId) -> Result<()> {
        if self.open.contains(&source) {
            return Err(fail("anchor contains itself"));
        }
        self.open.push(source);
        let pairs = self.pairs(source)?;
        self.open.pop();
        let known: std::collections::HashSet<String> = own
            .iter()
            .map(|(key, _)| self.text(*key).to_owned())
            .collect();
        own.extend(
            pairs
                .into_iter()
                .filter(|(key, _)| !known.contains(self.text(*key))),
        );
        Ok(())
    }

    /// The mappings that a merge key names; keys of the first ones win.
    fn merge_sources(&self, id: SyntaxId) -> Result<Vec<SyntaxId>> {
        let kind = |id: SyntaxId| self.tree.nodes.get(id).map(|node| &node.kind);
        match kind(id) {
            Some(SyntaxKind::Mapping(_)) => Ok(vec![id]),
            Some(SyntaxKind::Alias(target)) => match kind(*target) {
                Some(SyntaxKind::Mapping(_)) => Ok(vec![*target]),
                _ => Err(fail(
                    "invalid map merge: received alias for a non-map value",
                )),
            },
            Some(SyntaxKind::Sequence(items)) => {
                let mut sources = Vec::new();
                for item in items {
                    if let Some(SyntaxKind::Sequence(_)) = kind(*item) {
                        return Err(fail("invalid map merge: received a nested sequence"));
                    }
                    sources.extend(self.merge_sources(*item)?);
                }
                Ok(sources)
            }
            _ => Err(fail(
                "map merge requires map or sequence of maps as the value",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_with_content_are_refused() {
        assert_eq!(
            split_documents("a: 1\n--- # x\nb: 2\n").map(|pieces| pieces.len()),
            Ok(2)
        );
        assert!(split_documents("a: 1\n--- x\nb: 2\n").is_err());
    }

    #[test]
    fn an_anchor_inside_itself_is_refused() {
        let mut arena = Arena::default();
        assert!(parse_document(&mut arena, "a: &x [*x]\n").is_err());
    }
}
