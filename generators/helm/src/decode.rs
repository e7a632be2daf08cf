//! Reading typed fields out of YAML as `sigs.k8s.io/yaml` fills Go structs: field names match in any case, numbers and booleans
//! become text where text is wanted, null leaves a field as it was.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use whipstaff_gotemplate::Dialect;

/// A value of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go {target} of type {wanted}"
)]
pub struct DecodeError {
    /// JSON type of what was found.
    pub found: &'static str,
    /// What was being filled: `value`, or `struct field Metadata.name`.
    pub target: String,
    /// Go type that it should have had.
    pub wanted: &'static str,
}

impl DecodeError {
    /// The same with the type's name in this dialect: Helm 4 has charts in another package.
    pub(crate) fn in_dialect(mut self, dialect: Dialect) -> Self {
        if dialect.is_v4() {
            self.wanted = match self.wanted {
                "chart.Metadata" => "v2.Metadata",
                "chart.Dependency" => "v2.Dependency",
                "[]*chart.Dependency" => "[]*v2.Dependency",
                "chart.Maintainer" => "v2.Maintainer",
                "[]*chart.Maintainer" => "[]*v2.Maintainer",
                "chart.Lock" => "v2.Lock",
                other => other,
            };
        }
        self
    }
}

/// The fields of a struct, by name in any case.
pub(crate) struct Fields<'a> {
    owner: &'static str,
    entries: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Fields<'a> {
    /// The fields of a map; of null, none.
    pub(crate) fn of(
        owner: &'static str,
        go_type: &'static str,
        value: &'a Value,
    ) -> Result<Self, DecodeError> {
        let entries = match value {
            Value::Null => BTreeMap::new(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.as_str(), value))
                .collect(),
            other => {
                return Err(DecodeError {
                    found: json_type(other),
                    target: "value".to_owned(),
                    wanted: go_type,
                });
            }
        };
        Ok(Self { owner, entries })
    }

    /// The fields of a field that is a struct itself; none when it is absent.
    pub(crate) fn inner(
        &self,
        name: &str,
        owner: &'static str,
        go_type: &'static str,
    ) -> Result<Self, DecodeError> {
        let value = self.get(name).unwrap_or(&Value::Null);
        Self::of(owner, go_type, value).map_err(|_| self.wrong(name, value, go_type))
    }

    /// The fields of an item of a list that is a field.
    pub(crate) fn item(
        &self,
        name: &str,
        owner: &'static str,
        go_type: &'static str,
        item: &'a Value,
    ) -> Result<Self, DecodeError> {
        Self::of(owner, go_type, item).map_err(|_| self.wrong(name, item, go_type))
    }

    /// The value of a field; of several spellings the last in byte order, which is the order that they are decoded in.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.entries
            .iter()
            .rev()
            .find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null())
            .map(|(_, value)| *value)
    }

    /// Text; empty when it is absent.
    pub(crate) fn text(&self, name: &str) -> Result<String, DecodeError> {
        self.get(name).map_or(Ok(String::new()), |value| {
            text(value).ok_or_else(|| self.wrong(name, value, "string"))
        })
    }

    /// A boolean; false when it is absent.
    pub(crate) fn boolean(&self, name: &str) -> Result<bool, DecodeError> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(other) => Err(self.wrong(name, other, "bool")),
        }
    }

    /// A list; empty when it is absent.
    pub(crate) fn list(
        &self,
        name: &str,
        wanted: &'static str,
    ) -> Result<&'a [Value], DecodeError> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.wrong(name, other, wanted)),
        }
    }

    /// A list of texts; null items are empty texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, DecodeError> {
        self.list(name, "[]string")?
            .iter()
            .map(|item| match item {
                Value::Null => Ok(String::new()),
                item => text(item).ok_or_else(|| self.wrong(name, item, "string")),
            })
            .collect()
    }

    /// A map of texts, or nothing when it is absent.
    pub(crate) fn text_map(
        &self,
        name: &str,
    ) -> Result<Option<BTreeMap<String, String>>, DecodeError> {
        let map: &Map<String, Value> = match self.get(name) {
            None => return Ok(None),
            Some(Value::Object(map)) => map,
            Some(other) => return Err(self.wrong(name, other, "map[string]string")),
        };
        let entry = |(key, value): (&String, &Value)| match value {
            Value::Null => Ok((key.clone(), String::new())),
            value => Ok((
                key.clone(),
                text(value).ok_or_else(|| self.wrong(name, value, "string"))?,
            )),
        };
        map.iter().map(entry).collect::<Result<_, _>>().map(Some)
    }

    /// A map, or nothing when it is absent.
    pub(crate) fn map(
        &self,
        name: &str,
        wanted: &'static str,
    ) -> Result<Option<&'a Value>, DecodeError> {
        match self.get(name) {
            Some(other) if !other.is_object() => Err(self.wrong(name, other, wanted)),
            found => Ok(found),
        }
    }

    fn wrong(&self, name: &str, found: &Value, wanted: &'static str) -> DecodeError {
        DecodeError {
            found: json_type(found),
            target: format!("struct field {}.{name}", self.owner),
            wanted,
        }
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The text of a scalar.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.to_string(),
            (None, Some(integer)) => integer.to_string(),
            (None, None) => single_precision(number.as_f64().unwrap_or_default()),
        }),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Go's `strconv.FormatFloat(value, 'g', -1, 32)`: the shortest digits that tell one 32-bit float from its neighbours, with an
/// exponent below 1e-4 and from 1e6 on.
fn single_precision(value: f64) -> String {
    let value = value as f32;
    let scientific = format!("{value:e}");
    let parts = scientific
        .split_once('e')
        .map(|(digits, power)| (digits, power.parse::<i32>()));
    let Some((digits, Ok(exponent))) = parts else {
        return scientific;
    };
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_become_text_where_text_is_wanted() {
        let cases = [
            (json!("a"), "a"),
            (json!(5), "5"),
            (json!(-5), "-5"),
            (
                json!(18_446_744_073_709_551_615_u64),
                "18446744073709551615",
            ),
            (json!(true), "true"),
            (json!(1.10), "1.1"),
            (json!(1.0), "1"),
            (json!(0.000_01), "1e-05"),
            (json!(1_234_567.5), "1.2345675e+06"),
            (json!(123_456.5), "123456.5"),
            (json!(-0.25), "-0.25"),
            (json!(null), ""),
        ];
        for (value, expected) in cases {
            let map = json!({ "appVersion": value });
            let fields = Fields::of("Metadata", "chart.Metadata", &map).unwrap();
            assert_eq!(fields.text("appVersion").unwrap(), expected, "{value}");
        }
    }

    #[test]
    fn field_names_match_in_any_case_and_the_last_one_wins() {
        let map = json!({"NAME": "a", "name": "b", "Name": "c"});
        let fields = Fields::of("Metadata", "chart.Metadata", &map).unwrap();
        assert_eq!(fields.text("name").unwrap(), "b");
    }

    #[test]
    fn wrong_types_are_reported_as_go_reports_them() {
        let map = json!({"version": [1], "keywords": "a", "deprecated": "yes"});
        let fields = Fields::of("Metadata", "chart.Metadata", &map).unwrap();
        assert_eq!(
            fields.text("version").unwrap_err().to_string(),
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go struct field \
             Metadata.version of type string"
        );
        assert!(fields.texts("keywords").is_err());
        assert!(fields.boolean("deprecated").is_err());
        assert!(Fields::of("Metadata", "chart.Metadata", &json!(["a"])).is_err());
    }
}
