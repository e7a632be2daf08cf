//! Charts of our own and the command lines that they are rendered with.

use crate::{outcomes, peers::PEERS, schemas, values};
use serde_json::{Map, Value as Json, json};
use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const CHARTS: &str = include_str!("charts.txt");
/// How often a command is run: what is not always the same is left out.
const RUNS: usize = 2;

/// Files by their paths, of which those below `c/` are the chart, and what follows the command for each check.
#[derive(Debug, Default)]
pub(crate) struct Chart {
    pub(crate) name: String,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) runs: Vec<Vec<String>>,
}

/// A line for each chart, followed by one for each of its checks.
pub(crate) fn record() -> Result<Vec<String>, Box<dyn Error>> {
    let mut charts = written();
    charts.extend(values::charts());
    charts.extend(schemas::charts());
    let mut programs = Vec::new();
    for (dialect, helm) in PEERS {
        programs.push((dialect, helm.program()?));
    }
    let mut lines = Vec::new();
    for chart in charts {
        let folder = write(&chart)?;
        lines.push(json!({ "name": chart.name, "files": chart.files }).to_string());
        for run in &chart.runs {
            lines.extend(check(&folder, run, &programs)?);
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(lines)
}

/// The charts of the list: `== name`, `-- path` before the text of each file, `run: arguments`, `names: name…`.
fn written() -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    let mut path = String::new();
    for line in CHARTS.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            charts.push(Chart {
                name: name.to_owned(),
                ..Chart::default()
            });
            path.clear();
            continue;
        }
        let Some(chart) = charts.last_mut() else {
            continue;
        };
        if let Some(name) = line.strip_prefix("-- ") {
            name.clone_into(&mut path);
            chart.files.insert(path.clone(), String::new());
        } else if let Some(words) = line.strip_prefix("run:") {
            let named = words.contains("--name-template");
            let usual: &[&str] = if named { &["c"] } else { &["rel", "c"] };
            let words = usual.iter().copied().chain(words.split_whitespace());
            chart.runs.push(words.map(str::to_owned).collect());
        } else if let Some(names) = line.strip_prefix("names:") {
            let run = |name: &str| vec![name.to_owned(), "c".to_owned()];
            chart.runs.extend(names.split_whitespace().map(run));
        } else if let Some(text) = chart.files.get_mut(&path) {
            text.push_str(line);
            text.push('\n');
        }
    }
    charts
}

fn write(chart: &Chart) -> Result<PathBuf, Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("fixtures-{}-{}", std::process::id(), chart.name));
    fs::create_dir_all(&folder)?;
    for (path, text) in &chart.files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().ok_or("a file without a folder")?)?;
        fs::write(path, text)?;
    }
    Ok(folder)
}

fn check(
    folder: &Path,
    arguments: &[String],
    programs: &[(&str, PathBuf)],
) -> Result<Option<String>, Box<dyn Error>> {
    let mut found = Vec::new();
    for (dialect, program) in programs {
        let outcome = run(folder, arguments, program)?;
        for _ in 1..RUNS {
            if run(folder, arguments, program)? != outcome {
                return Ok(None);
            }
        }
        found.push((*dialect, outcome));
    }
    let mut check = Map::from_iter([("args".to_owned(), json!(arguments))]);
    outcomes::add(&mut check, &found);
    Ok(Some(Json::Object(check).to_string()))
}

fn run(folder: &Path, arguments: &[String], program: &Path) -> Result<Json, Box<dyn Error>> {
    let done = Command::new(program)
        .arg("template")
        .args(arguments)
        .current_dir(folder)
        .env("HELM_CACHE_HOME", folder.join("cache"))
        .output()?;
    if done.status.success() {
        return Ok(json!({ "output": String::from_utf8_lossy(&done.stdout) }));
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let start = said.find("Error: ").unwrap_or_default();
    let said = &said[start..];
    let end = said.find("\nUse --debug").unwrap_or(said.len());
    Ok(json!({ "error": said[..end].trim_end() }))
}
