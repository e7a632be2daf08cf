//! Nodes as JSON values, and back.
//!
//! Mirrors `MarshalJSON` and `FromMap` of kyaml v0.21.1, which print nodes as YAML and read that again: what matters of it is done
//! on the nodes here.

use super::{Arena, Kind, Node, NodeId, Resolved, Style, Tag, emit, resolve};
use crate::error::{BuildError, BuildErrorKind, Result};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Number, Value};
use std::collections::HashSet;
use std::fmt::Write as _;
use whipstaff_generator::yaml::syntax::{ScalarStyle, SyntaxKind, parse_tree};

/// `base64.StdEncoding` of Go: padding is required, bits behind the end are not looked at.
const STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// The value of a node.
///
/// # Errors
/// Where Go cannot make JSON of it: keys that are there twice or are no strings, texts that do not fit their tags, infinity.
pub(crate) fn to_value(arena: &Arena, id: NodeId) -> Result<Value> {
    convert(arena, id, Context::Root).map_err(|error| {
        if error.message() == DUPLICATE {
            let text = duplicate_keys(arena, id);
            return error.reworded(text.unwrap_or_else(|| DUPLICATE.to_owned()));
        }
        error
    })
}

/// The text of the error for keys that are there twice, until the lines are known.
const DUPLICATE: &str = "yaml: unmarshal errors: mapping key already defined";
/// The text of the error for keys that are no strings.
pub(crate) const UNSUPPORTED_KEYS: &str = "json: unsupported type: map[interface {}]interface {}";

/// Where a node stands, as far as it matters for printing it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Root,
    Block,
    Flow,
}

fn malformed(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Malformed, message)
}

fn convert(arena: &Arena, id: NodeId, context: Context) -> Result<Value> {
    let node = arena.get(id);
    let inner = if context == Context::Flow || node.style.flow {
        Context::Flow
    } else {
        Context::Block
    };
    match node.kind {
        Kind::Zero => Ok(Value::Null),
        Kind::Scalar => scalar(node, context == Context::Flow),
        Kind::Sequence => {
            let items: Result<Vec<_>> = node
                .children
                .iter()
                .map(|child| convert(arena, *child, inner))
                .collect();
            items.map(Value::Array)
        }
        Kind::Mapping => mapping(arena, id, context, inner),
    }
}

fn mapping(arena: &Arena, id: NodeId, context: Context, inner: Context) -> Result<Value> {
    let node = arena.get(id);
    let mut map = Map::with_capacity(node.children.len() / 2);
    for pair in node.children.chunks_exact(2) {
        let [key, value] = *pair else { continue };
        let name = key_text(arena, key, context == Context::Root)?;
        if map.contains_key(&name) {
            return Err(malformed(DUPLICATE));
        }
        map.insert(name, convert(arena, value, inner)?);
    }
    Ok(Value::Object(map))
}

