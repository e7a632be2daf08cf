//! Answers to a template's questions about live objects.

use super::{Discovery, DiscoveryError, Objects, RequestError};
use serde_json::Value;
use whipstaff_generator::LookupQuestion;

/// Most objects in the answer to a question for a list.
const MAX_LISTED: u32 = 5_000;

/// A question that could not be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum LookupError {
    /// What the cluster serves is unknown.
    #[error("cannot look up {kind} `{name}`")]
    Discovery {
        kind: String,
        name: String,
        #[source]
        cause: DiscoveryError,
    },
    /// The API server refused.
    #[error("cannot look up {kind} `{name}`")]
    Request {
        kind: String,
        name: String,
        #[source]
        cause: RequestError,
    },
}

/// Answers a question under an identity: the object, a list when no name is given, or null for "not found". A kind that the
/// cluster does not serve is "not found" too, as with Helm.
pub(crate) async fn answer(
    question: &LookupQuestion,
    discovery: &Discovery,
    objects: &Objects,
) -> Result<Value, LookupError> {
    let (kind, name) = (question.kind.clone(), question.name.clone());
    let resources = match discovery.resources().await {
        Ok(resources) => resources,
        Err(cause) => return Err(LookupError::Discovery { kind, name, cause }),
    };
    let Some(resource) = resources.get(&question.api_version, &question.kind) else {
        return Ok(Value::Null);
    };
    let answer = if question.name.is_empty() {
        objects
            .list(
                resource,
                &question.namespace,
                &question.selector,
                MAX_LISTED,
            )
            .await
            .map(Some)
    } else {
        objects
            .read(resource, &question.namespace, &question.name)
            .await
    };
    match answer {
        Ok(found) => Ok(found.unwrap_or(Value::Null)),
        Err(error) if error.is_not_found() => Ok(Value::Null),
        Err(cause) => Err(LookupError::Request { kind, name, cause }),
    }
}
