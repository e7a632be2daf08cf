//! What is to be rendered.

use super::adoption::{pins_reference, with_pins};
use super::error::ReconcileError;
use super::memory::Sources;
use super::render::{Renderer, failed};
use super::resource::{Component, GeneratorOptions, Origin, Part};
use super::source::Fetching;
use crate::api::v1alpha1::SourceStatus;
use crate::source::Artifact;
use kube::ResourceExt;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use whipstaff_generator::{Detected, Digest, Pipeline};

/// What a component with several generators reports as the one that it has.
const COMPOSITE: &str = "composite";

/// Everything that decides what is rendered, but for the cluster.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// What is rendered and put together: a single nameless part, or several with names.
    pub(crate) parts: Vec<WantedPart>,
    /// What is done to the objects.
    pub(crate) pipeline: Pipeline,
    /// Parameters.
    pub(crate) parameters: Map<String, Value>,
    /// Digest of annotations and references, if there are any: they are input, whether a template makes use of them or not.
    extras: Option<Digest>,
    /// Namespace that is rendered for.
    pub(crate) namespace: String,
    /// Name that is rendered for.
    pub(crate) name: String,
    /// What was fetched for the first part.
    pub(crate) source: Option<SourceStatus>,
}

/// One file tree and what renders it.
#[derive(Debug, Clone)]
pub(crate) struct WantedPart {
    /// What it is called; empty when it is the only one.
    pub(crate) name: String,
    /// The files.
    pub(crate) artifact: Arc<Artifact>,
    /// Folder inside them.
    pub(crate) path: String,
    /// The generator that was asked for, or empty.
    asked: String,
    /// What renders them.
    pub(crate) detected: Detected,
    /// The generator's options.
    pub(crate) options: Value,
    /// Parameters over those of the whole.
    pub(crate) parameters: Map<String, Value>,
}

impl Wanted {
    /// Fetches and decrypts a component's files, and chooses what renders them.
    pub(super) async fn gather<C: Component>(
        component: &C,
        fetching: &Fetching<'_>,
        renderer: &Renderer,
        memory: &mut Sources,
    ) -> Result<Self, ReconcileError> {
        let started = Instant::now();
        let pipeline = component
            .pipeline_with(fetching.variables)
            .map_err(|error| failed(&error))?;
        let name = component.name_any();
        let adopt = component.adopt();
        let pipeline = match adopt.and_then(|adopt| pins_reference(adopt, &name)) {
            Some(reference) => with_pins(pipeline, &reference, fetching.references)
                .map_err(|error| failed(&error))?,
            None => pipeline,
        };
        let parameters = component
            .parameters_with(fetching.references)
            .map_err(|error| failed(&error))?;
        let nothing = Map::new();
        let mut parts = component.parts();
        if parts.is_empty() {
            parts.push(Part {
                name: "",
                origin: component.origin(),
                path: component.path(),
                generator: component.generator(),
                options: component.generator_options(),
                parameters: &nothing,
            });
        }
        let secret = component.decryption().map(|d| d.secret_ref.name.as_str());
        let mut wanted = Vec::new();
        let mut source = None;
        for part in parts {
            let mut artifact = fetch(fetching, &part, memory).await?;
            let fetched = (!artifact.url.is_empty()).then(|| SourceStatus {
                url: artifact.url.clone(),
                revision: artifact.revision.clone(),
                digest: artifact.digest.to_string(),
            });
            source = source.or(fetched);
            if let Some(secret) = secret {
                artifact = fetching.decrypt(artifact, secret, memory).await?;
            }
            wanted.push(choose(renderer, &part, artifact)?);
        }
        memory.forget_old(started);
        let namespace = component.target_namespace();
        Ok(Self {
            parts: wanted,
            pipeline,
            parameters: parameters.into_owned(),
            extras: extras(component, fetching),
            namespace: namespace.unwrap_or(fetching.namespace).to_owned(),
            name: component.target_name().unwrap_or(&name).to_owned(),
            source,
        })
    }