fn key_text(arena: &Arena, key: NodeId, at_root: bool) -> Result<String> {
    let unsupported = || malformed(UNSUPPORTED_KEYS);
    let id = key;
    let key = arena.get(key);
    if key.kind != Kind::Scalar {
        return Err(malformed(format!(
            "yaml: invalid map key: {}",
            go_syntax(arena, id, false)
        )));
    }
    match scalar(key, true)? {
        Value::String(_) if resolved_tag(key, true) == Tag::Str => Ok(key.text.clone()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(unsupported()),
        _ if at_root => Ok(key.text.clone()),
        _ => Err(unsupported()),
    }
}

/// What a scalar is behind printing and reading it: its tag, if it is to be told by one.
fn resolved_tag(node: &Node, in_flow: bool) -> Tag {
    match printed(node, in_flow) {
        Printed::Text => Tag::Str,
        Printed::Plain => resolve(&node.text).tag(),
        Printed::Tagged => node.tag.clone(),
    }
}

/// How a scalar is read again.
enum Printed {
    /// As a string.
    Text,
    /// As what its text stands for.
    Plain,
    /// As what its tag says.
    Tagged,
}

fn printed(node: &Node, in_flow: bool) -> Printed {
    let quoted = node.style.scalar != ScalarStyle::Plain;
    if node.style.tagged && node.tag != Tag::None {
        return Printed::Tagged;
    }
    match &node.tag {
        Tag::None => {}
        Tag::Str => {
            if quoted || resolve(&node.text).tag() != Tag::Str {
                return Printed::Text;
            }
        }
        tag if resolve(&node.text).tag() == *tag => {}
        _ => return Printed::Tagged,
    }
    if quoted || node.text.contains('\n') || (in_flow && node.text.is_empty()) {
        Printed::Text
    } else {
        Printed::Plain
    }
}

/// The value of a scalar; `in_flow` inside of brackets.
fn scalar(node: &Node, in_flow: bool) -> Result<Value> {
    match printed(node, in_flow) {
        Printed::Text => Ok(Value::String(node.text.clone())),
        Printed::Plain => resolved_value(resolve(&node.text), &node.text),
        Printed::Tagged => tagged(node),
    }
}

fn tagged(node: &Node) -> Result<Value> {
    match &node.tag {
        Tag::Binary => {
            let text: String = node
                .text
                .chars()
                .filter(|c| !matches!(c, '\n' | '\r'))
                .collect();
            let bytes = STANDARD
                .decode(text)
                .map_err(|_| malformed("yaml: !!binary value contains invalid base64 data"))?;
            Ok(Value::String(lossy(&bytes)))
        }
        Tag::Null | Tag::Bool | Tag::Int | Tag::Float | Tag::Timestamp => {
            let resolved = match resolve(&node.text) {
                Resolved::Timestamp(_) if node.tag != Tag::Timestamp => Resolved::Text,
                Resolved::Int(value) if node.tag == Tag::Float => Resolved::Float(value as f64),
                other => other,
            };
            if resolved.tag() != node.tag {
                return Err(malformed(format!(
                    "yaml: cannot decode {} `{}` as a {}",
                    resolved.tag().short(),
                    node.text,
                    node.tag.short()
                )));
            }
            resolved_value(resolved, &node.text)
        }
        _ => Ok(Value::String(node.text.clone())),
    }
}

/// Bytes as text: each byte that is no UTF-8 becomes U+FFFD, as in Go's JSON.
fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('\u{FFFD}', chunk.invalid().len()));
    }
    text
}

fn resolved_value(resolved: Resolved, text: &str) -> Result<Value> {
    Ok(match resolved {
        Resolved::Null => Value::Null,
        Resolved::Bool(value) => Value::Bool(value),
        Resolved::Int(value) => value.into(),
        Resolved::Uint(value) => value.into(),
        Resolved::Float(value) => Value::Number(Number::from_f64(value).ok_or_else(|| {
            let name = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            malformed(format!("json: unsupported value: {name}"))
        })?),
        Resolved::Timestamp(time) => Value::String(time),
        Resolved::Text => Value::String(text.to_owned()),
    })
}

/// What Go says about keys that are there twice, with the lines of the printed object; none if there are none.
fn duplicate_keys(arena: &Arena, id: NodeId) -> Option<String> {
    let tree = parse_tree(&emit(arena, id)).ok()??;
    let mut text = String::new();
    for node in &tree.nodes {
        let SyntaxKind::Mapping(children) = &node.kind else {
            continue;
        };
        let mut seen: Vec<(&str, usize)> = Vec::new();
        let mut known = HashSet::new();
        for key in children
            .iter()
            .step_by(2)
            .filter_map(|key| tree.nodes.get(*key))
        {
            let SyntaxKind::Scalar(name) = &key.kind else {
                continue;
            };
            if !known.insert(name.as_str())
                && let Some((_, line)) = seen.iter().find(|(other, _)| other == name)
            {
                // Writing to a string cannot fail.
                let _ = write!(
                    text,
                    "\n  line {}: mapping key {name:?} already defined at line {line}",
                    key.line
                );
            }
            seen.push((name, key.line));
        }
    }
    (!text.is_empty()).then(|| format!("yaml: unmarshal errors:{text}"))
}

