//! Makes values of a document tree.
//!
//! Mirrors the second half of `decode.go` of go.yaml.in/yaml v2.4.3, and the conversion to JSON of
//! sigs.k8s.io/yaml v1.6.0.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::compose::{MAX_DEPTH, NodeId, NodeKind, Tree};
use super::error::Error;
use super::go_number::{format_key, through_json};
use super::go_syntax::{go_syntax, number, quote};
use super::resolve::{Resolved, Tag, decode_base64, replace_invalid_utf8, resolve};
use super::unrepresentable;

/// How many nodes may be decoded before the share that comes from aliases has to shrink.
const ALIAS_RATIO_RANGE_LOW: usize = 400_000;

/// How many nodes may be decoded before that share is at its smallest.
const ALIAS_RATIO_RANGE_HIGH: usize = 4_000_000;

/// The share of nodes that may come from aliases in small documents.
const ALIAS_RATIO_MAX: f64 = 0.99;

/// The share of nodes that may come from aliases in large documents.
const ALIAS_RATIO_MIN: f64 = 0.10;

/// How many nodes may be decoded, and how many of them come from aliases, before the share counts
/// at all.
const ALIAS_RATIO_EXEMPT: (usize, usize) = (1_000, 100);

/// The most bytes of text aliases may repeat. (Our limit: in Go the copies share their bytes.)
const MAX_ALIASED_BYTES: usize = 64 << 20;

/// Decodes a document. A `strict` one may not have a key twice.
pub(super) fn decode(tree: &Tree<'_>, strict: bool) -> Result<Value, Error> {
    // Go counts the document as a node of its own.
    let mut decoder = Decoder {
        tree,
        strict,
        decoded: 1,
        aliased: 0,
        aliased_bytes: 0,
        alias_depth: 0,
        depth: 0,
        open_aliases: BTreeSet::new(),
        duplicates: Vec::new(),
        has_unrepresentable: false,
    };
    let value = if tree.nodes.is_empty() {
        Value::Null
    } else {
        decoder.value(0)?
    };
    if let Some((line, _)) = decoder.duplicates.first() {
        let problems: Vec<_> = decoder
            .duplicates
            .iter()
            .map(|(_, text)| text.as_str())
            .collect();
        let problem = format!("unmarshal errors:\n  {}", problems.join("\n  "));
        return Err(Error::plain(problem).at_line(*line));
    }
    if decoder.has_unrepresentable {
        unrepresentable::check(&value)?;
    }
    Ok(value)
}

/// What a scalar stands for, with its text: that of `!!binary` is decoded.
pub(super) fn scalar_value<'t>(
    tag: &str,
    text: &'t str,
    implicit: bool,
) -> Result<(Resolved, Cow<'t, str>), Error> {
    if tag.is_empty() && !implicit {
        return Ok((Resolved::Text, Cow::Borrowed(text)));
    }
    let tag = Tag::of(tag);
    let resolved = resolve(tag, text)?;
    if tag != Tag::Binary {
        return Ok((resolved, Cow::Borrowed(text)));
    }
    let Some(bytes) = decode_base64(text) else {
        return Err(Error::plain("!!binary value contains invalid base64 data"));
    };
    let text =
        String::from_utf8(bytes).unwrap_or_else(|error| replace_invalid_utf8(error.as_bytes()));
    Ok((Resolved::Text, Cow::Owned(text)))
}

/// A scalar as JSON; nothing for a number that JSON cannot hold.
pub(super) fn scalar_to_json<'t>(
    resolved: Resolved,
    text: impl Into<Cow<'t, str>>,
) -> Option<Value> {
    Some(match resolved {
        Resolved::Null => Value::Null,
        Resolved::Bool(value) => Value::Bool(value),
        Resolved::Int(value) => value.into(),
        Resolved::Uint(value) => value.into(),
        Resolved::Text | Resolved::Timestamp => Value::String(text.into().into_owned()),
        Resolved::Float(value) => through_json(value)?,
    })
}

/// Whether the key asks for another mapping to be put into this one.
pub(super) fn is_merge(tree: &Tree<'_>, id: NodeId) -> bool {
    let Some(node) = tree.nodes.get(id) else {
        return false;
    };
    let NodeKind::Scalar { value, implicit } = &node.kind else {
        return false;
    };
    value == "<<" && (*implicit || Tag::of(&node.tag) == Tag::Merge)
}

