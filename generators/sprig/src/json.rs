//! Writing JSON as Go's `encoding/json` does (Go 1.26).

use crate::{
    base_encoding::base64,
    equality::{MAX_VALUE_DEPTH, too_deep},
    lists::{charge_items, is_nil_list},
    runes::ERROR,
};
use serde_json::{Number, Value as Json};
use whipstaff_gotemplate::{
    Bytes, FunctionError, Host, IntKind, Kind, List, Map, Runtime, Value, format,
};

/// How JSON is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Whether `<`, `>` and `&` become escapes.
    pub(crate) escapes_html: bool,
    /// Whether each element has a line of its own, indented by two spaces a level.
    pub(crate) is_indented: bool,
}

/// The JSON text of a value, with keys sorted.
///
/// # Errors
/// Go's text for what JSON cannot express (NaN, for example), and limits.
pub(crate) fn write(
    runtime: &mut dyn Runtime,
    value: &Value,
    style: Style,
) -> Result<String, FunctionError> {
    let mut writer = Writer {
        out: String::new(),
        style,
        level: 0,
    };
    writer.value(runtime, value)?;
    Ok(writer.out)
}

/// The JSON document of a value, which keeps integers and floats apart.
///
/// # Errors
/// As [`write`].
pub(crate) fn to_document(runtime: &mut dyn Runtime, value: &Value) -> Result<Json, FunctionError> {
    document(runtime, value, Form::Json, MAX_VALUE_DEPTH)
}

/// The document of a value that a YAML encoder sees without the detour over JSON: a nil list is an empty one, a duration is text.
///
/// # Errors
/// As [`write`].
pub(crate) fn to_native_document(
    runtime: &mut dyn Runtime,
    value: &Value,
) -> Result<Json, FunctionError> {
    document(runtime, value, Form::Native, MAX_VALUE_DEPTH)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Native,
}

fn document(
    runtime: &mut dyn Runtime,
    value: &Value,
    form: Form,
    depth: usize,
) -> Result<Json, FunctionError> {
    let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
    Ok(match value {
        Value::Int(IntKind::Duration, _) if form == Form::Native => {
            let text = format::sprint(std::slice::from_ref(value));
            Json::String(crate::runes::text_of(&text))
        }
        Value::Nil => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(_, number) => Json::from(*number),
        Value::Uint(_, number) => Json::from(*number),
        Value::Float(number) => Number::from_f64(*number)
            .map(Json::Number)
            .ok_or_else(|| unsupported_number(*number))?,
        Value::String(text) => {
            runtime.charge(text.len())?;
            Json::String(crate::runes::text_of(text))
        }
        Value::List(list) if is_nil_list(list) && form == Form::Json => Json::Null,
        Value::List(list) => {
            if form == Form::Json
                && let Some(bytes) = list.to_bytes()
            {
                return Ok(Json::String(base64(&bytes)));
            }
            charge_items(runtime, list.len())?;
            let items = list.iter().map(|item| document(runtime, item, form, depth));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            charge_items(runtime, map.len())?;
            let mut entries = serde_json::Map::with_capacity(map.len());
            map.try_for_each(|key, item| {
                let item = document(runtime, item, form, depth)?;
                entries.insert(crate::runes::text_of(key), item);
                Ok::<(), FunctionError>(())
            })?;
            Json::Object(entries)
        }
        Value::Host(host) => match host.entries() {
            Some(entries) if form == Form::Native && host.kind() == Kind::Map => {
                let entries = entries.into_iter().map(|(key, item)| {
                    let key = crate::runes::text_of(&format::sprint(&[key]));
                    Ok((key, document(runtime, &item, form, depth)?))
                });
                Json::Object(entries.collect::<Result<_, FunctionError>>()?)
            }
            _ => host_document(&**host)?,
        },
    })
}

fn host_document(host: &dyn Host) -> Result<Json, FunctionError> {
    host.to_json()
        .ok_or_else(|| FunctionError::new(format!("json: unsupported type: {}", host.type_name())))
}

fn unsupported_number(number: f64) -> FunctionError {
    FunctionError::new(format!(
        "json: unsupported value: {}",
        format::float(number, b'g')
    ))
}

/// A number as JSON: exponents for the very small and the very large only.
fn float_text(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return format::float(number, b'f');
    }
    let text = format::float(number, b'e');
    match text.split_once("e-0") {
        Some((mantissa, digit)) => format!("{mantissa}e-{digit}"),
        None => text,
    }
}

/// How `encoding/json` writes bytes.
struct Writer {
    out: String,
    style: Style,
    level: usize,
}

