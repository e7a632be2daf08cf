//! Checks of `Chart.yaml`.

use super::{
    Findings, LintInput, Severity,
    addresses::{is_email, is_url},
    quoted,
};
use crate::{
    decode::{DecodeError, Fields},
    metadata::{Metadata, MetadataError},
};
use serde_json::Value as Json;
use whipstaff_generator::yaml;
use whipstaff_sprig::{
    is_absolute_url,
    semver::{Constraint, Version},
};

const FILE: &str = "Chart.yaml";

/// Fields that `Chart.yaml` may have.
const FIELDS: [&str; 17] = [
    "name",
    "home",
    "sources",
    "version",
    "description",
    "keywords",
    "maintainers",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "deprecated",
    "annotations",
    "kubeVersion",
    "dependencies",
    "type",
];
const MAINTAINER_FIELDS: [&str; 3] = ["name", "email", "url"];
const DEPENDENCY_FIELDS: [&str; 8] = [
    "name",
    "version",
    "repository",
    "condition",
    "tags",
    "enabled",
    "import-values",
    "alias",
];

/// Runs all checks of the file; those behind the first need one that can be read.
pub(super) fn check(input: &LintInput<'_>, findings: &mut Findings) {
    let Some(text) = input.files.get(FILE) else {
        return;
    };
    let unreadable = |error: String| format!("unable to parse YAML\n\t{error}");
    let parsed = yaml::from_slice(text)
        .map_err(|error| error.to_string())
        .and_then(|value| match Metadata::decode(&value) {
            Err(MetadataError::Decode(error)) => Err(error.to_string()),
            _ => Ok(value),
        });
    let value = match parsed {
        Ok(value) => value,
        Err(error) => return findings.add(Severity::Error, FILE, unreadable(error)),
    };
    let v4 = input.dialect.is_v4();
    if v4 && let Err(error) = check_strictly(text, &value) {
        let message = format!("failed to strictly parse chart metadata file\n\t{error}");
        findings.add(Severity::Warning, FILE, message);
    }
    match check_fields(&value, v4, findings) {
        Ok(()) => {}
        Err(error) => findings.add(Severity::Error, FILE, unreadable(error.to_string())),
    }
}

/// What strict reading objects to: keys that are there twice, and fields that are unknown.
fn check_strictly(text: &[u8], value: &Json) -> Result<(), String> {
    if let Ok(text) = std::str::from_utf8(text) {
        yaml::from_str_strict(text).map_err(|error| error.to_string())?;
    }
    match unknown_field(value) {
        Some(field) => Err(format!(
            "error unmarshaling JSON: while decoding JSON: json: unknown field {}",
            quoted(&field)
        )),
        None => Ok(()),
    }
}

/// The first unknown field, in the order of sorted keys.
fn unknown_field(value: &Json) -> Option<String> {
    let mut entries: Vec<_> = value.as_object()?.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries.into_iter().find_map(|(key, value)| {
        if !is_known(key, &FIELDS) {
            return Some(key.clone());
        }
        if key.eq_ignore_ascii_case("maintainers") {
            return unknown_in_list(value, &MAINTAINER_FIELDS);
        }
        if key.eq_ignore_ascii_case("dependencies") {
            return unknown_in_list(value, &DEPENDENCY_FIELDS);
        }
        None
    })
}

fn unknown_in_list(value: &Json, known: &[&str]) -> Option<String> {
    value.as_array()?.iter().find_map(|item| {
        let keys = item.as_object()?.keys();
        keys.filter(|key| !is_known(key, known)).min().cloned()
    })
}

fn is_known(key: &str, known: &[&str]) -> bool {
    known.iter().any(|name| name.eq_ignore_ascii_case(key))
}

