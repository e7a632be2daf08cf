//! Fetching a component's source.

use super::context::Context;
use super::error::ReconcileError;
use super::memory::{Fetched, Memory};
use super::resource::{Component, Origin};
use crate::api::v1alpha1::UrlSource;
use crate::cluster::{Objects, Resource};
use crate::source::{Artifact, Credentials, FetchRequest};
use base64::Engine as _;
use kube::ResourceExt;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The component's files: those of last time unless the source changed or the interval is over.
pub(super) async fn fetch<C: Component>(
    context: &Context,
    component: &C,
    objects: &Objects,
    memory: &mut Memory,
    interval: Duration,
) -> Result<Arc<Artifact>, ReconcileError> {
    let url = match component.origin() {
        Origin::Url(url) => url,
        Origin::Files(files) => return Ok(memory.embedded(files)),
        Origin::Nothing => return Ok(memory.embedded(&Arc::default())),
    };
    let source = format!("{url:?}");
    let now = Instant::now();
    if let Some(fetched) = &memory.fetched
        && fetched.source == source
        && now < fetched.next
    {
        return Ok(Arc::clone(&fetched.artifact));
    }
    let request = request(component, url, objects).await?;
    let artifact = context.fetcher.fetch(&request).await?;
    memory.fetched = Some(Fetched {
        source,
        artifact: Arc::clone(&artifact),
        next: now + interval,
    });
    Ok(artifact)
}

async fn request<C: Component>(
    component: &C,
    source: &UrlSource,
    objects: &Objects,
) -> Result<FetchRequest, ReconcileError> {
    let digest = source
        .digest
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(ReconcileError::Digest)?;
    let credentials = match &source.credentials {
        None => None,
        Some(reference) => {
            let namespace = component.namespace().unwrap_or_default();
            Some(credentials(&namespace, &reference.name, objects).await?)
        }
    };
    Ok(FetchRequest {
        url: source.url.clone(),
        digest,
        credentials,
    })
}

async fn credentials(
    namespace: &str,
    name: &str,
    objects: &Objects,
) -> Result<Credentials, ReconcileError> {
    let secret = objects
        .read(&secrets(), namespace, name)
        .await
        .map_err(|cause| ReconcileError::ReadCredentials {
            name: name.to_owned(),
            cause,
        })?;
    let problem = |problem| ReconcileError::Credentials {
        name: name.to_owned(),
        problem,
    };
    let secret = secret.ok_or_else(|| problem("does not exist"))?;
    let value = |key: &str| -> Option<String> {
        let encoded = secret.pointer("/data")?.get(key).and_then(Value::as_str)?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(encoded)
            .ok()?;
        String::from_utf8(bytes).ok()
    };
    match (value("token"), value("username"), value("password")) {
        (Some(token), _, _) => Ok(Credentials::Bearer { token }),
        (None, Some(username), Some(password)) => Ok(Credentials::Basic { username, password }),
        _ => Err(problem("needs `username` and `password`, or `token`")),
    }
}

fn secrets() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        plural: "secrets".to_owned(),
        namespaced: true,
    }
}
