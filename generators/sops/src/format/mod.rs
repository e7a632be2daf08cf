//! The formats that SOPS knows, as trees and back.

mod dotenv;
mod ini;
mod json;
mod scalar;
mod timestamp;
mod yaml;

use crate::error::SopsError;
use crate::tree::{Documents, Node};

/// The key that a binary file's bytes are kept under in JSON.
const BINARY_KEY: &str = "data";

/// A format of encrypted files. Binary files are JSON as long as they are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    Json,
    Dotenv,
    Ini,
}

impl Format {
    /// The format that a file's ending names.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "env" => Some(Self::Dotenv),
            "ini" => Some(Self::Ini),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Dotenv => "dotenv",
            Self::Ini => "INI",
        }
    }

    fn syntax(self, line: Option<usize>) -> SopsError {
        SopsError::Syntax {
            format: self.name(),
            line,
        }
    }

    fn output(self, problem: &'static str) -> SopsError {
        SopsError::Output {
            format: self.name(),
            problem,
        }
    }
}

/// Reads a file, and takes its metadata out.
pub(crate) fn read(format: Format, content: &[u8]) -> Result<(Documents, Option<Node>), SopsError> {
    let text = std::str::from_utf8(content).map_err(|_| format.syntax(None))?;
    match format {
        Format::Yaml => yaml::read(text),
        Format::Json => json::read(text),
        Format::Dotenv => dotenv::read(text),
        Format::Ini => ini::read(text),
    }
}

/// Writes decrypted documents in the format that the file's name says, or else in the one it was in.
pub(crate) fn write(
    named: Option<Format>,
    input: Format,
    documents: &Documents,
) -> Result<Vec<u8>, SopsError> {
    let format = named.unwrap_or(input);
    if named.is_none()
        && input == Format::Json
        && let [document] = documents.as_slice()
        && let Some(Node::Text(bytes)) = document.get(BINARY_KEY)
    {
        return Ok(bytes.clone());
    }
    if format == Format::Yaml {
        return yaml::write(documents).map(String::into_bytes);
    }
    let [document] = documents.as_slice() else {
        return Err(format.output("there is more than one document"));
    };
    let text = match format {
        Format::Dotenv => dotenv::write(document),
        Format::Ini => ini::write(document),
        Format::Json | Format::Yaml => json::write(document),
    };
    text.map(String::into_bytes)
}

/// A value that is no collection as text of a format without types.
fn plain_text(format: Format, key: &str, node: &Node) -> Result<String, SopsError> {
    Ok(match node {
        Node::Text(bytes) => crate::tree::utf8(bytes, key)?.to_owned(),
        Node::Time(text) => text.clone(),
        Node::Bool(value) => value.to_string(),
        Node::Int(number) => number.to_string(),
        Node::Float(number) if number.fract() == 0.0 => format!("{number:.1}"),
        Node::Float(number) => number.to_string(),
        Node::Null => String::new(),
        Node::List(_) | Node::Map(_) | Node::Comment(_) => {
            return Err(format.output("it holds lists or maps where only texts can be"));
        }
    })
}
