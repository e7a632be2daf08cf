//! YAML, with the meaning that go-yaml v3 gives to texts: `yes` is one, `0644` is 420. Comments are not kept.
//!
//! **Source**: `stores/yaml/store.go` of SOPS 3.13.3.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};
use whipstaff_generator::yaml;
use whipstaff_generator::yaml::syntax::{
    ScalarStyle, SyntaxId, SyntaxKind, SyntaxTree, parse_trees,
};

use super::Format;
use super::scalar;
use crate::error::SopsError;
use crate::metadata::METADATA_KEY;
use crate::tree::{Documents, Extent, Node, utf8};

/// The place of a document's root.
const ROOT: SyntaxId = 0;

/// Reads a stream. Metadata are in each of its documents, and those of the first count.
pub(super) fn read(text: &str) -> Result<(Documents, Option<Node>), SopsError> {
    let trees = parse_trees(text).map_err(|error| Format::Yaml.syntax(error.line()))?;
    let mut extent = Extent::default();
    let mut metadata = None;
    let mut documents = Vec::with_capacity(trees.len());
    for (at, tree) in trees.iter().enumerate() {
        let mut reader = Reader {
            tree,
            extent: &mut extent,
        };
        let mut entries = match reader.node(ROOT)? {
            Node::Map(entries) => entries,
            Node::Null => Vec::new(),
            _ => return Err(Format::Yaml.syntax(line(tree, ROOT))),
        };
        let place = entries.iter().position(|(key, _)| key == METADATA_KEY);
        if let Some(place) = place {
            let (_, value) = entries.remove(place);
            if at == 0 {
                metadata = Some(value);
            }
        }
        documents.push(Node::Map(entries));
    }
    Ok((documents, metadata))
}

/// Writes a stream.
pub(super) fn write(documents: &Documents) -> Result<String, SopsError> {
    let mut text = String::new();
    for (at, document) in documents.iter().enumerate() {
        if at > 0 {
            text.push_str("---\n");
        }
        // SOPS makes `{}` of a document that was empty. As one of several, it would be an object without a kind.
        if documents.len() == 1 || !document.is_empty_map() {
            text.push_str(&yaml::to_string_ordered(&value(document, "")?));
        }
    }
    Ok(text)
}

struct Reader<'t, 'e> {
    tree: &'t SyntaxTree,
    extent: &'e mut Extent,
}

impl Reader<'_, '_> {
    fn node(&mut self, id: SyntaxId) -> Result<Node, SopsError> {
        self.extent.count()?;
        let tree = self.tree;
        let Some(written) = tree.nodes.get(id) else {
            return Ok(Node::Null);
        };
        match &written.kind {
            SyntaxKind::Scalar(text) => {
                let plain = written.style == ScalarStyle::Plain;
                scalar::node(text, &written.tag, plain).ok_or_else(|| self.problem(id))
            }
            SyntaxKind::Alias(target) => {
                // An alias can be inside of what it stands for.
                self.extent.enter()?;
                let node = self.node(*target);
                self.extent.leave();
                node
            }
            SyntaxKind::Sequence(items) => {
                self.extent.enter()?;
                let items: Result<_, _> = items.iter().map(|item| self.node(*item)).collect();
                self.extent.leave();
                Ok(Node::List(items?))
            }
            SyntaxKind::Mapping(children) => {
                self.extent.enter()?;
                let entries = self.entries(children);
                self.extent.leave();
                Ok(Node::Map(entries?))
            }
        }
    }

    fn entries(&mut self, children: &[SyntaxId]) -> Result<Vec<(String, Node)>, SopsError> {
        let mut seen = HashSet::with_capacity(children.len() / 2);
        let mut entries = Vec::with_capacity(children.len() / 2);
        for pair in children.chunks_exact(2) {
            let &[key, value] = pair else { continue };
            // SOPS has no other keys than strings.
            let Node::Text(name) = self.node(key)? else {
                return Err(self.problem(key));
            };
            let name = String::from_utf8(name).map_err(|_| self.problem(key))?;
            if !seen.insert(name.clone()) {
                return Err(self.problem(key));
            }
            entries.push((name, self.node(value)?));
        }
        Ok(entries)
    }

    fn problem(&self, id: SyntaxId) -> SopsError {
        Format::Yaml.syntax(line(self.tree, id))
    }
}

fn line(tree: &SyntaxTree, id: SyntaxId) -> Option<usize> {
    tree.nodes.get(id).map(|node| node.line)
}

fn value(node: &Node, key: &str) -> Result<Value, SopsError> {
    Ok(match node {
        Node::Null | Node::Comment(_) => Value::Null,
        Node::Bool(value) => Value::Bool(*value),
        Node::Int(number) => Value::from(*number),
        Node::Float(number) => Number::from_f64(*number)
            .map(Value::Number)
            .ok_or_else(|| Format::Yaml.output("a number is not finite"))?,
        Node::Text(bytes) => Value::from(utf8(bytes, key)?),
        Node::Time(text) => Value::from(text.as_str()),
        Node::List(items) => {
            let items: Result<_, _> = items.iter().map(|item| value(item, key)).collect();
            Value::Array(items?)
        }
        Node::Map(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, entry) in entries {
                if !matches!(entry, Node::Comment(_)) {
                    map.insert(key.clone(), value(entry, key)?);
                }
            }
            Value::Object(map)
        }
    })
}
