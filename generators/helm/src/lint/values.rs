//! Checks of `values.yaml`.

use super::{Findings, LintInput, Severity, chain};
use crate::{
    coalesce::{Nulls, merge_tables},
    schema,
    values::{deep_copy, map_to_json, read_values, values_from_json},
};
use serde_json::Value as Json;
use whipstaff_gotemplate::Dialect;

const FILE: &str = "values.yaml";

/// Whether the file is there, is YAML, and meets the schema together with the user's values. Of several documents only the first counts,
/// in every dialect.
pub(super) fn check(input: &LintInput<'_>, findings: &mut Findings) {
    let Some(text) = input.files.get(FILE) else {
        return findings.add(Severity::Info, FILE, "file does not exist");
    };
    let defaults = match read_values(text, Dialect::V3) {
        Ok(defaults) => values_from_json(&defaults),
        Err(error) => {
            let go_type = if input.dialect.is_v4() {
                "common.Values"
            } else {
                "chartutil.Values"
            };
            let text = chain(&error).replace("map[string]interface {}", go_type);
            let message = format!("unable to parse YAML: {text}");
            return findings.add(Severity::Error, FILE, message);
        }
    };
    // Helm 3 has the flag and forgets it here.
    if input.skip_schema_validation && input.dialect.is_v4() {
        return;
    }
    let Some(schema) = input.files.get("values.schema.json") else {
        return;
    };
    if schema.is_empty() {
        return;
    }
    let values = deep_copy(input.values);
    merge_tables(&values, &defaults, "", Nulls::Remove, &mut |_| {});
    let values = Json::Object(map_to_json(&values));
    let result = schema::validate_values(schema, &values);
    findings.check(Severity::Error, FILE, result);
}
