//! Privacy-enhanced mail: base64 between lines with dashes, as Go's `encoding/pem` reads and writes it.

use crate::base_encoding::{base64, from_base64};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const LINE: usize = 64;

/// A block with its type.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: String,
    pub(super) bytes: Vec<u8>,
}

/// Writes a block.
pub(super) fn encode(kind: &str, bytes: &[u8]) -> String {
    let body = base64(bytes);
    let mut output = format!("{BEGIN}{kind}{DASHES}\n");
    for (index, character) in body.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            output.push('\n');
        }
        output.push(character);
    }
    if !body.is_empty() {
        output.push('\n');
    }
    output + END + kind + DASHES + "\n"
}

/// The first block of a text. What is malformed is passed over.
pub(super) fn decode(text: &[u8]) -> Option<Block> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| line.trim_end_matches([' ', '\t', '\r']))
        .collect();
    let mut begin = None;
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with(BEGIN) {
            begin = Some(index);
        }
        let Some(kind) = between(line, END) else {
            continue;
        };
        let Some(start) = begin.take() else {
            continue;
        };
        let is_same = lines.get(start).and_then(|line| between(line, BEGIN)) == Some(kind);
        let body = lines
            .get(start + 1..index)
            .filter(|_| is_same)
            .and_then(body);
        if let Some(bytes) = body {
            return Some(Block {
                kind: kind.to_owned(),
                bytes,
            });
        }
    }
    None
}

fn between<'l>(line: &'l str, prefix: &str) -> Option<&'l str> {
    line.strip_prefix(prefix)?.strip_suffix(DASHES)
}

/// The bytes of a block's lines. Headers, which have a colon, come first.
fn body(lines: &[&str]) -> Option<Vec<u8>> {
    let lines = lines.iter().skip_while(|line| line.contains(':'));
    let text: String = lines
        .flat_map(|line| line.chars())
        .filter(|c| !matches!(c, ' ' | '\t'))
        .collect();
    from_base64(text.as_bytes()).ok()
}
