//! `values.schema.json`: whether values are what a chart wants (Helm 4.3, `pkg/chart/common/util/jsonschema.go`).
//!
//! The validator is by the author of the one that Helm uses. References to other hosts and to files are not followed.

mod document;
mod outline;
mod verdict;

use crate::{
    tree::{ChartTree, NodeId},
    values::map_to_json,
};
use boon::{CompileError, Compiler, ErrorKind, SchemaIndex, Schemas, UrlLoader, ValidationError};
use outline::Outline;
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    error::Error as StdError,
    fmt::{self, Write},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use whipstaff_gotemplate::{Map, Value, format};

const SCHEMA_URL: &str = "file:///values.schema.json";

/// Values that do not meet the schema of a chart or a subchart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "values don't meet the specifications of the schema(s) in the following chart(s):\n{details}"
)]
pub struct SchemaError {
    /// Chart by chart, one violation a line.
    pub details: String,
}

/// Validates the values of a chart and of its subcharts, each time against the same compiled schemas.
#[derive(Default)]
pub(crate) struct Validator {
    /// By the places of the schemas' texts, which live as long as the chart does.
    known: Mutex<BTreeMap<usize, Arc<Known>>>,
}

/// What was made of a schema.
struct Known {
    /// Most values meet their schema, and most schemas are plain: then this is all that is needed.
    outline: Option<Outline>,
    /// Made when it is first needed.
    compiled: OnceLock<Result<Compiled, String>>,
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

/// A schema, and those that it refers to.
struct Compiled {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    /// Validates the values of a chart and of its subcharts.
    ///
    /// # Errors
    /// [`SchemaError`] with the violations of all charts, or the reason why a schema cannot be used.
    pub(crate) fn validate(&self, tree: &ChartTree, values: &Map) -> Result<(), SchemaError> {
        let mut details = String::new();
        self.validate_chart(tree, ChartTree::ROOT, values, &mut details);
        if details.is_empty() {
            Ok(())
        } else {
            Err(SchemaError { details })
        }
    }

    fn validate_chart(&self, tree: &ChartTree, chart: NodeId, values: &Map, details: &mut String) {
        let node = tree.node(chart);
        if let Some(schema) = &node.chart.schema
            && let Err(violations) = self.validate_values(schema, values)
        {
            let _ = write!(details, "{}:\n{violations}", node.name);
        }
        for child in &node.children {
            let name = &tree.node(*child).name;
            match values.get(name.as_bytes()) {
                None | Some(Value::Nil) => {}
                Some(Value::Map(values)) => self.validate_chart(tree, *child, &values, details),
                Some(other) => {
                    let _ = write!(
                        details,
                        "{name}:\ninvalid type for values: expected object (map), got {}\n",
                        other.type_name()
                    );
                }
            }
        }
    }

    fn validate_values(&self, schema: &Arc<[u8]>, values: &Map) -> Result<(), String> {
        let known = self.known(schema);
        let outline = known.outline.as_ref();
        if outline.is_some_and(|outline| outline.certainly_allows(values)) {
            return Ok(());
        }
        let compiled = known.compiled.get_or_init(|| Compiled::new(schema));
        let compiled = compiled.as_ref().map_err(Clone::clone)?;
        compiled.validate(&Json::Object(map_to_json(values)))
    }

    fn known(&self, schema: &Arc<[u8]>) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = schema.as_ptr() as usize;
        let entry = known.entry(place).or_insert_with(|| {
            Arc::new(Known {
                outline: Outline::of(schema),
                compiled: OnceLock::new(),
            })
        });
        Arc::clone(entry)
    }
}

/// Validates values against one schema.
///
/// # Errors
/// The violations, one a line.
pub(crate) fn validate_values(schema: &[u8], values: &Json) -> Result<(), String> {
    Compiled::new(schema)?.validate(values)
}

impl Compiled {
    fn new(schema: &[u8]) -> Result<Self, String> {
        let schema: Json = serde_json::from_slice(schema).map_err(|error| error.to_string())?;
        let (schemas, index) = compile(schema)?;
        Ok(Self { schemas, index })
    }

