//! Finds encrypted files without reading all of them.

use memchr::memmem;

use crate::cipher::PREFIX;
use crate::format::Format;

/// Endings of files that are written for people: they may show what encrypted files look like.
const PROSE: [&str; 6] = [".md", ".markdown", ".adoc", ".rst", ".html", ".txt"];

/// Whether a file was encrypted by SOPS, told by how its metadata look: a `sops` map or section, or `sops_` keys, with a message
/// authentication code.
///
/// This looks at lines and parses nothing, and files in which nothing is encrypted cost one search. Files for people (`.md`, `.txt`
/// and the like) count only if they are one JSON object, which is what SOPS makes of a file whose format it does not know:
/// otherwise they may be about SOPS.
pub fn is_encrypted(path: &str, content: &[u8]) -> bool {
    encrypted_format(path, content).is_some()
}

/// The format that an encrypted file's metadata are in.
pub(crate) fn encrypted_format(path: &str, content: &[u8]) -> Option<Format> {
    memmem::find(content, PREFIX.as_bytes())?;
    if content.trim_ascii_start().starts_with(b"{") {
        return is_json(content).then_some(Format::Json);
    }
    let name = path.to_ascii_lowercase();
    if PROSE.iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    by_lines(content)
}

fn is_json(content: &[u8]) -> bool {
    let has_code = memmem::find_iter(content, b"\"mac\"".as_slice()).any(|at| {
        let rest = content.get(at + 5..).unwrap_or_default();
        let value = rest.trim_ascii_start();
        let value = value.strip_prefix(b":").unwrap_or_default();
        value
            .trim_ascii_start()
            .strip_prefix(b"\"")
            .is_some_and(is_value)
    });
    has_code && memmem::find(content, b"\"sops\"").is_some()
}

/// Tells YAML, dotenv and INI by the line with the message authentication code, and by what it is in.
fn by_lines(content: &[u8]) -> Option<Format> {
    let mut inside = None;
    for line in content.split(|byte| *byte == b'\n') {
        if line.starts_with(b"sops_mac=") {
            return line
                .strip_prefix(b"sops_mac=")
                .is_some_and(is_value)
                .then_some(Format::Dotenv);
        }
        let indented = line.first().is_some_and(u8::is_ascii_whitespace);
        let trimmed = line.trim_ascii();
        match trimmed {
            b"[sops]" => inside = Some(Format::Ini),
            b"sops:" | b"\"sops\":" | b"'sops':" if !indented => inside = Some(Format::Yaml),
            [b'[', ..] if inside == Some(Format::Ini) => inside = None,
            // Sequences may stand as far left as their key.
            [b'#' | b'-', ..] | [] => {}
            _ if inside == Some(Format::Yaml) && !indented => inside = None,
            _ => {}
        }
        let Some(rest) = trimmed.strip_prefix(b"mac") else {
            continue;
        };
        let rest = rest.trim_ascii_start();
        let (separator, rest) = rest.split_at_checked(1).unwrap_or_default();
        let value = rest.trim_ascii_start();
        let value = value
            .strip_prefix(b"\"")
            .or_else(|| value.strip_prefix(b"'"))
            .unwrap_or(value);
        let fits = match inside {
            Some(Format::Yaml) => separator == b":",
            Some(Format::Ini) => separator == b"=" || separator == b":",
            _ => false,
        };
        if fits && is_value(value) {
            return inside;
        }
    }
    None
}

fn is_value(bytes: &[u8]) -> bool {
    bytes.starts_with(PREFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]";

    #[test]
    fn metadata_are_found_in_every_format() {
        for (path, content, format) in [
            (
                "a.yaml",
                format!("a: 1\nsops:\n    age: []\n    mac: {CODE}\n"),
                Some(Format::Yaml),
            ),
            (
                "a",
                format!("sops:\r\n  mac: \"{CODE}\"\r\n"),
                Some(Format::Yaml),
            ),
            (
                "a.json",
                format!("{{\"sops\":{{\"mac\" : \"{CODE}\"}}}}"),
                Some(Format::Json),
            ),
            (
                "a.env",
                format!("A=1\nsops_mac={CODE}\n"),
                Some(Format::Dotenv),
            ),
            (
                "a.ini",
                format!("[a]\nb=1\n[sops]\nmac   = {CODE}\n"),
                Some(Format::Ini),
            ),
            (
                "README.md",
                format!("\n{{\"sops\":{{\"mac\":\"{CODE}\"}}}}"),
                Some(Format::Json),
            ),
            ("README.md", format!("sops:\n    mac: {CODE}\n"), None),
            (
                "a.yaml",
                format!("data:\n  b: |\n    sops:\n        mac: {CODE}\n"),
                None,
            ),
            (
                "a.yaml",
                format!("sops:\n    age: []\nother:\n    mac: {CODE}\n"),
                None,
            ),
            ("a.yaml", format!("sops:\nmac: {CODE}\n"), None),
            ("a.yaml", format!("a: {CODE}\n"), None),
            (
                "a.json",
                format!("{{\"a\": \"{{\\\"sops\\\":{{\\\"mac\\\":\\\"{CODE}\"}}"),
                None,
            ),
            ("a.yaml", "sops:\n    mac: none\n".to_owned(), None),
            ("a.yaml", String::new(), None),
        ] {
            assert_eq!(
                encrypted_format(path, content.as_bytes()),
                format,
                "{path}\n{content}"
            );
        }
    }
}
