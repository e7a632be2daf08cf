//! `whipstaff template`: renders a chart and prints it as `helm template` does.

use anyhow::{Context, Result, anyhow, bail};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use whipstaff_generator::{FileTree, Limits, LookupSnapshot, Seed};
use whipstaff_helm::{
    Assignment, CompiledChart, Dialect, IGNORE_FILE, IgnoreRules, MAX_ARCHIVE_FILE_BYTES, Map,
    ReleaseObject, RenderCapabilities, RenderInput, RenderKubeVersion, Rendered, TextOptions,
    assign, assign_json, check_release_name, load, merge_values, read_values, render_release_name,
    render_text, show_only, text_parts, unpack_chart_archive, values_from_json, write_part,
};

/// Name of the release when none is given.
const DEFAULT_RELEASE: &str = "release-name";
/// Deepest nesting of folders in a chart; a link to a folder above would nest without end.
const MAX_FOLDER_DEPTH: usize = 64;
/// Largest packed chart in bytes.
const MAX_PACKED_BYTES: u64 = 100 * 1024 * 1024;
/// Largest values file in bytes.
const MAX_VALUES_BYTES: u64 = 64 * 1024 * 1024;
/// A person waits for the output and can stop it: the time that the operator grants would only be in the way.
const TIME_LIMIT: Duration = Duration::from_hours(1);

/// Render a chart and print its manifests.
#[derive(Debug, clap::Args)]
pub(crate) struct TemplateArguments {
    /// Release name, if any, and the chart: a folder or a packed chart
    #[arg(num_args = 1..=2, required = true, value_name = "[NAME] CHART")]
    positional: Vec<String>,
    /// Helm version whose behaviour is wanted: v3, v4, v4.1, v4.2 or v4.3
    #[arg(long, default_value = "v4")]
    dialect: Dialect,
    /// Namespace of the release
    #[arg(short, long, default_value = "default")]
    namespace: String,
    #[command(flatten)]
    name: NameArguments,
    #[command(flatten)]
    values: ValueArguments,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    unsupported: UnsupportedArguments,
}

/// Where the release's name comes from.
#[derive(Debug, clap::Args)]
struct NameArguments {
    /// Make up a release name
    #[arg(short, long)]
    generate_name: bool,
    /// Template that the release name is rendered from
    #[arg(long, value_name = "TEMPLATE")]
    name_template: Option<String>,
}

/// Values and what is done with them.
#[derive(Debug, clap::Args)]
struct ValueArguments {
    /// Values file; `-` is standard input (may be given several times)
    #[arg(
        short = 'f',
        long = "values",
        value_name = "FILE",
        value_delimiter = ','
    )]
    files: Vec<String>,
    /// Values as `key=value,list[0]=value` (may be given several times)
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Values that are always texts
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_string: Vec<String>,
    /// Values out of files: `key=path`
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_file: Vec<String>,
    /// Values as JSON: `key=json`, or a whole object
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    set_json: Vec<String>,
    /// A value without any escapes
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    set_literal: Vec<String>,
    /// Do not validate values against the chart's schema
    #[arg(long)]
    skip_schema_validation: bool,
}

/// The cluster that is rendered for.
#[derive(Debug, clap::Args)]
struct ClusterArguments {
    /// Kubernetes version
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// API versions that the cluster has besides the usual ones
    #[arg(short, long, value_name = "VERSIONS", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Render as for an upgrade
    #[arg(long)]
    is_upgrade: bool,
}