    fn validate(&self, values: &Json) -> Result<(), String> {
        let result = self.schemas.validate(values, self.index);
        result.map_err(|error| describe_all(&error))
    }
}

fn compile(mut schema: Json) -> Result<(Schemas, SchemaIndex), String> {
    escape_references(&mut schema);
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.use_loader(Box::new(NoLoader));
    compiler
        .add_resource(SCHEMA_URL, schema)
        .map_err(|error| unusable(&error))?;
    let index = compiler
        .compile(SCHEMA_URL, &mut schemas)
        .map_err(|error| unusable(&error))?;
    Ok((schemas, index))
}

/// Why a schema cannot be used.
fn unusable(error: &CompileError) -> String {
    let quoted = |url: &str| String::from_utf8_lossy(&format::quote(url.as_bytes())).into_owned();
    match error {
        CompileError::ValidationError { url, src } => {
            let standard = match &src.kind {
                ErrorKind::Schema { url } => quote(url),
                _ => quote(src.schema_url),
            };
            format!(
                "{} is not valid against metaschema: jsonschema validation failed with {standard}\n{}",
                quoted(url),
                describe_all(src)
            )
        }
        CompileError::JsonPointerNotFound(url) => {
            format!("json-pointer in {} not found", quoted(url))
        }
        CompileError::LoadUrlError { url, src } => {
            format!("failing loading {}: {src}", quoted(url))
        }
        other => format!("{other:#}"),
    }
}

/// Escapes what a URI must not hold in the fragments of references: Helm's validator takes `#/$defs/list[0]` as it is, ours insists
/// on `%5B`.
fn escape_references(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(escape_references),
        Json::Object(map) => {
            for (key, value) in map {
                match value {
                    Json::String(reference) if key == "$ref" => escape_fragment(reference),
                    other => escape_references(other),
                }
            }
        }
        _ => {}
    }
}

