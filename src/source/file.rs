//! Fetching files as they are, for commands that a person runs.

use super::{
    Credentials, SourceError,
    address::Address,
    download::{Answer, ask, download},
};
use reqwest::{Certificate, Client, Identity, redirect::Policy};
use std::{fmt, sync::Arc, time::Duration};
use tokio::time;
use url::Url;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_mins(5);

/// How servers are trusted, and how they come to trust this client.
#[derive(Default, Clone)]
pub(crate) struct Trust {
    /// Certificates of authorities, PEM, instead of the system's.
    pub authorities: Option<Vec<u8>>,
    /// The client's certificate and its key, PEM.
    pub identity: Option<Vec<u8>>,
    /// Whether any certificate will do.
    pub insecure: bool,
}

/// Fetches files of any kind, under the same rules as archives: a limit, a few redirects, and credentials for one origin only.
#[derive(Clone)]
pub(crate) struct FileFetcher {
    client: Client,
}

impl FileFetcher {
    /// # Errors
    /// [`SourceError::Client`] when a certificate cannot be read, or the client not be built.
    pub(crate) fn new(trust: &Trust) -> Result<Self, SourceError> {
        let client = build(trust).map_err(|error| SourceError::Client {
            source: Arc::new(error),
        })?;
        Ok(Self { client })
    }

    /// The content behind an address.
    ///
    /// # Errors
    /// [`SourceError`], without secrets.
    pub(crate) async fn fetch(
        &self,
        url: &str,
        credentials: Option<&Credentials>,
        limit: usize,
    ) -> Result<Vec<u8>, SourceError> {
        let address = Address::parse(url)?;
        let get = download(&self.client, &address, credentials, None, limit);
        let timed_out = |_| SourceError::Timeout {
            url: address.printable(),
        };
        match time::timeout(TIMEOUT, get).await.map_err(timed_out)?? {
            Answer::Archive(file) => Ok(file.bytes),
            Answer::NotModified => Err(SourceError::Interrupted {
                url: address.printable(),
            }),
        }
    }

    /// The content behind an address of a registry, or its challenge when it wants to see other credentials.
    ///
    /// # Errors
    /// [`SourceError`], without secrets.
    pub(crate) async fn ask(
        &self,
        url: &str,
        accept: &str,
        authorization: Option<&str>,
        limit: usize,
    ) -> Result<Result<Vec<u8>, String>, SourceError> {
        let address = Address::parse(url)?;
        let get = ask(&self.client, &address, accept, authorization, limit);
        let timed_out = |_| SourceError::Timeout {
            url: address.printable(),
        };
        time::timeout(TIMEOUT, get).await.map_err(timed_out)?
    }
}

impl fmt::Debug for FileFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileFetcher").finish_non_exhaustive()
    }
}

/// Whether two addresses have the same scheme, host and port: what credentials are meant for.
pub(crate) fn same_origin(one: &str, other: &str) -> bool {
    match (Url::parse(one), Url::parse(other)) {
        (Ok(one), Ok(other)) => one.origin() == other.origin(),
        _ => false,
    }
}

fn build(trust: &Trust) -> reqwest::Result<Client> {
    let mut client = Client::builder()
        .user_agent(concat!("whipstaff/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .tls_danger_accept_invalid_certs(trust.insecure);
    if let Some(authorities) = &trust.authorities {
        client = client.tls_certs_only(Certificate::from_pem_bundle(authorities)?);
    }
    if let Some(identity) = &trust.identity {
        client = client.identity(Identity::from_pem(identity)?);
    }
    client.build()
}
