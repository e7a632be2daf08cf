//! What YAML can say and JSON cannot: infinity, and keys that no string stands for.
//!
//! Such a thing is an error only if it is still there at the end: a later pair with the same key
//! may replace it. Until then a marked string keeps its place.

use serde_json::Value;

use super::error::Error;
use super::go_syntax::number;
use super::resolve::Resolved;

/// Starts the strings that are no strings.
const MARK: &str = "\0unrepresentable\0";

/// Stands for a number JSON cannot hold.
pub(super) fn value(shown: &str, line: usize) -> Value {
    Value::String(format!("{MARK}{line}\0json: unsupported value: {shown}"))
}

/// Stands for a key that cannot become a string.
pub(super) fn key(key: Resolved) -> String {
    format!("{MARK}{}", number(key).unwrap_or_default())
}

/// Stands for the value of such a key.
pub(super) fn entry(key: Resolved, value: &str, line: usize) -> Value {
    let (kind, shown) = match key {
        Resolved::Uint(_) => ("uint64", number(key).unwrap_or_default()),
        _ => ("%!s(<nil>)", "<nil>".to_owned()),
    };
    let problem = format!("unsupported map key of type: {kind}, key: {shown}, value: {value}");
    Value::String(format!("{MARK}{line}\0{problem}"))
}

/// Fails if anything unrepresentable is left.
pub(super) fn check(value: &Value) -> Result<(), Error> {
    match first_key(value).or_else(|| first_value(value)) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn first_key(value: &Value) -> Option<Error> {
    match value {
        Value::Array(items) => items.iter().find_map(first_key),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            if key.starts_with(MARK) {
                error(value)
            } else {
                first_key(value)
            }
        }),
        _ => None,
    }
}

/// Go writes mappings in the order of their keys.
fn first_value(value: &Value) -> Option<Error> {
    match value {
        Value::Array(items) => items.iter().find_map(first_value),
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by(|first, second| first.0.cmp(second.0));
            pairs.into_iter().find_map(|(_, value)| first_value(value))
        }
        _ => error(value),
    }
}

fn error(value: &Value) -> Option<Error> {
    let (line, problem) = value.as_str()?.strip_prefix(MARK)?.split_once('\0')?;
    let error = Error::conversion(problem.to_owned());
    Some(match line.parse() {
        Ok(line) => error.at_line(line),
        Err(_) => error,
    })
}
