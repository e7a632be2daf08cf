//! Findings that Helm cannot have. Each is proven by renderings, never guessed from the text of templates: a chart for which nothing is
//! proven has no finding.

mod bench;
mod dialects;
mod duplicates;
mod floats;
mod rotation;

use super::{Finding, LintInput, Severity};
use bench::{Bench, Case, Failure};

/// The codes of findings that are not Helm's, with what they stand for.
pub const CODES: &[(&str, &str)] = &[
    (
        NEEDS_VALUES,
        "the chart does not render without values of the user's",
    ),
    (
        NUMBER_AS_FLOAT,
        "a whole number of the values is rendered with an exponent",
    ),
    (ROTATES, "a value changes with every upgrade"),
    (DIALECT, "Helm 3 and Helm 4 render different objects"),
    (DUPLICATE_KEY, "a map has a key twice"),
    (DUPLICATE_OBJECT, "an object is rendered twice"),
];

const NEEDS_VALUES: &str = "needs-values";
const NUMBER_AS_FLOAT: &str = "number-as-float";
const ROTATES: &str = "rotates";
const DIALECT: &str = "dialect";
const DUPLICATE_KEY: &str = "duplicate-key";
const DUPLICATE_OBJECT: &str = "duplicate-object";

/// Examines a chart for what Helm cannot know: by rendering it several times, with one thing changed each time. A chart that cannot be
/// loaded or rendered has no findings here but that it needs values; the rest is for [`lint`](super::lint) to say.
///
/// Findings are sorted by file. Their paths are inside the chart, their lines those of the rendered file unless the file is not a template.
pub fn lint_rendering(input: &LintInput<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    duplicates::check_values(input, &mut findings);
    let Some(mut bench) = Bench::new(input) else {
        return findings;
    };
    match bench.render(&Case::install(input)) {
        Ok(rendered) => {
            duplicates::check(&rendered, input, &mut findings);
            floats::check(&mut bench, &rendered, &mut findings);
            rotation::check(&mut bench, &rendered, &mut findings);
            dialects::check(&mut bench, &rendered, &mut findings);
        }
        Err(Failure::NeedsValues {
            path,
            line,
            message,
        }) => {
            let path = bench.inside(&path).to_owned();
            findings.push(finding(
                NEEDS_VALUES,
                Severity::Info,
                path,
                Some(line),
                message,
            ));
        }
        Err(Failure::Limit | Failure::Other(_)) => {}
    }
    findings.sort_by(|one, other| one.path.cmp(&other.path));
    findings
}

fn finding(
    code: &'static str,
    severity: Severity,
    path: String,
    line: Option<usize>,
    message: String,
) -> Finding {
    Finding {
        severity,
        code: Some(code),
        path,
        line,
        message,
    }
}
