//! Requests on single objects, as plain JSON.
//!
//! Typed and dynamic objects of the client library drop metadata that they do not know and refuse null labels, so that manifests
//! are sent, and live objects read, as JSON values.

use super::Resource;
use kube::Client;
use kube::api::{
    DeleteParams, DynamicObject, GetParams, ListParams, Patch, PatchParams, PostParams,
    Preconditions, PropagationPolicy,
};
use kube::core::Request;
use kube::core::Resource as _;
use serde_json::Value;
use std::time::Duration;

/// How long one request may take before it is given up; the client library has no limit of its own.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A request that the API server refused or did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RequestError {
    /// The API server answered with an error.
    #[error("{message}")]
    Refused {
        /// HTTP status.
        code: u16,
        /// The API server's reason in one word.
        reason: String,
        /// Its explanation.
        message: String,
    },
    /// The request did not reach it, or no answer came back.
    #[error("cannot reach the API server")]
    Transport(#[source] Box<kube::Error>),
    /// No answer came in time.
    #[error("the API server gave no answer in {} seconds", REQUEST_TIMEOUT.as_secs())]
    Timeout,
    /// The request could not be made.
    #[error("cannot make the request")]
    Build(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl RequestError {
    /// Whether the object, its namespace or its kind does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code: 404, .. })
    }

    /// Whether somebody else changed the object meanwhile, or it exists already.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { code: 409, .. })
    }

    /// Whether the API server refuses the object as it is: trying again changes nothing.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                code: 400 | 413 | 422,
                ..
            }
        )
    }

    /// Whether the change touches a field that cannot be changed. The API server has no word of its own for it, only sentences.
    pub(crate) fn is_immutable(&self) -> bool {
        const SENTENCES: &[&str] = &[
            "is immutable",
            "may not change once set",
            "may not be changed",
            "cannot change roleRef",
            "updates to statefulset spec for fields other than",
            "updates to parameters are forbidden",
            "updates to provisioner are forbidden",
            "pod updates may not change fields other than",
        ];
        let Self::Refused {
            code: 422, message, ..
        } = self
        else {
            return false;
        };
        SENTENCES.iter().any(|sentence| message.contains(sentence))
    }

    /// Whether the identity is known, and may not do this.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { code: 403, .. })
    }

    /// Whether the identity may not do this.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                code: 401 | 403,
                ..
            }
        )
    }
}

impl From<kube::Error> for RequestError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Refused {
                code: status.code,
                reason: status.reason.clone(),
                message: status.message.clone(),
            },
            other => Self::Transport(Box::new(other)),
        }
    }
}

/// How an object is applied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApplyOptions<'a> {
    /// Name under which its fields are applied.
    pub(crate) manager: &'a str,
    /// Whether fields that others own are taken over.
    pub(crate) force: bool,
    /// Whether nothing is stored.
    pub(crate) dry_run: bool,
}

impl<'a> ApplyOptions<'a> {
    /// Fields that others own are taken over.
    pub(crate) fn forced(manager: &'a str) -> Self {
        Self {
            manager,
            force: true,
            dry_run: false,
        }
    }
}

/// Reads and writes single objects under one identity.
#[derive(Clone)]
pub(crate) struct Objects {
    client: Client,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").finish_non_exhaustive()
    }
}