    /// Digest of the whole input: a new one is a new revision.
    pub(crate) fn digest(&self) -> Digest {
        let parameters = Value::Object(self.parameters.clone()).to_string();
        let tail = [
            parameters.as_bytes(),
            self.namespace.as_bytes(),
            self.name.as_bytes(),
        ];
        let heads: Vec<_> = self.parts.iter().map(WantedPart::texts).collect();
        let mut all: Vec<&[u8]> = Vec::new();
        for (part, head) in self.parts.iter().zip(&heads) {
            if !part.name.is_empty() {
                all.push(part.name.as_bytes());
            }
            all.push(part.artifact.digest.as_bytes());
            all.extend(head.iter().map(String::as_bytes));
        }
        all.extend(tail);
        let pipeline = self.pipeline.digest();
        if !self.pipeline.is_empty() {
            all.push(pipeline.as_bytes());
        }
        all.extend(
            self.extras
                .iter()
                .map(|extras| extras.as_bytes().as_slice()),
        );
        Digest::of_parts(all)
    }

    /// What the status calls the generator.
    pub(crate) fn generator(&self) -> &str {
        match self.parts.as_slice() {
            [only] if only.name.is_empty() => only.detected.generator.name(),
            _ => COMPOSITE,
        }
    }

    /// Why it was chosen.
    pub(crate) fn reason(&self) -> String {
        let reasons = self.parts.iter().map(|part| {
            if part.name.is_empty() {
                return part.detected.reason.clone();
            }
            let generator = part.detected.generator.name();
            format!("{}: `{generator}`, {}", part.name, part.detected.reason)
        });
        reasons.collect::<Vec<_>>().join("; ")
    }
}

impl WantedPart {
    fn texts(&self) -> Vec<String> {
        let mut texts = vec![
            self.path.clone(),
            self.asked.clone(),
            self.options.to_string(),
        ];
        if !self.parameters.is_empty() {
            texts.push(Value::Object(self.parameters.clone()).to_string());
        }
        texts
    }
}

/// Annotations of tools that begin so change without anybody wanting anything.
const BOOKKEEPING: &str = "kubectl.kubernetes.io/";

fn extras<C: Component>(component: &C, fetching: &Fetching<'_>) -> Option<Digest> {
    let references = fetching.references;
    let is_bookkeeping = |key: &str| {
        let name = key.split_once('/').map(|(name, _)| name);
        key.starts_with(BOOKKEEPING) || name == Some(fetching.names.name())
    };
    let annotations = component.annotations().iter();
    let annotations: Vec<_> = annotations
        .filter(|(key, _)| !is_bookkeeping(key))
        .flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()])
        .collect();
    if annotations.is_empty() && references.is_empty() {
        return None;
    }
    let references = references.digest();
    let all = annotations
        .into_iter()
        .chain([references.as_bytes().as_slice()]);
    Some(Digest::of_parts(all))
}

async fn fetch(
    fetching: &Fetching<'_>,
    part: &Part<'_>,
    memory: &mut Sources,
) -> Result<Arc<Artifact>, ReconcileError> {
    if let Some(files) = fetching.given(part.name) {
        return fetching.fetch(&Origin::Files(files), memory).await;
    }
    fetching.fetch(&part.origin, memory).await
}

fn choose(
    renderer: &Renderer,
    part: &Part<'_>,
    artifact: Arc<Artifact>,
) -> Result<WantedPart, ReconcileError> {
    let path = part.path.trim_matches('/').to_owned();
    let folder = match path.as_str() {
        "" => Cow::Borrowed(&artifact.files),
        path => Cow::Owned(artifact.files.subtree(path)),
    };
    if folder.is_empty() && !path.is_empty() {
        return Err(ReconcileError::Path {
            part: part.name.to_owned(),
            path: part.path.to_owned(),
        });
    }
    let detected = renderer.choose(part.generator, &folder)?;
    let generator = detected.generator.name();
    if let Some(field) = part.options.unused(generator) {
        return Err(ReconcileError::UnusedOptions {
            part: part.name.to_owned(),
            field,
            generator: generator.to_owned(),
        });
    }
    Ok(WantedPart {
        name: part.name.to_owned(),
        path,
        asked: part.generator.unwrap_or_default().to_owned(),
        options: options(&part.options, &detected),
        detected,
        parameters: part.parameters.clone(),
        artifact,
    })
}

fn options(options: &GeneratorOptions, detected: &Detected) -> Value {
    options.of(detected.generator.name()).clone()
}
