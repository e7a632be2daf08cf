//! Checks of declared dependencies against those below `charts/`.

use super::{Findings, LintInput, Loaded, Severity, chain};
use crate::{chart::Chart, metadata::Dependency};
use std::collections::BTreeSet;

pub(super) fn check(input: &LintInput<'_>, chart: &Loaded, findings: &mut Findings) {
    let chart = match chart {
        Ok(chart) => chart,
        Err(error) => {
            let message = format!("unable to load chart\n\t{}", chain(error));
            return findings.add(Severity::Error, "", message);
        }
    };
    findings.check(Severity::Error, input.place, check_declared(chart));
    findings.check(Severity::Error, input.place, check_unique(chart));
    findings.check(Severity::Warning, input.place, check_present(chart));
}

fn check_declared(chart: &Chart) -> Result<(), String> {
    let declared = chart.metadata.dependencies();
    let missing: Vec<&str> = chart
        .dependencies
        .iter()
        .map(|subchart| subchart.name())
        .filter(|name| !declared.iter().any(|dependency| dependency.name == *name))
        .collect();
    none(&missing, "chart metadata is missing these dependencies")
}

fn check_unique(chart: &Chart) -> Result<(), String> {
    let mut names = BTreeSet::new();
    let twice: Vec<&str> = chart
        .metadata
        .dependencies()
        .iter()
        .map(Dependency::name_in_chart)
        .filter(|name| !names.insert(*name))
        .collect();
    none(&twice, "multiple dependencies with name or alias")
}

fn check_present(chart: &Chart) -> Result<(), String> {
    none(
        &chart.missing_dependencies(),
        "chart directory is missing these dependencies",
    )
}

fn none(names: &[&str], message: &str) -> Result<(), String> {
    if names.is_empty() {
        return Ok(());
    }
    Err(format!("{message}: {}", names.join(",")))
}