/// Puts a value into the arena, as a reader of what Go prints of it does: keys in their order, numbers plain, strings quoted
/// where they have to be.
pub(crate) fn from_value(arena: &mut Arena, value: &Value) -> NodeId {
    let node = match value {
        Value::Null => Node::tagged("null", Tag::Null),
        Value::Bool(value) => Node::tagged(value.to_string(), Tag::Bool),
        Value::Number(number) => number_node(number),
        Value::String(text) => {
            let style = if text.contains('\n') {
                Style::LITERAL
            } else if needs_quotes(text) {
                Style::DOUBLE_QUOTED
            } else {
                Style::default()
            };
            Node {
                style,
                ..Node::tagged(text.clone(), Tag::Str)
            }
        }
        Value::Array(items) => Node {
            tag: Tag::Seq,
            style: Style {
                flow: items.is_empty(),
                ..Style::default()
            },
            children: items.iter().map(|item| from_value(arena, item)).collect(),
            ..Node::of_kind(Kind::Sequence)
        },
        Value::Object(map) => {
            let mut children = Vec::with_capacity(map.len() * 2);
            for (key, value) in map {
                children.push(from_value(arena, &Value::String(key.clone())));
                children.push(from_value(arena, value));
            }
            Node {
                tag: Tag::Map,
                style: Style {
                    flow: map.is_empty(),
                    ..Style::default()
                },
                children,
                ..Node::of_kind(Kind::Mapping)
            }
        }
    };
    arena.add(node)
}

fn number_node(number: &Number) -> Node {
    if let Some(value) = number.as_i64() {
        return Node::tagged(value.to_string(), Tag::Int);
    }
    if let Some(value) = number.as_u64() {
        return Node::tagged(value.to_string(), Tag::Int);
    }
    let text = whipstaff_generator::yaml::to_string_pretty(&Value::Number(number.clone()));
    let text = text.trim_end();
    Node::tagged(text, resolve(text).tag())
}

/// Whether a plain text would be read as something else by YAML 1.2 or, as a word, by YAML 1.1.
fn needs_quotes(text: &str) -> bool {
    let words = [
        "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off",
        "OFF",
    ];
    resolve(text).tag() != Tag::Str || words.contains(&text)
}

/// What `%#v` of Go prints for a node; the keys of one at the root are strings.
pub(crate) fn go_syntax(arena: &Arena, id: NodeId, at_root: bool) -> String {
    let node = arena.get(id);
    match node.kind {
        Kind::Zero => "interface {}(nil)".to_owned(),
        Kind::Scalar => match scalar(node, false) {
            Ok(Value::String(text)) => crate::go_text::go_quote(&text),
            Ok(Value::Null) => "interface {}(nil)".to_owned(),
            Ok(value) => value.to_string(),
            Err(_) => node.text.clone(),
        },
        Kind::Sequence => {
            let items: Vec<_> = node
                .children
                .iter()
                .map(|child| go_syntax(arena, *child, false))
                .collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Kind::Mapping => {
            let is_text = |key: NodeId| resolved_tag(arena.get(key), true) == Tag::Str;
            let all_text = at_root || arena.pairs(id).all(|(key, _)| is_text(key));
            // Go orders keys of several types by the types first.
            let mut pairs: Vec<_> = arena
                .pairs(id)
                .map(|(key, value)| {
                    let rank = [Tag::Str, Tag::Int, Tag::Bool]
                        .iter()
                        .position(|tag| resolved_tag(arena.get(key), true) == *tag);
                    (rank.unwrap_or(9), arena.get(key).text.clone(), key, value)
                })
                .collect();
            pairs.sort_by(|first, second| (first.0, &first.1).cmp(&(second.0, &second.1)));
            let texts: Vec<_> = pairs
                .into_iter()
                .map(|(_, text, key, value)| {
                    let key = if all_text {
                        crate::go_text::go_quote(&text)
                    } else {
                        go_syntax(arena, key, false)
                    };
                    format!("{key}:{}", go_syntax(arena, value, false))
                })
                .collect();
            let kind = if all_text { "string" } else { "interface {}" };
            format!("map[{kind}]interface {{}}{{{}}}", texts.join(", "))
        }
    }
}
