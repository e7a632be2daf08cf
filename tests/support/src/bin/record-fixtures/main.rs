//! Writes `fixtures/matrix`: what the real Helms make of our own templates and charts.
//!
//! `record-fixtures [AREA…]` writes the named areas, or all.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a developer's program, which may stop anywhere"
)]

mod charts;
mod expressions;
mod functions;
mod language;
mod outcomes;
mod peers;
mod recipes;
mod schemas;
mod values;
mod yaml;

use std::{env, error::Error, fs, path::PathBuf};

/// Templates of one kind of question, in one file.
type Area = (&'static str, fn() -> Vec<String>);

const AREAS: &[Area] = &[
    ("functions", functions::templates),
    ("language", language::templates),
    ("recipes", recipes::templates),
    ("yaml", yaml::templates),
];

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/matrix");
    for (name, templates) in AREAS {
        if is_wanted(name) {
            let lines = expressions::record(&folder.join("chart"), &templates())?;
            eprintln!("{name}: {} checks", lines.len());
            fs::write(
                folder.join(format!("{name}.jsonl")),
                lines.join("\n") + "\n",
            )?;
        }
    }
    if is_wanted("charts") {
        let lines = charts::record()?;
        eprintln!("charts: {} checks", lines.len());
        fs::write(folder.join("charts.jsonl"), lines.join("\n") + "\n")?;
    }
    Ok(())
}
