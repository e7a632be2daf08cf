//! Objects that Helm 3 and Helm 4 render differently, and the nulls in default values that are to blame.

use super::{
    super::{Finding, Severity},
    DIALECT,
    bench::{Bench, Case, Failure, by_path, describe},
    finding,
    rotation::first_difference,
};
use crate::{chart::Chart, manifest::Manifest, render::Rendered};
use serde_json::{Map as JsonMap, Value as Json};
use std::sync::Arc;
use whipstaff_gotemplate::Dialect;

/// Most nulls that are tried one by one; each takes a rendering.
const MAX_TRIES: usize = 24;
/// Most nulls that are named in one finding.
const MAX_NAMED: usize = 3;

/// Renders with Helm 3's and the newest Helm 4's behaviour and compares objects.
pub(super) fn check(bench: &mut Bench<'_>, rendered: &Rendered, findings: &mut Vec<Finding>) {
    let mut case = Case::install(bench.input);
    let other = if case.dialect.is_v4() {
        Dialect::V3
    } else {
        Dialect::V4_3
    };
    case.dialect = other;
    let counterpart = bench.render(&case);
    let (v3, v4) = match &counterpart {
        Ok(found) if other == Dialect::V3 => (found, rendered),
        Ok(found) => (rendered, found),
        Err(Failure::Limit) => return,
        Err(Failure::NeedsValues { message, .. } | Failure::Other(message)) => {
            let helm = if other == Dialect::V3 {
                "Helm 3"
            } else {
                "Helm 4"
            };
            let line = message.lines().next().unwrap_or_default();
            let message = format!("{helm} cannot render the chart: {line}");
            let path = "templates/".to_owned();
            return findings.push(finding(DIALECT, Severity::Warning, path, None, message));
        }
    };
    let different = differences(v3, v4);
    if different.is_empty() {
        return;
    }
    let mut case = Case::install(bench.input);
    case.dialect = Dialect::V3;
    let without = without_nulls(bench, &case, v3);
    for (manifest, pointer) in different {
        let culprits = culprits(&without, v3, &manifest.path);
        let (severity, why) = if culprits.is_empty() {
            (Severity::Info, String::new())
        } else {
            let shown = culprits.join(", ");
            let why = format!(" because of null defaults, which only Helm 3 keeps: {shown}");
            (Severity::Warning, why)
        };
        let at = if pointer.is_empty() {
            String::new()
        } else {
            format!(" at `{pointer}`")
        };
        let message = format!(
            "Helm 3 and Helm 4 render {} differently{at}{why}",
            describe(manifest)
        );
        let path = bench.inside(&manifest.path).to_owned();
        findings.push(finding(DIALECT, severity, path, None, message));
    }
}

/// Objects of one rendering that are not the same in the other, with the first difference. Of a template only the first.
fn differences<'a>(one: &'a Rendered, other: &'a Rendered) -> Vec<(&'a Manifest, String)> {
    let (mut ones, mut others) = (by_path(one), by_path(other));
    let mut found = Vec::new();
    for (path, manifests) in &mut ones {
        let counterparts = others.remove(path).unwrap_or_default();
        let differs = |(one, other): (&&'a Manifest, &&'a Manifest)| {
            let (one_value, other_value) = (trimmed(&one.value), trimmed(&other.value));
            first_difference(&one_value, &other_value).map(|pointer| (*one, pointer))
        };
        let different = manifests.iter().zip(&counterparts).find_map(differs);
        let (more, fewer) = (manifests.len(), counterparts.len());
        let extra = manifests.get(fewer).or_else(|| counterparts.get(more));
        let extra = extra.map(|manifest| (*manifest, String::new()));
        found.extend(different.or(extra));
    }
    let rest = others
        .into_values()
        .filter_map(|manifests| manifests.first().copied());
    found.extend(rest.map(|manifest| (manifest, String::new())));
    found
}

/// A value without what hardly matters: nulls, which the API server drops, and blanks at the end of texts, which Helm 3 cuts off where a
/// text ends the document.
fn trimmed(value: &Json) -> Json {
    match value {
        Json::String(text) => Json::String(text.trim_end().to_owned()),
        Json::Array(items) => Json::Array(items.iter().map(trimmed).collect()),
        Json::Object(map) => {
            let entries = map
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), trimmed(value)));
            Json::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// What Helm 3 renders without one null each, by the nulls' paths. Nothing when removing all of them at once changes nothing.
fn without_nulls(bench: &Bench<'_>, case: &Case<'_>, v3: &Rendered) -> Vec<(String, Rendered)> {
    let nulls = nulls(bench.chart());
    let mut chart = bench.chart().clone();
    for path in &nulls {
        remove(&mut chart, path);
    }
    match bench.render_chart(chart, case) {
        Ok(rendered) if differences(v3, &rendered).is_empty() => return Vec::new(),
        _ => {}
    }
    let mut found = Vec::new();
    for path in nulls.iter().take(MAX_TRIES) {
        let mut chart = bench.chart().clone();
        if remove(&mut chart, path).is_none() {
            continue;
        }
        if let Ok(rendered) = bench.render_chart(chart, case) {
            found.push((format!("`.Values.{}`", path.join(".")), rendered));
        }
    }
    found
}

/// The nulls without which Helm 3 renders a template differently.
fn culprits<'a>(without: &'a [(String, Rendered)], v3: &Rendered, template: &str) -> Vec<&'a str> {
    let values = |rendered: &Rendered| -> Vec<Json> {
        let manifests = by_path(rendered).remove(template).unwrap_or_default();
        let values = manifests.into_iter().map(|manifest| &manifest.value);
        values.cloned().collect()
    };
    let with_null = values(v3);
    without
        .iter()
        .filter(|(_, rendered)| values(rendered) != with_null)
        .map(|(path, _)| path.as_str())
        .take(MAX_NAMED)
        .collect()
}

/// Paths of all nulls in the default values of a chart and its subcharts, as seen from the chart.
fn nulls(chart: &Chart) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(&chart.values, &mut Vec::new(), &mut found);
    for subchart in &chart.dependencies {
        let below = nulls(subchart).into_iter().map(|mut path| {
            path.insert(0, subchart.name().to_owned());
            path
        });
        found.extend(below);
    }
    found
}

fn collect(map: &JsonMap<String, Json>, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for (key, value) in map {
        path.push(key.clone());
        match value {
            Json::Null => found.push(path.clone()),
            Json::Object(below) => collect(below, path, found),
            _ => {}
        }
        path.pop();
    }
}

/// Removes a null from the defaults, wherever in the chart they stand.
fn remove(chart: &mut Chart, path: &[String]) -> Option<()> {
    let (last, tables) = path.split_last()?;
    let mut map = Some(&mut chart.values);
    for key in tables {
        map = map.and_then(|map| map.get_mut(key)?.as_object_mut());
    }
    if let Some(map) = map
        && map.get(last).is_some_and(Json::is_null)
    {
        map.remove(last);
        return Some(());
    }
    let (first, rest) = path.split_first()?;
    let subchart = chart
        .dependencies
        .iter_mut()
        .find(|subchart| subchart.name() == first)?;
    remove(Arc::make_mut(subchart), rest)
}
