//! Whipstaff beside the real Helm 4.3, in one run: whole processes by their processor time and memory, and renderings in a process
//! that has compiled the chart before.
//!
//! `cargo bench --bench peers` takes the fixtures; `cargo bench --bench peers -- FOLDER` takes every chart below a folder instead.
//! The real Helm is built from its Go modules the first time.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "what a benchmark prints is its result"
)]

mod process;

use anyhow::{Context, Result, bail};
use process::{Usage, folders, ratio, usage};
use serde_json::{Map, Value};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use whipstaff::{
    default_generators,
    generator::{Capabilities, FileTree, Input, LookupSnapshot},
};
use whipstaff_test_support::Helm;

/// How often each process is run; the run that takes the least counts.
const ROUNDS: usize = 3;
/// With more charts than this, each process is run once.
const MANY_CHARTS: usize = 50;
/// Renderings in a process, of which the median counts.
const WARM_ROUNDS: usize = 31;
/// Charts that are shown by themselves: those that we are the least ahead with.
const SHOWN: usize = 12;
/// How deep below a folder charts are looked for.
const MAX_DEPTH: usize = 3;

/// One chart, rendered by both.
struct Row {
    name: String,
    ours: Usage,
    helms: Usage,
    /// Median of renderings in a process, if the generator takes the chart.
    warm: Option<Duration>,
}

fn main() -> Result<()> {
    let charts = charts()?;
    let helm = Helm::V4.program()?;
    let ours = PathBuf::from(env!("CARGO_BIN_EXE_whipstaff"));
    let rounds = if charts.len() > MANY_CHARTS {
        1
    } else {
        ROUNDS
    };
    let mut rows = Vec::new();
    let mut passed_over = 0;
    // A process counts the memory that its parent had when it was started, so that nothing large may happen here before.
    for chart in &charts {
        let path = chart.to_str().context("a path is not UTF-8")?;
        let arguments = ["template", "release", path, "--dialect", "v4.3"];
        let own = usage(&ours, &arguments, rounds)?;
        let helms = usage(&helm, &arguments[..3], rounds)?;
        match (own, helms) {
            (Some(ours), Some(helms)) => rows.push(Row {
                name: chart.display().to_string(),
                ours,
                helms,
                warm: None,
            }),
            _ => passed_over += 1,
        }
    }
    if rows.is_empty() {
        bail!("there is no chart that both can render");
    }
    for row in &mut rows {
        row.warm = warm(Path::new(&row.name))?;
    }
    print_rows(&mut rows);
    if passed_over > 0 {
        println!("{passed_over} charts passed over, which one of both refuses");
    }
    Ok(())
}

fn charts() -> Result<Vec<PathBuf>> {
    let mut charts = Vec::new();
    for folder in folders("fixtures/charts") {
        find_charts(&folder, 0, &mut charts)
            .with_context(|| format!("cannot read {}", folder.display()))?;
    }
    charts.sort();
    Ok(charts)
}

fn find_charts(folder: &Path, depth: usize, charts: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("Chart.yaml").is_file() {
        charts.push(folder.to_owned());
        return Ok(());
    }
    if depth == MAX_DEPTH {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_charts(&path, depth + 1, charts)?;
        }
    }
    Ok(())
}

/// How long it takes to render a chart, objects included, once it is compiled.
fn warm(chart: &Path) -> Result<Option<Duration>> {
    let mut files = FileTree::new();
    read(chart, "", &mut files)?;
    let generators = default_generators();
    let Ok(chosen) = generators.choose(Some("helm"), &files) else {
        return Ok(None);
    };
    let Ok(prepared) = chosen.generator.prepare(&files, &Value::Null) else {
        return Ok(None);
    };
    let capabilities = Capabilities {
        kube_version: "v1.37.0".parse()?,
        api_versions: ["v1", "apps/v1"].map(str::to_owned).into(),
    };
    let (parameters, lookups) = (Map::new(), LookupSnapshot::new());
    let input = Input::new("default", "release", &parameters, &capabilities, &lookups);
    let mut times = Vec::new();
    for _ in 0..WARM_ROUNDS {
        let start = Instant::now();
        if prepared.generate(&input).is_err() {
            return Ok(None);
        }
        times.push(start.elapsed());
    }
    Ok(Some(median(times)))
}

fn read(folder: &Path, prefix: &str, files: &mut FileTree) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = format!("{prefix}{}", name.context("a file's name is not UTF-8")?);
        if path.is_dir() {
            read(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(&path)?)?;
        }
    }
    Ok(())
}

fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn print_rows(rows: &mut [Row]) {
    let time_ratio = |row: &Row| ratio(row.helms.time, row.ours.time);
    rows.sort_by(|one, other| time_ratio(one).total_cmp(&time_ratio(other)));
    println!(
        "{:>10} {:>10} {:>7} {:>9} {:>9} {:>10}  chart",
        "ours", "helm", "ratio", "ours", "helm", "warm"
    );
    for row in rows.iter().take(SHOWN) {
        let warm = row
            .warm
            .map_or_else(String::new, |warm| format!("{warm:.1?}"));
        println!(
            "{:>10.1?} {:>10.1?} {:>7.1} {:>6} MB {:>6} MB {warm:>10}  {}",
            row.ours.time,
            row.helms.time,
            time_ratio(row),
            row.ours.bytes >> 20,
            row.helms.bytes >> 20,
            row.name,
        );
    }
    let sum = |time: fn(&Row) -> Duration| rows.iter().map(time).sum::<Duration>();
    let (ours, helms) = (sum(|row| row.ours.time), sum(|row| row.helms.time));
    let memory = |bytes: fn(&Row) -> u64| rows.iter().map(bytes).sum::<u64>() as f64;
    let (our_bytes, their_bytes) = (memory(|row| row.ours.bytes), memory(|row| row.helms.bytes));
    let most = |bytes: fn(&Row) -> u64| rows.iter().map(bytes).max().unwrap_or_default() >> 20;
    println!("\n{} charts", rows.len());
    println!(
        "processor time: {ours:.2?} and {helms:.2?}, ratio {:.1}; median of the charts' ratios {:.1}",
        ratio(helms, ours),
        rows.get(rows.len() / 2).map_or(0.0, time_ratio),
    );
    println!(
        "most memory: mean {:.1} MB and {:.1} MB, ratio {:.1}; largest {} MB and {} MB",
        our_bytes / rows.len() as f64 / 1e6,
        their_bytes / rows.len() as f64 / 1e6,
        their_bytes / our_bytes,
        most(|row| row.ours.bytes),
        most(|row| row.helms.bytes),
    );
    let warm: Vec<Duration> = rows.iter().filter_map(|row| row.warm).collect();
    println!(
        "rendered in process, compiled before: median {:.1?}",
        median(warm)
    );
}
