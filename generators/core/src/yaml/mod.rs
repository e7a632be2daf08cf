//! YAML as Kubernetes tools read and write it.
//!
//! Reading and writing follow sigs.k8s.io/yaml v1.6.0 over go.yaml.in/yaml v2.4.3 to the byte: YAML
//! 1.1 with `yes` and `on` for booleans and `0644` for 420, values as they come out of JSON, keys
//! in natural order, and the same texts of errors.
//!
//! ```
//! use whipstaff_generator::yaml;
//!
//! let values = yaml::from_str("mode: 0644\nenabled: yes\n")?;
//! assert_eq!(values, serde_json::json!({ "mode": 420, "enabled": true }));
//! assert_eq!(yaml::to_string(&values), "enabled: true\nmode: 420\n");
//! # Ok::<(), yaml::Error>(())
//! ```

mod character;
mod compose;
mod decode;
mod direct;
mod emitter;
mod error;
mod go_number;
mod go_syntax;
mod input;
mod json_trip;
mod letters;
mod natural_order;
mod parser;
mod resolve;
mod scanner;
pub mod syntax;
mod unrepresentable;

use serde_json::Value;

use self::compose::compose;
use self::decode::decode;
use self::direct::Wanted;
use self::emitter::{Form, KeyOrder, emit};
pub use self::error::Error;
pub(crate) use self::go_number::format_json;
use self::input::Input;
use self::parser::Parser;

/// One document of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What the document holds; null if it is empty.
    pub value: Value,
    /// The line its content starts at, counted from 1.
    pub line: usize,
}

/// Reads the first document of a text; an empty text is null.
///
/// Keys keep their order, and of two equal ones the last wins. Keys that are no strings become
/// some. Integers stay integers up to 64 bits; a float without a fraction becomes one, as it does
/// in JSON that Go writes. Dates stay strings. Documents behind the first are not looked at.
///
/// # Errors
/// When the text is not YAML, or holds what JSON cannot: null keys, infinity, collections as keys.
///
/// **Source**: `YAMLToJSON` of sigs.k8s.io/yaml v1.6.0.
pub fn from_str(text: &str) -> Result<Value, Error> {
    read_first(&Input::from_str(text)?, false)
}

/// Reads like [`from_str`], out of UTF-8, or of UTF-16 with a byte order mark.
///
/// # Errors
/// As [`from_str`], and when the bytes are no text.
pub fn from_slice(bytes: &[u8]) -> Result<Value, Error> {
    read_first(&Input::from_bytes(bytes)?, false)
}

/// Reads like [`from_slice`], but of a mapping at the root only the fields of these names need be there, which may be in any
/// case. The others are looked at for errors; whether they are there is not said.
///
/// # Errors
/// As [`from_slice`].
pub fn fields_from_slice(bytes: &[u8], names: &[&str]) -> Result<Value, Error> {
    let input = Input::from_bytes(bytes)?;
    match direct::read(&input, Wanted::Named(names)) {
        Some(value) => Ok(value),
        None => read_completely(&input, false),
    }
}

/// Reads like [`from_str`], but does not allow a key twice.
///
/// # Errors
/// As [`from_str`]; all keys that are there twice are named in one error.
///
/// **Source**: `YAMLToJSONStrict` of sigs.k8s.io/yaml v1.6.0.
pub fn from_str_strict(text: &str) -> Result<Value, Error> {
    read_first(&Input::from_str(text)?, true)
}

/// Reads all documents of a text, each as [`from_str`] reads the first. Empty ones are null.
///
/// # Errors
/// As [`from_str`], for the first document that cannot be read.
pub fn documents(text: &str) -> Result<Vec<Document>, Error> {
    let input = Input::from_str(text)?;
    let mut parser = Parser::new(&input);
    let mut documents = Vec::new();
    while let Some(tree) = compose(&mut parser)? {
        let line = tree
            .nodes
            .first()
            .map_or(0, |root| root.start.line as usize)
            + 1;
        documents.push(Document {
            value: decode(&tree, false)?,
            line,
        });
    }
    Ok(documents)
}

/// Writes a value as a document that ends in a line break: keys in natural order, sequences not
/// indented under their key, lines folded behind 80 columns.
///
/// Strings that Go cannot write are escaped; [`marshal`] refuses them.
///
/// **Source**: `Marshal` of sigs.k8s.io/yaml v1.6.0.
pub fn to_string(value: &Value) -> String {
    emit(value, Form::V2, KeyOrder::Natural)
}

/// Writes like [`to_string`], and fails where Go does.
///
/// Go writes JSON text and reads it back as YAML before it writes YAML. That fails for DEL, C1
/// control characters and U+FFFE and U+FFFF, for keys of more than 1,024 characters and for deep
/// nesting, and it takes NEL characters for line breaks. Helm's `toYaml` makes such an error an
/// empty text.
///
/// # Errors
/// As [`from_str`] for the JSON text of the value.
///
/// **Source**: `Marshal` of sigs.k8s.io/yaml v1.6.0.
pub fn marshal(value: &Value) -> Result<String, Error> {
    if !json_trip::matters(value) {
        return Ok(to_string(value));
    }
    let json = crate::go_json::to_string(value);
    from_str(&json)
        .map(|value| to_string(&value))
        .map_err(Error::writing)
}

/// Writes like [`to_string`], with the keys in the order of the map.
pub fn to_string_ordered(value: &Value) -> String {
    emit(value, Form::V2, KeyOrder::Own)
}

/// Writes a value as go-yaml v3 does with an indentation of 2, which is what Helm calls pretty:
/// sequences are indented under their key, and floats keep Go's notation.
///
/// **Source**: `Encoder` of go.yaml.in/yaml v3.0.4.
pub fn to_string_pretty(value: &Value) -> String {
    emit(value, Form::V3, KeyOrder::Natural)
}

fn read_first(input: &Input<'_>, strict: bool) -> Result<Value, Error> {
    if !strict && let Some(value) = direct::read(input, Wanted::All) {
        return Ok(value);
    }
    read_completely(input, strict)
}

fn read_completely(input: &Input<'_>, strict: bool) -> Result<Value, Error> {
    match compose(&mut Parser::new(input))? {
        Some(tree) => decode(&tree, strict),
        None => Ok(Value::Null),
    }
}
