//! Printing nodes in the way they were written.
//!
//! Mirrors `encode.go` and `emitterc.go` of go.yaml.in/yaml v3.0.3 with the settings of kyaml v0.21.1: an indentation of two,
//! sequences as deep as their key, no folding. Comments are not kept.

use super::access::is_quoted;
use super::{Arena, Kind, Node, NodeId, Tag, resolve};
use std::fmt::Write as _;
use whipstaff_generator::yaml::syntax::ScalarStyle;

/// The longest key that is written without `?`, in bytes.
const MAX_SIMPLE_KEY_LENGTH: usize = 128;
/// Columns that a level of indentation takes.
const INDENT: usize = 2;

/// Prints a node as a document.
pub(crate) fn emit(arena: &Arena, id: NodeId) -> String {
    let mut emitter = Emitter {
        arena,
        text: String::new(),
    };
    emitter.node(id, Place::Root, 0);
    emitter.text.push('\n');
    emitter.text
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// Behind `- `.
    Item,
    /// Behind `key:`.
    Value,
    Flow,
}

struct Emitter<'a> {
    arena: &'a Arena,
    text: String,
}

impl Emitter<'_> {
    /// Prints a node; `indent` is the column of the collection around it.
    fn node(&mut self, id: NodeId, place: Place, indent: usize) {
        let node = self.arena.get(id);
        match node.kind {
            Kind::Zero => self.word("null", place),
            Kind::Scalar => self.scalar(node, place, indent),
            Kind::Sequence | Kind::Mapping => {
                self.collection_tag(node, place);
                let flow = place == Place::Flow || node.style.flow || node.children.is_empty();
                match (node.kind, flow) {
                    (Kind::Sequence, true) => self.flow_sequence(node, place),
                    (Kind::Sequence, false) => self.block_sequence(node, place, indent),
                    (_, true) => self.flow_mapping(node, place),
                    (_, false) => self.block_mapping(node, place, indent),
                }
            }
        }
    }

    fn word(&mut self, word: &str, place: Place) {
        self.space(place);
        self.text.push_str(word);
    }

    fn space(&mut self, place: Place) {
        if place == Place::Value {
            self.text.push(' ');
        }
    }

    fn collection_tag(&mut self, node: &Node, place: Place) {
        let own = if node.kind == Kind::Mapping {
            Tag::Map
        } else {
            Tag::Seq
        };
        if node.tag != Tag::None && (node.style.tagged || node.tag != own) {
            self.space(place);
            self.text.push_str(node.tag.short());
            if place != Place::Value {
                self.text.push(' ');
            }
        }
    }

    fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    fn block_sequence(&mut self, node: &Node, place: Place, indent: usize) {
        let column = match place {
            Place::Item => indent + INDENT,
            _ => indent,
        };
        for (at, child) in node.children.iter().enumerate() {
            if at > 0 || place == Place::Value {
                self.line(column);
            }
            self.text.push_str("- ");
            self.node(*child, Place::Item, column);
            self.trim_blank();
        }
    }

    /// Takes the blank behind an indicator away that nothing follows.
    fn trim_blank(&mut self) {
        if self.text.ends_with("- ") {
            self.text.pop();
        }
    }

    fn block_mapping(&mut self, node: &Node, place: Place, indent: usize) {
        let column = match place {
            Place::Root | Place::Flow => 0,
            Place::Item | Place::Value => indent + INDENT,
        };
        for (at, pair) in node.children.chunks_exact(2).enumerate() {
            let [key, value] = *pair else { continue };
            if at > 0 || place == Place::Value {
                self.line(column);
            }
            let key = self.arena.get(key);
            if key.kind == Kind::Scalar
                && key.text.len() <= MAX_SIMPLE_KEY_LENGTH
                && !is_multiline(&key.text)
            {
                self.key(key);
                self.text.push(':');
            } else {
                self.text.push_str("? ");
                self.scalar(key, Place::Item, column);
                self.line(column);
                self.text.push(':');
            }
            self.node(value, Place::Value, column);
        }
    }

    fn key(&mut self, key: &Node) {
        let style = choose_style(key, false, true);
        self.tagged_text(key, style, 0);
    }

    fn flow_sequence(&mut self, node: &Node, place: Place) {
        self.space(place);
        self.text.push('[');
        for (at, child) in node.children.iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            self.node(*child, Place::Flow, 0);
        }
        self.text.push(']');
    }

    fn flow_mapping(&mut self, node: &Node, place: Place) {
        self.space(place);
        self.text.push('{');
        for (at, pair) in node.children.chunks_exact(2).enumerate() {
            let [key, value] = *pair else { continue };
            if at > 0 {
                self.text.push_str(", ");
            }
            let key = self.arena.get(key);
            self.tagged_text(key, choose_style(key, true, true), 0);
            self.text.push_str(": ");
            self.node(value, Place::Flow, 0);
        }
        self.text.push('}');
    }

    fn scalar(&mut self, node: &Node, place: Place, indent: usize) {
        let style = choose_style(node, place == Place::Flow, false);
        if node.text.is_empty() && style == ScalarStyle::Plain && written_tag(node).is_none() {
            return;
        }
        self.space(place);
        let column = match place {
            Place::Root => INDENT,
            _ => indent + INDENT,
        };
        self.tagged_text(node, style, column);
    }

    fn tagged_text(&mut self, node: &Node, style: ScalarStyle, indent: usize) {
        if let Some(tag) = written_tag(node) {
            self.text.push_str(tag.short());
            self.text.push(' ');
        }
        match style {
            ScalarStyle::Plain => self.text.push_str(&node.text),
            ScalarStyle::SingleQuoted => self.single_quoted(&node.text, indent),
            ScalarStyle::DoubleQuoted => self.double_quoted(&node.text),
            ScalarStyle::Literal => self.literal(&node.text, indent),
            ScalarStyle::Folded => self.folded(&node.text, indent),
        }
    }

    fn single_quoted(&mut self, text: &str, indent: usize) {
        self.text.push('\'');
        let mut behind_break = false;
        for character in text.chars() {
            if character == '\n' {
                if !behind_break {
                    self.text.push('\n');
                }
                self.text.push('\n');
                behind_break = true;
                continue;
            }
            if behind_break {
                self.text.extend(std::iter::repeat_n(' ', indent));
            }
            if character == '\'' {
                self.text.push('\'');
            }
            self.text.push(character);
            behind_break = false;
        }
        self.text.push('\'');
    }

    fn double_quoted(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            let escape = match character {
                '\0' => "\\0",
                '\x07' => "\\a",
                '\x08' => "\\b",
                '\t' => "\\t",
                '\n' => "\\n",
                '\x0B' => "\\v",
                '\x0C' => "\\f",
                '\r' => "\\r",
                '\x1B' => "\\e",
                '"' => "\\\"",
                '\\' => "\\\\",
                '\u{85}' => "\\N",
                '\u{A0}' => "\\_",
                '\u{2028}' => "\\L",
                '\u{2029}' => "\\P",
                _ if is_printable(character) => {
                    self.text.push(character);
                    continue;
                }
                _ => {
                    let code = u32::from(character);
                    // Writing to a string cannot fail.
                    let _ = match code {
                        0..=0xFF => write!(self.text, "\\x{code:02X}"),
                        0x100..=0xFFFF => write!(self.text, "\\u{code:04X}"),
                        _ => write!(self.text, "\\U{code:08X}"),
                    };
                    continue;
                }
            };
            self.text.push_str(escape);
        }
        self.text.push('"');
    }

    fn block_header(&mut self, indicator: char, text: &str) {
        self.text.push(indicator);
        if text.starts_with([' ', '\n']) {
            self.text.push('2');
        }
        if !text.ends_with('\n') {
            self.text.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.text.push('+');
        }
        self.text.push('\n');
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.block_header('|', text);
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.text.extend(std::iter::repeat_n(' ', indent));
            }
            self.text.push_str(line);
        }
        self.end_block(text);
    }

    /// The next line is begun by whatever follows.
    fn end_block(&mut self, text: &str) {
        if text.ends_with('\n') {
            self.text.pop();
        }
    }

    fn folded(&mut self, text: &str, indent: usize) {
        self.block_header('>', text);
        // Go looks at the first character of the text whatever line it is at.
        let first = text.trim_start_matches('\n').chars().next();
        let doubles = first.is_some_and(|first| first != ' ' && first != '\t');
        let (mut behind_break, mut leading_space) = (true, true);
        for character in text.chars() {
            if character != '\n' {
                if behind_break {
                    self.text.extend(std::iter::repeat_n(' ', indent));
                    leading_space = character == ' ' || character == '\t';
                }
                self.text.push(character);
                behind_break = false;
                continue;
            }
            if !behind_break && !leading_space && doubles {
                self.text.push('\n');
            }
            self.text.push('\n');
            behind_break = true;
        }
        self.end_block(text);
    }
}