impl Objects {
    /// Requests through a client, whose identity they have.
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// The object, or nothing when it, its namespace or its kind does not exist.
    pub(crate) async fn read(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, RequestError> {
        let request = endpoint(resource, namespace).get(name, &GetParams::default());
        match self.send(request.map_err(build)?).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A list of objects; `limit` zero for all.
    pub(crate) async fn list(
        &self,
        resource: &Resource,
        namespace: &str,
        selector: &str,
        limit: u32,
    ) -> Result<Value, RequestError> {
        let mut params = ListParams::default();
        if !selector.is_empty() {
            params = params.labels(selector);
        }
        if limit > 0 {
            params = params.limit(limit);
        }
        self.send(endpoint(resource, namespace).list(&params).map_err(build)?)
            .await
    }

    /// Applies an object server-side.
    pub(crate) async fn apply(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        manifest: &Value,
        options: ApplyOptions<'_>,
    ) -> Result<Value, RequestError> {
        let params = PatchParams {
            dry_run: options.dry_run,
            force: options.force,
            ..PatchParams::apply(options.manager)
        };
        let patch = Patch::Apply(Redacted(manifest));
        self.send(
            endpoint(resource, namespace)
                .patch(name, &params, &patch)
                .map_err(build)?,
        )
        .await
    }

    /// Applies an object server-side that does not exist, under the name of a manager.
    ///
    /// # Errors
    /// A conflict when it exists, whoever made it: then nothing is changed.
    pub(crate) async fn create(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        manifest: &Value,
        manager: &str,
    ) -> Result<Value, RequestError> {
        let mut manifest = manifest.clone();
        if let Some(Value::Object(metadata)) = manifest.get_mut("metadata") {
            // No object ever has this version: the API server takes it for a precondition that an object which exists does not meet.
            metadata.insert("resourceVersion".to_owned(), Value::from("1"));
        }
        let options = ApplyOptions {
            manager,
            dry_run: false,
            force: false,
        };
        self.apply(resource, namespace, name, &manifest, options)
            .await
    }

    /// Creates an object as its first writer would with an update; it is an error when it exists.
    pub(crate) async fn post(
        &self,
        resource: &Resource,
        namespace: &str,
        manifest: &Value,
        manager: &str,
    ) -> Result<Value, RequestError> {
        let params = PostParams {
            field_manager: Some(manager.to_owned()),
            ..PostParams::default()
        };
        let body =
            serde_json::to_vec(manifest).map_err(|error| RequestError::Build(error.into()))?;
        let request = endpoint(resource, namespace).create(&params, body);
        self.send(request.map_err(build)?).await
    }

    /// Replaces a whole object, if it still is in the version that the manifest names.
    pub(crate) async fn replace(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        manifest: &Value,
        manager: &str,
    ) -> Result<Value, RequestError> {
        let params = PostParams {
            field_manager: Some(manager.to_owned()),
            ..PostParams::default()
        };
        let body =
            serde_json::to_vec(manifest).map_err(|error| RequestError::Build(error.into()))?;
        let request = endpoint(resource, namespace).replace(name, &params, body);
        self.send(request.map_err(build)?).await
    }

    /// Changes some fields of an object by a merge patch.
    pub(crate) async fn merge(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        changes: &Value,
        manager: &str,
    ) -> Result<Value, RequestError> {
        let params = PatchParams {
            field_manager: Some(manager.to_owned()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(Redacted(changes));
        let request = endpoint(resource, namespace).patch(name, &params, &patch);
        self.send(request.map_err(build)?).await
    }

    /// Deletes an object if it still has this UID; its own dependents follow in the background. An object that is gone already is
    /// a success.
    pub(crate) async fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<(), RequestError> {
        let params = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            preconditions: Some(Preconditions {
                uid: Some(uid.to_owned()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        let request = endpoint(resource, namespace)
            .delete(name, &params)
            .map_err(build)?;
        match self.send(request).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<Value, RequestError> {
        match tokio::time::timeout(REQUEST_TIMEOUT, self.client.request(request)).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(RequestError::Timeout),
        }
    }
}

/// A manifest whose debug form, which the client library asks for, shows nothing of it.
#[derive(serde::Serialize)]
#[serde(transparent)]
struct Redacted<'a>(&'a Value);

impl std::fmt::Debug for Redacted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

fn endpoint(resource: &Resource, namespace: &str) -> Request {
    let namespace = (resource.namespaced && !namespace.is_empty()).then_some(namespace);
    Request::new(DynamicObject::url_path(&resource.api_resource(), namespace))
}

fn build(error: kube::core::request::Error) -> RequestError {
    RequestError::Build(Box::new(error))
}
