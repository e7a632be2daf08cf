//! Records in a cluster.

use super::codec::decode;
use super::error::{CodecError, StorageError};
use super::history::History;
use super::record::{Release, Status};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ListParams, PartialObjectMeta};
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// What the names of records begin with.
const NAME_PREFIX: &str = "sh.helm.release.v1.";
/// The key of a record in its Secret or ConfigMap.
pub(super) const DATA_KEY: &str = "release";
/// Label that all records have.
pub(crate) const OWNER_LABEL: &str = "owner";
/// Value of that label.
pub(super) const OWNER: &str = "helm";
/// Type of the Secrets that the Operator Framework stores the first part of a record in.
const FRAMEWORK_TYPE: &str = "operatorframework.io/index.v1";
/// How many records are listed at once.
const PAGE: u32 = 200;

/// Where records are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Driver {
    /// In Secrets: Helm's own choice.
    Secrets,
    /// In ConfigMaps.
    ConfigMaps,
}

impl Driver {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::Secrets, Self::ConfigMaps];

    /// Kind of the objects that hold records.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Secrets => "Secret",
            Self::ConfigMaps => "ConfigMap",
        }
    }
}

/// Namespace and name of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReleaseName {
    /// Namespace of its records.
    pub(crate) namespace: String,
    /// Name.
    pub(crate) name: String,
}

impl ReleaseName {
    /// The name of a release.
    pub(crate) fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for ReleaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What is known of a record without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Where it is stored.
    pub(crate) driver: Driver,
    /// The release.
    pub(crate) release: ReleaseName,
    /// The revision.
    pub(crate) revision: i64,
    /// Its state, as a label has it.
    pub(crate) status: Status,
    /// Name of the Secret or ConfigMap.
    pub(crate) object: String,
    /// Resource version of that.
    pub(crate) version: String,
    /// Whose way of storing a record in several objects this is, if it is one.
    pub(crate) chunked: Option<&'static str>,
}

impl Head {
    /// The object for a person.
    pub(crate) fn describe(&self) -> String {
        let kind = self.driver.kind();
        format!("{kind} `{}/{}`", self.release.namespace, self.object)
    }
}

/// A record with the metadata of its object.
#[allow(dead_code, reason = "all of it is needed for writing it back")]
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// The release.
    pub(crate) release: Release,
    /// What Helm's and the user's labels are.
    pub(crate) labels: BTreeMap<String, String>,
    /// Annotations, which Helm has none of.
    pub(crate) annotations: BTreeMap<String, String>,
    /// UID of the object.
    pub(crate) uid: String,
    /// Its resource version.
    pub(crate) version: String,
}

/// Reads and writes records under one identity.
#[derive(Clone)]
pub(crate) struct Storage {
    pub(super) client: Client,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

/// Name of the object that holds the record of a revision.
pub(crate) fn record_name(release: &str, revision: i64) -> String {
    format!("{NAME_PREFIX}{release}.v{revision}")
}

impl Storage {
    /// Records that a client can reach.
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// All releases of a namespace, or of all namespaces, with their revisions. Records in several parts, which other tools write, are
    /// among them.
    pub(crate) async fn releases(
        &self,
        namespace: Option<&str>,
    ) -> Result<Vec<History>, StorageError> {
        let mut heads = Vec::new();
        for driver in Driver::ALL {
            let of_helm = ListParams::default().labels(&format!("{OWNER_LABEL}={OWNER}"));
            heads.extend(self.heads(driver, namespace, of_helm).await?);
        }
        let of_others = ListParams::default().fields(&format!("type={FRAMEWORK_TYPE}"));
        let others = self.heads(Driver::Secrets, namespace, of_others).await?;
        heads.extend(others.into_iter().map(|head| Head {
            chunked: Some("the Operator Framework"),
            ..head
        }));
        Ok(History::of_all(heads))
    }

    /// The revisions of a release: those in Secrets, or else those in ConfigMaps.
    pub(crate) async fn history(&self, release: &ReleaseName) -> Result<History, StorageError> {
        let selector = format!("{OWNER_LABEL}={OWNER},name={}", release.name);
        for driver in Driver::ALL {
            let wanted = ListParams::default().labels(&selector);
            let heads = self.heads(driver, Some(&release.namespace), wanted).await?;
            if !heads.is_empty() {
                return Ok(History::of(release.clone(), heads));
            }
        }
        Ok(History::of(release.clone(), Vec::new()))
    }

