//! What templates are rendered with.

use serde_json::{Map, Value as Json};
use whipstaff_generator::{Error, ErrorKind};

/// Deepest nesting of values.
pub const MAX_VALUES_DEPTH: usize = 512;

/// Default values under parameters: maps become one, anything else gives way, and a null removes a default.
///
/// # Errors
/// [`ErrorKind::Limit`] when values are nested deeper than [`MAX_VALUES_DEPTH`].
pub(crate) fn data(
    defaults: &Map<String, Json>,
    parameters: &Map<String, Json>,
) -> Result<Json, Error> {
    if !is_shallow(defaults) || !is_shallow(parameters) {
        let message = format!("values are nested deeper than {MAX_VALUES_DEPTH} levels");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let mut data = defaults.clone();
    merge(&mut data, parameters);
    Ok(Json::Object(data))
}

/// Merges a map over another one.
pub(crate) fn merge(base: &mut Map<String, Json>, over: &Map<String, Json>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Json::Object(base)), Json::Object(over)) => merge(base, over),
            (Some(_), Json::Null) => {
                base.shift_remove(key);
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn is_shallow(map: &Map<String, Json>) -> bool {
    let mut level: Vec<&Json> = map.values().collect();
    for _ in 0..MAX_VALUES_DEPTH {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            return true;
        }
    }
    false
}

fn children(value: &Json) -> Vec<&Json> {
    match value {
        Json::Object(map) => map.values().collect(),
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_win_and_nulls_remove() {
        // defaults, parameters, data
        let cases = [
            (json!({"a": 1}), json!({}), json!({"a": 1})),
            (
                json!({"a": 1}),
                json!({"a": 2, "b": 3}),
                json!({"a": 2, "b": 3}),
            ),
            (
                json!({"a": {"x": 1, "y": 2}}),
                json!({"a": {"y": 3}}),
                json!({"a": {"x": 1, "y": 3}}),
            ),
            (json!({"a": {"x": 1}}), json!({"a": 2}), json!({"a": 2})),
            (json!({"a": {"x": 1}}), json!({"a": [2]}), json!({"a": [2]})),
            (
                json!({"a": 1}),
                json!({"a": {"x": 1}}),
                json!({"a": {"x": 1}}),
            ),
            (
                json!({"a": {"x": 1}, "b": 2}),
                json!({"a": null}),
                json!({"b": 2}),
            ),
            (json!({"a": [1]}), json!({"a": [2]}), json!({"a": [2]})),
            (json!({}), json!({"a": null}), json!({"a": null})),
        ];
        for (defaults, parameters, expected) in cases {
            let found = data(
                defaults.as_object().unwrap(),
                parameters.as_object().unwrap(),
            );
            assert_eq!(found.unwrap(), expected, "{defaults} {parameters}");
        }
    }

    #[test]
    fn values_that_are_nested_too_deeply_are_refused() {
        let nested = |depth: usize| {
            let value = (0..depth).fold(json!(1), |inner, _| json!([inner]));
            Map::from_iter([("a".to_owned(), value)])
        };
        assert!(data(&Map::new(), &nested(MAX_VALUES_DEPTH - 1)).is_ok());
        for (defaults, parameters) in [
            (nested(MAX_VALUES_DEPTH), Map::new()),
            (Map::new(), nested(MAX_VALUES_DEPTH)),
        ] {
            let error = data(&defaults, &parameters).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
        }
    }
}
