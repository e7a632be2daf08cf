//! From files and parameters to objects.

use super::error::ReconcileError;
use super::wanted::{Wanted, WantedPart};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use whipstaff_generator::{
    Capabilities, Composite, CompositePart, Detected, Digest, Fault, FileTree, Generated, Input,
    Limits, LookupSnapshot, Prepared, Registry, Release, Seed, Transformed,
};

/// Most compiled file trees that are kept.
const MAX_COMPILED: usize = 128;

/// What was rendered, and from what.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Digest of everything that it depends on.
    pub(crate) key: Digest,
    /// Digest of the component as templates saw it.
    pub(crate) component: Digest,
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

    /// The generator of a name, or the one that recognises the files of a folder.
    pub(super) fn choose(
        &self,
        name: Option<&str>,
        folder: &FileTree,
    ) -> Result<Detected, ReconcileError> {
        Ok(self.registry.choose(name, folder)?)
    }

    /// Compiles the files of all parts, unless that was done before, and puts them together.
    pub(super) async fn compile(&self, wanted: &Wanted) -> Result<Compiled, ReconcileError> {
        let mut parts = Vec::new();
        for part in &wanted.parts {
            parts.push(CompositePart {
                name: part.name.clone(),
                prepared: self.compile_part(part).await?,
                parameters: part.parameters.clone(),
            });
        }
        let generator = wanted.generator();
        let mut prepared: Arc<dyn Prepared> = match parts.pop() {
            Some(only) if parts.is_empty() && only.name.is_empty() => only.prepared,
            last => {
                parts.extend(last);
                Arc::new(Composite::new(parts).map_err(|error| failed(&error))?)
            }
        };
        if !wanted.pipeline.is_empty() {
            prepared = Arc::new(Transformed::new(prepared, wanted.pipeline.clone()));
        }
        Ok(Compiled {
            prepared,
            generator: generator.to_owned(),
            reason: wanted.reason(),
        })
    }

    async fn compile_part(&self, part: &WantedPart) -> Result<Arc<dyn Prepared>, ReconcileError> {
        let options = part.options.clone();
        let key = Digest::of_parts([
            part.artifact.digest.as_bytes().as_slice(),
            part.path.as_bytes(),
            part.detected.generator.name().as_bytes(),
            options.to_string().as_bytes(),
        ]);
        if let Some(prepared) = self.compiled().get(&key) {
            return Ok(Arc::clone(prepared));
        }
        let generator = Arc::clone(&part.detected.generator);
        let (artifact, path) = (Arc::clone(&part.artifact), part.path.clone());
        let compile = move || generator.prepare_folder(&artifact.files, &path, &options);
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

    /// Renders once, on a thread for such work.
    pub(super) async fn generate(
        &self,
        prepared: &Arc<dyn Prepared>,
        wanted: &Wanted,
        surroundings: Surroundings<'_>,
    ) -> Result<Result<Generated, whipstaff_generator::Error>, ReconcileError> {
        let prepared = Arc::clone(prepared);
        let (namespace, name) = (wanted.namespace.clone(), wanted.name.clone());
        let parameters = wanted.parameters.clone();
        let capabilities = surroundings.capabilities.clone();
        let lookups = surroundings.lookups.clone();
        let component = Arc::clone(surroundings.component);
        let Surroundings { release, seed, .. } = surroundings;
        let limits = self.limits;
        let render = move || {
            let mut input = Input::new(&namespace, &name, &parameters, &capabilities, &lookups);
            input.release = release;
            input.component = Some(&component);
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
    /// The component as templates see it.
    pub(super) component: &'a Arc<Value>,
    /// Where random values come from.
    pub(super) seed: Seed,
}

/// A generator's failure as the component reports it.
pub(super) fn failed(error: &whipstaff_generator::Error) -> ReconcileError {
    ReconcileError::Render {
        report: error.report(),
        kind: error.kind(),
        fault: Fault::of(error),
    }
}