/// The tag that has to be written in front of a scalar.
fn written_tag(node: &Node) -> Option<&Tag> {
    if node.tag == Tag::None {
        return None;
    }
    if node.style.tagged {
        return Some(&node.tag);
    }
    if node.tag == Tag::Str || resolve(&node.text).tag() == node.tag {
        return None;
    }
    Some(&node.tag)
}

fn choose_style(node: &Node, in_flow: bool, is_key: bool) -> ScalarStyle {
    let text = node.text.as_str();
    let findings = analyze(text);
    let forced = !node.style.tagged
        && node.tag == Tag::Str
        && !is_quoted(node.style)
        && resolve(text).tag() != Tag::Str;
    let wanted = if is_quoted(node.style) {
        node.style.scalar
    } else if text.contains('\n') {
        ScalarStyle::Literal
    } else if forced {
        ScalarStyle::DoubleQuoted
    } else {
        ScalarStyle::Plain
    };
    let wanted = if is_key && is_multiline(text) {
        ScalarStyle::DoubleQuoted
    } else {
        wanted
    };
    match wanted {
        ScalarStyle::Plain => {
            let allowed = if in_flow {
                findings.flow_plain
            } else {
                findings.block_plain
            };
            if allowed && !(text.is_empty() && (in_flow || is_key)) {
                ScalarStyle::Plain
            } else if findings.single_quoted {
                ScalarStyle::SingleQuoted
            } else {
                ScalarStyle::DoubleQuoted
            }
        }
        ScalarStyle::SingleQuoted if !findings.single_quoted => ScalarStyle::DoubleQuoted,
        ScalarStyle::Literal | ScalarStyle::Folded if !findings.block || in_flow || is_key => {
            ScalarStyle::DoubleQuoted
        }
        style => style,
    }
}