/// What is printed, and where to.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, with Helm's name"
)]
#[derive(Debug, clap::Args)]
struct OutputArguments {
    /// Print the custom resource definitions of `crds/` too
    #[arg(long)]
    include_crds: bool,
    /// Accepted for the sake of scripts: nothing is installed here
    #[arg(long, hide = true)]
    skip_crds: bool,
    /// Leave out hooks
    #[arg(long)]
    no_hooks: bool,
    /// Leave out hooks that are tests
    #[arg(long)]
    skip_tests: bool,
    /// Print only what comes from these templates
    #[arg(short, long, value_name = "TEMPLATE")]
    show_only: Vec<String>,
    /// Write to files below this folder instead
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,
    /// Put the release's name into the paths below the folder
    #[arg(long)]
    release_name: bool,
    /// Render the notes of subcharts too
    #[arg(long)]
    render_subchart_notes: bool,
    /// Print the notes after the manifests
    #[arg(long, hide = true)]
    notes: bool,
}

/// What Helm has and this command does not.
#[derive(Debug, clap::Args)]
struct UnsupportedArguments {
    #[arg(long, hide = true)]
    validate: bool,
    #[arg(long, hide = true)]
    dependency_update: bool,
    #[arg(long, hide = true)]
    repo: Option<String>,
    #[arg(long, hide = true)]
    version: Option<String>,
}

/// Renders and prints.
pub(crate) fn run(arguments: &TemplateArguments) -> Result<()> {
    arguments.unsupported.check()?;
    let (name, path) = arguments.name_and_chart()?;
    let values = arguments.values.merge(arguments.dialect)?;
    let chart = load(&read_chart(Path::new(path))?, arguments.dialect)?;
    if !matches!(chart.metadata.kind.as_str(), "" | "application") {
        bail!("{} charts are not installable", chart.metadata.kind);
    }
    if chart.metadata.deprecated {
        warn("this chart is deprecated")?;
    }
    let missing = chart.missing_dependencies();
    if !missing.is_empty() {
        bail!(
            "{}: found in Chart.yaml, but missing in charts/ directory: {}",
            dependencies_advice(arguments.dialect),
            missing.join(", ")
        );
    }
    check_release_name(&name).with_context(|| name_refusal(&name, arguments.dialect))?;
    let lookups = LookupSnapshot::new();
    let mut limits = Limits::default();
    limits.time = TIME_LIMIT;
    let rendered = CompiledChart::new(chart, arguments.dialect).render(&RenderInput {
        values: &values,
        release: ReleaseObject {
            name: name.clone(),
            namespace: arguments.namespace.clone(),
            revision: 1,
            is_upgrade: arguments.cluster.is_upgrade,
        },
        capabilities: arguments.cluster.capabilities(arguments.dialect)?,
        lookups: &lookups,
        seed: Seed::Random,
        limits,
        skip_schema_validation: arguments.values.skip_schema_validation,
        subchart_notes: arguments.output.render_subchart_notes,
    })?;
    for warning in &rendered.warnings {
        warn(warning)?;
    }
    arguments.output.print(&rendered, &name, arguments.dialect)
}

fn warn(text: &str) -> Result<()> {
    writeln!(
        io::stderr(),
        "warning: {}",
        text.trim_start_matches("warning: ")
    )?;
    Ok(())
}