impl Writer {
    fn value(&mut self, runtime: &mut dyn Runtime, value: &Value) -> Result<(), FunctionError> {
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            Value::Int(_, number) => self.out.push_str(&number.to_string()),
            Value::Uint(_, number) => self.out.push_str(&number.to_string()),
            Value::Float(number) if number.is_finite() => self.out.push_str(&float_text(*number)),
            Value::Float(number) => return Err(unsupported_number(*number)),
            Value::String(text) => self.text(runtime, text)?,
            Value::List(list) if is_nil_list(list) => self.out.push_str("null"),
            Value::List(list) => match list.to_bytes() {
                Some(bytes) => {
                    self.out.push('"');
                    self.out.push_str(&base64(&bytes));
                    self.out.push('"');
                }
                None => self.list(runtime, list)?,
            },
            Value::Map(map) => self.map(runtime, map)?,
            Value::Host(host) => self.document(runtime, &host_document(&**host)?)?,
        }
        Ok(())
    }

    fn list(&mut self, runtime: &mut dyn Runtime, list: &List) -> Result<(), FunctionError> {
        charge_items(runtime, list.len())?;
        self.open('[')?;
        for (index, item) in list.iter().enumerate() {
            self.separate(index);
            self.charge_line(runtime)?;
            self.value(runtime, item)?;
        }
        self.close(']', list.is_empty());
        Ok(())
    }

    fn map(&mut self, runtime: &mut dyn Runtime, map: &Map) -> Result<(), FunctionError> {
        charge_items(runtime, map.len())?;
        self.open('{')?;
        for (index, (key, item)) in map.entries().into_iter().enumerate() {
            self.separate(index);
            self.charge_line(runtime)?;
            self.text(runtime, &key)?;
            self.colon();
            self.value(runtime, &item)?;
        }
        self.close('}', map.is_empty());
        Ok(())
    }

    /// A document from a host object, whose keys have the order of the struct's fields.
    fn document(
        &mut self,
        runtime: &mut dyn Runtime,
        document: &Json,
    ) -> Result<(), FunctionError> {
        match document {
            Json::Null => self.out.push_str("null"),
            Json::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(number) => self.out.push_str(&float_text(number)),
                None => self.out.push_str(&number.to_string()),
            },
            Json::String(text) => self.text(runtime, &Bytes::from(text.as_str()))?,
            Json::Array(items) => {
                charge_items(runtime, items.len())?;
                self.open('[')?;
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    self.document(runtime, item)?;
                }
                self.close(']', items.is_empty());
            }
            Json::Object(entries) => {
                charge_items(runtime, entries.len())?;
                self.open('{')?;
                for (index, (key, item)) in entries.iter().enumerate() {
                    self.separate(index);
                    self.text(runtime, &Bytes::from(key.as_str()))?;
                    self.colon();
                    self.document(runtime, item)?;
                }
                self.close('}', entries.is_empty());
            }
        }
        Ok(())
    }

    fn open(&mut self, bracket: char) -> Result<(), FunctionError> {
        self.level += 1;
        if self.level > MAX_VALUE_DEPTH {
            return Err(too_deep());
        }
        self.out.push(bracket);
        Ok(())
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push(',');
        }
        self.line_break();
    }

    /// Takes an element's line from the budget.
    fn charge_line(&self, runtime: &mut dyn Runtime) -> Result<(), FunctionError> {
        runtime.charge(if self.style.is_indented {
            2 * self.level
        } else {
            0
        })
    }

    fn colon(&mut self) {
        self.out
            .push_str(if self.style.is_indented { ": " } else { ":" });
    }

    fn close(&mut self, bracket: char, is_empty: bool) {
        self.level -= 1;
        if !is_empty {
            self.line_break();
        }
        self.out.push(bracket);
    }

    fn line_break(&mut self) {
        if self.style.is_indented {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.level));
        }
    }

    fn text(&mut self, runtime: &mut dyn Runtime, text: &Bytes) -> Result<(), FunctionError> {
        runtime.charge(text.len())?;
        self.out.push('"');
        for (_, rune, width) in format::runes(text) {
            match rune {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '<' | '>' | '&' if self.style.escapes_html => self.escape(rune),
                '\0'..' ' | '\u{2028}' | '\u{2029}' => self.escape(rune),
                ERROR if width == 1 => self.escape(rune),
                _ => self.out.push(rune),
            }
        }
        self.out.push('"');
        Ok(())
    }

    fn escape(&mut self, rune: char) {
        let code = rune as u32;
        let digits = [12, 8, 4, 0].map(|shift| char::from_digit(code >> shift & 15, 16));
        self.out.push_str("\\u");
        self.out.extend(digits.into_iter().flatten());
    }
}
