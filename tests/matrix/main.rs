//! Charts of our own and command lines, against what four versions of `helm template` print for them.

#![allow(clippy::unwrap_used, reason = "a test may stop anywhere")]

use serde_json::Value as Json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

const DIALECTS: [&str; 4] = ["v3", "v4.1", "v4.2", "v4.3"];
/// How many failures a report shows.
const SHOWN: usize = 60;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/matrix")
}

fn write(chart: &Json, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (path, text) in chart["files"].as_object().unwrap() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.as_str().unwrap()).unwrap();
    }
}

/// The text that is printed, or the error.
fn run(check: &Json, folder: &Path, dialect: &str) -> Result<String, String> {
    let arguments = check["args"].as_array().unwrap().iter();
    let done = Command::new(env!("CARGO_BIN_EXE_whipstaff"))
        .arg("template")
        .args(arguments.map(|word| word.as_str().unwrap()))
        .args(["--dialect", dialect])
        .current_dir(folder)
        .output()
        .unwrap();
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let said = &said[said.find("Error: ").unwrap_or_default()..];
    Err(said.trim_end().to_owned())
}

/// What is expected of a dialect: the usual, or what the check has besides for the dialect.
fn expected(check: &Json, dialect: &str) -> Result<String, String> {
    let but = &check["but"];
    let outcome = match (&but[dialect], &but["v4"]) {
        (Json::Null, Json::Null) => check,
        (Json::Null, v4) if dialect != "v3" => v4,
        (Json::Null, _) => check,
        (own, _) => own,
    };
    match (outcome["output"].as_str(), outcome["error"].as_str()) {
        (Some(output), _) => Ok(output.to_owned()),
        (None, error) => Err(error.unwrap().to_owned()),
    }
}

fn compare(dialect: &str, known: &[String]) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let checks = fs::read_to_string(fixtures().join("charts.jsonl")).unwrap();
    let (mut count, mut failures, mut place) = (0, Vec::new(), PathBuf::new());
    let mut chart = String::new();
    for line in checks.lines() {
        let check: Json = serde_json::from_str(line).unwrap();
        if let Some(name) = check["name"].as_str() {
            name.clone_into(&mut chart);
            place = folder.path().join(name);
            write(&check, &place);
            continue;
        }
        let (found, expected) = (run(&check, &place, dialect), expected(&check, dialect));
        count += 1;
        let name = format!("{dialect} {chart} {}", check["args"]);
        if (found == expected) == known.contains(&name) {
            failures.push(format!("{name}\n  helm {expected:?}\n  ours {found:?}"));
        }
    }
    (count, failures)
}

/// Checks whose outcome differs and has to: the reasons are in `COMPATIBILITY.md`.
fn known() -> Vec<String> {
    let list = fs::read_to_string(fixtures().join("known.txt")).unwrap();
    list.lines().map(str::to_owned).collect()
}

#[test]
fn charts_and_flags_are_rendered_as_each_helm_renders_them() {
    let known = &known();
    let (mut count, mut failures) = (0, Vec::new());
    thread::scope(|scope| {
        let runs = DIALECTS.map(|dialect| scope.spawn(move || compare(dialect, known)));
        for run in runs {
            let (checks, found) = run.join().unwrap();
            count += checks;
            failures.extend(found);
        }
    });
    assert!(count > 2000, "only {count} checks were read");
    let shown = std::env::var("SHOWN").map_or(SHOWN, |shown| shown.parse().unwrap());
    let list = failures[..failures.len().min(shown)].join("\n");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{list}",
        failures.len()
    );
}
