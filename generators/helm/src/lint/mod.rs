//! What is wrong with a chart: the checks of `helm lint` (Helm 3.22, `pkg/lint`; Helm 4.3, `pkg/chart/v2/lint`), and findings of our own
//! that need a rendering to be compared with another one.
//!
//! ```text
//! FileTree ── lint ──► Findings: as Helm words them
//!          ── lint_rendering ──► Findings with a code: proven by renderings that differ
//! ```

mod addresses;
mod chart_file;
mod crds;
mod dependencies;
mod documents;
mod lifecycles;
mod names;
mod own;
mod templates;
mod values;

pub use own::{CODES, lint_rendering};

use crate::{
    capabilities::RenderKubeVersion,
    load::{LoadError, load},
};
use std::fmt;
use whipstaff_generator::{FileTree, Limits};
use whipstaff_gotemplate::{Dialect, Map};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Against convention or recommendation.
    Warning,
    /// The chart cannot be installed.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        })
    }
}

/// Something that is wrong with a chart, or could be. Displayed as `helm lint` prints it: `[WARNING] Chart.yaml: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Which check of ours found it; nothing for Helm's checks. One of [`CODES`].
    pub code: Option<&'static str>,
    /// The file or folder, inside the chart; empty or the chart's own place for what concerns the whole chart.
    pub path: String,
    /// Line in the file, from one, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.severity, self.path)?;
        if let (Some(_), Some(line)) = (self.code, self.line) {
            write!(f, ":{line}")?;
        }
        f.write_str(": ")?;
        if let Some(code) = self.code {
            write!(f, "[{code}] ")?;
        }
        f.write_str(&self.message)
    }
}

/// A chart to be examined, and how it would be rendered.
#[derive(Debug)]
pub struct LintInput<'a> {
    /// The chart's files, without those that its `.helmignore` names.
    pub files: &'a FileTree,
    /// Where the chart is: Helm shows the absolute path of its folder in findings about dependencies.
    pub place: &'a str,
    /// The user's values.
    pub values: &'a Map,
    /// Namespace of the release.
    pub namespace: &'a str,
    /// Kubernetes version for capabilities and deprecated kinds, instead of the newest that Helm knows.
    pub kube_version: Option<&'a RenderKubeVersion>,
    /// Which Helm's checks are wanted.
    pub dialect: Dialect,
    /// Whether `values.schema.json` is passed over.
    pub skip_schema_validation: bool,
    /// What each rendering may use up.
    pub limits: Limits,
}

/// Examines a chart as `helm lint` does: the same findings, severities, texts and order.
///
/// A tree without `Chart.yaml` is no chart; Helm refuses it before it examines anything, so do not pass one.
pub fn lint(input: &LintInput<'_>) -> Vec<Finding> {
    let mut findings = Findings::default();
    let chart = load(input.files, input.dialect);
    chart_file::check(input, &mut findings);
    values::check(input, &mut findings);
    templates::check(input, &chart, &mut findings);
    dependencies::check(input, &chart, &mut findings);
    if input.dialect.is_v4() {
        crds::check(input, &chart, &mut findings);
    }
    findings.0
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding of Helm's.
    fn add(&mut self, severity: Severity, path: &str, message: impl Into<String>) {
        self.0.push(Finding {
            severity,
            code: None,
            path: path.to_owned(),
            line: None,
            message: message.into(),
        });
    }

    /// Adds a finding unless the check passed. Whether it did.
    fn check(&mut self, severity: Severity, path: &str, result: Result<(), String>) -> bool {
        match result {
            Ok(()) => true,
            Err(message) => {
                self.add(severity, path, message);
                false
            }
        }
    }
}

/// A chart that was loaded, or why it was not.
type Loaded = Result<crate::chart::Chart, LoadError>;

/// The texts of an error and its causes, joined as Go wraps them.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// A text in quotes, as Go's `%q` prints it.
fn quoted(text: &str) -> String {
    let quoted = whipstaff_gotemplate::format::quote(text.as_bytes());
    String::from_utf8_lossy(&quoted).into_owned()
}
