//! Why a chart cannot be rendered.

use crate::{
    compile::CompileError, dependencies::DependencyError, load::LoadError, manifest::ManifestError,
    schema::SchemaError, template_error::TemplateError,
};
use whipstaff_generator::{Consulted, Error, ErrorKind, Location, ObjectSetError};

/// A rendering that failed. The texts, joined with those of the causes, are Helm's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// Dependencies cannot be processed.
    #[error(transparent)]
    Dependencies(#[from] DependencyError),
    /// Dependencies cannot be processed, as Helm 4 says it.
    #[error("chart dependencies processing failed")]
    Processing(#[source] DependencyError),
    /// Values do not meet a schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The chart does not work with the cluster's version.
    #[error(
        "chart requires kubeVersion: {constraint} which is incompatible with Kubernetes {version}"
    )]
    KubeVersion {
        /// What the chart asks for.
        constraint: String,
        /// What the cluster is.
        version: String,
    },
    /// A template does not parse.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A template failed.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// What came out is not manifests.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl RenderError {
    /// Whether Helm had begun to render, so that it advises to debug.
    pub fn is_of_templates(&self) -> bool {
        !matches!(
            self,
            Self::Dependencies(_) | Self::Processing(_) | Self::Schema(_)
        )
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Dependencies(_)
            | Self::Processing(_)
            | Self::Schema(_)
            | Self::KubeVersion { .. } => ErrorKind::Parameters,
            Self::Compile(_) => ErrorKind::Source,
            Self::Template(error) if error.limit => ErrorKind::Limit,
            // `required` and `fail` are how charts say that values are missing or wrong.
            Self::Template(error) if error.raised.is_some() => ErrorKind::Parameters,
            Self::Template(_) => ErrorKind::Render,
            Self::Manifest(_) => ErrorKind::Output,
        }
    }

    fn location(&self, chart: &str) -> Option<Location> {
        let inside = |path: &str| {
            // Templates are named with the chart's name in front; the tree's paths start below it.
            let below = path
                .strip_prefix(chart)
                .and_then(|rest| rest.strip_prefix('/'));
            below.unwrap_or(path).to_owned()
        };
        match self {
            Self::Compile(error) => Some(match error.column {
                Some(column) => Location::column(inside(&error.name), error.line, column),
                None => Location::line(inside(&error.name), error.line),
            }),
            Self::Template(error) => Some(Location::column(
                inside(&error.name),
                error.line,
                error.column + 1,
            )),
            Self::Manifest(
                ManifestError::Yaml { path, .. } | ManifestError::Fields { path, .. },
            ) => Some(Location::file(inside(path))),
            Self::Dependencies(_)
            | Self::Processing(_)
            | Self::Schema(_)
            | Self::KubeVersion { .. } => None,
        }
    }

    /// The error as generators report it.
    pub(crate) fn into_generator_error(self, chart: &str) -> Error {
        let (kind, location) = (self.kind(), self.location(chart));
        let consulted = match &self {
            Self::Template(error) => (*error.consulted).clone(),
            _ => Consulted::default(),
        };
        located(with_cause(kind, self), location).after_consulting(consulted)
    }
}

/// A chart that cannot be loaded, as generators report it.
pub(crate) fn load_error(error: LoadError) -> Error {
    let file = match &error {
        LoadError::Yaml { file, .. } | LoadError::Fields { file, .. } => Some(*file),
        LoadError::Values(_) => Some("values.yaml"),
        LoadError::Metadata(_) => Some("Chart.yaml"),
        _ => None,
    };
    let kind = match &error {
        LoadError::Limit => ErrorKind::Limit,
        _ => ErrorKind::Source,
    };
    located(with_cause(kind, error), file.map(Location::file))
}

/// Objects that cannot be a set, as generators report them.
pub(crate) fn object_error(error: ObjectSetError) -> Error {
    let file = match &error {
        ObjectSetError::Object { file, .. } => Some(Location::file(file.clone())),
        _ => None,
    };
    located(with_cause(ErrorKind::Output, error), file)
}

fn located(error: Error, location: Option<Location>) -> Error {
    match location {
        Some(location) => error.at(location),
        None => error,
    }
}

/// Puts the first text of a chain into the message and keeps the rest as its cause.
fn with_cause(kind: ErrorKind, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let message = error.to_string();
    match cause_text(&error) {
        Some(cause) => Error::new(kind, message).caused_by(Cause(cause)),
        None => Error::new(kind, message),
    }
}

fn cause_text(error: &dyn std::error::Error) -> Option<String> {
    let mut texts = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    (!texts.is_empty()).then(|| texts.join(": "))
}

/// The texts of a chain of causes.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(String);