fn escape_fragment(reference: &mut String) {
    let Some((base, fragment)) = reference.split_once('#') else {
        return;
    };
    let mut escaped = format!("{base}#");
    for byte in fragment.bytes() {
        let allowed = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte);
        if allowed {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    *reference = escaped;
}

/// Refuses every reference out of the schema, except that a `urn:` stands for a schema that allows everything, as in Helm.
struct NoLoader;

impl UrlLoader for NoLoader {
    fn load(&self, url: &str) -> Result<Json, Box<dyn StdError>> {
        if url.starts_with("urn:") {
            return Ok(Json::Bool(true));
        }
        Err(format!("references to other documents are not followed: {url}").into())
    }
}

/// The order of properties in a schema is not kept, so that of violations is made to be that of the values' paths.
fn sort(errors: &mut [&ValidationError<'_, '_>]) {
    errors.sort_by_cached_key(|error| (error.instance_location.to_string(), message(&error.kind)));
}

/// What a whole document violates, one violation a line.
fn describe_all(error: &ValidationError<'_, '_>) -> String {
    let mut text = String::new();
    describe_causes(error, "", 1, &mut text);
    text
}

fn describe_causes(error: &ValidationError<'_, '_>, base: &str, depth: usize, text: &mut String) {
    let mut causes: Vec<_> = error.causes.iter().collect();
    let in_order = matches!(
        error.kind,
        ErrorKind::AllOf | ErrorKind::AnyOf | ErrorKind::OneOf(_)
    );
    if !in_order {
        sort(&mut causes);
    }
    for cause in causes {
        let below = fragment(cause.schema_url);
        let base = if in_order { branch(base, below) } else { base };
        describe(cause, base, depth, text);
    }
}

/// The branch of a group that a schema is in: the group's address with the keyword and the number.
fn branch<'a>(group: &'a str, below: &'a str) -> &'a str {
    let Some(rest) = below.strip_prefix(group) else {
        return group;
    };
    let length: usize = rest.split_inclusive('/').take(3).map(str::len).sum();
    below[..group.len() + length].trim_end_matches('/')
}

/// The part of a schema's address that is inside of its document.
fn fragment(url: &str) -> &str {
    url.split_once('#').map_or("", |(_, fragment)| fragment)
}

/// The groups between a schema and one below it that the validator left out, because they have one violation only: their texts and how
/// many parts of the instance's path lead to each, and how many to the schema below.
fn lone_groups(base: &str, below: &str) -> (Vec<(&'static str, usize)>, usize) {
    let mut parts = below
        .strip_prefix(base)
        .unwrap_or_default()
        .split('/')
        .skip(1);
    let (mut groups, mut below) = (Vec::new(), 0);
    while let Some(keyword) = parts.next() {
        match keyword {
            "allOf" => groups.push(("'allOf' failed", below)),
            "anyOf" => groups.push(("'anyOf' failed", below)),
            "oneOf" => groups.push(("'oneOf' failed, none matched", below)),
            "properties" | "patternProperties" | "prefixItems" => below += 1,
            "items"
            | "additionalProperties"
            | "additionalItems"
            | "contains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => {
                below += 1;
                continue;
            }
            "dependentSchemas" | "dependencies" | "$defs" | "definitions" => {}
            _ => continue,
        }
        // The name or the number that belongs to the keyword.
        parts.next();
    }
    (groups, below)
}

/// A path without its last parts.
fn without_last(path: &str, count: usize) -> &str {
    let cut = |path: &mut &str| {
        *path = path.rfind('/').map_or("", |at| &path[..at]);
    };
    let mut rest = path;
    (0..count).for_each(|_| cut(&mut rest));
    rest
}

fn describe(error: &ValidationError<'_, '_>, base: &str, depth: usize, text: &mut String) {
    let own = fragment(error.schema_url);
    let location = error.instance_location.to_string();
    let (groups, length) = lone_groups(base, own);
    let mut depth = depth;
    for (group, below) in groups {
        let at = without_last(&location, length - below);
        let indent = "  ".repeat(depth - 1);
        let _ = writeln!(text, "{indent}- at {}: {group}", quote(at));
        depth += 1;
    }
    let passed_over = error.causes.len() == 1 && matches!(error.kind, ErrorKind::Reference { .. });
    let depth = if passed_over {
        depth
    } else {
        let indent = "  ".repeat(depth - 1);
        let at = quote(&error.instance_location.to_string());
        let _ = writeln!(text, "{indent}- at {at}: {}", message(&error.kind));
        depth + 1
    };
    let inner = match &error.kind {
        ErrorKind::Reference { url, .. } => fragment(url),
        _ => own,
    };
    describe_causes(error, inner, depth, text);
}

fn message(kind: &ErrorKind<'_, '_>) -> String {
    match kind {
        ErrorKind::Not => "'not' failed".to_owned(),
        ErrorKind::AllOf => "'allOf' failed".to_owned(),
        ErrorKind::AnyOf => "'anyOf' failed".to_owned(),
        ErrorKind::OneOf(None) => "'oneOf' failed, none matched".to_owned(),
        ErrorKind::OneOf(Some((i, j))) => format!("'oneOf' failed, subschemas {i}, {j} matched"),
        ErrorKind::ContentSchema => "'contentSchema' failed".to_owned(),
        ErrorKind::PropertyName { prop } => format!("invalid propertyName {}", quote(prop)),
        ErrorKind::Type { got, want } => {
            let want: Vec<String> = want.iter().map(|wanted| wanted.to_string()).collect();
            format!("got {got}, want {}", want.join(" or "))
        }
        ErrorKind::Enum { want } => match want.as_slice() {
            values if !values.iter().all(is_primitive) => "'enum' failed".to_owned(),
            [value] => format!("value must be {}", display(value)),
            values => {
                let values: Vec<String> = values.iter().map(display).collect();
                format!("value must be one of {}", values.join(", "))
            }
        },
        ErrorKind::Const { want } if is_primitive(want) => {
            format!("value must be {}", display(want))
        }
        ErrorKind::Const { .. } => "'const' failed".to_owned(),
        ErrorKind::Required { want } if want.len() == 1 => {
            format!("missing property {}", quoted(want))
        }
        ErrorKind::Required { want } => format!("missing properties {}", quoted(want)),
        ErrorKind::Dependency { prop, missing }
        | ErrorKind::DependentRequired { prop, missing } => {
            format!(
                "properties {} required, if {} exists",
                quoted(missing),
                quote(prop)
            )
        }
        ErrorKind::AdditionalProperties { got } => {
            format!("additional properties {} not allowed", quoted(got))
        }
        ErrorKind::AdditionalItems { got } => format!("last {got} additionalItem(s) not allowed"),
        ErrorKind::Pattern { got, want } => {
            format!("{} does not match pattern {}", quote(got), quote(want))
        }
        ErrorKind::Format { got, want, err } => {
            format!("{} is not valid {want}: {err}", display(got))
        }
        ErrorKind::MinContains { got, want } if got.is_empty() => {
            format!("min {want} items required to match contains schema, but none matched")
        }
        ErrorKind::MinContains { got, want } => matched("min", *want, got),
        ErrorKind::MaxContains { got, want } => matched("max", *want, got),
        other => bound(other).unwrap_or_else(|| other.to_string()),
    }
}

fn matched(bound: &str, want: usize, got: &[usize]) -> String {
    let places: Vec<String> = got.iter().map(usize::to_string).collect();
    format!(
        "{bound} {want} items required to match contains schema, but matched {} items at {}",
        got.len(),
        places.join(" ")
    )
}

/// `minimum: got 1, want 2`, for everything that is a bound.
fn bound(kind: &ErrorKind<'_, '_>) -> Option<String> {
    let (name, got, want) = match kind {
        ErrorKind::MinProperties { got, want } => {
            ("minProperties", got.to_string(), want.to_string())
        }
        ErrorKind::MaxProperties { got, want } => {
            ("maxProperties", got.to_string(), want.to_string())
        }
        ErrorKind::MinItems { got, want } => ("minItems", got.to_string(), want.to_string()),
        ErrorKind::MaxItems { got, want } => ("maxItems", got.to_string(), want.to_string()),
        ErrorKind::MinLength { got, want } => ("minLength", got.to_string(), want.to_string()),
        ErrorKind::MaxLength { got, want } => ("maxLength", got.to_string(), want.to_string()),
        ErrorKind::Minimum { got, want } => ("minimum", got.to_string(), want.to_string()),
        ErrorKind::Maximum { got, want } => ("maximum", got.to_string(), want.to_string()),
        ErrorKind::ExclusiveMinimum { got, want } => {
            ("exclusiveMinimum", got.to_string(), want.to_string())
        }
        ErrorKind::ExclusiveMaximum { got, want } => {
            ("exclusiveMaximum", got.to_string(), want.to_string())
        }
        ErrorKind::MultipleOf { got, want } => ("multipleOf", got.to_string(), want.to_string()),
        _ => return None,
    };
    Some(format!(
        "{name}: got {}, want {}",
        grouped(&got),
        grouped(&want)
    ))
}

/// Thousands parted by commas, as the validator's printer writes numbers.
fn grouped(number: &str) -> String {
    let (sign, rest) = number
        .strip_prefix('-')
        .map_or(("", number), |rest| ("-", rest));
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, fraction) = rest.split_at(digits);
    let mut text = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (digits - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

fn is_primitive(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

fn display(value: &Json) -> String {
    match value {
        Json::String(text) => quote(text),
        Json::Array(_) | Json::Object(_) => "value".to_owned(),
        Json::Null => "<nil>".to_owned(),
        other => other.to_string(),
    }
}

fn quoted<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quote(text.as_ref())).collect();
    texts.join(", ")
}

fn quote(text: &str) -> String {
    let go = String::from_utf8_lossy(&format::quote(text.as_bytes())).into_owned();
    let inner = go
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(&go);
    format!("'{}'", inner.replace("\\\"", "\"").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn violations(schema: &Json, values: &Json) -> String {
        let compiled = Compiled::new(schema.to_string().as_bytes());
        let validated = compiled.and_then(|compiled| compiled.validate(values));
        validated.err().unwrap_or_default()
    }

    #[test]
    fn violations_read_as_helms() {
        let schema = json!({
            "type": "object",
            "required": ["name"],
            "additionalProperties": false,
            "properties": {
                "name": {"type": ["string", "null"], "minLength": 2},
                "port": {"type": "integer", "minimum": 1024, "maximum": 65535},
                "kind": {"enum": ["a", "b"]},
                "mode": {"const": "x"},
                "list": {"type": "array", "uniqueItems": true, "maxItems": 2},
                "any": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
                "ref": {"$ref": "#/$defs/text"},
                "it's": {"pattern": "^\"a\"$"},
            },
            "$defs": {"text": {"type": "string"}},
        });
        let cases = [
            (json!({"name": "ab", "port": 8080.0}), ""),
            (json!({}), "- at '': missing property 'name'\n"),
            (
                json!({"name": 5}),
                "- at '/name': got number, want null or string\n",
            ),
            (
                json!({"name": "a"}),
                "- at '/name': minLength: got 1, want 2\n",
            ),
            (
                json!({"name": null, "port": 80}),
                "- at '/port': minimum: got 80, want 1,024\n",
            ),
            (
                json!({"name": null, "port": 1_000_000}),
                "- at '/port': maximum: got 1,000,000, want 65,535\n",
            ),
            (
                json!({"name": null, "kind": "c"}),
                "- at '/kind': value must be one of 'a', 'b'\n",
            ),
            (
                json!({"name": null, "mode": 1}),
                "- at '/mode': value must be 'x'\n",
            ),
            (
                json!({"name": null, "list": [1, 1]}),
                "- at '/list': items at 0 and 1 are equal\n",
            ),
            (
                json!({"name": null, "ref": 1}),
                "- at '/ref': got number, want string\n",
            ),
            (
                json!({"name": null, "more": 1}),
                "- at '': additional properties 'more' not allowed\n",
            ),
            (
                json!({"name": null, "any": 1}),
                "- at '/any': 'anyOf' failed\n  - at '/any': got number, want string\n  \
                 - at '/any': got number, want boolean\n",
            ),
            (
                json!({"name": null, "it's": "b"}),
                "- at '/it\\'s': 'b' does not match pattern '^\"a\"$'\n",
            ),
        ];
        for (values, expected) in cases {
            assert_eq!(violations(&schema, &values), expected, "{values}");
        }
    }

    #[test]
    fn the_draft_decides_what_keywords_mean() {
        // `dependencies` is of draft 7; in 2020-12 it is two other keywords.
        let schema = |draft: &str| json!({"$schema": draft, "items": [{"type": "string"}]});
        let values = json!([1]);
        let seven = schema("http://json-schema.org/draft-07/schema#");
        assert!(!violations(&seven, &values).is_empty());
        let latest = schema("https://json-schema.org/draft/2020-12/schema");
        assert!(
            violations(&latest, &values).contains("jsonschema"),
            "items must be a schema"
        );
    }

    #[test]
    fn references_may_hold_what_uris_must_not() {
        let schema = json!({
            "properties": {"a": {"$ref": "#/$defs/list[0] of {x}"}},
            "$defs": {"list[0] of {x}": {"type": "string"}},
        });
        assert_eq!(violations(&schema, &json!({"a": "x"})), "");
        assert_eq!(
            violations(&schema, &json!({"a": 1})),
            "- at '/a': got number, want string\n"
        );
    }

    #[test]
    fn other_documents_are_not_fetched() {
        let remote = json!({"$ref": "https://example.org/schema.json"});
        assert!(violations(&remote, &json!({})).contains("references to other documents"));
        let file = json!({"$ref": "file:///etc/passwd"});
        assert!(violations(&file, &json!({})).contains("references to other documents"));
        let urn = json!({"$ref": "urn:example:anything"});
        assert_eq!(violations(&urn, &json!({"a": 1})), "");
    }

    #[test]
    fn a_schema_that_is_not_json_is_refused() {
        assert!(Compiled::new(b"{").is_err());
        assert!(Compiled::new(b"{} {}").is_err());
    }
}
