//! Texts as Go's standard library writes them.

use crate::resource::{Resource, Store};
use serde_json::Value;
use std::fmt::Write as _;
use whipstaff_generator::go_json;

/// What `json.MarshalIndent` writes with two blanks.
pub(crate) fn go_json_indented(value: &Value) -> String {
    let mut text = String::new();
    write_indented(&mut text, value, 0);
    text
}

fn write_indented(text: &mut String, value: &Value, depth: usize) {
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                line(text, depth + 1);
                write_indented(text, item, depth + 1);
            }
            line(text, depth);
            text.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by(|first, second| first.0.cmp(second.0));
            text.push('{');
            for (at, (key, value)) in pairs.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                line(text, depth + 1);
                go_json::push_string(text, key);
                text.push_str(": ");
                write_indented(text, value, depth + 1);
            }
            line(text, depth);
            text.push('}');
        }
        other => text.push_str(&go_json::to_string(other)),
    }
}

/// An object as JSON, as kustomize puts it into messages.
pub(crate) fn json_of(store: &Store, resource: &Resource) -> String {
    match resource.value(store) {
        Ok(value) => go_json::to_string(&value),
        Err(error) => format!("<{error}>"),
    }
}

/// What `%q` of Go prints.
pub(crate) fn go_quote(string: &str) -> String {
    let mut text = String::from("\"");
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\x07' => text.push_str("\\a"),
            '\x08' => text.push_str("\\b"),
            '\x0C' => text.push_str("\\f"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\x0B' => text.push_str("\\v"),
            '\0'..='\x1F' | '\x7F' => {
                let _ = write!(text, "\\x{:02x}", u32::from(character));
            }
            '\u{80}'..='\u{A0}' | '\u{AD}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_written_as_go_writes_it() {
        let value = json!({ "b": [1.5e-7, 1e21, 3.0], "a": "<&>\n" });
        assert_eq!(
            go_json::to_string(&value),
            r#"{"a":"\u003c\u0026\u003e\n","b":[1.5e-7,1e+21,3]}"#
        );
    }

    #[test]
    fn quoted_text_is_escaped_as_go_escapes_it() {
        assert_eq!(go_quote("a\"b\n\u{1}"), r#""a\"b\n\x01""#);
    }
}
