//! Checks of templates and of what they render to.

use super::{
    Findings, LintInput, Loaded, Severity, chain,
    documents::{Documents, Head},
    lifecycles::deprecation,
    names::check_name,
    quoted,
};
use crate::{
    capabilities::RenderCapabilities,
    chart::{Chart, ChartFile},
    coalesce::{Coalescer, Nulls},
    context::{ContextBuilder, ReleaseObject},
    decode::Fields,
    dependencies::process_dependencies,
    render::{CompiledChart, RenderInput, RenderedFiles},
    schema::Validator,
    tree::ChartTree,
};
use regex::bytes::Regex;
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};
use whipstaff_generator::{LookupSnapshot, Seed, yaml};
use whipstaff_gotemplate::{Dialect, Value};

const FOLDER: &str = "templates/";
const EXTENSIONS: [&str; 4] = [".yaml", ".yml", ".tpl", ".txt"];
const RESOURCE_POLICY: &str = "helm.sh/resource-policy";

static CRD_HOOK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?-u)"?helm\.sh/hook"?:\s+crd-install"#).ok());
static RELEASE_TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\.Release\.Time").ok());

pub(super) fn check(input: &LintInput<'_>, chart: &Loaded, findings: &mut Findings) {
    let v4 = input.dialect.is_v4();
    if input.files.contains("templates") {
        let severity = if v4 {
            Severity::Error
        } else {
            Severity::Warning
        };
        return findings.add(severity, FOLDER, "not a directory");
    }
    let is_template = |path: &str| path.starts_with(FOLDER);
    if v4 && !input.files.iter().any(|(path, _)| is_template(path)) {
        return findings.add(Severity::Warning, FOLDER, "directory does not exist");
    }
    let chart = match chart {
        Ok(chart) => chart,
        Err(error) => return findings.add(Severity::Error, FOLDER, chain(error)),
    };
    match render(input, chart) {
        Ok(Some(files)) => check_files(input, chart, &files, findings),
        Ok(None) => {}
        Err(error) => findings.add(Severity::Error, FOLDER, error),
    }
}

/// Renders as Helm does to lint: values are coalesced twice, nothing is installed or upgraded, and `required` and `fail` pass. Nothing
/// when values do not fit the subcharts, which Helm passes over in silence.
fn render(input: &LintInput<'_>, chart: &Chart) -> Result<Option<RenderedFiles>, String> {
    let dialect = input.dialect;
    let compiled = CompiledChart::new(chart.clone(), dialect);
    let mut tree = ChartTree::new(&Arc::new(chart.clone()));
    if process_dependencies(&mut tree, input.values, dialect).is_err() {
        return Ok(None);
    }
    let coalesce =
        |values| Coalescer::new(&tree, dialect).coalesce(ChartTree::ROOT, values, Nulls::Remove);
    let Ok(values) = coalesce(input.values) else {
        return Ok(None);
    };
    let values = coalesce(&values).map_err(|error| error.to_string())?;
    if !input.skip_schema_validation {
        let validator = Validator::default();
        validator.validate(&tree, &values).map_err(|error| error.to_string())?;
    }
    let mut capabilities = RenderCapabilities::offline(dialect);
    if let Some(version) = input.kube_version {
        capabilities.kube_version = version.clone();
    }
    let release = ReleaseObject {
        name: "test-release".to_owned(),
        namespace: input.namespace.to_owned(),
        revision: 0,
        is_upgrade: false,
    };
    let contexts = ContextBuilder::new(&tree, dialect, &release, &capabilities);
    if let Value::Map(release) = &contexts.release {
        release.insert("IsInstall", Value::Bool(false));
    }
    let templates = contexts.renderables(&values);
    let lookups = LookupSnapshot::new();
    let render_input = RenderInput {
        values: input.values,
        release,
        capabilities,
        lookups: &lookups,
        seed: Seed::Random,
        limits: input.limits,
        skip_schema_validation: true,
        subchart_notes: true,
    };
    let rendered = compiled.execute(&templates, &render_input, true);
    rendered
        .map(|(files, _)| Some(files))
        .map_err(|error| chain(&error))
}

fn check_files(
    input: &LintInput<'_>,
    chart: &Chart,
    files: &BTreeMap<String, Vec<u8>>,
    findings: &mut Findings,
) {
    for template in &chart.templates {
        check_template(template, input.dialect, findings);
        let path = format!("{}/{}", chart.name(), template.name);
        let Some(text) = files.get(&path) else {
            continue;
        };
        if !is_manifest(&template.name, input.dialect)
            || String::from_utf8_lossy(text).trim().is_empty()
        {
            continue;
        }
        findings.check(Severity::Warning, &template.name, check_indent(text));
        if check_documents(input, &template.name, text, findings).is_none() {
            return;
        }
    }
}

