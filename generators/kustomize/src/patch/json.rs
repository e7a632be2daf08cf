//! JSON 6902 patches.
//!
//! Mirrors `gopkg.in/evanphx/json-patch.v4` v4.13.0: negative indices count from the end, `replace` makes a key that is missing, and
//! operations without a value write null.

use super::json_text::parse_operations;
use crate::error::{Result, fail, over_limit};
use crate::limits::{MAX_PATCH_OPERATIONS, MAX_PATCHED_BYTES, MAX_PATH_PARTS};
use crate::node::{Arena, NodeId, from_value};
use serde_json::{Map, Number, Value};
use whipstaff_generator::go_json;

/// The operations of a patch.
#[derive(Debug, Clone, Default)]
pub(crate) struct JsonPatch {
    operations: Vec<Map<String, Value>>,
}

/// A document behind a patch.
#[derive(Debug)]
pub(crate) struct Patched(Value);

impl Patched {
    /// Puts the document into the arena; all numbers have gone through floats.
    pub(crate) fn put_into(&self, arena: &mut Arena) -> NodeId {
        from_value(arena, &self.0)
    }
}

impl JsonPatch {
    /// Reads a patch as JSON if it starts with `[`, else as YAML.
    ///
    /// # Errors
    /// When it is no list of operations.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let operations = parse_operations(text)?;
        if operations.len() > MAX_PATCH_OPERATIONS {
            return Err(over_limit("operations in a patch", MAX_PATCH_OPERATIONS));
        }
        Ok(Self { operations })
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies the operations in their order.
    ///
    /// # Errors
    /// At the first operation that does not apply.
    pub(crate) fn apply(&self, mut document: Value) -> Result<Patched> {
        let mut copied = 0;
        for operation in &self.operations {
            let operation = Operation(operation);
            match operation.kind() {
                "add" => operation.add(&mut document)?,
                "remove" => operation.remove(&mut document)?,
                "replace" => operation.replace(&mut document)?,
                "move" => operation.relocate(&mut document)?,
                "test" => operation.test(&mut document)?,
                "copy" => operation.copy(&mut document, &mut copied)?,
                kind => return Err(fail(format!("Unexpected kind: {kind}"))),
            }
        }
        if document.is_array() {
            return Err(fail(
                "json: cannot unmarshal array into Go value of type map[string]interface {}",
            ));
        }
        through_floats(&mut document);
        Ok(Patched(document))
    }
}

/// Makes every number the float that Go reads out of JSON.
fn through_floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(through_floats),
        Value::Object(map) => map.values_mut().for_each(through_floats),
        _ => {}
    }
}

/// The ends of an error text.
const MISSING: &str = "missing value";
const BAD_INDEX: &str = "invalid index referenced";

struct Operation<'a>(&'a Map<String, Value>);