/// The styles that a text allows.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each style stands for itself"
)]
struct Allowed {
    flow_plain: bool,
    block_plain: bool,
    single_quoted: bool,
    block: bool,
}

/// Whether a text has line breaks.
fn is_multiline(text: &str) -> bool {
    text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}')
        && character != '\u{FEFF}'
}

fn analyze(text: &str) -> Allowed {
    let (mut flow, mut block) = (false, false);
    let (mut special, mut tabs, mut space_break, mut break_space) = (false, false, false, false);
    if text.starts_with("---") || text.starts_with("...") {
        (flow, block) = (true, true);
    }
    let mut previous = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let before_blank = characters
            .peek()
            .is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | '\r'));
        let (in_flow, in_block) = indicators(character, previous, before_blank);
        flow |= in_flow;
        block |= in_block;
        tabs |= character == '\t';
        special |= character != '\t' && !is_printable(character);
        space_break |= previous == Some(' ') && character == '\n';
        break_space |= previous == Some('\n') && character == ' ';
        previous = Some(character);
    }
    let edges = text.starts_with([' ', '\n']) || text.ends_with([' ', '\n']);
    let plain = !edges && !break_space && !space_break && !tabs && !special && !is_multiline(text);
    Allowed {
        flow_plain: plain && !flow,
        block_plain: plain && !block,
        single_quoted: !break_space && !space_break && !tabs && !special,
        block: !text.is_empty() && !text.ends_with(' ') && !space_break && !special,
    }
}

/// Whether a character means something in a plain scalar, inside and outside of brackets.
fn indicators(character: char, previous: Option<char>, before_blank: bool) -> (bool, bool) {
    let behind_blank = previous.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
    if previous.is_none() {
        return match character {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
            | '@' | '`' => (true, true),
            '?' | ':' => (true, before_blank),
            '-' => (before_blank, before_blank),
            _ => (false, false),
        };
    }
    match character {
        ',' | '?' | '[' | ']' | '{' | '}' => (true, false),
        ':' => (true, before_blank),
        '#' => (behind_blank, behind_blank),
        _ => (false, false),
    }
}
