//! From files and parameters to objects, once per input.

use super::error::ReconcileError;
use crate::cluster::{Discovery, Objects, answer};
use crate::metrics::Metrics;
use crate::source::Artifact;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use whipstaff_generator::{
    Capabilities, Detected, Digest, Generated, Input, LookupSnapshot, Prepared, Registry, Release,
};

/// Most compiled file trees that are kept.
const MAX_COMPILED: usize = 128;
/// Most rounds of questions about live objects.
const MAX_LOOKUP_ROUNDS: usize = 8;

/// Everything that decides what is rendered, but for the cluster.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<'a> {
    /// The files.
    pub(crate) artifact: &'a Arc<Artifact>,
    /// Folder inside them.
    pub(crate) path: &'a str,
    /// Name of the generator; detected when there is none.
    pub(crate) generator: Option<&'a str>,
    /// The generator's options.
    pub(crate) options: Value,
    /// Parameters.
    pub(crate) parameters: &'a Map<String, Value>,
    /// Namespace that is rendered for.
    pub(crate) namespace: &'a str,
    /// Name that is rendered for.
    pub(crate) name: &'a str,
}

impl Wanted<'_> {
    /// Digest of the whole input: a new one is a new revision.
    pub(crate) fn digest(&self) -> Digest {
        let options = self.options.to_string();
        let parameters = Value::Object(self.parameters.clone()).to_string();
        Digest::of_parts([
            self.artifact.digest.as_bytes().as_slice(),
            self.path.as_bytes(),
            self.generator.unwrap_or_default().as_bytes(),
            options.as_bytes(),
            parameters.as_bytes(),
            self.namespace.as_bytes(),
            self.name.as_bytes(),
        ])
    }
}

/// What was rendered, and from what.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Digest of everything that it depends on.
    pub(crate) key: Digest,
    /// The output.
    pub(crate) generated: Generated,
    /// Name of the generator.
    pub(crate) generator: String,
    /// Why it was chosen.
    pub(crate) reason: String,
}

impl Rendered {
    /// The Helm dialect, if a generator says that it used one.
    pub(crate) fn dialect(&self) -> Option<String> {
        self.generated.dialect.clone()
    }
}

/// Compiles file trees and renders them.
#[derive(Debug)]
pub(crate) struct Renderer {
    registry: Registry,
    metrics: Metrics,
    compiled: Mutex<HashMap<Digest, Arc<dyn Prepared>>>,
}

impl Renderer {
    /// A renderer with the generators that it may choose from.
    pub(crate) fn new(registry: Registry, metrics: Metrics) -> Self {
        Self {
            registry,
            metrics,
            compiled: Mutex::default(),
        }
    }

    /// Renders, unless `last` is of the same input already.
    pub(crate) async fn render(
        &self,
        wanted: &Wanted<'_>,
        release: Release,
        last: Option<&Arc<Rendered>>,
        discovery: &Discovery,
        objects: &Objects,
    ) -> Result<Arc<Rendered>, ReconcileError> {
        let resources = discovery.resources().await?;
        let capabilities = &resources.capabilities;
        let key = key(wanted, release, capabilities);
        if let Some(last) = last
            && last.key == key
        {
            return Ok(Arc::clone(last));
        }
        let files = wanted.artifact.files.subtree(wanted.path);
        if files.is_empty() {
            return Err(ReconcileError::Path {
                path: wanted.path.to_owned(),
            });
        }
        let Detected { generator, reason } = self.registry.choose(wanted.generator, &files)?;
        let name = generator.name().to_owned();
        let started = Instant::now();
        let prepared = self
            .prepare(
                Detected {
                    generator,
                    reason: reason.clone(),
                },
                wanted,
                files,
            )
            .await?;
        let generated =
            generate(prepared, wanted, release, capabilities, discovery, objects).await?;
        self.metrics.rendered(&name, started.elapsed());
        Ok(Arc::new(Rendered {
            key,
            generated,
            generator: name,
            reason,
        }))
    }

    async fn prepare(
        &self,
        detected: Detected,
        wanted: &Wanted<'_>,
        files: whipstaff_generator::FileTree,
    ) -> Result<Arc<dyn Prepared>, ReconcileError> {
        let name = detected.generator.name().to_owned();
        let options = wanted.options.clone();
        let text = options.to_string();
        let key = Digest::of_parts([
            wanted.artifact.digest.as_bytes().as_slice(),
            wanted.path.as_bytes(),
            name.as_bytes(),
            text.as_bytes(),
        ]);
        if let Some(prepared) = self.compiled().get(&key) {
            return Ok(Arc::clone(prepared));
        }
        let compile = move || detected.generator.prepare(&files, &options);
        let compiled = tokio::task::spawn_blocking(compile)
            .await
            .map_err(ReconcileError::RenderTask)?;
        let prepared: Arc<dyn Prepared> = compiled.map_err(|error| failed(&error))?.into();
        let mut cache = self.compiled();
        if cache.len() >= MAX_COMPILED {
            cache.clear();
        }
        cache.insert(key, Arc::clone(&prepared));
        Ok(prepared)
    }

    fn compiled(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Arc<dyn Prepared>>> {
        // Nothing that holds the lock can leave the map half changed.
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renders until no question about live objects is new. A failure after a new question is not final: the answer may mend it.
async fn generate(
    prepared: Arc<dyn Prepared>,
    wanted: &Wanted<'_>,
    release: Release,
    capabilities: &Capabilities,
    discovery: &Discovery,
    objects: &Objects,
) -> Result<Generated, ReconcileError> {
    let mut lookups = LookupSnapshot::new();
    for _ in 0..MAX_LOOKUP_ROUNDS {
        let result = generate_once(&prepared, wanted, release, capabilities, &lookups).await?;
        let asked = match &result {
            Ok(generated) => generated.lookups.as_slice(),
            Err(error) => error.lookups(),
        };
        let new: Vec<_> = asked
            .iter()
            .filter(|question| !lookups.contains(question))
            .cloned()
            .collect();
        if new.is_empty() {
            return result.map_err(|error| failed(&error));
        }
        for question in new {
            let answer = answer(&question, discovery, objects).await?;
            lookups.insert(question, answer);
        }
    }
    Err(ReconcileError::LookupRounds {
        rounds: MAX_LOOKUP_ROUNDS,
    })
}

async fn generate_once(
    prepared: &Arc<dyn Prepared>,
    wanted: &Wanted<'_>,
    release: Release,
    capabilities: &Capabilities,
    lookups: &LookupSnapshot,
) -> Result<Result<Generated, whipstaff_generator::Error>, ReconcileError> {
    let prepared = Arc::clone(prepared);
    let (namespace, name) = (wanted.namespace.to_owned(), wanted.name.to_owned());
    let parameters = wanted.parameters.clone();
    let (capabilities, lookups) = (capabilities.clone(), lookups.clone());
    let render = move || {
        let mut input = Input::new(&namespace, &name, &parameters, &capabilities, &lookups);
        input.release = release;
        prepared.generate(&input)
    };
    tokio::task::spawn_blocking(render)
        .await
        .map_err(ReconcileError::RenderTask)
}

fn key(wanted: &Wanted<'_>, release: Release, capabilities: &Capabilities) -> Digest {
    let release = format!("{}/{}", release.revision, release.is_upgrade);
    Digest::of_parts([
        wanted.digest().as_bytes().as_slice(),
        release.as_bytes(),
        capabilities.fingerprint().as_bytes(),
    ])
}

fn failed(error: &whipstaff_generator::Error) -> ReconcileError {
    ReconcileError::Render {
        report: error.report(),
        kind: error.kind(),
    }
}
