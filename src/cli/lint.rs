//! `whipstaff lint`: examines charts as `helm lint` does, and adds what only comparing renderings can find.

use super::{
    TIME_LIMIT,
    chart_files::{read_chart, read_folder},
    values::ValueArguments,
    write_out,
};
use anyhow::{Result, bail};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};
use whipstaff_generator::{FileTree, Limits};
use whipstaff_helm::{
    Dialect, Finding, LINT_CODES, LintInput, Map, RenderKubeVersion, Severity, lint,
    lint_rendering, without_ignored,
};

/// Deepest folder below `charts/` that subcharts are looked for in.
const MAX_SUBCHART_DEPTH: usize = 64;

/// Examine charts for possible issues.
// Each is a flag of its own, with Helm's name.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, clap::Args)]
pub(crate) struct LintArguments {
    /// Charts: folders or packed charts
    #[arg(value_name = "CHART")]
    charts: Vec<String>,
    /// Helm version whose checks are wanted: v3, v4, v4.1, v4.2 or v4.3
    #[arg(long, default_value = "v4")]
    dialect: Dialect,
    /// Namespace of the release
    #[arg(short, long, env = "HELM_NAMESPACE", default_value = "default")]
    namespace: String,
    /// Fail on warnings of Helm's checks too
    #[arg(long)]
    strict: bool,
    /// Print only warnings and errors
    #[arg(long)]
    quiet: bool,
    /// Examine subcharts too
    #[arg(long)]
    with_subcharts: bool,
    /// Kubernetes version for capabilities and deprecated kinds
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Run Helm's checks only: the output is that of `helm lint`
    #[arg(long)]
    helm_only: bool,
    /// Fail on findings with these codes, or on `all` that are not Helm's
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    deny: Vec<String>,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    global: super::global::GlobalArguments,
}

/// Examines and prints.
pub(crate) fn run(arguments: &LintArguments) -> Result<()> {
    arguments.check_codes()?;
    let charts = arguments.charts()?;
    let kube_version = arguments
        .kube_version
        .as_deref()
        .map(|version| RenderKubeVersion::parse(version, arguments.dialect))
        .transpose()?;
    let values = arguments.values.merge(arguments.dialect)?;
    let (mut failed, mut shown, mut text) = (0, 0, String::new());
    for chart in &charts {
        let report = arguments.examine(chart, &values, kube_version.as_ref());
        shown += usize::from(report.is_serious());
        failed += usize::from(report.fails(arguments));
        report.print(chart, arguments.quiet, &mut text)?;
    }
    write_out(&text)?;
    let summary = format!("{} chart(s) linted, {failed} chart(s) failed", charts.len());
    if failed > 0 {
        bail!(summary);
    }
    if !arguments.quiet || shown > 0 {
        write_out(&format!("{summary}\n"))?;
    }
    Ok(())
}

impl LintArguments {
    fn check_codes(&self) -> Result<()> {
        let known =
            |code: &str| code == "all" || LINT_CODES.iter().any(|(known, _)| *known == code);
        match self.deny.iter().find(|code| !known(code)) {
            None => Ok(()),
            Some(code) => {
                let codes: Vec<&str> = LINT_CODES.iter().map(|(code, _)| *code).collect();
                bail!("unknown code `{code}`: there are {}", codes.join(", "))
            }
        }
    }

    /// The charts to examine, with subcharts if they are wanted.
    fn charts(&self) -> Result<Vec<String>> {
        let mut charts = self.charts.clone();
        if charts.is_empty() {
            if self.dialect.is_v4() {
                bail!("\"whipstaff lint\" requires at least 1 argument");
            }
            charts.push(".".to_owned());
        }
        if self.with_subcharts {
            for chart in charts.clone() {
                subcharts(&clean(&Path::new(&chart).join("charts")), 0, &mut charts);
            }
        }
        Ok(charts)
    }

