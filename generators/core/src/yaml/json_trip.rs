//! The JSON text sigs.k8s.io/yaml makes of a value before it makes YAML of it.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::compose::MAX_DEPTH;
use super::go_number::format_json;

/// Keys shorter than this, in bytes, can be read back whatever is escaped in them: at most six
/// characters come of a byte.
const SAFE_KEY_LENGTH: usize = 1024 / 6;

/// Whether the value may change, or be refused, on its way through JSON text.
pub(super) fn matters(value: &Value) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth >= MAX_DEPTH {
            return true;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => {
                if has_unusual_character(text) {
                    return true;
                }
            }
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                if map
                    .keys()
                    .any(|key| key.len() >= SAFE_KEY_LENGTH || has_unusual_character(key))
                {
                    return true;
                }
                open.extend(map.values().map(|value| (value, depth + 1)));
            }
        }
    }
    false
}

/// The text `encoding/json` writes.
pub(super) fn go_json(value: &Value) -> String {
    let mut text = String::new();
    let mut open = vec![Step::Value(value)];
    while let Some(step) = open.pop() {
        match step {
            Step::Text(piece) => text.push_str(piece),
            Step::Key(key) => {
                push_string(&mut text, key);
                text.push(':');
            }
            Step::Value(value) => push_value(&mut text, value, &mut open),
        }
    }
    text
}

/// What is still to be written.
enum Step<'v> {
    Text(&'static str),
    Key(&'v str),
    Value(&'v Value),
}

fn push_value<'v>(text: &mut String, value: &'v Value, open: &mut Vec<Step<'v>>) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => text.push_str(&format_json(float)),
            None => text.push_str(&number.to_string()),
        },
        Value::String(string) => push_string(text, string),
        Value::Array(items) => {
            text.push('[');
            open.push(Step::Text("]"));
            for (index, item) in items.iter().enumerate().rev() {
                open.push(Step::Value(item));
                if index > 0 {
                    open.push(Step::Text(","));
                }
            }
        }
        Value::Object(map) => push_object(text, map, open),
    }
}

fn push_object<'v>(text: &mut String, map: &'v Map<String, Value>, open: &mut Vec<Step<'v>>) {
    let mut pairs: Vec<_> = map.iter().collect();
    pairs.sort_by(|first, second| first.0.cmp(second.0));
    text.push('{');
    open.push(Step::Text("}"));
    for (index, (key, value)) in pairs.into_iter().enumerate().rev() {
        open.push(Step::Value(value));
        open.push(Step::Key(key));
        if index > 0 {
            open.push(Step::Text(","));
        }
    }
}

fn push_string(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        let code = u32::from(character);
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\x08' => text.push_str("\\b"),
            '\x0C' => text.push_str("\\f"),
            '\0'..='\x1F' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{code:04x}");
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

/// Whether there is a character that YAML text cannot hold, or a NEL, which YAML takes for a line
/// break.
fn has_unusual_character(text: &str) -> bool {
    !text.is_ascii()
        && text
            .chars()
            .any(|c| matches!(c, '\u{80}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}'))
        || text.contains('\x7F')
}
