//! `html`, `js` and `urlquery` (`text/template/funcs.go`, `net/url`).

use crate::format::{is_print, runes};

/// `template.HTMLEscape`.
pub(super) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            0 => out.extend("\u{FFFD}".as_bytes()),
            b'"' => out.extend(b"&#34;"),
            b'\'' => out.extend(b"&#39;"),
            b'&' => out.extend(b"&amp;"),
            b'<' => out.extend(b"&lt;"),
            b'>' => out.extend(b"&gt;"),
            _ => out.push(byte),
        }
    }
    out
}

/// `template.JSEscape`.
pub(super) fn javascript(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (offset, character, width) in runes(text) {
        match character {
            '\\' | '\'' | '"' => out.extend([b'\\', character as u8]),
            '<' | '>' | '&' | '=' | '\0'..='\x1F' => {
                out.extend(format!("\\u{:04X}", u32::from(character)).as_bytes());
            }
            _ if character.is_ascii() || is_print(character) => {
                out.extend(&text[offset..offset + width]);
            }
            _ => out.extend(format!("\\u{:04X}", u32::from(character)).as_bytes()),
        }
    }
    out
}

/// `url.QueryEscape`.
pub(super) fn url_query(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte),
            b' ' => out.push(b'+'),
            _ => out.extend(format!("%{byte:02X}").as_bytes()),
        }
    }
    out
}
