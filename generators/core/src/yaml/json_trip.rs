//! What becomes of a value on its way through the JSON text that sigs.k8s.io/yaml makes YAML of.

use serde_json::Value;

use super::compose::MAX_DEPTH;

/// Keys shorter than this, in bytes, can be read back whatever is escaped in them: at most six
/// characters come of a byte.
const SAFE_KEY_LENGTH: usize = 1024 / 6;

/// Whether the value may change, or be refused, on its way through JSON text.
pub(super) fn matters(value: &Value) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth >= MAX_DEPTH {
            return true;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => {
                if has_unusual_character(text) {
                    return true;
                }
            }
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                if map
                    .keys()
                    .any(|key| key.len() >= SAFE_KEY_LENGTH || has_unusual_character(key))
                {
                    return true;
                }
                open.extend(map.values().map(|value| (value, depth + 1)));
            }
        }
    }
    false
}

/// Whether there is a character that YAML text cannot hold, or a NEL, which YAML takes for a line
/// break.
fn has_unusual_character(text: &str) -> bool {
    !text.is_ascii()
        && text
            .chars()
            .any(|c| matches!(c, '\u{80}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}'))
        || text.contains('\x7F')
}
