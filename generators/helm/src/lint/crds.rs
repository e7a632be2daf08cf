//! Checks of the custom resource definitions below `crds/`; Helm 4 has them.

use super::{
    Findings, LintInput, Loaded, Severity, chain,
    documents::{Documents, Head},
};
use crate::chart::Chart;

const FOLDER: &str = "crds/";

pub(super) fn check(input: &LintInput<'_>, chart: &Loaded, findings: &mut Findings) {
    if input.files.contains("crds") {
        return findings.add(Severity::Error, FOLDER, "not a directory");
    }
    if !input.files.iter().any(|(path, _)| path.starts_with(FOLDER)) {
        return;
    }
    match chart {
        Ok(chart) => {
            check_chart(chart, input, findings);
        }
        Err(error) => findings.add(Severity::Error, FOLDER, chain(error)),
    }
}

/// The definitions of a chart and its subcharts. Nothing when one is not YAML: Helm stops there.
fn check_chart(chart: &Chart, input: &LintInput<'_>, findings: &mut Findings) -> Option<()> {
    for file in chart.files.iter().filter(|file| file.is_crd()) {
        for document in Documents::new(&file.data) {
            let head = document.and_then(|text| Head::read(text, input.dialect));
            match head {
                Ok(Some(head)) => check_head(&head, &file.name, findings),
                Ok(None) => {}
                Err(error) => {
                    let message = format!("unable to parse YAML: {error}");
                    findings.add(Severity::Error, &file.name, message);
                    return None;
                }
            }
        }
    }
    for subchart in &chart.dependencies {
        check_chart(subchart, input, findings)?;
    }
    Some(())
}

fn check_head(head: &Head, path: &str, findings: &mut Findings) {
    if !head.api_version.starts_with("apiextensions.k8s.io") {
        let message = "apiVersion is not in 'apiextensions.k8s.io'";
        findings.add(Severity::Error, path, message);
    }
    if head.kind != "CustomResourceDefinition" {
        let message = "object kind is not 'CustomResourceDefinition'";
        findings.add(Severity::Error, path, message);
    }
}
