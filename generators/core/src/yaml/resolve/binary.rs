//! Base64, and bytes that are no text.

/// Decodes standard base64 with padding, line breaks ignored, as Go's `base64.StdEncoding` does.
pub(in crate::yaml) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    let mut decoded = Vec::with_capacity(symbols.len() / 4 * 3);
    let mut groups = symbols.chunks(4).peekable();
    while let Some(group) = groups.next() {
        let [first, second, third, fourth] = group else {
            return None;
        };
        let last = groups.peek().is_none();
        let padding = match (third, fourth) {
            (b'=', b'=') if last => 2,
            (b'=', _) => return None,
            (_, b'=') if last => 1,
            (_, b'=') => return None,
            _ => 0,
        };
        let mut bits = sextet(*first)? << 18 | sextet(*second)? << 12;
        if padding < 2 {
            bits |= sextet(*third)? << 6;
        }
        if padding < 1 {
            bits |= sextet(*fourth)?;
        }
        let [_, bytes @ ..] = bits.to_be_bytes();
        decoded.extend(bytes.iter().take(3 - padding));
    }
    Some(decoded)
}

/// Makes text of bytes as Go's `encoding/json` does: each byte that is no part of a character
/// becomes U+FFFD.
pub(in crate::yaml) fn replace_invalid_utf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

fn sextet(symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}