/// A mapping that is being filled, by its own pairs and by merged ones.
#[derive(Default)]
struct Entries {
    map: Map<String, Value>,
    /// The keys so far, as Go tells them apart: `1` and `"1"` are two. Kept in strict decoding
    /// only.
    seen: HashSet<String>,
}

struct Decoder<'t, 'a> {
    tree: &'t Tree<'a>,
    strict: bool,
    decoded: usize,
    aliased: usize,
    aliased_bytes: usize,
    alias_depth: usize,
    depth: usize,
    open_aliases: BTreeSet<NodeId>,
    /// Lines and texts of keys that were there before.
    duplicates: Vec<(usize, String)>,
    /// Whether anything was decoded that JSON cannot hold. It may be replaced later on, so it is no
    /// error yet.
    has_unrepresentable: bool,
}

impl<'t> Decoder<'t, '_> {
    fn value(&mut self, id: NodeId) -> Result<Value, Error> {
        self.count()?;
        let tree = self.tree;
        let Some(node) = tree.nodes.get(id) else {
            return Ok(Value::Null);
        };
        match &node.kind {
            NodeKind::Scalar { value, implicit } => {
                let (resolved, text) = self.scalar(&node.tag, value, *implicit)?;
                Ok(self.scalar_to_value(resolved, text, id))
            }
            NodeKind::Alias { name, target } => {
                self.enter_alias(id, name)?;
                let value = self.value(*target)?;
                self.leave_alias(id);
                Ok(value)
            }
            NodeKind::Sequence(children) => {
                self.enter()?;
                let items: Result<_, _> = children.iter().map(|child| self.value(*child)).collect();
                self.depth -= 1;
                Ok(Value::Array(items?))
            }
            NodeKind::Mapping(children) => {
                let mut entries = Entries::default();
                self.mapping(children, &mut entries)?;
                Ok(Value::Object(entries.map))
            }
        }
    }

    fn scalar(
        &mut self,
        tag: &str,
        text: &'t str,
        implicit: bool,
    ) -> Result<(Resolved, Cow<'t, str>), Error> {
        if self.alias_depth > 0 {
            self.aliased_bytes += text.len();
            if self.aliased_bytes > MAX_ALIASED_BYTES {
                return Err(Error::plain("document contains excessive aliasing"));
            }
        }
        scalar_value(tag, text, implicit)
    }

    fn scalar_to_value(&mut self, resolved: Resolved, text: Cow<'_, str>, id: NodeId) -> Value {
        scalar_to_json(resolved, text).unwrap_or_else(|| {
            self.has_unrepresentable = true;
            unrepresentable::value(&number(resolved).unwrap_or_default(), self.line(id))
        })
    }

    fn mapping(&mut self, children: &'t [NodeId], entries: &mut Entries) -> Result<(), Error> {
        self.enter()?;
        for pair in children.chunks_exact(2) {
            if let [key, value] = pair {
                self.pair(*key, *value, entries)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn pair(&mut self, key: NodeId, value: NodeId, entries: &mut Entries) -> Result<(), Error> {
        if is_merge(self.tree, key) {
            return self.merge(value, entries);
        }
        let name = self.key(key)?;
        let mut decoded = self.value(value)?;
        if self.strict {
            let shown = name.shown();
            let line = self.line(value);
            if !name.is_nan() && !entries.seen.insert(shown.clone()) {
                let text = format!("line {line}: key {shown} already set in map");
                self.duplicates.push((line, text));
                return Ok(());
            }
        }
        if matches!(name.resolved, Resolved::Null | Resolved::Uint(_)) {
            self.has_unrepresentable = true;
            let value = go_syntax(self.tree, value, false);
            decoded = unrepresentable::entry(name.resolved, &value, self.line(key));
        }
        entries.map.insert(name.text, decoded);
        Ok(())
    }

    fn key(&mut self, id: NodeId) -> Result<Key, Error> {
        let tree = self.tree;
        let mut target = id;
        if let Some(NodeKind::Alias {
            target: aliased, ..
        }) = tree.nodes.get(id).map(|n| &n.kind)
        {
            target = *aliased;
        }
        let Some((
            node,
            NodeKind::Scalar {
                value: text,
                implicit,
            },
        )) = tree.nodes.get(target).map(|node| (node, &node.kind))
        else {
            self.value(id)?;
            let problem = format!("invalid map key: {}", go_syntax(tree, id, false));
            return Err(Error::plain(problem).at_line(self.line(id)));
        };
        self.count()?;
        if target != id {
            self.alias_depth += 1;
            self.count()?;
        }
        let scalar = self.scalar(&node.tag, text, *implicit);
        if target != id {
            self.alias_depth -= 1;
        }
        let (resolved, text) = scalar?;
        let text = match resolved {
            Resolved::Text | Resolved::Timestamp => text.into_owned(),
            Resolved::Bool(value) => value.to_string(),
            Resolved::Int(value) => value.to_string(),
            Resolved::Float(value) => format_key(value),
            Resolved::Null | Resolved::Uint(_) => unrepresentable::key(resolved),
        };
        Ok(Key { text, resolved })
    }

    /// Puts the pairs of another mapping, or of several, into this one. They replace the pairs
    /// before them.
    fn merge(&mut self, id: NodeId, entries: &mut Entries) -> Result<(), Error> {
        let Some(node) = self.tree.nodes.get(id) else {
            return Ok(());
        };
        let NodeKind::Sequence(children) = &node.kind else {
            return self.merge_one(id, entries);
        };
        for child in children.iter().rev() {
            self.merge_one(*child, entries)?;
        }
        Ok(())
    }

    fn merge_one(&mut self, id: NodeId, entries: &mut Entries) -> Result<(), Error> {
        let tree = self.tree;
        let kind = |id: NodeId| tree.nodes.get(id).map(|node| &node.kind);
        match kind(id) {
            Some(NodeKind::Mapping(children)) => {
                self.count()?;
                self.mapping(children, entries)
            }
            Some(NodeKind::Alias { name, target }) => {
                let Some(NodeKind::Mapping(children)) = kind(*target) else {
                    return Err(self.wants_map(id));
                };
                self.count()?;
                self.enter_alias(id, name)?;
                self.count()?;
                self.mapping(children, entries)?;
                self.leave_alias(id);
                Ok(())
            }
            _ => Err(self.wants_map(id)),
        }
    }

    fn wants_map(&self, id: NodeId) -> Error {
        Error::plain("map merge requires map or sequence of maps as the value")
            .at_line(self.line(id))
    }

    fn enter_alias(&mut self, id: NodeId, name: &str) -> Result<(), Error> {
        if !self.open_aliases.insert(id) {
            let problem = format!("anchor '{name}' value contains itself");
            return Err(Error::plain(problem).at_line(self.line(id)));
        }
        self.alias_depth += 1;
        Ok(())
    }

    fn leave_alias(&mut self, id: NodeId) {
        self.alias_depth -= 1;
        self.open_aliases.remove(&id);
    }

    fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::plain(format!("exceeded max depth of {MAX_DEPTH}")));
        }
        Ok(())
    }

    /// Counts a decoded node, and refuses documents that are mostly aliases.
    fn count(&mut self) -> Result<(), Error> {
        self.decoded += 1;
        if self.alias_depth > 0 {
            self.aliased += 1;
        }
        let (decoded, aliased) = ALIAS_RATIO_EXEMPT;
        if self.aliased > aliased
            && self.decoded > decoded
            && self.aliased as f64 / self.decoded as f64 > allowed_alias_ratio(self.decoded)
        {
            return Err(Error::plain("document contains excessive aliasing"));
        }
        Ok(())
    }

    fn line(&self, id: NodeId) -> usize {
        self.tree
            .nodes
            .get(id)
            .map_or(0, |node| node.start.line as usize + 1)
    }
}

/// A key, as JSON has it and as it was.
struct Key {
    text: String,
    resolved: Resolved,
}

impl Key {
    fn is_nan(&self) -> bool {
        matches!(self.resolved, Resolved::Float(value) if value.is_nan())
    }

    fn shown(&self) -> String {
        if self.resolved == Resolved::Null {
            return "<nil>".to_owned();
        }
        number(self.resolved).unwrap_or_else(|| quote(&self.text))
    }
}

fn allowed_alias_ratio(decoded: usize) -> f64 {
    if decoded <= ALIAS_RATIO_RANGE_LOW {
        return ALIAS_RATIO_MAX;
    }
    if decoded >= ALIAS_RATIO_RANGE_HIGH {
        return ALIAS_RATIO_MIN;
    }
    let range = (ALIAS_RATIO_RANGE_HIGH - ALIAS_RATIO_RANGE_LOW) as f64;
    let above = (decoded - ALIAS_RATIO_RANGE_LOW) as f64;
    ALIAS_RATIO_MAX - (ALIAS_RATIO_MAX - ALIAS_RATIO_MIN) * (above / range)
}
