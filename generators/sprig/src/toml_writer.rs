//! Writing TOML as `github.com/BurntSushi/toml` 1.6 does.

use crate::{
    equality::{MAX_VALUE_DEPTH, too_deep},
    json,
    lists::{charge_items, is_nil_list},
};
use serde_json::Value as Json;
use whipstaff_gotemplate::{FunctionError, IntKind, Kind, Map, Runtime, Value, format};

/// The TOML text of a value: of a map a document, of anything else the bare value.
///
/// # Errors
/// The encoder's text for what TOML cannot express, and limits.
pub(crate) fn write(runtime: &mut dyn Runtime, value: &Value) -> Result<Vec<u8>, FunctionError> {
    let mut writer = Writer {
        runtime,
        out: Vec::new(),
        depth: 0,
    };
    writer.entry(&[], &plain(value)?)?;
    Ok(writer.out)
}

/// Which place a value takes in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Inline,
    Table,
    Tables,
}

struct Writer<'a> {
    runtime: &'a mut dyn Runtime,
    out: Vec<u8>,
    depth: usize,
}

/// Host objects as the text or the structure that they encode to; a time stays what it is.
fn plain(value: &Value) -> Result<Value, FunctionError> {
    let Value::Host(host) = value else {
        return Ok(value.clone());
    };
    if host.kind() == Kind::Map
        && let Some(entries) = host.entries()
    {
        let entries = entries.into_iter();
        return Ok(Value::map(entries.filter_map(|(key, item)| {
            key.as_bytes().map(|key| (key.clone(), item))
        })));
    }
    match host.to_json() {
        Some(Json::String(_)) if host.type_name() == "time.Time" => Ok(value.clone()),
        Some(document) => Ok(Value::from_json_integers(&document)),
        None => {
            let kind = host.kind().name();
            Err(FunctionError::new(format!("unsupported type: {kind}")))
        }
    }
}

fn is_nil(value: &Value) -> bool {
    match value {
        Value::Nil => true,
        Value::List(list) => is_nil_list(list),
        _ => false,
    }
}

