//! Values: reading, merging, copying and finding them.

use serde_json::{Map as JsonMap, Value as Json};
use whipstaff_generator::yaml;
use whipstaff_gotemplate::{Bytes, Dialect, List, Map, MapType, Value};

/// Deepest nesting of values.
pub const MAX_VALUES_DEPTH: usize = 512;
/// Most entries of maps and items of lists in the values of one chart, after imports.
pub const MAX_VALUES_ENTRIES: usize = 2_000_000;

/// Values that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// The text is not YAML.
    #[error(transparent)]
    Yaml(yaml::Error),
    /// One of several documents is not YAML.
    #[error("cannot unmarshal yaml document")]
    Document(#[source] yaml::Error),
    /// A line that starts with `---` goes on with something else.
    #[error("error reading yaml document: invalid Yaml document separator: {rest}")]
    Separator {
        /// What follows the dashes.
        rest: String,
    },
    /// One of several documents is not a map.
    #[error(
        "cannot unmarshal yaml document: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
    )]
    DocumentNotAMap {
        /// What it is instead.
        found: &'static str,
    },
    /// The document is not a map.
    #[error(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
    )]
    NotAMap {
        /// JSON type of the document.
        found: &'static str,
    },
    /// Maps and lists are nested deeper than [`MAX_VALUES_DEPTH`].
    #[error("values are nested deeper than {MAX_VALUES_DEPTH}")]
    Depth,
}

/// Reads a values file: in Helm 3 its first document, in Helm 4 all of them, merged.
///
/// # Errors
/// [`ValuesError`] when it is not YAML or not a map.
pub fn read_values(text: &[u8], dialect: Dialect) -> Result<JsonMap<String, Json>, ValuesError> {
    if !dialect.is_v4() {
        return read_document(text, WHOLE);
    }
    let mut merged = JsonMap::new();
    for document in split_documents(text)? {
        merge_json(&mut merged, read_document(document, ONE_OF_SEVERAL)?);
    }
    Ok(merged)
}

