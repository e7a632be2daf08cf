//! dotenv: a key with its value on each line, nothing quoted.
//!
//! **Source**: `stores/dotenv/store.go` of SOPS 3.13.3.

use super::{Format, plain_text};
use crate::error::SopsError;
use crate::metadata::unflatten;
use crate::tree::{Documents, Extent, Node};

/// What keys of metadata start with.
const METADATA_PREFIX: &str = "sops_";

pub(super) fn read(text: &str) -> Result<(Documents, Option<Node>), SopsError> {
    let mut extent = Extent::default();
    let mut entries = Vec::new();
    let mut metadata = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        extent.count()?;
        if let Some(comment) = line.strip_prefix('#') {
            let comment = Node::Comment(comment.as_bytes().to_vec());
            entries.push((String::new(), comment));
            continue;
        }
        let (key, value) = line
            .split_once('=')
            .ok_or_else(|| Format::Dotenv.syntax(Some(at + 1)))?;
        let value = Node::Text(value.replace("\\n", "\n").into_bytes());
        match key.strip_prefix(METADATA_PREFIX) {
            Some(name) => metadata.push((name.to_owned(), value)),
            None => entries.push((key.to_owned(), value)),
        }
    }
    let metadata = if metadata.is_empty() {
        None
    } else {
        Some(unflatten(metadata)?)
    };
    Ok((vec![Node::Map(entries)], metadata))
}

pub(super) fn write(document: &Node) -> Result<String, SopsError> {
    let mut text = String::new();
    let Node::Map(entries) = document else {
        return Ok(text);
    };
    for (key, value) in entries {
        if let Node::Comment(comment) = value {
            text.push('#');
            text.push_str(crate::tree::utf8(comment, "#")?);
        } else {
            text.push_str(key);
            text.push('=');
            let value = plain_text(Format::Dotenv, key, value)?;
            text.push_str(&value.replace('\n', "\\n"));
        }
        text.push('\n');
    }
    Ok(text)
}
