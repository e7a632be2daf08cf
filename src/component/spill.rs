//! Inventories that are too large for a status, and hooks that run at a deletion, are kept in Secrets beside it.
//!
//! A Secret is named after what it holds and never changes. It is there before the status that refers to it, and goes after the
//! status that no longer does: whenever the operator dies, the inventory that the status means can be read. One that is left over
//! goes with the component, which owns it.

use super::context::Context;
use super::error::ReconcileError;
use super::resource::Component;
use crate::api::v1alpha1::ComponentStatus;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::Read;
use whipstaff_generator::Digest;

/// Most bytes of an inventory in a status, as JSON: about 2,500 objects. An object holds 1.5 MiB, in which the spec and the rest
/// of the status must find room, too.
const MAX_STATUS_BYTES: usize = 700 * 1024;
/// Most bytes of a packed inventory: what a Secret holds.
const MAX_PACKED_BYTES: usize = 1_000_000;
/// Most bytes of an unpacked inventory.
const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;
/// Hexadecimal digits of a name that tell contents apart.
const NAME_DIGITS: usize = 16;

/// What is kept in a Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// An inventory.
    Inventory,
    /// Hooks.
    Hooks,
}

impl Kept {
    /// What the names of its Secrets begin with.
    fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Hooks => "hooks",
        }
    }

    /// Entry of the Secret.
    fn entry(self) -> String {
        format!("{}.json.gz", self.name())
    }
}

/// Why an inventory cannot be kept in a Secret, or read from one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SpillError {
    /// A request failed.
    #[error("the API server failed")]
    Request(#[source] Box<kube::Error>),
    /// The Secret is gone.
    #[error("it does not exist")]
    Missing,
    /// The Secret holds something else.
    #[error("it holds something else")]
    Unreadable(#[source] std::io::Error),
    /// There is too much of it.
    #[error("its {bytes} bytes are more than a Secret holds")]
    TooLarge { bytes: usize },
}

/// The status as it is stored: without an inventory that is in a Secret.
pub(super) fn stored_form(status: &ComponentStatus) -> ComponentStatus {
    let mut stored = status.clone();
    if stored.inventory_secret.is_some() {
        stored.inventory = Vec::new();
    }
    stored
}

/// Stores the inventory of a status in a Secret if it is too large, and notes the Secret in the status.
pub(super) async fn store<C: Component>(
    component: &C,
    context: &Context,
    status: &mut ComponentStatus,
) -> Result<(), ReconcileError> {
    let json = serde_json::to_vec(&status.inventory).unwrap_or_default();
    if json.len() <= MAX_STATUS_BYTES {
        status.inventory_secret = None;
        return Ok(());
    }
    let known = status.inventory_secret.as_deref();
    let name = keep(component, context, Kept::Inventory, &json, known).await?;
    status.inventory_secret = Some(name);
    Ok(())
}

/// Keeps something in a Secret and gives its name. `known` is the name of one that is there.
pub(super) async fn keep<C: Component>(
    component: &C,
    context: &Context,
    what: Kept,
    json: &[u8],
    known: Option<&str>,
) -> Result<String, ReconcileError> {
    let uid = component.uid().unwrap_or_default();
    let name = secret_name(what, &uid, json);
    // It is written once only: who kept the name knows that it is there.
    if known == Some(&name) {
        return Ok(name);
    }
    let failed = |cause| ReconcileError::Inventory {
        name: name.clone(),
        cause,
    };
    let packed = pack(json).map_err(failed)?;
    let secret = new_secret(component, &uid, &name, (what, packed));
    let created = api(component, context)
        .create(&PostParams::default(), &secret)
        .await;
    match created {
        Err(kube::Error::Api(answer)) if answer.code == 409 => Ok(name),
        Err(cause) => Err(failed(SpillError::Request(Box::new(cause)))),
        Ok(_) => Ok(name),
    }
}

/// Reads the inventory of a status from its Secret, if it is in one.
pub(super) async fn load<C: Component>(
    component: &C,
    context: &Context,
    status: &mut ComponentStatus,
) -> Result<(), ReconcileError> {
    read_inventory(&api(component, context), status).await
}

/// Reads the inventory of a component's status from its Secret, if it is in one.
///
/// # Errors
/// [`InventoryError`] when the Secret cannot be read, or holds something else.
pub async fn load_inventory(
    client: Client,
    namespace: &str,
    status: &mut ComponentStatus,
) -> Result<(), InventoryError> {
    let secrets = Api::namespaced(client, namespace);
    let read = read_inventory(&secrets, status).await;
    read.map_err(|error| InventoryError(Box::new(error)))
}

/// An inventory that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct InventoryError(Box<ReconcileError>);

async fn read_inventory(
    secrets: &Api<Secret>,
    status: &mut ComponentStatus,
) -> Result<(), ReconcileError> {
    let Some(name) = status.inventory_secret.clone() else {
        return Ok(());
    };
    status.inventory = read_from(secrets, Kept::Inventory, &name).await?;
    Ok(())
}

/// Reads what is kept in a Secret.
pub(super) async fn read<C: Component, T: DeserializeOwned>(
    component: &C,
    context: &Context,
    what: Kept,
    name: &str,
) -> Result<T, ReconcileError> {
    read_from(&api(component, context), what, name).await
}

async fn read_from<T: DeserializeOwned>(
    secrets: &Api<Secret>,
    what: Kept,
    name: &str,
) -> Result<T, ReconcileError> {
    let found = secrets.get_opt(name).await;
    let found = found.map_err(|cause| SpillError::Request(Box::new(cause)));
    let unpacked = found.and_then(|secret| {
        let data = secret.ok_or(SpillError::Missing)?.data.unwrap_or_default();
        unpack(&data.get(&what.entry()).ok_or(SpillError::Missing)?.0)
    });
    let name = name.to_owned();
    unpacked.map_err(|cause| ReconcileError::Inventory { name, cause })
}

/// Removes a Secret that no status refers to any more. One that cannot be removed goes with the component.
pub(super) async fn remove<C: Component>(component: &C, context: &Context, name: &str) {
    let params = DeleteParams::default();
    if let Err(error) = api(component, context).delete(name, &params).await {
        tracing::debug!(secret = name, %error, "an old Secret is not removed");
    }
}

fn api<C: Component>(component: &C, context: &Context) -> Api<Secret> {
    let namespace = component.namespace().unwrap_or_default();
    Api::namespaced(context.client.0.clone(), &namespace)
}

fn secret_name(what: Kept, uid: &str, json: &[u8]) -> String {
    let digest = Digest::of(json).hex();
    let digits = digest.get(..NAME_DIGITS).unwrap_or(&digest);
    format!("whipstaff-{}-{uid}-{digits}", what.name())
}

fn new_secret<C: Component>(
    component: &C,
    uid: &str,
    name: &str,
    (what, packed): (Kept, Vec<u8>),
) -> Secret {
    let owner = OwnerReference {
        api_version: C::api_version(&()).into_owned(),
        kind: C::kind(&()).into_owned(),
        name: component.name_any(),
        uid: uid.to_owned(),
        ..OwnerReference::default()
    };
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        data: Some(BTreeMap::from([(what.entry(), ByteString(packed))])),
        ..Secret::default()
    }
}

