//! Templates of our own, one by one, against what four versions of Helm make of them.

#![allow(clippy::unwrap_used, reason = "a test may stop anywhere")]

use serde_json::Value as Json;
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    thread,
};
use whipstaff_generator::{FileTree, Limits, LookupSnapshot, Seed};
use whipstaff_helm::{
    Assignment, CompiledChart, Dialect, Map, ReleaseObject, RenderCapabilities, RenderInput,
    assign, load, values_from_json,
};

/// The file that a template is.
const FILE: &str = "templates/NOTES.txt";
/// Values that the command line gives, as integers.
const SET: &str = "set.int=5,set.big=12345678901,set.zero=0";
/// How many failures a report shows.
const SHOWN: usize = 60;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/matrix")
}

fn read_tree(folder: &Path, below: &str, tree: &mut FileTree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let relative = format!("{below}{name}");
        if path.is_dir() {
            read_tree(&path, &format!("{relative}/"), tree);
        } else {
            tree.insert(relative, fs::read(&path).unwrap()).unwrap();
        }
    }
}

fn values(dialect: Dialect) -> Map {
    let values = values_from_json(&serde_json::Map::new());
    assign(SET, &values, Assignment::Typed, dialect).unwrap();
    values
}

/// The text that is printed, or the error.
fn render(chart: &FileTree, template: &str, dialect: Dialect) -> Result<String, String> {
    let mut tree = chart.clone();
    tree.insert(FILE, template.as_bytes().to_vec()).unwrap();
    let lookups = LookupSnapshot::new();
    let values = values(dialect);
    let input = RenderInput {
        values: &values,
        release: ReleaseObject {
            name: "rel".to_owned(),
            namespace: "ns".to_owned(),
            revision: 1,
            is_upgrade: false,
        },
        capabilities: RenderCapabilities::offline(dialect),
        lookups: &lookups,
        seed: Seed::Random,
        limits: Limits::default(),
        skip_schema_validation: false,
        subchart_notes: false,
    };
    let compiled = CompiledChart::new(load(&tree, dialect).unwrap(), dialect);
    match compiled.render(&input) {
        Ok(rendered) => Ok(rendered.notes),
        Err(error) => Err(error.to_string()),
    }
}

/// What is expected of a dialect: the usual, or what the check has besides for the dialect.
fn expected(check: &Json, dialect: Dialect) -> Result<String, String> {
    let but = &check["but"];
    let special = match (&but[dialect.to_string()], &but["v4"]) {
        (Json::Null, v4) if dialect.is_v4() => v4,
        (own, _) => own,
    };
    let outcome = if special.is_object() { special } else { check };
    if let Some(output) = outcome["output"].as_str() {
        return Ok(output.to_owned());
    }
    if let Some(error) = outcome["error"].as_str() {
        return Err(error.to_owned());
    }
    let in_line = !dialect.is_v4() || special == "line" || outcome["line"].is_array();
    let parts = if outcome["line"].is_array() {
        &outcome["line"]
    } else {
        &outcome["fails"]
    };
    let [place, node, message] = [0, 1, 2].map(|index| parts[index].as_str().unwrap_or_default());
    Err(if in_line {
        format!("template: m/{FILE}:{place}: executing \"m/{FILE}\" at <{node}>: {message}")
    } else {
        format!("m/{FILE}:{place}\n  executing \"m/{FILE}\" at <{node}>:\n    {message}")
    })
}

/// Checks whose outcome differs and has to: the reasons are in `COMPATIBILITY.md`.
fn known() -> HashSet<String> {
    let list = fs::read_to_string(folder().join("known.txt")).unwrap();
    list.lines().map(str::to_owned).collect()
}

fn compare(area: &str, dialect: Dialect) -> (usize, Vec<String>) {
    let known = known();
    let mut chart = FileTree::new();
    read_tree(&folder().join("chart"), "", &mut chart);
    let checks = fs::read_to_string(folder().join(format!("{area}.jsonl"))).unwrap();
    let (mut count, mut failures) = (0, Vec::new());
    for line in checks.lines() {
        let check: Json = serde_json::from_str(line).unwrap();
        let template = check["template"].as_str().unwrap();
        let (found, expected) = (render(&chart, template, dialect), expected(&check, dialect));
        count += 1;
        let name = format!("{dialect} {}", template.replace('\n', "\\n"));
        if (found == expected) == known.contains(&name) {
            failures.push(format!("{name}\n  helm {expected:?}\n  ours {found:?}"));
        }
    }
    (count, failures)
}

fn check(area: &'static str) {
    let dialects = [Dialect::V3, Dialect::V4_1, Dialect::V4_2, Dialect::V4_3];
    let runs = dialects.map(|dialect| thread::spawn(move || compare(area, dialect)));
    let (mut count, mut failures) = (0, Vec::new());
    for run in runs {
        let (checks, found) = run.join().unwrap();
        count += checks;
        failures.extend(found);
    }
    assert!(count > 4000, "only {count} checks were read");
    let shown = std::env::var("SHOWN").map_or(SHOWN, |shown| shown.parse().unwrap());
    let list = failures[..failures.len().min(shown)].join("\n");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{list}",
        failures.len()
    );
}

#[test]
fn functions_take_each_kind_of_argument_as_in_helm() {
    check("functions");
}

#[test]
fn the_language_is_helms() {
    check("language");
}

#[test]
fn recipes_of_charts_give_what_helm_gives() {
    check("recipes");
}

#[test]
fn yaml_json_and_toml_are_read_and_written_as_in_helm() {
    check("yaml");
}
