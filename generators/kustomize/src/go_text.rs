//! Texts as Go's standard library writes them.

use crate::resource::{Resource, Store};
use serde_json::{Number, Value};
use std::fmt::Write as _;

/// What `encoding/json` writes for a value, keys sorted.
pub(crate) fn go_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_value(text, item);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by(|first, second| first.0.cmp(second.0));
            text.push('{');
            for (at, (key, value)) in pairs.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_string(text, key);
                text.push(':');
                write_value(text, value);
            }
            text.push('}');
        }
    }
}

/// A number; floats in exponent form where Go uses it.
fn number_text(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.to_string();
    };
    if float == 0.0 {
        return if float.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    if float.abs() >= 1e-6 && float.abs() < 1e21 {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once("e-") {
        Some((mantissa, exponent)) => format!("{mantissa}e-{exponent:0>2}").replace("e-0", "e-"),
        None => text.replacen('e', "e+", 1),
    }
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
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
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

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
                write_string(text, key);
                text.push_str(": ");
                write_indented(text, value, depth + 1);
            }
            line(text, depth);
            text.push('}');
        }
        other => write_value(text, other),
    }
}

/// An object as JSON, as kustomize puts it into messages.
pub(crate) fn json_of(store: &Store, resource: &Resource) -> String {
    match resource.value(store) {
        Ok(value) => go_json(&value),
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
            go_json(&value),
            r#"{"a":"\u003c\u0026\u003e\n","b":[1.5e-7,1e+21,3]}"#
        );
    }

    #[test]
    fn quoted_text_is_escaped_as_go_escapes_it() {
        assert_eq!(go_quote("a\"b\n\u{1}"), r#""a\"b\n\x01""#);
    }
}