/// What errors of a document become.
#[derive(Clone, Copy)]
struct Reading {
    yaml: fn(yaml::Error) -> ValuesError,
    not_a_map: fn(&'static str) -> ValuesError,
}

const WHOLE: Reading = Reading {
    yaml: ValuesError::Yaml,
    not_a_map: |found| ValuesError::NotAMap { found },
};
const ONE_OF_SEVERAL: Reading = Reading {
    yaml: ValuesError::Document,
    not_a_map: |found| ValuesError::DocumentNotAMap { found },
};

fn read_document(text: &[u8], reading: Reading) -> Result<JsonMap<String, Json>, ValuesError> {
    let found = match yaml::from_slice(text).map_err(reading.yaml)? {
        Json::Null => Ok(JsonMap::new()),
        Json::Object(map) => Ok(map),
        Json::Bool(_) => Err("bool"),
        Json::Number(_) => Err("number"),
        Json::String(_) => Err("string"),
        Json::Array(_) => Err("array"),
    };
    let map = found.map_err(reading.not_a_map)?;
    check_depth(&map)?;
    Ok(map)
}

/// Refuses values that are nested too deeply for the code that walks them.
pub(crate) fn check_depth(map: &JsonMap<String, Json>) -> Result<(), ValuesError> {
    let mut level: Vec<&Json> = map.values().collect();
    for _ in 0..MAX_VALUES_DEPTH {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(ValuesError::Depth)
}

fn children(value: &Json) -> Vec<&Json> {
    match value {
        Json::Object(map) => map.values().collect(),
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether values may be walked and copied: imports can make a table contain itself, and double it from chart to chart.
pub(crate) fn is_within_limits(map: &Map) -> bool {
    let mut entries = 0;
    is_map_within(map, 0, &mut entries)
}

fn is_map_within(map: &Map, depth: usize, entries: &mut usize) -> bool {
    *entries += map.len();
    depth <= MAX_VALUES_DEPTH
        && *entries <= MAX_VALUES_ENTRIES
        && map
            .entries()
            .iter()
            .all(|(_, value)| is_value_within(value, depth + 1, entries))
}

fn is_value_within(value: &Value, depth: usize, entries: &mut usize) -> bool {
    match value {
        Value::Map(map) => is_map_within(map, depth, entries),
        Value::List(list) => {
            *entries += list.len();
            depth <= MAX_VALUES_DEPTH
                && *entries <= MAX_VALUES_ENTRIES
                && list
                    .iter()
                    .all(|item| is_value_within(item, depth + 1, entries))
        }
        _ => true,
    }
}

/// The documents of a text as Kubernetes' reader finds them: parted by lines that start with `---`, which may only be followed by
/// blanks or a comment.
fn split_documents(text: &[u8]) -> Result<Vec<&[u8]>, ValuesError> {
    let mut documents = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        let end = text[at..]
            .iter()
            .position(|b| *b == b'\n')
            .map_or(text.len(), |n| at + n + 1);
        if let Some(rest) = text[at..end].strip_prefix(b"---") {
            let rest = rest.trim_ascii();
            if !rest.is_empty() && !rest.starts_with(b"#") {
                let rest = String::from_utf8_lossy(rest).into_owned();
                return Err(ValuesError::Separator { rest });
            }
            // A separator at the very beginning of a document belongs to it.
            if at > start {
                documents.push(&text[start..at]);
                start = end;
            }
        }
        at = end;
    }
    if start < text.len() {
        documents.push(&text[start..]);
    }
    Ok(documents)
}

/// Merges maps of JSON; what is merged in wins, null included.
pub(crate) fn merge_json(base: &mut JsonMap<String, Json>, over: JsonMap<String, Json>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Json::Object(below)), Json::Object(value)) => merge_json(below, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Merges maps of values into a new one; what is merged in wins, null included. Maps that are not merged are shared.
pub fn merge_values(base: &Map, over: &Map) -> Map {
    let merged = fresh(base);
    for (key, value) in over.entries() {
        let value = match (merged.get(&key), &value) {
            (Some(Value::Map(below)), Value::Map(above)) => Value::Map(merge_values(&below, above)),
            _ => value,
        };
        merged.insert(key, value);
    }
    merged
}

/// Values out of JSON as `encoding/json` decodes them: every number is a `float64`.
pub fn values_from_json(map: &JsonMap<String, Json>) -> Map {
    let entries = map
        .iter()
        .map(|(key, value)| (Bytes::from(key.as_str()), Value::from_json(value)));
    Map::new(MapType::ANY, entries.collect())
}

/// A map without entries.
pub(crate) fn empty_map() -> Map {
    Map::new(MapType::ANY, std::collections::BTreeMap::new())
}

/// A map of the same entries that does not share changes.
pub(crate) fn fresh(map: &Map) -> Map {
    map.copy_with(|_| {})
}

/// A copy that shares no map with the original, maps in lists included.
pub(crate) fn deep_copy(map: &Map) -> Map {
    map.copy_with(deep_copy_value)
}

fn deep_copy_value(value: &mut Value) {
    match value {
        Value::Map(map) => *map = deep_copy(map),
        Value::List(list)
            if list
                .iter()
                .any(|item| matches!(item, Value::Map(_) | Value::List(_))) =>
        {
            let mut items = list.to_vec();
            items.iter_mut().for_each(deep_copy_value);
            *list = List::new(list.list_type(), items);
        }
        _ => {}
    }
}

/// The table at a dotted path.
pub(crate) fn table(map: &Map, path: &str) -> Option<Map> {
    path.split('.')
        .try_fold(map.clone(), |map, key| match map.get(key.as_bytes()) {
            Some(Value::Map(below)) => Some(below),
            _ => None,
        })
}

/// The value at a dotted path, unless it is a table.
pub(crate) fn path_value(map: &Map, path: &str) -> Option<Value> {
    let (map, key) = match path.rsplit_once('.') {
        Some((tables, key)) => (table(map, tables)?, key),
        None => (map.clone(), path),
    };
    map.get(key.as_bytes())
        .filter(|value| !matches!(value, Value::Map(_)))
}

/// A value as JSON, as a schema sees it: whole floats are integers.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(_, value) => Json::from(*value),
        Value::Uint(_, value) => Json::from(*value),
        Value::Float(value) => number(*value),
        Value::String(text) => Json::String(text.to_text().into_owned()),
        Value::List(list) => Json::Array(list.iter().map(to_json).collect()),
        Value::Map(map) => Json::Object(map_to_json(map)),
        Value::Host(host) => host.to_json().unwrap_or_default(),
    }
}

/// A map as JSON.
pub(crate) fn map_to_json(map: &Map) -> JsonMap<String, Json> {
    map.entries()
        .iter()
        .map(|(key, value)| (key.to_text().into_owned(), to_json(value)))
        .collect()
}

fn number(value: f64) -> Json {
    // 2^53: beyond it not every whole number is a float, and the digits would only look exact.
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        Json::from(value as i64)
    } else {
        serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn several_documents_are_read_by_dialect() {
        let text = b"---\na: 1\nm: {x: 1}\n--- # next\nb: 2\nm: {z: null}\n";
        let v3 = read_values(text, Dialect::V3).unwrap();
        assert_eq!(Json::Object(v3), json!({"a": 1, "m": {"x": 1}}));
        let v4 = read_values(text, Dialect::V4_3).unwrap();
        assert_eq!(
            Json::Object(v4),
            json!({"a": 1, "b": 2, "m": {"x": 1, "z": null}})
        );
    }

    #[test]
    fn a_separator_with_text_is_refused_in_helm_4() {
        let error = read_values(b"a: 1\n---x\n", Dialect::V4_3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error reading yaml document: invalid Yaml document separator: x"
        );
    }

    #[test]
    fn documents_that_are_not_maps_are_refused() {
        for (text, found) in [
            ("a", "string"),
            ("- a", "array"),
            ("5", "number"),
            ("yes", "bool"),
        ] {
            let error = read_values(text.as_bytes(), Dialect::V3).unwrap_err();
            assert!(
                matches!(error, ValuesError::NotAMap { found: f } if f == found),
                "{error}"
            );
        }
        assert!(read_values(b"", Dialect::V3).unwrap().is_empty());
        assert!(
            read_values(b"# nothing\n", Dialect::V4_3)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn merging_replaces_all_but_maps() {
        let base = values_from_json(
            json!({"a": {"x": 1, "y": 2}, "l": [1]})
                .as_object()
                .unwrap(),
        );
        let over = values_from_json(
            json!({"a": {"y": null}, "l": [2], "n": 3})
                .as_object()
                .unwrap(),
        );
        let merged = merge_values(&base, &over);
        assert_eq!(
            Json::Object(map_to_json(&merged)),
            json!({"a": {"x": 1, "y": null}, "l": [2], "n": 3})
        );
        assert_eq!(map_to_json(&base)["a"], json!({"x": 1, "y": 2}));
    }

    #[test]
    fn paths_find_values_but_not_tables() {
        let values = values_from_json(json!({"a": {"b": true, "c": {}}}).as_object().unwrap());
        assert!(matches!(
            path_value(&values, "a.b"),
            Some(Value::Bool(true))
        ));
        for path in ["a", "a.c", "a.b.c", "x", "x.y", "", "a."] {
            assert!(path_value(&values, path).is_none(), "{path}");
        }
        assert!(table(&values, "a.c").is_some());
        assert!(table(&values, "a.b").is_none());
    }

    #[test]
    fn values_that_are_nested_too_deeply_are_refused() {
        let mut value = json!(1);
        for _ in 0..=MAX_VALUES_DEPTH {
            value = json!([value]);
        }
        assert!(check_depth(json!({ "a": value }).as_object().unwrap()).is_err());
    }
}
