//! One download: redirects, limits and conditional requests.
//!
//! Redirects are followed here rather than in the HTTP client, so that it is decided in one place where credentials go.

use super::{Credentials, SourceError, address::Address, cache::Validators};
use reqwest::{
    Client, Response, StatusCode,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
        IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
    },
};
use std::{sync::Arc, time::Duration};

/// Most redirects that are followed.
pub(super) const MAX_REDIRECTS: usize = 5;
/// Longest wait that a server can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);
/// Longest `ETag` and `Last-Modified` that are kept, in bytes.
const MAX_VALIDATOR_LENGTH: usize = 1024;
/// Longest content type that is repeated in an error, in bytes.
const MAX_CONTENT_TYPE_LENGTH: usize = 100;

/// What a server answered.
pub(super) enum Answer {
    /// What is cached still holds.
    NotModified,
    /// A new archive.
    Archive(Download),
}

/// An archive as it came.
pub(super) struct Download {
    pub(super) bytes: Vec<u8>,
    pub(super) content_type: String,
    pub(super) validators: Validators,
}

/// Asks for an archive, unless the server still has the version that `known` names.
pub(super) async fn download(
    client: &Client,
    address: &Address,
    credentials: Option<&Credentials>,
    known: Option<&Validators>,
    limit: usize,
) -> Result<Answer, SourceError> {
    let credentials = credentials
        .map(Credentials::header)
        .transpose()
        .map_err(|_| SourceError::Credentials {
            url: address.printable(),
        })?;
    let mut current = address.clone();
    for _ in 0..=MAX_REDIRECTS {
        let mut headers = conditions(known);
        if let Some(credentials) = &credentials
            && current.origin() == address.origin()
        {
            headers.insert(AUTHORIZATION, credentials.clone());
        }
        let response = client
            .get(current.url().clone())
            .headers(headers)
            .send()
            .await
            .map_err(|error| request_error(&current, error))?;
        match response.status() {
            StatusCode::OK => return read(response, &current, limit).await.map(Answer::Archive),
            StatusCode::NOT_MODIFIED if known.is_some() => return Ok(Answer::NotModified),
            status if is_redirect(status) => current = redirected(&current, &response)?,
            status => return Err(status_error(&current, status, response.headers())),
        }
    }
    let reason = format!("more than {MAX_REDIRECTS} times");
    Err(SourceError::Redirect {
        url: address.printable(),
        reason,
    })
}

/// Asks for a document of a kind. Status 401 gives what `WWW-Authenticate` says.
pub(super) async fn ask(
    client: &Client,
    address: &Address,
    accept: &str,
    authorization: Option<&str>,
    limit: usize,
) -> Result<Result<Vec<u8>, String>, SourceError> {
    let unsendable = |_| SourceError::Credentials {
        url: address.printable(),
    };
    let accept = HeaderValue::from_str(accept).map_err(unsendable)?;
    let authorization = authorization
        .map(HeaderValue::from_str)
        .transpose()
        .map_err(unsendable)?;
    let mut current = address.clone();
    for _ in 0..=MAX_REDIRECTS {
        let mut request = client.get(current.url().clone()).header(ACCEPT, &accept);
        if let Some(authorization) = &authorization
            && current.origin() == address.origin()
        {
            let mut value = authorization.clone();
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let response = request
            .send()
            .await
            .map_err(|error| request_error(&current, error))?;
        match response.status() {
            StatusCode::OK => return Ok(Ok(read(response, &current, limit).await?.bytes)),
            StatusCode::UNAUTHORIZED => {
                let challenge = response.headers().get(WWW_AUTHENTICATE);
                let challenge = challenge.and_then(|value| value.to_str().ok());
                return Ok(Err(challenge.unwrap_or_default().to_owned()));
            }
            status if is_redirect(status) => current = redirected(&current, &response)?,
            status => return Err(status_error(&current, status, response.headers())),
        }
    }
    Err(SourceError::Redirect {
        url: address.printable(),
        reason: format!("more than {MAX_REDIRECTS} times"),
    })
}

/// The headers of a conditional request.
fn conditions(known: Option<&Validators>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let Some(known) = known else { return headers };
    let pairs = [
        (IF_NONE_MATCH, &known.etag),
        (IF_MODIFIED_SINCE, &known.last_modified),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            headers.insert(name, value.clone());
        }
    }
    headers
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn redirected(from: &Address, response: &Response) -> Result<Address, SourceError> {
    let location = response
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok());
    let Some(location) = location else {
        let reason = "it does not say where to".to_owned();
        return Err(SourceError::Redirect {
            url: from.printable(),
            reason,
        });
    };
    from.redirected(location)
}

async fn read(
    mut response: Response,
    address: &Address,
    limit: usize,
) -> Result<Download, SourceError> {
    let too_large = || SourceError::Size {
        url: address.printable(),
        limit,
    };
    if response
        .content_length()
        .is_some_and(|length| length > limit as u64)
    {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| request_error(address, error))?
    {
        if bytes.len() + chunk.len() > limit {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    let headers = response.headers();
    let validators = Validators {
        etag: validator(headers, &ETAG),
        last_modified: validator(headers, &LAST_MODIFIED),
    };
    Ok(Download {
        bytes,
        content_type: content_type(headers),
        validators,
    })
}

fn validator(headers: &HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    headers
        .get(name)
        .filter(|value| value.len() <= MAX_VALIDATOR_LENGTH)
        .cloned()
}

fn content_type(headers: &HeaderMap) -> String {
    let text = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("none");
    text.chars().take(MAX_CONTENT_TYPE_LENGTH).collect()
}

fn request_error(address: &Address, error: reqwest::Error) -> SourceError {
    let url = address.printable();
    if error.is_timeout() {
        return SourceError::Timeout { url };
    }
    // The address in the error has its query.
    SourceError::Request {
        url,
        source: Arc::new(error.without_url()),
    }
}

fn status_error(address: &Address, status: StatusCode, headers: &HeaderMap) -> SourceError {
    let retry_after = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER));
    SourceError::Status {
        url: address.printable(),
        status,
        retry_after,
    }
}
