//! A chart and values to manifests, hooks and notes (Helm 3.22 and 4.3, `pkg/action`).

use crate::{
    capabilities::RenderCapabilities,
    chart::Chart,
    coalesce::{Coalescer, Nulls},
    compile::{Compiler, render_order},
    context::{ContextBuilder, ReleaseObject, Renderable, is_partial, values_type},
    dependencies::process_dependencies,
    error::RenderError,
    manifest::{HookManifest, Manifest, Values, sort_manifests},
    schema::Validator,
    split::trim_start,
    template_error::TemplateError,
    tree::{ChartTree, NodeId},
    version::is_compatible,
};
use std::{collections::BTreeMap, sync::Arc};
use whipstaff_generator::{Consulted, Limits, LookupSnapshot, Seed};
use whipstaff_gotemplate::{Dialect, FunctionTable, Map, Options, Renderer, Value};
use whipstaff_sprig::{CurrentTemplate, RenderEnvironment};

/// What templates rendered to, by their paths.
pub(crate) type RenderedFiles = BTreeMap<String, Vec<u8>>;

const NOTES: &str = "NOTES.txt";
const NO_VALUE: &[u8] = b"<no value>";

/// What a rendering depends on besides the chart.
#[derive(Debug)]
pub struct RenderInput<'a> {
    /// The user's values.
    pub values: &'a Map,
    /// `.Release`.
    pub release: ReleaseObject,
    /// `.Capabilities`.
    pub capabilities: RenderCapabilities,
    /// Live objects that are known.
    pub lookups: &'a LookupSnapshot,
    /// Where random values come from.
    pub seed: Seed,
    /// What a rendering may use up.
    pub limits: Limits,
    /// Whether `values.schema.json` is passed over.
    pub skip_schema_validation: bool,
    /// Whether the notes of subcharts are wanted too.
    pub subchart_notes: bool,
}

/// What a rendering gives.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Rendered {
    /// Files of `crds/`, as they are, those of subcharts after those of their chart.
    pub crds: Vec<CrdFile>,
    /// Documents that are no hooks, sorted by kind.
    pub manifests: Vec<Manifest>,
    /// Documents with a hook annotation, sorted by kind.
    pub hooks: Vec<HookManifest>,
    /// `NOTES.txt`, rendered.
    pub notes: String,
    /// What templates consulted beside files and values.
    pub consulted: Consulted,
    /// What a user should know although rendering succeeded.
    pub warnings: Vec<String>,
}

/// A file of `crds/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrdFile {
    /// Path with the names of charts.
    pub path: String,
    /// Contents.
    pub content: Arc<[u8]>,
}

/// A chart with what was compiled of it: render it as often as needed, on any thread.
#[derive(Debug)]
pub struct CompiledChart {
    chart: Arc<Chart>,
    dialect: Dialect,
    compiler: Compiler,
    schemas: Validator,
}

impl CompiledChart {
    /// A chart to be rendered in a dialect. Templates are compiled when they are first needed, for values decide which are.
    pub fn new(chart: Chart, dialect: Dialect) -> Self {
        Self::with_functions(chart, dialect, whipstaff_sprig::functions(dialect))
    }

    /// A chart whose templates may call these functions and no others but the built-in ones: those of [`functions`](crate::functions)
    /// with some of your own added, for example.
    pub fn with_functions(chart: Chart, dialect: Dialect, functions: FunctionTable) -> Self {
        Self {
            chart: Arc::new(chart),
            dialect,
            compiler: Compiler::new(functions),
            schemas: Validator::default(),
        }
    }

    /// The chart.
    pub fn chart(&self) -> &Chart {
        &self.chart
    }

    /// The dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Renders the chart.
    ///
    /// # Errors
    /// [`RenderError`] with Helm's text.
    pub fn render(&self, input: &RenderInput<'_>) -> Result<Rendered, RenderError> {
        self.render_with(input, Values::Wanted)
    }