fn check_fields(value: &Json, v4: bool, findings: &mut Findings) -> Result<(), DecodeError> {
    let fields = Fields::of("Metadata", "chart.Metadata", value)?;
    let api_version = fields.text("apiVersion")?;
    let version = fields.text("version")?;
    let icon = fields.text("icon")?;
    let icon_check = if icon.is_empty() || is_absolute_url(&icon) {
        Ok(())
    } else {
        Err(format!("invalid icon URL '{icon}'"))
    };
    let mut error = |result| findings.check(Severity::Error, FILE, result);
    error(check_name(&fields.text("name")?));
    error(check_api_version(&api_version));
    error(check_is_text(value, "version"));
    error(check_version(&version));
    error(check_is_text(value, "appVersion"));
    error(check_maintainers(
        fields.list("maintainers", "[]*chart.Maintainer")?,
    )?);
    error(check_sources(&fields.texts("sources")?));
    if icon.is_empty() {
        findings.add(Severity::Info, FILE, "icon is recommended");
    }
    let mut error = |result| findings.check(Severity::Error, FILE, result);
    error(icon_check);
    error(check_kind(&fields.text("type")?, &api_version));
    let dependencies = fields.list("dependencies", "[]*chart.Dependency")?;
    error(check_dependencies(dependencies.is_empty(), &api_version));
    if v4 && Version::parse_strict(&version).is_err() {
        let message = format!("version '{version}' is not a valid SemVerV2");
        findings.add(Severity::Warning, FILE, message);
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("name is required".to_owned());
    }
    // What Go calls the base of a path differs from the path unless there is no slash, or nothing else.
    if name != "/" && name.contains('/') {
        return Err(format!("chart name {} is invalid", quoted(name)));
    }
    Ok(())
}

fn check_api_version(version: &str) -> Result<(), String> {
    let wanted = "The value must be either \"v1\" or \"v2\"";
    match version {
        "v1" | "v2" => Ok(()),
        "" => Err(format!("apiVersion is required. {wanted}")),
        other => Err(format!("apiVersion '{other}' is not valid. {wanted}")),
    }
}

fn check_is_text(value: &Json, key: &str) -> Result<(), String> {
    let found = match value.get(key) {
        None | Some(Json::String(_)) => return Ok(()),
        Some(Json::Null) => "<nil>",
        Some(Json::Bool(_)) => "bool",
        Some(Json::Number(_)) => "float64",
        Some(Json::Array(_)) => "[]interface {}",
        Some(Json::Object(_)) => "map[string]interface {}",
    };
    Err(format!(
        "{key} should be of type string but it's of type {found}"
    ))
}

fn check_version(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("version is required".to_owned());
    }
    let Ok(version) = Version::parse(text) else {
        return Err(format!("version '{text}' is not a valid SemVer"));
    };
    let lowest = "0.0.0-0";
    match Constraint::parse(&format!(">{lowest}")) {
        Ok(constraint) if !constraint.check(&version) => Err(format!(
            "version \"{version}\" is less than or equal to \"{lowest}\""
        )),
        _ => Ok(()),
    }
}

fn check_maintainers(maintainers: &[Json]) -> Result<Result<(), String>, DecodeError> {
    for maintainer in maintainers {
        if maintainer.is_null() {
            return Ok(Err("a maintainer entry is empty".to_owned()));
        }
        let fields = Fields::of("Maintainer", "chart.Maintainer", maintainer)?;
        let (name, email, url) = (
            fields.text("name")?,
            fields.text("email")?,
            fields.text("url")?,
        );
        if name.is_empty() {
            return Ok(Err("each maintainer requires a name".to_owned()));
        }
        if !email.is_empty() && !is_email(&email) {
            let message = format!("invalid email '{email}' for maintainer '{name}'");
            return Ok(Err(message));
        }
        if !url.is_empty() && !is_url(&url) {
            return Ok(Err(format!("invalid url '{url}' for maintainer '{name}'")));
        }
    }
    Ok(Ok(()))
}

fn check_sources(sources: &[String]) -> Result<(), String> {
    match sources.iter().find(|source| !is_absolute_url(source)) {
        Some(source) => Err(format!("invalid source URL '{source}'")),
        None => Ok(()),
    }
}

fn check_kind(kind: &str, api_version: &str) -> Result<(), String> {
    if kind.is_empty() || api_version == "v2" {
        return Ok(());
    }
    Err(format!(
        "chart type is not valid in apiVersion '{api_version}'. It is valid in apiVersion 'v2'"
    ))
}

fn check_dependencies(none: bool, api_version: &str) -> Result<(), String> {
    if none || api_version == "v2" {
        return Ok(());
    }
    Err(format!(
        "dependencies are not valid in the Chart file with apiVersion '{api_version}'. They are valid in apiVersion 'v2'"
    ))
}
