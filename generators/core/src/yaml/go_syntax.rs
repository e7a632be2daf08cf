//! Values as Go's `%#v` shows them, which some errors do.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::compose::{NodeId, NodeKind, Tree};
use super::decode::{is_merge, scalar_value};
use super::go_number::format_general;
use super::resolve::Resolved;

/// How many nodes are shown before the rest is left out. (Our limit: Go shows them all.)
const MAX_SHOWN_NODES: usize = 1_000;

/// Shows a node; `nested` inside a collection, where a null has its type named.
pub(super) fn go_syntax(tree: &Tree<'_>, id: NodeId, nested: bool) -> String {
    let mut printer = Printer {
        tree,
        remaining: MAX_SHOWN_NODES,
    };
    printer.node(id, nested)
}

/// Shows a string in double quotes.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0C' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0B' => quoted.push_str("\\v"),
            _ => push_printable(&mut quoted, character),
        }
    }
    quoted.push('"');
    quoted
}

/// Shows a scalar that is no string.
pub(super) fn number(value: Resolved) -> Option<String> {
    Some(match value {
        Resolved::Null => "interface {}(nil)".to_owned(),
        Resolved::Bool(value) => value.to_string(),
        Resolved::Int(value) => value.to_string(),
        Resolved::Uint(value) => format!("{value:#x}"),
        Resolved::Float(value) if value.is_nan() => "NaN".to_owned(),
        Resolved::Float(value) if value.is_infinite() => {
            if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
        }
        Resolved::Float(value) => format_general(value),
        Resolved::Text | Resolved::Timestamp => return None,
    })
}

fn push_printable(quoted: &mut String, character: char) {
    let code = u32::from(character);
    // Writing to a string cannot fail.
    let _ = match code {
        0..0x20 | 0x7F => write!(quoted, "\\x{code:02x}"),
        _ if is_visible(character) => {
            quoted.push(character);
            Ok(())
        }
        0..=0xFFFF => write!(quoted, "\\u{code:04x}"),
        _ => write!(quoted, "\\U{code:08x}"),
    };
}

/// Whether Go shows the character as itself. (Characters without a meaning yet count as visible
/// here.)
fn is_visible(character: char) -> bool {
    let blank = character.is_whitespace() && character != ' ';
    let format = matches!(character,
        '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}');
    let private = matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{E0000}'..);
    !(character.is_control() || blank || format || private)
}

struct Printer<'t, 'a> {
    tree: &'t Tree<'a>,
    remaining: usize,
}

impl Printer<'_, '_> {
    fn node(&mut self, id: NodeId, nested: bool) -> String {
        let Some(node) = self.tree.nodes.get(id) else {
            return String::new();
        };
        self.remaining = self.remaining.saturating_sub(1);
        if self.remaining == 0 {
            return "...".to_owned();
        }
        match &node.kind {
            NodeKind::Alias { target, .. } => self.node(*target, nested),
            NodeKind::Sequence(children) => {
                let shown: Vec<_> = children
                    .iter()
                    .map(|child| self.node(*child, true))
                    .collect();
                format!("[]interface {{}}{{{}}}", shown.join(", "))
            }
            NodeKind::Mapping(children) => {
                let mut entries = BTreeMap::new();
                self.pairs(children, &mut entries);
                let shown: Vec<_> = entries.iter().map(|(k, v)| format!("{k}:{v}")).collect();
                format!("map[interface {{}}]interface {{}}{{{}}}", shown.join(", "))
            }
            NodeKind::Scalar { value, implicit } => {
                match scalar_value(&node.tag, value, *implicit) {
                    Ok((Resolved::Null, _)) if !nested => "<nil>".to_owned(),
                    Ok((resolved, text)) => number(resolved).unwrap_or_else(|| quote(&text)),
                    Err(_) => quote(value),
                }
            }
        }
    }

    fn pairs(&mut self, children: &[NodeId], entries: &mut BTreeMap<String, String>) {
        for pair in children.chunks_exact(2) {
            let [key, value] = pair else { continue };
            if is_merge(self.tree, *key) {
                self.merge(*value, entries);
            } else {
                entries.insert(self.node(*key, true), self.node(*value, true));
            }
        }
    }

    fn merge(&mut self, id: NodeId, entries: &mut BTreeMap<String, String>) {
        self.remaining = self.remaining.saturating_sub(1);
        if self.remaining == 0 {
            return;
        }
        match self.tree.nodes.get(id).map(|node| &node.kind) {
            Some(NodeKind::Mapping(children)) => self.pairs(children, entries),
            Some(NodeKind::Alias { target, .. }) => self.merge(*target, entries),
            Some(NodeKind::Sequence(children)) => {
                children
                    .iter()
                    .rev()
                    .for_each(|child| self.merge(*child, entries));
            }
            _ => {}
        }
    }
}