fn pack(json: &[u8]) -> Result<Vec<u8>, SpillError> {
    let mut packed = Vec::new();
    let mut encoder = GzEncoder::new(json, Compression::fast());
    encoder
        .read_to_end(&mut packed)
        .map_err(SpillError::Unreadable)?;
    if packed.len() > MAX_PACKED_BYTES {
        return Err(SpillError::TooLarge {
            bytes: packed.len(),
        });
    }
    Ok(packed)
}

fn unpack<T: DeserializeOwned>(packed: &[u8]) -> Result<T, SpillError> {
    let mut json = Vec::new();
    GzDecoder::new(packed)
        .take(MAX_UNPACKED_BYTES)
        .read_to_end(&mut json)
        .map_err(SpillError::Unreadable)?;
    serde_json::from_slice(&json).map_err(|error| SpillError::Unreadable(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::v1alpha1::InventoryItem;
    use whipstaff_generator::ObjectKey;

    fn inventory(objects: usize) -> Vec<InventoryItem> {
        let item = |number| {
            let mut item = InventoryItem::new(&ObjectKey {
                group: String::new(),
                version: "v1".to_owned(),
                kind: "ConfigMap".to_owned(),
                namespace: "apps".to_owned(),
                name: format!("large-object-number-{number}"),
            });
            item.digest = format!("sha256:{}", Digest::of(item.name.as_bytes()).hex());
            item.fields = item.digest[7..23].to_owned();
            item
        };
        (0..objects).map(item).collect()
    }

    #[test]
    fn packed_inventory_is_the_same_again() {
        let inventory = inventory(500);
        let json = serde_json::to_vec(&inventory).unwrap();
        let unpacked: Vec<InventoryItem> = unpack(&pack(&json).unwrap()).unwrap();
        assert_eq!(unpacked, inventory);
        assert!(unpack::<Vec<InventoryItem>>(b"something else").is_err());
        let packed = pack(b"something else").unwrap();
        assert!(unpack::<Vec<InventoryItem>>(&packed).is_err());
    }

    #[test]
    fn inventory_of_a_thousand_objects_stays_well_below_the_limit_of_an_object() {
        let bytes = serde_json::to_vec(&inventory(1000)).unwrap().len();
        assert!(bytes < 300 * 1024, "{bytes}");
        assert!(bytes < MAX_STATUS_BYTES);
    }

    #[test]
    fn inventory_of_ten_thousand_objects_fits_a_secret() {
        let json = serde_json::to_vec(&inventory(10_000)).unwrap();
        assert!(json.len() > MAX_STATUS_BYTES);
        pack(&json).unwrap();
    }

    #[test]
    fn secrets_are_named_after_what_they_hold() {
        let uid = "0b5e0b1c-5a43-4a0c-9a3a-0d6bb1d1e2f3";
        let name = secret_name(Kept::Inventory, uid, b"one");
        assert!(name.len() < 100, "{name}");
        assert_eq!(name, secret_name(Kept::Inventory, uid, b"one"));
        assert_ne!(name, secret_name(Kept::Inventory, uid, b"two"));
        assert_ne!(name, secret_name(Kept::Hooks, uid, b"one"));
    }
}
