//! Field specifications out of definitions of custom types.
//!
//! Mirrors `internal/accumulator/loadconfigfromcrds.go` of kustomize api v0.21.1.

use crate::configuration::{Configuration, FieldSpec, FieldSpecs, NameReference};
use crate::error::{BuildError, BuildErrorKind, Result, fail};
use crate::files::Loader;
use crate::limits::MAX_BASE_DEPTH;
use crate::resource::read_text;
use serde_json::{Map, Value};
use whipstaff_generator::yaml;

/// The specifications that files of definitions hold.
pub(super) fn configuration(loader: &Loader<'_>, paths: &[String]) -> Result<Configuration> {
    let mut all = Configuration::default();
    for path in paths {
        let content = loader.load(path)?;
        let definitions = read(read_text(&content)?).map_err(|error| {
            error.within(format!("unable to parse open API definition from '{path}'"))
        })?;
        let mut own = Configuration::default();
        for name in definitions.keys() {
            if looks_like_type(&definitions, name) {
                let kind = name.rsplit('.').next().unwrap_or(name);
                let mut reader = Reader {
                    definitions: &definitions,
                    kind,
                    configuration: Configuration::default(),
                };
                reader.read(name, &[])?;
                own.merge(&reader.configuration)?;
            }
        }
        all.merge(&own)?;
    }
    Ok(all)
}

fn read(text: &str) -> Result<Map<String, Value>> {
    let malformed = |message: String| BuildError::new(BuildErrorKind::Malformed, message);
    if text.is_empty() {
        return Err(malformed("the file is empty".to_owned()));
    }
    let prefix = "error unmarshaling JSON: while decoding JSON: ";
    let (value, prefix): (Value, &str) = if text.starts_with('{') {
        (
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?,
            "",
        )
    } else {
        (
            yaml::from_str(text).map_err(|error| malformed(error.to_string()))?,
            prefix,
        )
    };
    let wrong = |value: &Value| {
        let kind = match value {
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Bool(_) => "bool",
            _ => "number",
        };
        malformed(format!(
            "{prefix}json: cannot unmarshal {kind} into Go value of type accumulator.OpenAPIDefinition"
        ))
    };
    match value {
        Value::Object(map) => {
            let mut values: Vec<_> = map.iter().collect();
            values.sort_by(|first, second| first.0.cmp(second.0));
            match values
                .iter()
                .find(|(_, value)| !value.is_object() && !value.is_null())
            {
                Some((_, value)) => Err(wrong(value)),
                None => Ok(map),
            }
        }
        Value::Null => Ok(Map::new()),
        other => Err(wrong(&other)),
    }
}

fn properties<'d>(
    definitions: &'d Map<String, Value>,
    name: &str,
) -> Option<&'d Map<String, Value>> {
    let definition = definitions.get(name)?.as_object()?;
    let (_, schema) = definition
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case("schema"))?;
    schema.get("properties")?.as_object()
}

fn looks_like_type(definitions: &Map<String, Value>, name: &str) -> bool {
    properties(definitions, name).is_some_and(|properties| {
        ["kind", "apiVersion", "metadata"]
            .iter()
            .all(|field| properties.contains_key(*field))
    })
}

struct Reader<'d> {
    definitions: &'d Map<String, Value>,
    kind: &'d str,
    configuration: Configuration,
}

impl Reader<'_> {
    fn spec(&self, path: &[&str]) -> FieldSpec {
        FieldSpec {
            kind: self.kind.to_owned().into(),
            path: path.join("/").into(),
            ..FieldSpec::default()
        }
    }

    fn read(&mut self, name: &str, path: &[&str]) -> Result<()> {
        if path.len() > MAX_BASE_DEPTH {
            return Err(fail(format!("definition `{name}` leads back to itself")));
        }
        let definitions = self.definitions;
        for (field, property) in properties(definitions, name).into_iter().flatten() {
            let text = |key: &str| property.get(key).and_then(Value::as_str);
            let path: Vec<&str> = path.iter().copied().chain([field.as_str()]).collect();
            let spec = self.spec(&path);
            if text("x-kubernetes-annotation").is_some() {
                self.configuration.common_annotations.merge_one(&spec)?;
            }
            if text("x-kubernetes-label-selector").is_some() {
                self.configuration.common_labels.merge_one(&spec)?;
            }
            if text("x-kubernetes-identity").is_some() {
                self.configuration.name_prefix.merge_one(&spec)?;
            }
            let version = text("x-kubernetes-object-ref-api-version");
            if let (Some(version), Some(kind)) = (version, text("x-kubernetes-object-ref-kind")) {
                let key = text("x-kubernetes-object-ref-name-key").unwrap_or("name");
                let path: Vec<&str> = path.iter().copied().chain([key]).collect();
                self.configuration.merge_reference(&NameReference {
                    group: "".into(),
                    version: version.to_owned().into(),
                    kind: kind.to_owned().into(),
                    field_specs: FieldSpecs(vec![self.spec(&path)].into()),
                })?;
            }
            if let Some(reference) = text("$ref") {
                self.read(reference, &path)?;
            }
        }
        Ok(())
    }
}