impl Writer<'_> {
    fn descend(&mut self) -> Result<(), FunctionError> {
        self.depth += 1;
        if self.depth > MAX_VALUE_DEPTH {
            Err(too_deep())
        } else {
            Ok(())
        }
    }

    /// A list is an array of tables if it has elements and all of them are maps. A nil element is an error wherever it is.
    fn shape(&mut self, value: &Value) -> Result<Shape, FunctionError> {
        match value {
            Value::Map(_) => Ok(Shape::Table),
            Value::List(list) => {
                self.descend()?;
                charge_items(self.runtime, list.len())?;
                let mut are_tables = !list.is_empty();
                for item in list.iter() {
                    let item = plain(item)?;
                    if is_nil(&item) {
                        let message = "toml: cannot encode array with nil element";
                        return Err(FunctionError::new(message));
                    }
                    are_tables &= self.shape(&item)? == Shape::Table;
                }
                self.depth -= 1;
                Ok(if are_tables {
                    Shape::Tables
                } else {
                    Shape::Inline
                })
            }
            _ => Ok(Shape::Inline),
        }
    }

    fn entry(&mut self, path: &[&[u8]], value: &Value) -> Result<(), FunctionError> {
        match (self.shape(value)?, value) {
            (Shape::Table, Value::Map(map)) => self.table(path, map),
            (Shape::Tables, Value::List(list)) => {
                if path.is_empty() {
                    let message = "toml: top-level values must be Go maps or structs";
                    return Err(FunctionError::new(message));
                }
                for item in list.iter() {
                    let Value::Map(map) = plain(item)? else {
                        continue;
                    };
                    self.line_break();
                    self.header(path, "[[", "]]");
                    self.entries(path, &map)?;
                }
                Ok(())
            }
            _ => {
                let Some(key) = path.last() else {
                    return self.element(value);
                };
                self.indent(path);
                self.pair(key, value)?;
                self.line_break();
                Ok(())
            }
        }
    }

    fn table(&mut self, path: &[&[u8]], map: &Map) -> Result<(), FunctionError> {
        if path.len() == 1 {
            self.line_break();
        }
        if !path.is_empty() {
            self.header(path, "[", "]");
        }
        self.entries(path, map)
    }

    fn header(&mut self, path: &[&[u8]], open: &str, close: &str) {
        self.indent(path);
        self.out.extend_from_slice(open.as_bytes());
        let keys: Vec<Vec<u8>> = path.iter().map(|key| quote_key(key)).collect();
        self.out.extend_from_slice(&keys.join(&b'.'));
        self.out.extend_from_slice(close.as_bytes());
        self.line_break();
    }

    /// Simple values come before tables, both sorted by key.
    fn entries(&mut self, path: &[&[u8]], map: &Map) -> Result<(), FunctionError> {
        self.descend()?;
        let (simple, tables) = self.split(map)?;
        for (key, value) in simple
            .iter()
            .chain(&tables)
            .filter(|(_, value)| !is_nil(value))
        {
            let mut path = path.to_vec();
            path.push(key);
            self.entry(&path, value)?;
        }
        self.depth -= 1;
        Ok(())
    }

    #[expect(clippy::type_complexity, reason = "a pair of the same lists")]
    fn split(
        &mut self,
        map: &Map,
    ) -> Result<(Vec<(Vec<u8>, Value)>, Vec<(Vec<u8>, Value)>), FunctionError> {
        charge_items(self.runtime, map.len())?;
        let (mut simple, mut tables) = (Vec::new(), Vec::new());
        for (key, value) in map.entries() {
            let value = plain(&value)?;
            let shape = self.shape(&value)?;
            let list = if shape == Shape::Inline {
                &mut simple
            } else {
                &mut tables
            };
            list.push((key.to_vec(), value));
        }
        Ok((simple, tables))
    }

    fn pair(&mut self, key: &[u8], value: &Value) -> Result<(), FunctionError> {
        self.out.extend_from_slice(&quote_key(key));
        self.out.extend_from_slice(b" = ");
        self.element(value)
    }

    fn element(&mut self, value: &Value) -> Result<(), FunctionError> {
        match value {
            Value::Bool(truth) => self.out.extend_from_slice(truth.to_string().as_bytes()),
            Value::Int(IntKind::Duration, _) => {
                let text = format::sprint(std::slice::from_ref(value));
                self.out.extend_from_slice(&quote(&text));
            }
            Value::Int(_, number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::Uint(_, number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            Value::Float(number) => self.out.extend_from_slice(float_text(*number).as_bytes()),
            Value::String(text) => {
                self.runtime.charge(text.len())?;
                self.out.extend_from_slice(&quote(text));
            }
            Value::List(list) => {
                self.descend()?;
                charge_items(self.runtime, list.len())?;
                self.out.push(b'[');
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.extend_from_slice(b", ");
                    }
                    self.element(&plain(item)?)?;
                }
                self.out.push(b']');
                self.depth -= 1;
            }
            Value::Map(map) => self.inline_table(map)?,
            Value::Host(_) => {
                let document = json::to_document(self.runtime, value)?;
                self.out
                    .extend_from_slice(document.as_str().unwrap_or_default().as_bytes());
            }
            Value::Nil => {}
        }
        Ok(())
    }

    /// A nil value leaves its comma behind.
    fn inline_table(&mut self, map: &Map) -> Result<(), FunctionError> {
        self.descend()?;
        let (simple, tables) = self.split(map)?;
        self.out.push(b'{');
        for (list, is_followed) in [(&simple, !tables.is_empty()), (&tables, false)] {
            for (index, (key, value)) in list.iter().enumerate() {
                if is_nil(value) {
                    continue;
                }
                self.pair(key, value)?;
                if is_followed || index + 1 != list.len() {
                    self.out.extend_from_slice(b", ");
                }
            }
        }
        self.out.push(b'}');
        self.depth -= 1;
        Ok(())
    }

    /// A line break, but not at the beginning of the document.
    fn line_break(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    fn indent(&mut self, path: &[&[u8]]) {
        let spaces = path.len().saturating_sub(1) * 2;
        self.out.extend(std::iter::repeat_n(b' ', spaces));
    }
}

/// A float always has a point or an exponent.
fn float_text(number: f64) -> String {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_nan() {
        return format!("{sign}nan");
    }
    if number.is_infinite() {
        return format!("{sign}inf");
    }
    let text = format::float(number, b'g');
    if text.contains(['e', '.']) {
        text
    } else {
        format!("{text}.0")
    }
}

fn quote_key(key: &[u8]) -> Vec<u8> {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.iter().all(is_bare) {
        key.to_vec()
    } else {
        quote(key)
    }
}

fn quote(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            8 => out.extend(b"\\b"),
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            12 => out.extend(b"\\f"),
            b'\r' => out.extend(b"\\r"),
            0..0x20 | 0x7f => out.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}