    /// Reads a record; nothing when it is gone.
    pub(crate) async fn read(&self, head: &Head) -> Result<Option<Record>, StorageError> {
        if let Some(tool) = head.chunked {
            return Err(StorageError::Chunked {
                object: head.describe(),
                tool,
            });
        }
        let namespace = &head.release.namespace;
        let failed = |cause| request(format!("read {}", head.describe()), cause);
        let found = match head.driver {
            Driver::Secrets => {
                let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
                let found = api.get_opt(&head.object).await.map_err(failed)?;
                found.map(|secret| {
                    let payload = secret.data.and_then(|mut data| data.remove(DATA_KEY));
                    (secret.metadata, payload.map(|bytes| bytes.0))
                })
            }
            Driver::ConfigMaps => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
                let found = api.get_opt(&head.object).await.map_err(failed)?;
                found.map(|map| {
                    let payload = map.data.and_then(|mut data| data.remove(DATA_KEY));
                    (map.metadata, payload.map(String::into_bytes))
                })
            }
        };
        let Some((metadata, payload)) = found else {
            return Ok(None);
        };
        let payload = payload.ok_or_else(|| StorageError::Empty {
            object: head.describe(),
        })?;
        let release = decode(&payload).map_err(|cause| codec(head.describe(), cause))?;
        Ok(Some(Record {
            release,
            labels: metadata.labels.unwrap_or_default(),
            annotations: metadata.annotations.unwrap_or_default(),
            uid: metadata.uid.unwrap_or_default(),
            version: metadata.resource_version.unwrap_or_default(),
        }))
    }

    async fn heads(
        &self,
        driver: Driver,
        namespace: Option<&str>,
        wanted: ListParams,
    ) -> Result<Vec<Head>, StorageError> {
        match driver {
            Driver::Secrets => self.heads_of::<Secret>(driver, namespace, wanted).await,
            Driver::ConfigMaps => self.heads_of::<ConfigMap>(driver, namespace, wanted).await,
        }
    }

    /// Metadata only: a record may have a mebibyte.
    async fn heads_of<K>(
        &self,
        driver: Driver,
        namespace: Option<&str>,
        wanted: ListParams,
    ) -> Result<Vec<Head>, StorageError>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + fmt::Debug
            + DeserializeOwned,
    {
        let api: Api<K> = match namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        let mut heads = Vec::new();
        let mut wanted = wanted.limit(PAGE);
        loop {
            let page = api.list_metadata(&wanted).await.map_err(|cause| {
                request(
                    format!("list the {}s that hold releases", driver.kind()),
                    cause,
                )
            })?;
            heads.extend(page.items.iter().filter_map(|item| head(driver, item)));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => wanted.continue_token = Some(token),
                None => return Ok(heads),
            }
        }
    }
}

/// What the metadata of an object says of the record in it; nothing when it cannot be one.
fn head<K>(driver: Driver, object: &PartialObjectMeta<K>) -> Option<Head>
where
    K: kube::Resource<DynamicType = ()>,
{
    let labels = object.metadata.labels.as_ref()?;
    let label = |key: &str| labels.get(key).map(String::as_str);
    let name = object.metadata.name.clone()?;
    let revision = label("version").and_then(|version| version.parse().ok());
    Some(Head {
        driver,
        release: ReleaseName::new(
            object.metadata.namespace.clone().unwrap_or_default(),
            label("name")?,
        ),
        revision: revision.or_else(|| revision_in(&name))?,
        status: Status::from(label("status").unwrap_or_default().to_owned()),
        chunked: chunked(labels),
        version: object.metadata.resource_version.clone().unwrap_or_default(),
        object: name,
    })
}

fn revision_in(object: &str) -> Option<i64> {
    object.rsplit_once(".v")?.1.parse().ok()
}

/// Labels of the proposals to store large records in several Secrets (Helm's HIPs 256 and 284).
fn chunked(labels: &BTreeMap<String, String>) -> Option<&'static str> {
    let is_part = ["chunk", "chunks", "continuedIn"]
        .iter()
        .any(|key| labels.contains_key(*key));
    is_part.then_some("a patched Helm")
}

pub(super) fn request(verb: String, cause: kube::Error) -> StorageError {
    StorageError::Request {
        verb,
        cause: Box::new(cause),
    }
}

pub(super) fn codec(object: String, cause: CodecError) -> StorageError {
    StorageError::Codec { object, cause }
}
