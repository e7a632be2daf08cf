//! Helm charts as a [`Generator`].

use crate::{
    capabilities::{RenderCapabilities, RenderKubeVersion},
    context::ReleaseObject,
    error::{load_error, object_error},
    load::load,
    manifest::{HookManifest, Manifest},
    options::HelmOptions,
    release_name::check_release_name,
    render::{CompiledChart, CrdFile, RenderInput, Rendered},
    values::{check_depth, values_from_json},
};
use serde_json::Value as Json;
use whipstaff_generator::{
    Error, ErrorKind, FileTree, Generated, Generator, Hook, HookEvent, Input, Location, Object,
    ObjectSet, Prepared, yaml,
};

/// Renders Helm charts, without a `helm` binary and byte for byte as Helm does.
///
/// The file tree is a chart: `Chart.yaml` at its root. Options are those of [`HelmOptions`].
#[derive(Debug, Clone, Copy, Default)]
pub struct HelmGenerator;

impl Generator for HelmGenerator {
    fn name(&self) -> &'static str {
        "helm"
    }

    fn detects(&self, files: &FileTree) -> Option<String> {
        files
            .contains("Chart.yaml")
            .then(|| "found `Chart.yaml`".to_owned())
    }

    fn prepare(&self, files: &FileTree, options: &Json) -> Result<Box<dyn Prepared>, Error> {
        let options = HelmOptions::from_json(options)?;
        let chart = load(files, options.dialect).map_err(load_error)?;
        chart.check_installable(options.dialect).map_err(|error| {
            Error::new(ErrorKind::Source, error.to_string()).at(Location::file("Chart.yaml"))
        })?;
        check_dependencies(&chart)?;
        let chart = CompiledChart::new(chart, options.dialect);
        Ok(Box::new(PreparedChart { chart, options }))
    }
}

/// Every declared dependency must be there: this generator does not fetch any.
fn check_dependencies(chart: &crate::chart::Chart) -> Result<(), Error> {
    let missing = chart.missing_dependencies();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "found in Chart.yaml, but missing in charts/ directory: {}",
        missing.join(", ")
    );
    Err(Error::new(ErrorKind::Source, message).at(Location::file("Chart.yaml")))
}

#[derive(Debug)]
struct PreparedChart {
    chart: CompiledChart,
    options: HelmOptions,
}

impl Prepared for PreparedChart {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let rendered = self.render(input)?;
        let mut generated = Generated::default();
        if self.options.include_crds {
            for crd in &rendered.crds {
                add_crds(crd, &mut generated.objects)?;
            }
        }
        for Manifest { path, value, .. } in rendered.manifests {
            generated
                .objects
                .push_document(value, &path)
                .map_err(object_error)?;
        }
        for hook in rendered.hooks {
            generated.hooks.extend(self.hook(hook)?);
        }
        generated.notes = rendered.notes;
        generated.consulted = rendered.consulted;
        generated.dialect = Some(self.chart.dialect().to_string());
        generated.warnings = rendered.warnings;
        Ok(generated)
    }
}

impl PreparedChart {
    fn render(&self, input: &Input<'_>) -> Result<Rendered, Error> {
        let parameters = |error: String| Error::new(ErrorKind::Parameters, error);
        check_depth(input.parameters).map_err(|error| parameters(error.to_string()))?;
        let name = self.options.release_name.as_deref().unwrap_or(input.name);
        check_release_name(name).map_err(|error| parameters(error.to_string()))?;
        let values = values_from_json(input.parameters);
        let input = RenderInput {
            values: &values,
            release: ReleaseObject {
                name: name.to_owned(),
                namespace: input.namespace.to_owned(),
                revision: input.release.revision,
                is_upgrade: input.release.is_upgrade,
            },
            capabilities: self.capabilities(input)?,
            lookups: input.lookups,
            seed: input.seed,
            limits: input.limits,
            skip_schema_validation: self.options.skip_schema_validation,
            subchart_notes: false,
        };
        let rendered = self.chart.render(&input);
        rendered.map_err(|error| error.into_generator_error(self.chart.chart().name()))
    }

    fn capabilities(&self, input: &Input<'_>) -> Result<RenderCapabilities, Error> {
        let dialect = self.chart.dialect();
        let mut capabilities = RenderCapabilities::of_cluster(input.capabilities, dialect);
        if let Some(version) = &self.options.kube_version {
            capabilities.kube_version = RenderKubeVersion::parse(version, dialect)
                .map_err(|error| Error::new(ErrorKind::Parameters, error.to_string()))?;
        }
        capabilities
            .api_versions
            .extend(self.options.api_versions.iter().cloned());
        Ok(capabilities)
    }

    /// The hooks of a document, which is one object or a list of them.
    fn hook(&self, hook: HookManifest) -> Result<Vec<Hook>, Error> {
        let only_tests = hook.events.iter().all(|event| *event == HookEvent::Test);
        if self.options.disable_hooks || (self.options.skip_tests && only_tests) {
            return Ok(Vec::new());
        }
        let HookManifest {
            manifest,
            events,
            weight,
            delete_policies,
            ..
        } = hook;
        let mut objects = ObjectSet::new();
        objects
            .push_document(manifest.value, &manifest.path)
            .map_err(object_error)?;
        let hook = |object: Object| Hook {
            object,
            source: manifest.path.clone(),
            events: events.clone(),
            weight,
            delete_policies: delete_policies.clone(),
        };
        Ok(objects
            .into_iter()
            .map(|sourced| hook(sourced.object))
            .collect())
    }
}

fn add_crds(crd: &CrdFile, objects: &mut ObjectSet) -> Result<(), Error> {
    let text = String::from_utf8_lossy(&crd.content);
    let documents = yaml::documents(&text).map_err(|error| {
        Error::new(ErrorKind::Source, "cannot read custom resource definitions")
            .at(Location::file(crd.path.clone()))
            .caused_by(error)
    })?;
    for document in documents {
        objects
            .push_document(document.value, &crd.path)
            .map_err(object_error)?;
    }
    Ok(())
}
