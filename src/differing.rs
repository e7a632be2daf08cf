//! Where two values differ.

use serde_json::Value;

/// Most differences between two objects that are looked for.
const MAX_DIFFERENCES: usize = 200;
/// Deepest nesting that is compared.
const MAX_DEPTH: usize = 64;

/// JSON pointers to where two values differ, as deep as both have something; a list of another length differs as a whole.
pub(crate) fn differing(one: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(Some(one), Some(other), &mut String::new(), 0, &mut found);
    found
}

/// Whether one pointer is above another, or the same.
pub(crate) fn covers(above: &str, below: &str) -> bool {
    below
        .strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn walk(
    one: Option<&Value>,
    other: Option<&Value>,
    pointer: &mut String,
    depth: usize,
    found: &mut Vec<String>,
) {
    if one == other || found.len() >= MAX_DIFFERENCES {
        return;
    }
    let length = pointer.len();
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) if depth < MAX_DEPTH => {
            let new = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(new) {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                walk(one.get(key), other.get(key), pointer, depth + 1, found);
                pointer.truncate(length);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other)))
            if depth < MAX_DEPTH && one.len() == other.len() =>
        {
            for (position, (one, other)) in one.iter().zip(other).enumerate() {
                pointer.push('/');
                pointer.push_str(&position.to_string());
                walk(Some(one), Some(other), pointer, depth + 1, found);
                pointer.truncate(length);
            }
        }
        _ => found.push(pointer.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_found_as_deep_as_they_are() {
        let one =
            json!({"a": {"b/c": 1, "same": 0}, "list": [1, {"x": 1}], "gone": 1, "longer": [1]});
        let other =
            json!({"a": {"b/c": 2, "same": 0}, "list": [1, {"x": 2}], "new": 1, "longer": [1, 2]});
        let mut found = differing(&one, &other);
        found.sort();
        assert_eq!(found, ["/a/b~1c", "/gone", "/list/1/x", "/longer", "/new"]);
        assert!(differing(&one, &one).is_empty());
        assert_eq!(differing(&json!(1), &json!("1")), [""]);
    }

    #[test]
    fn pointer_covers_itself_and_what_is_below() {
        assert!(covers("/a", "/a") && covers("/a", "/a/b") && covers("", "/a"));
        assert!(!covers("/a", "/ab") && !covers("/a/b", "/a"));
    }
}
