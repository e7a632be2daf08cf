//! The generator.

use crate::build::{BuildOptions, Built, Reorder, build};
use crate::error::{BuildError, BuildErrorKind};
use crate::files::{LoadRestrictor, REMOTE_IS_OFF, join};
use crate::generate::{ChartHost, ChartInflator, HELM_IS_OFF};
use crate::kustomization::FILE_NAMES;
use crate::remote::RemoteSource;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use whipstaff_generator::{
    Error, ErrorKind, FileTree, Generated, Generator, Input, Object, ObjectSet, Prepared,
};

/// What is said of charts instead of naming a flag of the command line.
const CHARTS_ARE_OFF: &str = "charts are off: the option `enableHelm` turns them on";

/// What is said of remote sources.
const NOTHING_IS_FETCHED: &str = "remote sources are off here: everything that is built must be in the source, unless the operator runs with `--allow-remote`";

/// Builds the kustomization of a file tree.
///
/// Its options are `path` (the folder of the kustomization, the root when it is left out), `enableHelm`, `helmApiVersions`,
/// `helmKubeVersion`, `loadRestrictor` (`rootOnly` or `none`) and `reorder` (`legacy` or `none`).
#[derive(Debug, Clone, Default)]
pub struct KustomizeGenerator {
    charts: Option<Arc<dyn ChartHost>>,
    remote: Option<Arc<dyn RemoteSource>>,
}

impl KustomizeGenerator {
    /// A generator that refuses charts and remote sources.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with charts.
    #[must_use]
    pub fn with_charts(mut self, charts: Arc<dyn ChartHost>) -> Self {
        self.charts = Some(charts);
        self
    }

    /// The same with remote sources.
    #[must_use]
    pub fn with_remote(mut self, remote: Arc<dyn RemoteSource>) -> Self {
        self.remote = Some(remote);
        self
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Options {
    path: String,
    enable_helm: bool,
    helm_api_versions: Vec<String>,
    helm_kube_version: String,
    load_restrictor: Restriction,
    reorder: Order,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Restriction {
    #[default]
    RootOnly,
    None,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Order {
    #[default]
    Legacy,
    None,
}

impl Options {
    fn from_json(options: &Value) -> Result<Self, Error> {
        if options.is_null() {
            return Ok(Self::default());
        }
        Self::deserialize(options).map_err(|error| {
            Error::new(
                ErrorKind::Parameters,
                "invalid options of the `kustomize` generator",
            )
            .caused_by(error)
        })
    }
}

impl Generator for KustomizeGenerator {
    fn name(&self) -> &'static str {
        "kustomize"
    }

    fn detects(&self, files: &FileTree) -> Option<String> {
        let name = FILE_NAMES.into_iter().find(|name| files.contains(name))?;
        Some(format!("found `{name}`"))
    }

    fn prepare(&self, files: &FileTree, options: &Value) -> Result<Box<dyn Prepared>, Error> {
        self.prepare_folder(files, "", options)
    }

    /// Bases outside of the folder are found.
    fn prepare_folder(
        &self,
        files: &FileTree,
        folder: &str,
        options: &Value,
    ) -> Result<Box<dyn Prepared>, Error> {
        let mut options = Options::from_json(options)?;
        options.path = join(folder, &options.path);
        let kustomization = Kustomized {
            generator: self.clone(),
            files: files.clone(),
            options,
        };
        if kustomization.options.enable_helm {
            // Charts may look at the cluster, which is only known when objects are asked for.
            return Ok(Box::new(kustomization));
        }
        let built = kustomization
            .build(None, &kustomization.options.helm_kube_version)
            .map_err(|error| to_error(&error))?;
        Ok(Box::new(Finished { built }))
    }
}

/// A kustomization that is built anew for each input.
#[derive(Debug)]
struct Kustomized {
    generator: KustomizeGenerator,
    files: FileTree,
    options: Options,
}

impl Kustomized {
    fn build(
        &self,
        charts: Option<&dyn ChartInflator>,
        kube_version: &str,
    ) -> Result<Built, BuildError> {
        let options = BuildOptions {
            load_restrictor: match self.options.load_restrictor {
                Restriction::RootOnly => LoadRestrictor::RootOnly,
                Restriction::None => LoadRestrictor::None,
            },
            enable_helm: self.options.enable_helm,
            helm_api_versions: self.options.helm_api_versions.clone(),
            helm_kube_version: kube_version.to_owned(),
            charts,
            remote: self.generator.remote.as_deref(),
            reorder: match self.options.reorder {
                Order::Legacy => Reorder::Legacy,
                Order::None => Reorder::None,
            },
            ..BuildOptions::default()
        };
        build(&self.files, &join("/", &self.options.path), &options)
    }
}

impl Prepared for Kustomized {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        let version = if self.options.helm_kube_version.is_empty() {
            input.capabilities.kube_version.to_string()
        } else {
            self.options.helm_kube_version.clone()
        };
        let inflator = self.generator.charts.as_ref();
        let inflator = inflator.map(|charts| charts.inflator(input));
        let charts = inflator
            .as_deref()
            .map(|inflator| inflator as &dyn ChartInflator);
        let result = self.build(charts, &version);
        let consulted = inflator.map(|inflator| inflator.consulted());
        let consulted = consulted.unwrap_or_default();
        match result {
            Ok(built) => {
                let mut generated = generated(&built, input)?;
                generated.consulted = consulted;
                Ok(generated)
            }
            Err(error) => Err(to_error(&error).after_consulting(consulted)),
        }
    }
}

/// A kustomization whose objects do not depend on anything else.
#[derive(Debug)]
struct Finished {
    built: Built,
}

impl Prepared for Finished {
    fn generate(&self, input: &Input<'_>) -> Result<Generated, Error> {
        generated(&self.built, input)
    }
}

fn to_error(error: &BuildError) -> Error {
    let kind = match error.kind() {
        BuildErrorKind::Limit => ErrorKind::Limit,
        BuildErrorKind::Build => ErrorKind::Render,
        _ => ErrorKind::Source,
    };
    let message = error.message().trim_end();
    let message = message.replace(HELM_IS_OFF, CHARTS_ARE_OFF);
    Error::new(kind, message.replace(REMOTE_IS_OFF, NOTHING_IS_FETCHED))
}

fn generated(built: &Built, input: &Input<'_>) -> Result<Generated, Error> {
    let mut objects = ObjectSet::new();
    for built in built.objects() {
        let object = Object::from_value(built.value.clone()).map_err(|error| {
            Error::new(
                ErrorKind::Output,
                "an object of the kustomization is invalid",
            )
            .caused_by(error)
        })?;
        objects.push(object, "");
    }
    let mut generated = Generated::default();
    generated.objects = objects;
    generated.warnings = built
        .warnings()
        .iter()
        .map(|warning| warning.trim_start_matches("# Warning: ").to_owned())
        .collect();
    if !input.parameters.is_empty() {
        generated
            .warnings
            .push("kustomizations have no parameters: the values are not used".to_owned());
    }
    Ok(generated)
}
