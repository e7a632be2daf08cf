//! Writing records as Helm does.

#![allow(dead_code, reason = "for handing releases back")]

use super::codec::encode;
use super::error::StorageError;
use super::record::Release;
use super::storage::{
    DATA_KEY, Driver, OWNER, OWNER_LABEL, Record, Storage, codec, record_name, request,
};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use std::collections::BTreeMap;

/// Type of the Secrets that hold records.
const SECRET_TYPE: &str = "helm.sh/release.v1";

impl Storage {
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
