//! Records in a cluster.

use super::codec::{decode, encode};
use super::error::{CodecError, StorageError};
use super::history::History;
use super::record::{Release, Status};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{ListParams, PartialObjectMeta, PostParams};
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// What the names of records begin with.
const NAME_PREFIX: &str = "sh.helm.release.v1.";
/// Type of the Secrets that hold records.
const SECRET_TYPE: &str = "helm.sh/release.v1";
/// The key of a record in its Secret or ConfigMap.
const DATA_KEY: &str = "release";
/// Label that all records have.
pub(crate) const OWNER_LABEL: &str = "owner";
/// Value of that label.
const OWNER: &str = "helm";
/// Labels that Helm sets; all others are the user's.
pub(crate) const SYSTEM_LABELS: &[&str] = &[
    "name",
    OWNER_LABEL,
    "status",
    "version",
    "createdAt",
    "modifiedAt",
];
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
    client: Client,
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

    /// Stores a new revision, with labels of the user's own beside Helm's.
    ///
    /// # Errors
    /// [`StorageError::Overtaken`] when there is such a revision already: somebody else was faster.
    pub(crate) async fn create(
        &self,
        driver: Driver,
        release: &Release,
        labels: &BTreeMap<String, String>,
    ) -> Result<(), StorageError> {
        let labels = with_system(labels, release, "createdAt");
        let object = record_name(&release.name, release.version);
        let described = format!("{} `{}/{object}`", driver.kind(), release.namespace);
        let payload = encode(release).map_err(|cause| codec(described.clone(), cause))?;
        let metadata = ObjectMeta {
            name: Some(object),
            labels: Some(labels),
            ..ObjectMeta::default()
        };
        let created = self.post(driver, &release.namespace, metadata, payload);
        match created.await {
            Err(kube::Error::Api(status)) if status.code == 409 => Err(StorageError::Overtaken {
                object: described,
                problem: "exists already",
            }),
            Err(cause) => Err(request(format!("create {described}"), cause)),
            Ok(()) => Ok(()),
        }
    }

    /// Stores a revision anew, as Helm does when its state changes: on condition that it still is as it was read.
    ///
    /// # Errors
    /// [`StorageError::Overtaken`] when somebody changed or deleted it meanwhile.
    pub(crate) async fn update(
        &self,
        driver: Driver,
        release: &Release,
        record: &Record,
    ) -> Result<(), StorageError> {
        let mut labels = with_system(&record.labels, release, "modifiedAt");
        labels.remove("createdAt");
        let object = record_name(&release.name, release.version);
        let described = format!("{} `{}/{object}`", driver.kind(), release.namespace);
        let payload = encode(release).map_err(|cause| codec(described.clone(), cause))?;
        let annotations = Some(record.annotations.clone()).filter(|all| !all.is_empty());
        let metadata = ObjectMeta {
            name: Some(object),
            labels: Some(labels),
            annotations,
            uid: Some(record.uid.clone()),
            resource_version: Some(record.version.clone()),
            ..ObjectMeta::default()
        };
        let replaced = self.put(driver, &release.namespace, metadata, payload);
        match replaced.await {
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {
                Err(StorageError::Overtaken {
                    object: described,
                    problem: "was changed or deleted meanwhile",
                })
            }
            Err(cause) => Err(request(format!("update {described}"), cause)),
            Ok(()) => Ok(()),
        }
    }

    async fn post(
        &self,
        driver: Driver,
        namespace: &str,
        metadata: ObjectMeta,
        payload: String,
    ) -> Result<(), kube::Error> {
        let params = PostParams::default();
        match driver {
            Driver::Secrets => {
                let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
                api.create(&params, &secret(metadata, payload)).await?;
            }
            Driver::ConfigMaps => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
                api.create(&params, &config_map(metadata, payload)).await?;
            }
        }
        Ok(())
    }

    async fn put(
        &self,
        driver: Driver,
        namespace: &str,
        metadata: ObjectMeta,
        payload: String,
    ) -> Result<(), kube::Error> {
        let params = PostParams::default();
        let name = metadata.name.clone().unwrap_or_default();
        match driver {
            Driver::Secrets => {
                let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
                let object = secret(metadata, payload);
                api.replace(&name, &params, &object).await?;
            }
            Driver::ConfigMaps => {
                let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
                let object = config_map(metadata, payload);
                api.replace(&name, &params, &object).await?;
            }
        }
        Ok(())
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

fn with_system(
    labels: &BTreeMap<String, String>,
    release: &Release,
    stamp: &str,
) -> BTreeMap<String, String> {
    let now = jiff::Timestamp::now().as_second().to_string();
    let version = release.version.to_string();
    let system = [
        ("name", release.name.as_str()),
        (OWNER_LABEL, OWNER),
        ("status", release.info.status.as_str()),
        ("version", &version),
        (stamp, &now),
    ];
    let mut all = labels.clone();
    all.extend(system.map(|(key, value)| (key.to_owned(), value.to_owned())));
    all
}

fn secret(metadata: ObjectMeta, payload: String) -> Secret {
    let payload = ByteString(payload.into_bytes());
    Secret {
        metadata,
        type_: Some(SECRET_TYPE.to_owned()),
        data: Some(BTreeMap::from([(DATA_KEY.to_owned(), payload)])),
        ..Secret::default()
    }
}

fn config_map(metadata: ObjectMeta, payload: String) -> ConfigMap {
    ConfigMap {
        metadata,
        data: Some(BTreeMap::from([(DATA_KEY.to_owned(), payload)])),
        ..ConfigMap::default()
    }
}

fn request(verb: String, cause: kube::Error) -> StorageError {
    StorageError::Request {
        verb,
        cause: Box::new(cause),
    }
}

fn codec(object: String, cause: CodecError) -> StorageError {
    StorageError::Codec { object, cause }
}
