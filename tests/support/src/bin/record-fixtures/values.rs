//! Values of all sorts on all levels at once: what stands where is in the names of the keys.

use crate::charts::Chart;
use std::fmt::Write as _;

/// What may stand for a key: nothing, null, or a value.
const FORMS: [(&str, &str); 6] = [
    ("none", ""),
    ("null", "null"),
    ("text", "TEXT"),
    ("map", "{x: TEXT, y: null, z: {w: TEXT}}"),
    ("other", "{x: null, v: TEXT, z: {w: null}}"),
    ("list", "[TEXT, null]"),
];
const CHART: &str = "apiVersion: v2\nname: c\nversion: 0.1.0\n";
const SUBCHART: &str = "apiVersion: v2\nname: sub\nversion: 0.1.0\n";
const DEPENDENCY: &str = "dependencies:\n- {name: sub, version: 0.1.0}\n";
const SHOW: &str = "{{ range $k, $v := .Values }}\n{{ $k }}: {{ toJson $v | quote }}\n{{- end }}\n";

/// Which part of a key's name says what stands on a level.
#[derive(Clone, Copy)]
enum Level {
    First,
    Second,
    Third,
}

/// Keys for all combinations of forms on three levels, with what stands on one of them.
fn keys(level: Level, from: &str, indent: &str) -> String {
    let mut text = String::new();
    for (first, one) in FORMS {
        for (second, two) in FORMS {
            for (third, three) in FORMS {
                let form = match level {
                    Level::First => one,
                    Level::Second => two,
                    Level::Third => three,
                };
                if !form.is_empty() {
                    let value = form.replace("TEXT", from);
                    let _ = writeln!(text, "{indent}{first}-{second}-{third}: {value}");
                }
            }
        }
    }
    text
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn chart(name: &str, files: &[(&str, String)], runs: &[&str]) -> Chart {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.clone()));
    Chart {
        name: name.to_owned(),
        files: files.collect(),
        runs: runs.iter().map(|run| words(run)).collect(),
    }
}

/// A value in the chart, one in a first and one in a second file; or in the subchart, the chart and a file; or the same below `global`.
pub(crate) fn charts() -> Vec<Chart> {
    let below = |key: &str, level, from: &str| format!("{key}:\n{}", keys(level, from, "  "));
    let own = [
        ("c/Chart.yaml", CHART.to_owned()),
        ("c/values.yaml", keys(Level::First, "chart", "")),
        ("c/templates/v.yaml", SHOW.to_owned()),
        ("a.yaml", keys(Level::Second, "one", "")),
        ("b.yaml", keys(Level::Third, "two", "")),
    ];
    let nested = [
        ("c/Chart.yaml", CHART.to_owned()),
        ("c/values.yaml", below("deep", Level::First, "chart")),
        (
            "c/templates/v.yaml",
            SHOW.replace(".Values", ".Values.deep"),
        ),
        ("a.yaml", below("deep", Level::Second, "one")),
        ("b.yaml", below("deep", Level::Third, "two")),
    ];
    let with_subchart = |name: &str, of: &dyn Fn(Level, &str) -> String, prefix: &str| {
        let parent = |level, from: &str| {
            let inner = of(level, from).replace('\n', "\n  ");
            format!("{prefix}  {}\n", inner.trim_end())
        };
        chart(
            name,
            &[
                ("c/Chart.yaml", format!("{CHART}{DEPENDENCY}")),
                ("c/values.yaml", parent(Level::Second, "parent")),
                (
                    "c/templates/v.yaml",
                    SHOW.replace(".Values", "(.Values.sub | default .Values.global)"),
                ),
                ("c/charts/sub/Chart.yaml", SUBCHART.to_owned()),
                (
                    "c/charts/sub/values.yaml",
                    if prefix == "sub:\n" {
                        of(Level::First, "sub")
                    } else {
                        parent(Level::First, "sub")
                    },
                ),
                (
                    "c/charts/sub/templates/v.yaml",
                    if prefix == "sub:\n" {
                        SHOW.to_owned()
                    } else {
                        SHOW.replace(".Values", ".Values.global")
                    },
                ),
                ("a.yaml", parent(Level::Third, "user")),
                ("none.yaml", format!("{}null\n", prefix.replace('\n', " "))),
            ],
            &[
                "rel c",
                "rel c -f a.yaml",
                "rel c -f none.yaml",
                "rel c -f none.yaml -f a.yaml",
                "rel c -f a.yaml -f none.yaml",
            ],
        )
    };
    let plain = |level, from: &str| keys(level, from, "");
    let runs = [
        "rel c",
        "rel c -f a.yaml",
        "rel c -f a.yaml -f b.yaml",
        "rel c -f b.yaml -f a.yaml",
        "rel c -f b.yaml",
    ];
    vec![
        chart("values-own", &own, &runs),
        chart("values-nested", &nested, &runs),
        with_subchart("values-sub", &plain, "sub:\n"),
        with_subchart("values-global", &plain, "global:\n"),
        with_subchart("values-sub-global", &plain, "sub:\n  global:\n  "),
    ]
}
