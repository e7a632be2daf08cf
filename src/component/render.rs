//! From files and parameters to objects.

use super::error::ReconcileError;
use crate::source::Artifact;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use whipstaff_generator::{
    Capabilities, Detected, Digest, Generated, Input, Limits, LookupSnapshot, Prepared, Registry,
    Release, Seed,
};

/// Most compiled file trees that are kept.
const MAX_COMPILED: usize = 128;

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

/// Compiles file trees, each once.
#[derive(Debug)]
pub(crate) struct Renderer {
    registry: Registry,
    limits: Limits,
    compiled: Mutex<HashMap<Digest, Arc<dyn Prepared>>>,
}

/// A compiled file tree, and what compiled it.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    /// Renders.
    pub(super) prepared: Arc<dyn Prepared>,
    /// Name of the generator.
    pub(super) generator: String,
    /// Why it was chosen.
    pub(super) reason: String,
}

impl Renderer {
    /// A renderer with the generators that it may choose from, and what each rendering may use up.
    pub(crate) fn new(registry: Registry, limits: Limits) -> Self {
        Self {
            registry,
            limits,
            compiled: Mutex::default(),
        }
    }

    /// Chooses a generator and compiles the files, unless that was done before.
    pub(super) async fn compile(&self, wanted: &Wanted<'_>) -> Result<Compiled, ReconcileError> {
        let files = wanted.artifact.files.subtree(wanted.path);
        if files.is_empty() && !wanted.path.is_empty() {
            return Err(ReconcileError::Path {
                path: wanted.path.to_owned(),
            });
        }
        let Detected { generator, reason } = self.registry.choose(wanted.generator, &files)?;
        let name = generator.name().to_owned();
        let options = wanted.options.clone();
        let key = Digest::of_parts([
            wanted.artifact.digest.as_bytes().as_slice(),
            wanted.path.as_bytes(),
            name.as_bytes(),
            options.to_string().as_bytes(),
        ]);
        let known = self.compiled().get(&key).map(Arc::clone);
        let prepared = if let Some(prepared) = known {
            prepared
        } else {
            let compile = move || generator.prepare(&files, &options);
            let compiled = tokio::task::spawn_blocking(compile)
                .await
                .map_err(ReconcileError::RenderTask)?;
            let prepared: Arc<dyn Prepared> = compiled.map_err(|error| failed(&error))?.into();
            let mut cache = self.compiled();
            if cache.len() >= MAX_COMPILED {
                cache.clear();
            }
            cache.insert(key, Arc::clone(&prepared));
            prepared
        };
        Ok(Compiled {
            prepared,
            generator: name,
            reason,
        })
    }

    /// Renders once, on a thread for such work.
    pub(super) async fn generate(
        &self,
        prepared: &Arc<dyn Prepared>,
        wanted: &Wanted<'_>,
        surroundings: Surroundings<'_>,
    ) -> Result<Result<Generated, whipstaff_generator::Error>, ReconcileError> {
        let prepared = Arc::clone(prepared);
        let (namespace, name) = (wanted.namespace.to_owned(), wanted.name.to_owned());
        let parameters = wanted.parameters.clone();
        let capabilities = surroundings.capabilities.clone();
        let lookups = surroundings.lookups.clone();
        let Surroundings { release, seed, .. } = surroundings;
        let limits = self.limits;
        let render = move || {
            let mut input = Input::new(&namespace, &name, &parameters, &capabilities, &lookups);
            input.release = release;
            input.seed = seed;
            input.limits = limits;
            prepared.generate(&input)
        };
        tokio::task::spawn_blocking(render)
            .await
            .map_err(ReconcileError::RenderTask)
    }

    fn compiled(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, Arc<dyn Prepared>>> {
        // Nothing that holds the lock can leave the map half changed.
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one attempt at rendering depends on beside the files and parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Which rendering this is.
    pub(super) release: Release,
    /// What the cluster offers.
    pub(super) capabilities: &'a Capabilities,
    /// Live objects that are known so far.
    pub(super) lookups: &'a LookupSnapshot,
    /// Where random values come from.
    pub(super) seed: Seed,
}

/// A generator's failure as the component reports it.
pub(super) fn failed(error: &whipstaff_generator::Error) -> ReconcileError {
    ReconcileError::Render {
        report: error.report(),
        kind: error.kind(),
    }
}
