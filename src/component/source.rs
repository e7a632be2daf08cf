//! Fetching a component's source.

use super::error::ReconcileError;
use super::memory::{Fetched, Sources};
use super::references::References;
use super::resource::Origin;
use super::secrets::SecretReader;
use super::variables::Variables;
use crate::adopt::{AdoptError, chart_files};
use crate::api::v1alpha1::{ReleaseSource, UrlSource};
use crate::dependents::Names;
use crate::release::{decode, record_name};
use crate::source::{Artifact, Credentials, FetchRequest, Fetcher};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whipstaff_generator::FileTree;

/// What fetching takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fetching<'a> {
    /// Fetches archives.
    pub(super) fetcher: &'a Fetcher,
    /// Reads Secrets.
    pub(super) secrets: SecretReader<'a>,
    /// Namespace of the component.
    pub(super) namespace: &'a str,
    /// How long what was fetched is good.
    pub(super) interval: Duration,
    /// Files that are at hand in the place of those of an origin: by the name of a part, empty for all that have no own.
    pub(super) files: Option<&'a BTreeMap<String, Arc<FileTree>>>,
    /// Variables that were read beforehand.
    pub(super) variables: &'a Variables,
    /// What references lead to.
    pub(super) references: &'a References,
    /// Everything that carries the reconciler's name.
    pub(super) names: &'a Names,
}

impl Fetching<'_> {
    /// The files that were given for a part.
    pub(super) fn given(&self, part: &str) -> Option<&Arc<FileTree>> {
        self.files?.get(part)
    }

    /// The files of an origin: those of last time unless the origin changed or the interval is over.
    pub(super) async fn fetch(
        &self,
        origin: &Origin<'_>,
        memory: &mut Sources,
    ) -> Result<Arc<Artifact>, ReconcileError> {
        let url = match origin {
            Origin::Url(url) => url,
            Origin::Files(files) => return Ok(memory.embedded(files)),
            Origin::Release(release) => {
                let files = self.stored_chart(release).await?;
                return Ok(memory.embedded(&Arc::new(files)));
            }
            Origin::Nothing => return Ok(memory.embedded(&Arc::default())),
        };
        let source = format!("{url:?}");
        let now = Instant::now();
        if let Some(fetched) = memory.fetched(&source)
            && now < fetched.next
        {
            return Ok(Arc::clone(&fetched.artifact));
        }
        let request = self.request(url).await?;
        let artifact = self.fetcher.fetch(&request).await?;
        memory.remember(Fetched {
            source,
            artifact: Arc::clone(&artifact),
            next: now + self.interval,
        });
        Ok(artifact)
    }

    /// The chart that a release has stored. A record never changes but for its state.
    async fn stored_chart(&self, source: &ReleaseSource) -> Result<FileTree, ReconcileError> {
        let name = record_name(&source.name, source.revision);
        let secret = self.secrets.read(self.namespace, &name).await;
        let secret = secret.map_err(|cause| ReconcileError::ReadRecord {
            name: name.clone(),
            cause,
        })?;
        let Some(record) = secret.as_ref().and_then(|entries| entries.get("release")) else {
            return Err(ReconcileError::RecordMissing { name });
        };
        let release = decode(record).map_err(|cause| ReconcileError::Record {
            name,
            cause: Box::new(cause),
        })?;
        Ok(chart_files(&release).map_err(AdoptError::from)?)
    }

    async fn request(&self, source: &UrlSource) -> Result<FetchRequest, ReconcileError> {
        let digest = source
            .digest
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(ReconcileError::Digest)?;
        let credentials = match &source.credentials {
            None => None,
            Some(reference) => Some(self.credentials(&reference.name).await?),
        };
        Ok(FetchRequest {
            url: source.url.clone(),
            digest,
            credentials,
        })
    }

    async fn credentials(&self, name: &str) -> Result<Credentials, ReconcileError> {
        let secret = self.secrets.read(self.namespace, name).await;
        let secret = secret.map_err(|cause| ReconcileError::ReadCredentials {
            name: name.to_owned(),
            cause,
        })?;
        let problem = |problem| ReconcileError::Credentials {
            name: name.to_owned(),
            problem,
        };
        let secret = secret.ok_or_else(|| problem("does not exist"))?;
        let value = |key: &str| String::from_utf8(secret.get(key)?.clone()).ok();
        match (value("token"), value("username"), value("password")) {
            (Some(token), _, _) => Ok(Credentials::Bearer { token }),
            (None, Some(username), Some(password)) => Ok(Credentials::Basic { username, password }),
            _ => Err(problem("needs `username` and `password`, or `token`")),
        }
    }
}
