//! JSON text as Go's `encoding/json` writes it (Go 1.25, `encode.go`).

use crate::yaml::format_json;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A value on one line, maps sorted by their keys.
pub fn to_string(value: &Value) -> String {
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

/// Adds a string in quotes, with everything escaped that HTML would take for its own.
pub fn push_string(text: &mut String, string: &str) {
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

/// A finite number: with an exponent if it is below 1e-6 or from 1e21 on.
pub fn float_text(number: f64) -> String {
    format_json(number)
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
            Some(float) => text.push_str(&float_text(float)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_go_writes_them() {
        for (value, text) in [
            (
                json!({"b": [1, 2.5, null], "a": true}),
                r#"{"a":true,"b":[1,2.5,null]}"#,
            ),
            (
                json!("<a & b>\u{2028}\u{1}\n"),
                r#""\u003ca \u0026 b\u003e\u2028\u0001\n""#,
            ),
            (
                json!([1e21, 1e20, 1e-6, 1e-7, -0.0]),
                "[1e+21,100000000000000000000,0.000001,1e-7,-0]",
            ),
            (json!({}), "{}"),
        ] {
            assert_eq!(to_string(&value), text);
        }
    }
}