impl<'a> Operation<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    fn kind(&self) -> &'a str {
        self.text("op").unwrap_or("unknown")
    }

    fn path(&self, action: &str) -> Result<&'a str> {
        self.text("path").ok_or_else(|| {
            fail(format!(
                "{action} operation failed to decode path: {MISSING}"
            ))
        })
    }

    fn long_path(&self, action: &str) -> Result<&'a str> {
        self.text("path").ok_or_else(|| {
            fail(format!(
                "{action} operation failed to decode path: operation missing path field: {MISSING}"
            ))
        })
    }

    fn from(&self, action: &str) -> Result<&'a str> {
        self.text("from").ok_or_else(|| {
            fail(format!(
                "{action} operation failed to decode from: operation, missing from field: {MISSING}"
            ))
        })
    }

    fn value(&self) -> Value {
        self.0.get("value").cloned().unwrap_or_default()
    }

    fn add(&self, document: &mut Value) -> Result<()> {
        let path = self.path("add")?;
        let Some((container, key)) = find(document, path)? else {
            return Err(fail(format!(
                "add operation does not apply: doc is missing path: \"{path}\": {MISSING}"
            )));
        };
        add_to(container, &key, self.value())
            .map_err(|problem| fail(format!("error in add for path: '{path}': {problem}")))
    }

    fn remove(&self, document: &mut Value) -> Result<()> {
        let path = self.path("remove")?;
        let Some((container, key)) = find(document, path)? else {
            return Err(fail(format!(
                "remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"
            )));
        };
        remove_from(container, &key)
            .map(|_| ())
            .map_err(|problem| fail(format!("error in remove for path: '{path}': {problem}")))
    }

    fn replace(&self, document: &mut Value) -> Result<()> {
        let path = self.long_path("replace")?;
        if path.is_empty() {
            let value = self.value();
            if !value.is_object() && !value.is_array() {
                return Err(fail(
                    "replace operation value must be object or array: %!w(<nil>)",
                ));
            }
            *document = value;
            return Ok(());
        }
        let Some((container, key)) = find(document, path)? else {
            return Err(fail(format!(
                "replace operation does not apply: doc is missing path: {path}: {MISSING}"
            )));
        };
        if get_from(container, &key).is_err() {
            return Err(fail(format!(
                "replace operation does not apply: doc is missing key: {path}: {MISSING}"
            )));
        }
        match container {
            Value::Object(map) => {
                map.insert(key, self.value());
            }
            Value::Array(items) => {
                if let Ok(index) = existing_index(items, &key)
                    && let Some(item) = items.get_mut(index)
                {
                    *item = self.value();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn relocate(&self, document: &mut Value) -> Result<()> {
        let from = self.from("move")?;
        let Some((container, key)) = find(document, from)? else {
            return Err(fail(format!(
                "move operation does not apply: doc is missing from path: {from}: {MISSING}"
            )));
        };
        let problem = |problem: String| fail(format!("error in move for path: '{key}': {problem}"));
        get_from(container, &key).map_err(problem)?;
        let value = remove_from(container, &key).map_err(problem)?;
        let path = self.long_path("move")?;
        let Some((container, key)) = find(document, path)? else {
            return Err(fail(format!(
                "move operation does not apply: doc is missing destination path: {path}: {MISSING}"
            )));
        };
        add_to(container, &key, value)
            .map_err(|problem| fail(format!("error in move for path: '{path}': {problem}")))
    }

    fn test(&self, document: &mut Value) -> Result<()> {
        let path = self.long_path("test")?;
        let failed = || fail(format!("testing value {path} failed: test failed"));
        let wanted = self.value();
        if path.is_empty() {
            return if is_equal(document, &wanted) {
                Ok(())
            } else {
                Err(failed())
            };
        }
        let Some((container, key)) = find(document, path)? else {
            return Err(fail(format!(
                "test operation does not apply: is missing path: {path}: {MISSING}"
            )));
        };
        let value = get_from(container, &key)
            .map_err(|problem| fail(format!("error in test for path: '{path}': {problem}")))?;
        let value = value.unwrap_or(&Value::Null);
        if is_equal(value, &wanted) {
            Ok(())
        } else {
            Err(failed())
        }
    }

    fn copy(&self, document: &mut Value, copied: &mut usize) -> Result<()> {
        let from = self.from("copy")?;
        let Some((container, key)) = find(document, from)? else {
            return Err(fail(format!(
                "copy operation does not apply: doc is missing from path: {from}: {MISSING}"
            )));
        };
        let value = get_from(container, &key)
            .map_err(|problem| fail(format!("error in copy for from: '{from}': {problem}")))?;
        let value = value.cloned().unwrap_or_default();
        *copied += go_json::to_string(&value).len();
        if *copied > MAX_PATCHED_BYTES {
            return Err(over_limit("bytes copied by a patch", MAX_PATCHED_BYTES));
        }
        let path = self.path("copy")?;
        let Some((container, key)) = find(document, path)? else {
            return Err(fail(format!(
                "copy operation does not apply: doc is missing destination path: {path}: {MISSING}"
            )));
        };
        add_to(container, &key, value)
            .map_err(|problem| fail(format!("error while adding value during copy: {problem}")))
    }
}

/// The collection that a path leads into, and the last part of the path.
fn find<'d>(document: &'d mut Value, path: &str) -> Result<Option<(&'d mut Value, String)>> {
    let Some((_, rest)) = path.split_once('/') else {
        return Ok(None);
    };
    let (parents, key) = rest
        .rsplit_once('/')
        .map_or((None, rest), |(p, k)| (Some(p), k));
    if rest.split('/').count() > MAX_PATH_PARTS {
        return Err(over_limit("parts in the path of a patch", MAX_PATH_PARTS));
    }
    let mut container = document;
    for part in parents.into_iter().flat_map(|parents| parents.split('/')) {
        let part = decode(part);
        let next = match container {
            Value::Object(map) => map.get_mut(&part),
            Value::Array(items) => existing_index(items, &part)
                .ok()
                .and_then(|index| items.get_mut(index)),
            _ => None,
        };
        match next {
            Some(next @ (Value::Object(_) | Value::Array(_))) => container = next,
            _ => return Ok(None),
        }
    }
    Ok(Some((container, decode(key))))
}

fn decode(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// `strconv.Atoi`, with its error.
fn atoi(text: &str) -> std::result::Result<i64, String> {
    text.parse()
        .map_err(|_| format!("strconv.Atoi: parsing {text:?}: invalid syntax"))
}

/// The index of an item that is there.
fn existing_index(items: &[Value], key: &str) -> std::result::Result<usize, String> {
    let index = atoi(key)?;
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let place = if index < 0 { index + count } else { index };
    if place < 0 || place >= count {
        return Err(format!(
            "Unable to access invalid index: {index}: {BAD_INDEX}"
        ));
    }
    usize::try_from(place).map_err(|_| BAD_INDEX.to_owned())
}

/// A value; none for a key that an object does not have.
fn get_from<'d>(container: &'d Value, key: &str) -> std::result::Result<Option<&'d Value>, String> {
    match container {
        Value::Object(map) => Ok(map.get(key)),
        Value::Array(items) => existing_index(items, key).map(|index| items.get(index)),
        _ => Ok(None),
    }
}

fn add_to(container: &mut Value, key: &str, value: Value) -> std::result::Result<(), String> {
    match container {
        Value::Object(map) => {
            map.insert(key.to_owned(), value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let index = atoi(key)
                .map_err(|error| format!("value was not a proper array index: '{key}': {error}"))?;
            let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let place = if index < 0 { index + count + 1 } else { index };
            if place < 0 || place > count {
                return Err(format!(
                    "Unable to access invalid index: {index}: {BAD_INDEX}"
                ));
            }
            items.insert(usize::try_from(place).unwrap_or(items.len()), value);
        }
        _ => {}
    }
    Ok(())
}

fn remove_from(container: &mut Value, key: &str) -> std::result::Result<Value, String> {
    match container {
        Value::Object(map) => map
            .shift_remove(key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}")),
        Value::Array(items) => {
            let index = existing_index(items, key)?;
            Ok(items.remove(index))
        }
        _ => Ok(Value::Null),
    }
}

/// Whether two values are equal; numbers are when they are written equally.
fn is_equal(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Number(_), Value::Number(_)) => {
            go_json::to_string(first) == go_json::to_string(second)
        }
        (Value::Array(first), Value::Array(second)) => {
            first.len() == second.len() && first.iter().zip(second).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(first), Value::Object(second)) => {
            first.len() == second.len()
                && first
                    .iter()
                    .all(|(key, value)| second.get(key).is_some_and(|other| is_equal(value, other)))
        }
        _ => first == second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn apply(patch: &str, document: Value) -> std::result::Result<Value, String> {
        let patch = JsonPatch::parse(patch).map_err(|error| error.to_string())?;
        patch
            .apply(document)
            .map(|patched| patched.0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn operations_follow_the_go_library() {
        let document = json!({ "a": { "b": ["x", "y"] } });
        let cases = [
            ("- {op: add, path: /a/b/-, value: z}", Ok(json!({ "a": { "b": ["x", "y", "z"] } }))),
            ("- {op: add, path: /a/b/-1, value: z}", Ok(json!({ "a": { "b": ["x", "y", "z"] } }))),
            ("- {op: replace, path: /a/c, value: 1}", Ok(json!({ "a": { "b": ["x", "y"], "c": 1.0 } }))),
            ("- {op: remove, path: /a/b/0}", Ok(json!({ "a": { "b": ["y"] } }))),
            (
                "- {op: add, path: /a/b/9, value: z}",
                Err("error in add for path: '/a/b/9': Unable to access invalid index: 9: invalid index referenced".to_owned()),
            ),
            (
                "- {op: remove, path: /a/z}",
                Err("error in remove for path: '/a/z': Unable to remove nonexistent key: z: missing value".to_owned()),
            ),
            (
                "- {op: test, path: /a/b/0, value: n}",
                Err("testing value /a/b/0 failed: test failed".to_owned()),
            ),
            ("- {op: fly, path: /a}", Err("Unexpected kind: fly".to_owned())),
        ];
        for (patch, want) in cases {
            assert_eq!(apply(patch, document.clone()), want, "{patch}");
        }
    }
}