impl UnsupportedArguments {
    fn check(&self) -> Result<()> {
        let reason = "this command renders what is on disk and talks to no server";
        let given = [
            ("--validate", self.validate),
            ("--dependency-update", self.dependency_update),
            ("--repo", self.repo.is_some()),
            ("--version", self.version.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => bail!("`{flag}` is not supported, because {reason}"),
            None => Ok(()),
        }
    }
}

impl TemplateArguments {
    fn name_and_chart(&self) -> Result<(String, &str)> {
        match self.positional.as_slice() {
            [name, chart] => {
                if self.name.generate_name {
                    bail!("cannot set --generate-name and also specify a name");
                }
                if self.name.name_template.is_some() {
                    bail!("cannot set --name-template and also specify a name");
                }
                Ok((name.clone(), chart))
            }
            [chart] => Ok((self.name.choose(chart, self.dialect)?, chart)),
            _ => bail!("a chart is needed"),
        }
    }
}

impl NameArguments {
    fn choose(&self, chart: &str, dialect: Dialect) -> Result<String> {
        if let Some(template) = self
            .name_template
            .as_deref()
            .filter(|text| !text.is_empty())
        {
            return Ok(render_release_name(template, dialect)?);
        }
        if !self.generate_name {
            return Ok(DEFAULT_RELEASE.to_owned());
        }
        let base = Path::new(chart)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("chart");
        let base = base
            .split('.')
            .next()
            .filter(|name| !name.is_empty())
            .unwrap_or("chart");
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        Ok(format!("{base}-{seconds}"))
    }
}

impl ValueArguments {
    /// The values of all flags, in Helm's order: files, JSON, typed, texts, files' contents, literals.
    fn merge(&self, dialect: Dialect) -> Result<Map> {
        let mut values = values_from_json(&serde_json::Map::new());
        for path in &self.files {
            let text = read_input(path)?;
            let file =
                read_values(&text, dialect).with_context(|| format!("failed to parse {path}"))?;
            values = merge_values(&values, &values_from_json(&file));
        }
        for text in &self.set_json {
            values = assign_json(text, &values, dialect)?;
        }
        for text in &self.set {
            assign(text, &values, Assignment::Typed, dialect)
                .context("failed parsing --set data")?;
        }
        for text in &self.set_string {
            assign(text, &values, Assignment::Text, dialect)
                .context("failed parsing --set-string data")?;
        }
        for text in &self.set_file {
            let mut read = |path: &str| {
                let bytes = read_input(path).map_err(|error| format!("{error:#}"))?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            };
            assign(text, &values, Assignment::File(&mut read), dialect)
                .context("failed parsing --set-file data")?;
        }
        for text in &self.set_literal {
            assign(text, &values, Assignment::Literal, dialect)
                .context("failed parsing --set-literal data")?;
        }
        Ok(values)
    }
}

/// What Helm says about dependencies that are not there.
fn dependencies_advice(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::V3 => {
            "An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies"
        }
        Dialect::V4_1 => {
            "an error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies"
        }
        _ => {
            "an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies"
        }
    }
}

/// What Helm puts before the reason why a name is refused.
fn name_refusal(name: &str, dialect: Dialect) -> String {
    let check = if dialect.is_v4() {
        "release name check failed: "
    } else {
        ""
    };
    format!("{check}release name {name:?}")
}

impl ClusterArguments {
    fn capabilities(&self, dialect: Dialect) -> Result<RenderCapabilities> {
        let mut capabilities = RenderCapabilities::offline(dialect);
        if let Some(version) = &self.kube_version {
            capabilities.kube_version = RenderKubeVersion::parse(version, dialect)?;
        }
        capabilities
            .api_versions
            .extend(self.api_versions.iter().cloned());
        Ok(capabilities)
    }
}

impl OutputArguments {
    fn print(&self, rendered: &Rendered, release: &str, dialect: Dialect) -> Result<()> {
        let options = TextOptions {
            include_crds: self.include_crds,
            no_hooks: self.no_hooks,
            skip_tests: self.skip_tests,
        };
        let mut out = io::stdout().lock();
        let text = match &self.output_dir {
            None => render_text(rendered, options),
            Some(folder) => {
                self.write_files(rendered, options, folder, release, &mut out)?;
                b"\n".to_vec()
            }
        };
        if self.show_only.is_empty() {
            out.write_all(&text)?;
        } else {
            out.write_all(&show_only(&text, &self.show_only, dialect)?)?;
        }
        if self.notes && !rendered.notes.trim().is_empty() {
            writeln!(out, "\nNOTES:\n{}", rendered.notes.trim())?;
        }
        out.flush()?;
        Ok(())
    }

