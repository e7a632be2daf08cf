//! The chart of a release: as it is stored, or one that is given, held against it.

use crate::release::{Release, StoredChart};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use whipstaff_generator::{FileTree, yaml};
use whipstaff_helm::{Chart, Dialect, load, without_ignored};

/// Most mismatches of a chart that are told.
const MAX_TOLD: usize = 10;

/// Why a chart cannot be what a release was made from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SourceProblem {
    /// The stored chart is not all of it.
    #[error(
        "the record has the chart without its subcharts ({}): say where the whole chart is", .charts.join(", ")
    )]
    Subcharts {
        /// Those that are missing.
        charts: Vec<String>,
    },
    /// A stored file that cannot be used.
    #[error("the stored chart cannot be used: `{file}` {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A given chart that cannot be read.
    #[error("the chart cannot be read: {problem}")]
    Unreadable {
        /// What is wrong.
        problem: String,
    },
    /// A given chart that is another one.
    #[error("the chart is not the one that the release was made from: {}", .mismatches.join("; "))]
    Mismatch {
        /// What differs.
        mismatches: Vec<String>,
    },
}

/// The files of a stored chart, as if it were packed.
///
/// # Errors
/// [`SourceProblem`] when subcharts are missing, or a file cannot be read.
pub(crate) fn chart_files(release: &Release) -> Result<FileTree, SourceProblem> {
    let charts = missing_charts(release);
    if !charts.is_empty() {
        return Err(SourceProblem::Subcharts { charts });
    }
    let chart = &release.chart;
    let mut files = FileTree::new();
    let metadata = Value::Object(chart.metadata.clone());
    insert(
        &mut files,
        "Chart.yaml",
        yaml::to_string(&metadata).into_bytes(),
    )?;
    let values = Value::Object(chart.values.clone());
    insert(
        &mut files,
        "values.yaml",
        yaml::to_string(&values).into_bytes(),
    )?;
    if let Some(schema) = schema(chart)? {
        insert(&mut files, "values.schema.json", schema)?;
    }
    for file in chart.templates.iter().chain(&chart.files) {
        let bytes = file.bytes().ok_or_else(|| SourceProblem::File {
            file: file.name.clone(),
            problem: "is not base64".to_owned(),
        })?;
        insert(&mut files, &file.name, bytes)?;
    }
    Ok(files)
}

fn insert(files: &mut FileTree, path: &str, bytes: Vec<u8>) -> Result<(), SourceProblem> {
    files
        .insert(path, bytes)
        .map_err(|error| SourceProblem::File {
            file: path.to_owned(),
            problem: error.to_string(),
        })
}

/// Subcharts that a release was rendered with, and that its record does not have: those that were enabled, and those that documents
/// come from.
pub(crate) fn missing_charts(release: &Release) -> Vec<String> {
    let declared = release.chart.dependencies();
    let mut charts: BTreeSet<_> = declared.into_iter().map(str::to_owned).collect();
    let sources = release
        .manifest
        .lines()
        .filter_map(|line| line.strip_prefix("# Source: "));
    let hooks = release.hooks.iter().map(|hook| hook.path.as_str());
    charts.extend(sources.chain(hooks).filter_map(|path| {
        let (_, inside) = path.split_once("/charts/")?;
        inside.split('/').next().map(str::to_owned)
    }));
    charts.into_iter().collect()
}

/// Holds a given chart against the one that a release has stored: name, version, templates, other files, and default values unless those
/// of subcharts were merged into them.
///
/// # Errors
/// [`SourceProblem`] when it cannot be read, or is another one.
pub(crate) fn check_chart(
    stored: &StoredChart,
    given: &FileTree,
    dialect: Dialect,
) -> Result<(), SourceProblem> {
    let unreadable = |problem| SourceProblem::Unreadable { problem };
    // What a chart ignores is not in a record that was made from its folder.
    let given = without_ignored(given).map_err(|error| unreadable(error.to_string()))?;
    let chart = load(&given, dialect).map_err(|error| unreadable(error.to_string()))?;
    let mut mismatches = Vec::new();
    let mut compare = |what: &str, stored: &str, given: &str| {
        if stored != given {
            mismatches.push(format!("its {what} is `{given}` and not `{stored}`"));
        }
    };
    compare("name", stored.name(), &chart.metadata.name);
    compare("version", stored.version(), &chart.metadata.version);
    compare_files(stored, &chart, &mut mismatches);
    if stored.dependencies().is_empty()
        && chart.dependencies.is_empty()
        && stored.values != chart.values
    {
        mismatches.push("its default values differ".to_owned());
    }
    let schema = schema(stored)?;
    if schema.as_deref() != chart.schema.as_deref().filter(|schema| !schema.is_empty()) {
        mismatches.push("its `values.schema.json` differs".to_owned());
    }
    if mismatches.is_empty() {
        return Ok(());
    }
    mismatches.truncate(MAX_TOLD);
    Err(SourceProblem::Mismatch { mismatches })
}