    fn examine(
        &self,
        chart: &str,
        values: &Map,
        kube_version: Option<&RenderKubeVersion>,
    ) -> Report {
        let (files, place) = match read(chart) {
            Ok(found) => found,
            Err(error) => return Report::Unreadable(format!("{error:#}")),
        };
        let mut limits = Limits::default();
        limits.time = TIME_LIMIT;
        let input = LintInput {
            files: &files,
            place: &place,
            values,
            namespace: &self.namespace,
            kube_version,
            dialect: self.dialect,
            skip_schema_validation: self.values.skip_schema_validation,
            limits,
        };
        let mut findings = lint(&input);
        if !self.helm_only {
            findings.extend(lint_rendering(&input));
        }
        Report::Findings(findings)
    }
}

/// What came of examining a chart.
enum Report {
    /// It could not be read.
    Unreadable(String),
    /// Everything that was found.
    Findings(Vec<Finding>),
}

impl Report {
    /// Whether there is more to say than that all is well.
    fn is_serious(&self) -> bool {
        match self {
            Self::Unreadable(_) => true,
            Self::Findings(findings) => findings.iter().any(|f| f.severity > Severity::Info),
        }
    }

    fn fails(&self, arguments: &LintArguments) -> bool {
        let lowest = if arguments.strict {
            Severity::Warning
        } else {
            Severity::Error
        };
        let denied = |code: &str| {
            let mut codes = arguments.deny.iter();
            codes.any(|denied| denied == "all" || denied == code)
        };
        match self {
            Self::Unreadable(_) => true,
            Self::Findings(findings) => findings.iter().any(|finding| match finding.code {
                Some(code) => denied(code),
                None => finding.severity >= lowest,
            }),
        }
    }

    fn print(&self, chart: &str, quiet: bool, text: &mut String) -> Result<()> {
        if quiet && !self.is_serious() {
            return Ok(());
        }
        writeln!(text, "==> Linting {chart}")?;
        match self {
            Self::Unreadable(error) => writeln!(text, "Error {error}")?,
            Self::Findings(findings) => {
                for finding in findings {
                    if !quiet || finding.severity > Severity::Info {
                        writeln!(text, "{finding}")?;
                    }
                }
            }
        }
        writeln!(text)?;
        Ok(())
    }
}

/// A chart's files, and where it is.
fn read(chart: &str) -> Result<(FileTree, String)> {
    let path = Path::new(chart);
    if is_packed(chart) {
        if !path.exists() {
            bail!("unable to open tarball: open {chart}: no such file or directory");
        }
        return Ok((without_ignored(&read_chart(path)?)?, absolute(path)));
    }
    let file = clean(&path.join("Chart.yaml"));
    if !file.exists() {
        let shown = file.display();
        bail!("unable to check Chart.yaml file in chart: stat {shown}: no such file or directory");
    }
    Ok((read_folder(path)?, absolute(path)))
}

/// Whether a path is that of a packed chart, as Helm tells.
#[expect(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "as Helm compares them"
)]
fn is_packed(path: &str) -> bool {
    path.ends_with(".tgz") || path.ends_with(".tar.gz")
}

fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    clean(&absolute).display().to_string()
}

/// A path without `.` and `..`, as Go cleans it.
fn clean(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if cleaned.file_name().is_some_and(|name| name != "..") => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// Adds the folders that have a `Chart.yaml` and the archives below a folder, in the order of their names.
fn subcharts(folder: &Path, depth: usize, charts: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let shown = path.display().to_string();
        // A link is not followed, as Go does not when it walks.
        let is_folder = path.symlink_metadata().is_ok_and(|m| m.is_dir());
        if path.file_name().is_some_and(|name| name == "Chart.yaml") {
            charts.push(folder.display().to_string());
        } else if is_packed(&shown) {
            charts.push(shown);
        }
        if is_folder && depth < MAX_SUBCHART_DEPTH {
            subcharts(&path, depth + 1, charts);
        }
    }
}
