//! Rendering for a cluster that is asked: its capabilities, its live objects, and whether it would take the manifests.

use super::super::global::GlobalArguments;
use crate::cluster::{ApplyOptions, Discovery, Objects, Resources, answer};
use crate::dependents::Names;
use anyhow::{Context, Result, bail};
use kube::Client;
use serde_json::Value as Json;
use std::sync::Arc;
use whipstaff_generator::{LookupQuestion, LookupSnapshot, ObjectSet};
use whipstaff_helm::Rendered;

/// Most rounds of questions about live objects.
const MAX_LOOKUP_ROUNDS: usize = 8;

/// A cluster that is rendered for.
#[derive(Debug)]
pub(super) struct Server {
    discovery: Discovery,
    objects: Objects,
    /// What it serves.
    pub(super) resources: Arc<Resources>,
}

impl Server {
    /// Connects to the cluster of the kubeconfig, or the one that flags name.
    pub(super) async fn connect(arguments: &GlobalArguments) -> Result<Self> {
        let client = Client::try_from(arguments.config().await?)?;
        let discovery = Discovery::new(client.clone());
        let resources = discovery
            .resources()
            .await
            .context("Kubernetes cluster unreachable")?;
        Ok(Self {
            discovery,
            objects: Objects::new(client),
            resources,
        })
    }

    /// Renders until no question about live objects is new. A failure after a new question is not final: the answer may mend it.
    pub(super) async fn render<E>(
        &self,
        mut render: impl FnMut(&LookupSnapshot) -> Result<Rendered, E>,
        asked: impl Fn(&Result<Rendered, E>) -> Vec<LookupQuestion>,
    ) -> Result<Result<Rendered, E>> {
        let mut lookups = LookupSnapshot::new();
        for _ in 0..MAX_LOOKUP_ROUNDS {
            let rendered = render(&lookups);
            let mut new = asked(&rendered);
            new.retain(|question| !lookups.contains(question));
            if new.is_empty() {
                return Ok(rendered);
            }
            for question in new {
                let answer = answer(&question, &self.discovery, &self.objects).await?;
                lookups.insert(question, answer);
            }
        }
        bail!("templates ask for other objects after each of {MAX_LOOKUP_ROUNDS} renderings")
    }

    /// Has the API server check the manifests, without storing anything. Hooks are not checked, as Helm does not.
    pub(super) async fn validate(
        &self,
        rendered: &Rendered,
        namespace: &str,
        fields: bool,
    ) -> Result<()> {
        let mut problems = Vec::new();
        for manifest in &rendered.manifests {
            let mut objects = ObjectSet::new();
            objects.push_document(manifest.value.clone(), &manifest.path)?;
            for object in objects {
                let object = object.object.into_value();
                if let Err(problem) = self.check(&object, namespace, fields).await {
                    problems.push(format!("{}: {problem:#}", manifest.path));
                }
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        bail!(
            "unable to build kubernetes objects from release manifest: {}",
            problems.join("\n")
        )
    }

    async fn check(&self, object: &Json, namespace: &str, fields: bool) -> Result<()> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str);
        let api_version = text("/apiVersion").unwrap_or_default();
        let kind = text("/kind").unwrap_or_default();
        let name = text("/metadata/name").unwrap_or_default();
        let Some(resource) = self.resources.get(api_version, kind) else {
            bail!(
                "resource mapping not found for name: \"{name}\" namespace: \"{}\": no matches for kind \"{kind}\" in version \
                 \"{api_version}\": ensure CRDs are installed first",
                text("/metadata/namespace").unwrap_or_default()
            );
        };
        if !fields || name.is_empty() {
            return Ok(());
        }
        let namespace = text("/metadata/namespace").unwrap_or(namespace);
        let names = Names::default();
        let options = ApplyOptions {
            dry_run: true,
            ..ApplyOptions::forced(names.field_manager())
        };
        let applied = self
            .objects
            .apply(resource, namespace, name, object, options);
        match applied.await {
            // A namespace that is yet to be made is no fault of the manifest.
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error).with_context(|| format!("{kind} `{name}` is refused")),
            Ok(_) => Ok(()),
        }
    }
}