fn compare_files(stored: &StoredChart, chart: &Chart, mismatches: &mut Vec<String>) {
    let known = stored.templates.iter().chain(&stored.files);
    let known: BTreeMap<_, _> = known
        .map(|file| (file.name.as_str(), file.bytes().unwrap_or_default()))
        .collect();
    let given = chart.templates.iter().chain(&chart.files);
    let given: BTreeMap<_, _> = given.map(|f| (f.name.as_str(), &f.data)).collect();
    for (name, bytes) in &known {
        match given.get(name) {
            None => mismatches.push(format!("`{name}` is missing")),
            Some(data) if data.as_ref() != bytes.as_slice() => {
                mismatches.push(format!("`{name}` differs"));
            }
            Some(_) => {}
        }
    }
    let new = given.keys().filter(|name| !known.contains_key(*name));
    mismatches.extend(new.map(|name| format!("`{name}` is new")));
}

fn schema(chart: &StoredChart) -> Result<Option<Vec<u8>>, SourceProblem> {
    use base64::Engine as _;
    if chart.schema.is_empty() {
        return Ok(None);
    }
    let decoded = base64::engine::general_purpose::STANDARD.decode(&chart.schema);
    decoded.map(Some).map_err(|_| SourceProblem::File {
        file: "values.schema.json".to_owned(),
        problem: "is not base64".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "calls are shorter so")]
    fn release(dependencies: Value, manifest: &str) -> Release {
        serde_json::from_value(json!({
            "name": "web", "manifest": manifest,
            "chart": {
                "metadata": {"apiVersion": "v2", "name": "web", "version": "1.0.0", "dependencies": dependencies},
                "templates": [{"name": "templates/a.yaml", "data": "YTogMQo="}],
                "values": {"n": 1.5, "nothing": null, "text": "010"},
                "files": [{"name": "README.md", "data": "aGk="}],
            }
        }))
        .unwrap()
    }

    #[test]
    fn stored_chart_is_the_chart_that_it_was() {
        let release = release(Value::Null, "");
        let files = chart_files(&release).unwrap();
        let chart = load(&files, Dialect::V3).unwrap();
        assert_eq!(chart.values, release.chart.values);
        check_chart(&release.chart, &files, Dialect::V3).unwrap();
    }

    #[test]
    fn missing_subcharts_are_named_wherever_they_show() {
        let manifest = "---\n# Source: web/charts/cache/templates/a.yaml\nkind: A\n";
        let release = release(json!([{"name": "db"}]), manifest);
        assert_eq!(missing_charts(&release), ["cache", "db"]);
        assert!(chart_files(&release).is_err());
    }

    #[test]
    fn another_chart_is_told_by_what_differs() {
        let release = release(Value::Null, "");
        let mut other = chart_files(&release).unwrap();
        other
            .insert("templates/a.yaml", b"a: 2\n".to_vec())
            .unwrap();
        other
            .insert("templates/b.yaml", b"b: 1\n".to_vec())
            .unwrap();
        other
            .insert(
                "Chart.yaml",
                b"apiVersion: v2\nname: web\nversion: 1.1.0\n".to_vec(),
            )
            .unwrap();
        let error = check_chart(&release.chart, &other, Dialect::V3).unwrap_err();
        let told = error.to_string();
        for part in [
            "`1.1.0` and not `1.0.0`",
            "`templates/a.yaml` differs",
            "`templates/b.yaml` is new",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }
}