    fn write_files(
        &self,
        rendered: &Rendered,
        options: TextOptions,
        folder: &Path,
        release: &str,
        out: &mut impl Write,
    ) -> Result<()> {
        let mut written = BTreeSet::new();
        for part in text_parts(rendered, options) {
            let below = if self.release_name && !part.is_crd {
                release
            } else {
                ""
            };
            let path = folder.join(below).join(part.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)
                    .with_context(|| format!("cannot make folder {}", parent.display()))?;
            }
            let mut text = Vec::new();
            write_part(&mut text, part);
            let mut file = if written.insert(path.clone()) {
                fs::File::create(&path)
            } else {
                fs::OpenOptions::new().append(true).open(&path)
            }
            .with_context(|| format!("cannot write {}", path.display()))?;
            file.write_all(&text)
                .with_context(|| format!("cannot write {}", path.display()))?;
            writeln!(out, "wrote {}", path.display())?;
        }
        Ok(())
    }
}

/// A values file, or what a `--set-file` names.
fn read_input(path: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.trim() == "-" {
        io::stdin()
            .take(MAX_VALUES_BYTES)
            .read_to_end(&mut bytes)
            .context("cannot read input")?;
        return Ok(bytes);
    }
    if path.starts_with("http://") || path.starts_with("https://") {
        bail!("{path} is not read, because this command talks to no server");
    }
    let file = fs::File::open(path).map_err(|error| match error.kind() {
        // As Go says it.
        io::ErrorKind::NotFound => anyhow!("open {path}: no such file or directory"),
        _ => anyhow::Error::from(error).context(format!("cannot open {path}")),
    })?;
    file.take(MAX_VALUES_BYTES)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {path}"))?;
    Ok(bytes)
}

/// The files of a chart: of a folder those that its `.helmignore` leaves, of an archive all.
fn read_chart(path: &Path) -> Result<FileTree> {
    let shown = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        if path.to_str().is_some_and(|text| text.contains("://")) {
            bail!("{shown} is not fetched, because this command talks to no server");
        }
        bail!("path \"{shown}\" not found");
    };
    if metadata.is_dir() {
        return read_folder(path);
    }
    if metadata.len() > MAX_PACKED_BYTES {
        bail!("{shown} is larger than {MAX_PACKED_BYTES} bytes");
    }
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    unpack_chart_archive(&bytes)
        .with_context(|| format!("file '{shown}' does not appear to be a valid chart file"))
}

fn read_folder(path: &Path) -> Result<FileTree> {
    let ignore = match fs::read(path.join(IGNORE_FILE)) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context("cannot read .helmignore"),
    };
    let mut walk = Walk {
        rules: IgnoreRules::parse(&ignore)?,
        files: FileTree::new(),
    };
    walk.folder(path, "", 0)?;
    Ok(walk.files)
}

/// A walk through a chart's folder that follows links, as Helm does.
struct Walk {
    rules: IgnoreRules,
    files: FileTree,
}

impl Walk {
    fn folder(&mut self, path: &Path, below: &str, depth: usize) -> Result<()> {
        if depth > MAX_FOLDER_DEPTH {
            bail!("folders are nested deeper than {MAX_FOLDER_DEPTH} at {below}");
        }
        let entries =
            fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", path.display()))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                bail!("the name of {} is not UTF-8", entry.path().display());
            };
            let relative = if below.is_empty() {
                name.to_owned()
            } else {
                format!("{below}/{name}")
            };
            self.entry(&entry.path(), &relative, depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, relative: &str, depth: usize) -> Result<()> {
        let metadata = fs::metadata(path)
            .with_context(|| format!("error evaluating symlink {}", path.display()))?;
        if self.rules.ignores(relative, metadata.is_dir()) {
            return Ok(());
        }
        if metadata.is_dir() {
            return self.folder(path, relative, depth + 1);
        }
        if !metadata.is_file() {
            bail!(
                "cannot load irregular file {} as it has file mode type bits set",
                path.display()
            );
        }
        if metadata.len() > MAX_ARCHIVE_FILE_BYTES {
            bail!(
                "chart file \"{relative}\" is larger than the maximum file size {MAX_ARCHIVE_FILE_BYTES}"
            );
        }
        let content = fs::read(path).with_context(|| format!("error reading {relative}"))?;
        self.files.insert(relative, content)?;
        Ok(())
    }
}