    /// Renders the chart for the texts of its manifests: their values are left out, and so is the time that it takes to make them.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_texts(&self, input: &RenderInput<'_>) -> Result<Rendered, RenderError> {
        self.render_with(input, Values::Unwanted)
    }

    fn render_with(
        &self,
        input: &RenderInput<'_>,
        manifest_values: Values,
    ) -> Result<Rendered, RenderError> {
        let dialect = self.dialect;
        let mut tree = ChartTree::new(&self.chart);
        process_dependencies(&mut tree, input.values, dialect).map_err(|error| {
            if dialect.is_v4() {
                RenderError::Processing(error)
            } else {
                error.into()
            }
        })?;
        let mut coalescer = Coalescer::new(&tree, dialect);
        let values = coalescer
            .coalesce(ChartTree::ROOT, input.values, Nulls::Remove)
            .map_err(crate::dependencies::DependencyError::from)?;
        let mut warnings = coalescer.into_warnings();
        if !input.skip_schema_validation {
            self.schemas.validate(&tree, &values)?;
        }
        self.check_kube_version(&input.capabilities)?;

        let contexts = ContextBuilder::new(&tree, dialect, &input.release, &input.capabilities);
        let templates = contexts.renderables(&values);
        let (mut files, consulted) = self.execute(&templates, input, false)?;
        let notes = take_notes(&mut files, self.chart.name(), input.subchart_notes);
        let sorted = sort_manifests(files, dialect, manifest_values)?;
        warnings.extend(sorted.warnings);
        let mut crds = Vec::new();
        collect_crds(&tree, ChartTree::ROOT, &mut crds);
        Ok(Rendered {
            crds,
            manifests: sorted.manifests,
            hooks: sorted.hooks,
            notes,
            consulted,
            warnings,
        })
    }

    fn check_kube_version(&self, capabilities: &RenderCapabilities) -> Result<(), RenderError> {
        let constraint = &self.chart.metadata.kube_version;
        let version = &capabilities.kube_version;
        if constraint.is_empty() || is_compatible(constraint, &version.normalized) {
            return Ok(());
        }
        let shown = if self.dialect.is_v4() {
            &version.version
        } else {
            &version.normalized
        };
        Err(RenderError::KubeVersion {
            constraint: constraint.clone(),
            version: shown.clone(),
        })
    }

    /// Executes all templates in Helm's order; the output of those that are not partials by their paths.
    ///
    /// To lint means that `required` and `fail` pass.
    pub(crate) fn execute(
        &self,
        templates: &BTreeMap<String, Renderable>,
        input: &RenderInput<'_>,
        lint: bool,
    ) -> Result<(RenderedFiles, Consulted), RenderError> {
        let set = self.compiler.compile(templates)?;
        let current = CurrentTemplate::default();
        let mut environment = RenderEnvironment::new(input.lookups, input.seed, current.clone());
        let options = Options {
            dialect: self.dialect,
            limits: input.limits,
            lint,
            ..Options::default()
        };
        let mut renderer = Renderer::new(&set, &mut environment, options);
        let files = self.execute_all(templates, &current, &mut renderer);
        drop(renderer);
        let consulted = environment.into_consulted();
        match files {
            Ok(files) => Ok((files, consulted)),
            Err(error) => Err(error.after_consulting(consulted).into()),
        }
    }

    fn execute_all(
        &self,
        templates: &BTreeMap<String, Renderable>,
        current: &CurrentTemplate,
        renderer: &mut Renderer<'_>,
    ) -> Result<RenderedFiles, TemplateError> {
        let mut files = BTreeMap::new();
        for name in render_order(templates.keys())
            .into_iter()
            .filter(|name| !is_partial(name))
        {
            let template = &templates[name];
            current.set(name);
            let position = Value::map([
                ("Name", Value::from(name.as_str())),
                ("BasePath", Value::from(template.base_path.as_str())),
            ]);
            let position = position
                .as_map()
                .map(|map| map.with_type(values_type(self.dialect)));
            template
                .context
                .insert("Template", position.map_or(Value::Nil, Value::Map));
            let dot = template.context.with_type(values_type(self.dialect));
            let text = renderer
                .render(name, &Value::Map(dot))
                .map_err(|error| TemplateError::new(error, self.dialect))?;
            let mut text = without_no_value(text);
            // It is kept until everything is written, and may have grown to twice its length.
            text.shrink_to_fit();
            files.insert(name.clone(), text);
        }
        Ok(files)
    }
}

/// Removes every `<no value>`: Helm cannot tell those that the engine wrote from others.
fn without_no_value(text: Vec<u8>) -> Vec<u8> {
    let find = |from: usize| memchr::memmem::find(&text[from..], NO_VALUE);
    let Some(first) = find(0) else { return text };
    let mut clean = text[..first].to_vec();
    let mut from = first + NO_VALUE.len();
    while let Some(next) = find(from) {
        clean.extend_from_slice(&text[from..from + next]);
        from += next + NO_VALUE.len();
    }
    clean.extend_from_slice(&text[from..]);
    clean
}

/// Takes the notes out of the rendered files: the chart's own, and those of subcharts if they are wanted.
fn take_notes(files: &mut RenderedFiles, chart: &str, subcharts: bool) -> String {
    let own = format!("{chart}/templates/{NOTES}");
    let mut notes: Vec<String> = Vec::new();
    files.retain(|path, content| {
        let path = path.strip_suffix(whipstaff_tera::SUFFIX).unwrap_or(path);
        if !path.ends_with(NOTES) {
            return true;
        }
        if subcharts || path == own {
            let text = String::from_utf8_lossy(content).into_owned();
            // The chart's own come first; Helm's order is that of a Go map.
            let at = if path == own { 0 } else { notes.len() };
            notes.insert(at, text);
        }
        false
    });
    notes.retain(|text| !trim_start(text.as_bytes()).is_empty() || !subcharts);
    notes.join("\n")
}

fn collect_crds(tree: &ChartTree, chart: NodeId, crds: &mut Vec<CrdFile>) {
    let node = tree.node(chart);
    let path = tree.full_path(chart);
    for file in node.chart.files.iter().filter(|file| file.is_crd()) {
        let path = format!("{path}/{}", file.name);
        crds.push(CrdFile {
            path,
            content: Arc::clone(&file.data),
        });
    }
    for child in &node.children {
        collect_crds(tree, *child, crds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_no_value_is_removed() {
        let cases = [
            ("", ""),
            ("a", "a"),
            ("<no value>", ""),
            ("a: <no value>\nb: <no value><no value>c", "a: \nb: c"),
            ("<no <no value>value>", "<no value>"),
        ];
        for (text, expected) in cases {
            let found = without_no_value(text.as_bytes().to_vec());
            assert_eq!(String::from_utf8_lossy(&found), expected);
        }
    }

    #[test]
    fn notes_are_taken_out_of_all_charts_and_kept_for_the_root() {
        let files = || -> BTreeMap<String, Vec<u8>> {
            [
                ("c/charts/s/templates/NOTES.txt", "sub"),
                ("c/templates/NOTES.txt", "own"),
                ("c/templates/a.yaml", "a"),
            ]
            .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
            .into()
        };
        let mut all = files();
        assert_eq!(take_notes(&mut all, "c", false), "own");
        assert_eq!(all.len(), 1);
        assert_eq!(take_notes(&mut files(), "c", true), "own\nsub");
    }
}
