//! What a cluster serves.

use super::scopes::is_cluster_scoped;
use kube::core::ApiResource;
use kube::discovery::Scope;
use kube::{Client, discovery};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use whipstaff_generator::{Capabilities, KubeVersion, Object};

/// How long an answer of the API server is believed when nothing speaks against it.
const MAX_AGE: Duration = Duration::from_mins(10);
/// How long to wait at least before asking again for a kind that was not there.
const MIN_AGE: Duration = Duration::from_secs(2);

/// Where the API server serves objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Resource {
    /// API group, empty for the core group.
    pub(crate) group: String,
    /// API version.
    pub(crate) version: String,
    /// Kind.
    pub(crate) kind: String,
    /// Plural, as in URLs.
    pub(crate) plural: String,
    /// Whether objects live in namespaces.
    pub(crate) namespaced: bool,
}

impl Resource {
    /// The same for the client library.
    pub(crate) fn api_resource(&self) -> ApiResource {
        let api_version = if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        };
        ApiResource {
            group: self.group.clone(),
            version: self.version.clone(),
            api_version,
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        }
    }
}

/// Everything that a cluster serves, as of one moment.
#[derive(Debug, Clone)]
pub(crate) struct Resources {
    kinds: HashMap<(String, String), Resource>,
    preferred: HashMap<(String, String), Resource>,
    /// The version and API versions that charts see.
    pub(crate) capabilities: Capabilities,
}

impl Resources {
    /// The resource of an API version and kind.
    pub(crate) fn get(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        self.kinds.get(&(api_version.to_owned(), kind.to_owned()))
    }

    /// The resource of a group and kind in the version that the API server prefers.
    pub(crate) fn preferred(&self, group: &str, kind: &str) -> Option<&Resource> {
        self.preferred.get(&(group.to_owned(), kind.to_owned()))
    }

    /// Every kind, in the version that the API server prefers.
    pub(crate) fn preferred_kinds(&self) -> impl Iterator<Item = &Resource> {
        self.preferred.values()
    }

    /// The kinds of a group in a version.
    pub(crate) fn kinds_of<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Resource> {
        let kinds = self.kinds.values();
        kinds.filter(move |kind| kind.group == group && kind.version == version)
    }

    /// What there must be for objects to be applied, when no cluster can be asked: kinds that Kubernetes has outside of namespaces
    /// are there, and all others in namespaces.
    pub(crate) fn assumed<'o>(
        capabilities: Capabilities,
        objects: impl Iterator<Item = &'o Object>,
    ) -> Self {
        let kinds = objects.map(|object| {
            let resource = Resource {
                group: object.group().to_owned(),
                version: object.version().to_owned(),
                kind: object.kind().to_owned(),
                // Only requests need it.
                plural: String::new(),
                namespaced: !is_cluster_scoped(object.group(), object.kind()),
            };
            let key = (object.api_version().to_owned(), object.kind().to_owned());
            (key, resource)
        });
        Self {
            kinds: kinds.collect(),
            preferred: HashMap::new(),
            capabilities,
        }
    }

    /// A fixed set of resources, for tests of pure logic.
    #[cfg(test)]
    pub(crate) fn fixed(resources: &[Resource]) -> Self {
        let key = |r: &Resource| (r.api_resource().api_version, r.kind.clone());
        Self {
            kinds: resources.iter().map(|r| (key(r), r.clone())).collect(),
            preferred: resources
                .iter()
                .map(|r| ((r.group.clone(), r.kind.clone()), r.clone()))
                .collect(),
            capabilities: Capabilities {
                kube_version: "v1.34.0".parse().unwrap(),
                api_versions: BTreeSet::new(),
            },
        }
    }
}

/// The API server did not say what it serves.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DiscoveryError {
    /// A request failed.
    #[error("cannot discover what the cluster serves")]
    Request(#[source] Box<kube::Error>),
    /// Its version is not understood.
    #[error("cannot read the cluster's version")]
    Version(#[source] whipstaff_generator::KubeVersionError),
}

/// What was answered, and when.
type Answer = (Instant, Arc<Resources>);

/// Remembers what a cluster serves, and asks again when a kind is missing or the answer is old.
#[derive(Clone)]
pub(crate) struct Discovery {
    client: Client,
    known: Arc<Mutex<Option<Answer>>>,
}

impl std::fmt::Debug for Discovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discovery").finish_non_exhaustive()
    }
}

impl Discovery {
    /// Discovery through a client. Needs no more than any authenticated user may read.
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            known: Arc::default(),
        }
    }

    /// What the cluster serves, not older than ten minutes.
    pub(crate) async fn resources(&self) -> Result<Arc<Resources>, DiscoveryError> {
        self.newer_than(MAX_AGE).await
    }

    /// What the cluster serves, asked anew unless that was done in the last two seconds: for when a kind is missing.
    pub(crate) async fn fresh_resources(&self) -> Result<Arc<Resources>, DiscoveryError> {
        self.newer_than(MIN_AGE).await
    }

    /// What the cluster serves now, asked anew in any case: for when a kind that is not known would be overlooked.
    pub(crate) async fn latest_resources(&self) -> Result<Arc<Resources>, DiscoveryError> {
        self.newer_than(Duration::ZERO).await
    }

    /// Forgets what is known: after definitions were applied.
    pub(crate) async fn forget(&self) {
        *self.known.lock().await = None;
    }

    async fn newer_than(&self, age: Duration) -> Result<Arc<Resources>, DiscoveryError> {
        // The lock is held during the request so that many components ask only once.
        let mut known = self.known.lock().await;
        if let Some((at, resources)) = &*known
            && at.elapsed() < age
        {
            return Ok(Arc::clone(resources));
        }
        let resources = Arc::new(discover(&self.client).await?);
        *known = Some((Instant::now(), Arc::clone(&resources)));
        Ok(resources)
    }
}

async fn discover(client: &Client) -> Result<Resources, DiscoveryError> {
    let request = |error| DiscoveryError::Request(Box::new(error));
    let version = client.apiserver_version().await.map_err(request)?;
    let kube_version: KubeVersion = version
        .git_version
        .parse()
        .map_err(DiscoveryError::Version)?;
    let found = discovery::Discovery::new(client.clone())
        .run_aggregated()
        .await
        .map_err(request)?;
    let mut kinds = HashMap::new();
    let mut preferred = HashMap::new();
    let mut api_versions = BTreeSet::new();
    for group in found.groups() {
        for version in group.versions() {
            for (api, capabilities) in group.versioned_resources(version) {
                api_versions.insert(api.api_version.clone());
                api_versions.insert(format!("{}/{}", api.api_version, api.kind));
                kinds.insert(
                    (api.api_version.clone(), api.kind.clone()),
                    resource(&api, &capabilities.scope),
                );
            }
        }
        for (api, capabilities) in group.recommended_resources() {
            let resource = resource(&api, &capabilities.scope);
            preferred.insert((api.group.clone(), api.kind.clone()), resource);
        }
    }
    Ok(Resources {
        kinds,
        preferred,
        capabilities: Capabilities {
            kube_version,
            api_versions,
        },
    })
}

fn resource(api: &ApiResource, scope: &Scope) -> Resource {
    Resource {
        group: api.group.clone(),
        version: api.version.clone(),
        kind: api.kind.clone(),
        plural: api.plural.clone(),
        namespaced: *scope == Scope::Namespaced,
    }
}
