//! JSON, written as Go writes it, with tabs.
//!
//! **Source**: `stores/json/store.go` of SOPS 3.13.3.

use std::fmt::Write as _;

use serde_json::Value;

use super::Format;
use crate::error::SopsError;
use crate::metadata::METADATA_KEY;
use crate::tree::{Documents, Extent, Node, utf8};
use whipstaff_generator::go_json;

pub(super) fn read(text: &str) -> Result<(Documents, Option<Node>), SopsError> {
    // The reader has a limit of its own for levels, and the last of several equal keys wins, which the code of the file shows.
    let value: Value =
        serde_json::from_str(text).map_err(|error| Format::Json.syntax(Some(error.line())))?;
    let Value::Object(mut entries) = value else {
        return Err(Format::Json.syntax(Some(1)));
    };
    let mut extent = Extent::default();
    let metadata = entries
        .shift_remove(METADATA_KEY)
        .map(|value| node(value, &mut extent))
        .transpose()?;
    let document = node(Value::Object(entries), &mut extent)?;
    Ok((vec![document], metadata))
}

pub(super) fn write(document: &Node) -> Result<String, SopsError> {
    let mut text = String::new();
    write_node(&mut text, document, "", 0)?;
    text.push('\n');
    Ok(text)
}

fn node(value: Value, extent: &mut Extent) -> Result<Node, SopsError> {
    extent.count()?;
    Ok(match value {
        Value::Null => Node::Null,
        Value::Bool(value) => Node::Bool(value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Node::Int(number),
            None => Node::Float(number.as_f64().ok_or_else(|| Format::Json.syntax(None))?),
        },
        Value::String(text) => Node::Text(text.into_bytes()),
        Value::Array(items) => {
            extent.enter()?;
            let items: Result<_, _> = items.into_iter().map(|item| node(item, extent)).collect();
            extent.leave();
            Node::List(items?)
        }
        Value::Object(entries) => {
            extent.enter()?;
            let entries: Result<_, SopsError> = entries
                .into_iter()
                .map(|(key, value)| Ok((key, node(value, extent)?)))
                .collect();
            extent.leave();
            Node::Map(entries?)
        }
    })
}

fn write_node(text: &mut String, node: &Node, key: &str, depth: usize) -> Result<(), SopsError> {
    match node {
        Node::Null | Node::Comment(_) => text.push_str("null"),
        Node::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Node::Int(number) => {
            // Writing to a string cannot fail.
            let _ = write!(text, "{number}");
        }
        Node::Float(number) => text.push_str(&float(*number)?),
        Node::Text(bytes) => go_json::push_string(text, utf8(bytes, key)?),
        Node::Time(time) => go_json::push_string(text, time),
        Node::List(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                start_line(text, at, depth + 1);
                write_node(text, item, key, depth + 1)?;
            }
            end_line(text, items.is_empty(), depth);
            text.push(']');
        }
        Node::Map(entries) => {
            text.push('{');
            let entries = entries
                .iter()
                .filter(|(_, value)| !matches!(value, Node::Comment(_)));
            let mut empty = true;
            for (at, (key, value)) in entries.enumerate() {
                empty = false;
                start_line(text, at, depth + 1);
                go_json::push_string(text, key);
                text.push_str(": ");
                write_node(text, value, key, depth + 1)?;
            }
            end_line(text, empty, depth);
            text.push('}');
        }
    }
    Ok(())
}

fn start_line(text: &mut String, at: usize, depth: usize) {
    if at > 0 {
        text.push(',');
    }
    end_line(text, false, depth);
}

fn end_line(text: &mut String, empty: bool, depth: usize) {
    if empty {
        return;
    }
    text.push('\n');
    for _ in 0..depth {
        text.push('\t');
    }
}

/// A float as Go's `encoding/json` writes it: with an exponent if it is very small or large.
fn float(number: f64) -> Result<String, SopsError> {
    if !number.is_finite() {
        return Err(Format::Json.output("a number is not finite"));
    }
    Ok(go_json::float_text(number))
}
