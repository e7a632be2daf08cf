//! Renderings of one chart that differ in one thing.

use super::super::LintInput;
use crate::{
    capabilities::RenderCapabilities,
    chart::Chart,
    context::ReleaseObject,
    error::RenderError,
    load::load,
    manifest::Manifest,
    render::{CompiledChart, RenderInput, Rendered},
};
use std::collections::BTreeMap;
use whipstaff_generator::{HookEvent, LookupSnapshot, Seed};
use whipstaff_gotemplate::{Dialect, Map};

/// What one rendering depends on, besides what all of them share.
#[derive(Debug, Clone)]
pub(super) struct Case<'a> {
    pub(super) dialect: Dialect,
    pub(super) values: Map,
    /// Stands for random bytes and the time.
    pub(super) draw: u8,
    pub(super) is_upgrade: bool,
    pub(super) lookups: Option<&'a LookupSnapshot>,
}

impl Case<'_> {
    /// The first installation.
    pub(super) fn install(input: &LintInput<'_>) -> Self {
        Self {
            dialect: input.dialect,
            values: input.values.clone(),
            draw: 1,
            is_upgrade: false,
            lookups: None,
        }
    }
}

/// Why a rendering failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// `required` or `fail` was called.
    NeedsValues {
        path: String,
        line: usize,
        message: String,
    },
    /// A limit was reached that Helm does not have.
    Limit,
    /// Anything else, in Helm's words.
    Other(String),
}

/// Renders a chart again and again.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) input: &'a LintInput<'a>,
    charts: Vec<CompiledChart>,
}

impl<'a> Bench<'a> {
    /// Nothing when the chart cannot be loaded, or is not to be installed.
    pub(super) fn new(input: &'a LintInput<'a>) -> Option<Self> {
        let chart = load(input.files, input.dialect).ok()?;
        if chart.is_library() {
            return None;
        }
        let charts = vec![CompiledChart::new(chart, input.dialect)];
        Some(Self { input, charts })
    }

    /// The chart as the dialect that is examined loads it.
    pub(super) fn chart(&self) -> &Chart {
        self.charts[0].chart()
    }

    /// The path of a template inside the chart.
    pub(super) fn inside<'p>(&self, path: &'p str) -> &'p str {
        let below = path.strip_prefix(self.chart().name());
        below
            .and_then(|path| path.strip_prefix('/'))
            .unwrap_or(path)
    }

    /// Renders one case.
    pub(super) fn render(&mut self, case: &Case<'_>) -> Result<Rendered, Failure> {
        let known = |chart: &CompiledChart| chart.dialect() == case.dialect;
        let at = if let Some(at) = self.charts.iter().position(known) {
            at
        } else {
            let chart = load(self.input.files, case.dialect)
                .map_err(|error| Failure::Other(super::super::chain(&error)))?;
            self.charts.push(CompiledChart::new(chart, case.dialect));
            self.charts.len() - 1
        };
        render(&self.charts[at], self.input, case)
    }

    /// Renders one case of another chart.
    pub(super) fn render_chart(&self, chart: Chart, case: &Case<'_>) -> Result<Rendered, Failure> {
        render(&CompiledChart::new(chart, case.dialect), self.input, case)
    }
}

fn render(
    chart: &CompiledChart,
    input: &LintInput<'_>,
    case: &Case<'_>,
) -> Result<Rendered, Failure> {
    let none = LookupSnapshot::new();
    let mut capabilities = RenderCapabilities::offline(chart.dialect());
    if let Some(version) = input.kube_version {
        capabilities.kube_version = version.clone();
    }
    let rendered = chart.render(&RenderInput {
        values: &case.values,
        release: ReleaseObject {
            name: "test-release".to_owned(),
            namespace: input.namespace.to_owned(),
            revision: if case.is_upgrade { 2 } else { 1 },
            is_upgrade: case.is_upgrade,
        },
        capabilities,
        lookups: case.lookups.unwrap_or(&none),
        seed: Seed::Stable {
            key: [case.draw; 32],
            // Days apart, so that dates differ too.
            now: 1_700_000_000 + i64::from(case.draw) * 100_000,
        },
        limits: input.limits,
        skip_schema_validation: true,
        subchart_notes: false,
    });
    rendered.map_err(|error| match error {
        RenderError::Template(error) if error.limit => Failure::Limit,
        RenderError::Template(error) => match error.raised {
            Some(message) => Failure::NeedsValues {
                path: error.name,
                line: error.line,
                message,
            },
            None => Failure::Other(error.text),
        },
        other => Failure::Other(super::super::chain(&other)),
    })
}

/// Documents by their templates, in their order: manifests, and hooks that run on upgrades.
pub(super) fn by_path(rendered: &Rendered) -> BTreeMap<&str, Vec<&Manifest>> {
    let on_upgrade =
        |event: &HookEvent| matches!(event, HookEvent::PreUpgrade | HookEvent::PostUpgrade);
    let hooks = rendered
        .hooks
        .iter()
        .filter(|hook| hook.events.iter().any(on_upgrade))
        .map(|hook| &hook.manifest);
    let mut found: BTreeMap<&str, Vec<&Manifest>> = BTreeMap::new();
    for manifest in rendered.manifests.iter().chain(hooks) {
        if manifest.value.is_null() {
            continue;
        }
        found.entry(&manifest.path).or_default().push(manifest);
    }
    found
}

/// How an object is named to a person.
pub(super) fn describe(manifest: &Manifest) -> String {
    let name = manifest.value.pointer("/metadata/name");
    match name.and_then(serde_json::Value::as_str) {
        Some(name) => format!("{} `{name}`", manifest.kind),
        None if manifest.kind.is_empty() => "a document".to_owned(),
        None => format!("a {}", manifest.kind),
    }
}