fn check_template(template: &ChartFile, dialect: Dialect, findings: &mut Findings) {
    let path = &template.name;
    let extension = extension(path);
    if !EXTENSIONS.contains(&extension) {
        let message = format!(
            "file extension '{extension}' not valid. Valid extensions are .yaml, .yml, .tpl, or .txt"
        );
        findings.add(Severity::Error, path, message);
    }
    if dialect.is_v4() {
        return;
    }
    let has = |expression: &Option<Regex>| {
        expression
            .as_ref()
            .is_some_and(|expression| expression.is_match(&template.data))
    };
    if has(&CRD_HOOK) {
        let message = "manifest is a crd-install hook. This hook is no longer supported in v3 and all CRDs should also exist the crds/ \
                       directory at the top level of the chart";
        findings.add(Severity::Warning, path, message);
    }
    if has(&RELEASE_TIME) {
        let message = ".Release.Time has been removed in v3, please replace with the `now` function in your templates";
        findings.add(Severity::Error, path, message);
    }
}

/// What follows the last point of the last part of a path, with the point.
fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').map_or("", |at| &name[at..])
}

fn is_manifest(path: &str, dialect: Dialect) -> bool {
    let extension = extension(path);
    if dialect.is_v4() {
        return [".yaml", ".yml"]
            .iter()
            .any(|wanted| extension.eq_ignore_ascii_case(wanted));
    }
    // Helm 3 means to take `.yml` too, and does not.
    extension == ".yaml"
}

fn check_indent(text: &[u8]) -> Result<(), String> {
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let shown = String::from_utf8_lossy(line);
        if shown.trim().is_empty() {
            continue;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            return Err(format!(
                "document starts with an illegal indent: {}, which may cause parsing problems",
                quoted(&shown)
            ));
        }
        break;
    }
    Ok(())
}

/// Checks the documents of a file. Nothing when one is not YAML: Helm stops there.
fn check_documents(
    input: &LintInput<'_>,
    path: &str,
    text: &[u8],
    findings: &mut Findings,
) -> Option<()> {
    for document in Documents::new(text) {
        let head = document.and_then(|document| Head::read(document, input.dialect));
        match head {
            Ok(Some(head)) => check_object(input, path, &head, text, findings),
            Ok(None) => {}
            Err(error) => {
                let message = format!("unable to parse YAML: {error}");
                findings.add(Severity::Error, path, message);
                return None;
            }
        }
    }
    Some(())
}

fn check_object(
    input: &LintInput<'_>,
    path: &str,
    head: &Head,
    text: &[u8],
    findings: &mut Findings,
) {
    let name = check_name(&head.kind, &head.name);
    findings.check(Severity::Warning, path, name);
    if let Some(message) = deprecation(head, kube_version(input)) {
        findings.add(Severity::Warning, path, message);
    }
    findings.check(Severity::Error, path, check_selector(head, text));
    findings.check(Severity::Error, path, check_list(head, text, input.dialect));
}

fn kube_version(input: &LintInput<'_>) -> (u64, u64) {
    let offline = RenderCapabilities::offline(input.dialect).kube_version;
    let version = input.kube_version.unwrap_or(&offline);
    let number = |text: &str| text.parse().unwrap_or_default();
    (number(&version.major), number(&version.minor))
}

fn check_selector(head: &Head, text: &[u8]) -> Result<(), String> {
    let kinds = ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"];
    if !kinds.contains(&head.kind.as_str()) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(text);
    if text.contains("matchLabels") || text.contains("matchExpressions") {
        return Ok(());
    }
    Err(format!(
        "a {} must contain matchLabels or matchExpressions, and {} does not",
        head.kind,
        quoted(&head.name)
    ))
}

/// Whether the items of a list, in the first document of a file, ask to be kept: Helm only sees the list.
fn check_list(head: &Head, text: &[u8], dialect: Dialect) -> Result<(), String> {
    if head.kind != "List" {
        return Ok(());
    }
    let invalid = |error: String| format!("unable to parse YAML: {error}");
    let value = yaml::from_slice(text).map_err(|error| invalid(error.to_string()))?;
    let kept = has_policy(&value).map_err(|error| invalid(error.to_string()))?;
    if !kept {
        return Ok(());
    }
    let word = if dialect.is_v4() {
        "annotation"
    } else {
        "Annotation"
    };
    Err(format!(
        "{word} '{RESOURCE_POLICY}' within List objects are ignored"
    ))
}

fn has_policy(value: &Json) -> Result<bool, crate::decode::DecodeError> {
    let fields = Fields::of("", "struct", value)?;
    for item in fields.list("Items", "[]struct")? {
        let item = Fields::of(".Items", "struct", item)?;
        let Some(metadata) = item.get("Metadata") else {
            continue;
        };
        let metadata = Fields::of(".Items.Metadata", "struct", metadata)?;
        let annotations = metadata.text_map("Annotations")?.unwrap_or_default();
        if annotations.contains_key(RESOURCE_POLICY) {
            return Ok(true);
        }
    }
    Ok(false)
}
