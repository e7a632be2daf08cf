//! The bytes that a component's random values are derived from.

use super::context::{Context, NamedClient};
use super::error::ReconcileError;
use super::resource::Component;
use crate::api::v1alpha1::Randomness;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DeleteParams, ObjectMeta, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use std::collections::BTreeMap;
use whipstaff_generator::{Digest, Seed};

/// Type of the Secrets that hold seeds: nothing else is taken for one.
const SECRET_TYPE: &str = "whipstaff.dev/seed";
/// What their names start with.
const NAME_PREFIX: &str = "whipstaff-seed-";
/// Longest name of a Secret in bytes.
const MAX_NAME: usize = 253;
/// The key of the bytes inside the Secret.
const DATA_KEY: &str = "seed";

/// A component's secret bytes; their debug form shows nothing of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeedKey([u8; 32]);

impl std::fmt::Debug for SeedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SeedKey(…)")
    }
}

impl SeedKey {
    /// The seed of a rendering. A revision's random values are its own with `fidelity`; a repeated rendering of it repeats them all
    /// the same, for what is applied must not depend on when an operator restarts.
    pub(super) fn seed(self, randomness: Randomness, revision: i64, since: &Time) -> Seed {
        let key = match randomness {
            Randomness::Stable => self.0,
            Randomness::Fidelity => {
                *Digest::of_parts([self.0.as_slice(), revision.to_string().as_bytes()]).as_bytes()
            }
        };
        Seed::Stable {
            key,
            now: since.0.as_second(),
        }
    }
}

/// The name of the Secret that holds a component's seed.
pub(super) fn secret_name(component: &str) -> String {
    let name = format!("{NAME_PREFIX}{component}");
    if name.len() <= MAX_NAME {
        return name;
    }
    format!("{NAME_PREFIX}{}", Digest::of(component.as_bytes()).hex())
}

/// Reads a component's seed, or makes one. It is the operator's own bookkeeping and not done as the component's service account.
///
/// The Secret has no owner reference: backup tools restore objects with new UIDs, and the garbage collector would then take the
/// seed away, and with it every password that is derived from it. The component's finalizer removes it instead.
pub(super) async fn read_or_create<C: Component>(
    component: &C,
    context: &Context,
) -> Result<SeedKey, ReconcileError> {
    let (api, name) = secret(component, &context.client);
    let failed = |cause| ReconcileError::Seed {
        name: name.clone(),
        cause: Box::new(cause),
    };
    loop {
        if let Some(secret) = api.get_opt(&name).await.map_err(failed)? {
            return key(&secret).ok_or_else(|| ReconcileError::ForeignSeed { name: name.clone() });
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(ReconcileError::Random)?;
        let secret = new_secret(component, &name, bytes);
        match api.create(&PostParams::default(), &secret).await {
            Ok(_) => return Ok(SeedKey(bytes)),
            // Another operator was faster: the seed is the one that is stored.
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Reads a component's seed, if there is one.
pub(super) async fn read<C: Component>(
    component: &C,
    client: &NamedClient,
) -> Result<Option<SeedKey>, ReconcileError> {
    let (api, name) = secret(component, client);
    let found = api.get_opt(&name).await;
    let found = found.map_err(|cause| ReconcileError::Seed {
        name,
        cause: Box::new(cause),
    })?;
    Ok(found.as_ref().and_then(key))
}

/// Removes a component's seed, if there is one.
pub(super) async fn delete<C: Component>(
    component: &C,
    context: &Context,
) -> Result<(), ReconcileError> {
    let (api, name) = secret(component, &context.client);
    let failed = |cause| ReconcileError::Seed {
        name: name.clone(),
        cause: Box::new(cause),
    };
    let found = api.get_opt(&name).await.map_err(failed)?;
    let Some(secret) = found.filter(|secret| key(secret).is_some()) else {
        return Ok(());
    };
    let params = DeleteParams::default().preconditions(Preconditions {
        uid: secret.uid(),
        resource_version: None,
    });
    match api.delete(&name, &params).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(failed(error)),
        Ok(_) => Ok(()),
    }
}

fn secret<C: Component>(component: &C, client: &NamedClient) -> (Api<Secret>, String) {
    let namespace = component.namespace().unwrap_or_default();
    (
        Api::namespaced(client.0.clone(), &namespace),
        secret_name(&component.name_any()),
    )
}

fn key(secret: &Secret) -> Option<SeedKey> {
    if secret.type_.as_deref() != Some(SECRET_TYPE) {
        return None;
    }
    let bytes = secret.data.as_ref()?.get(DATA_KEY)?;
    bytes.0.as_slice().try_into().ok().map(SeedKey)
}

fn new_secret<C: Component>(component: &C, name: &str, bytes: [u8; 32]) -> Secret {
    let note = "Passwords and keys that templates make are derived from this. Whoever deletes it makes them all change.";
    let annotations = [("whipstaff.dev/component", component.name_any())]
        .into_iter()
        .chain([("whipstaff.dev/note", note.to_owned())]);
    Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            annotations: Some(annotations.map(|(k, v)| (k.to_owned(), v)).collect()),
            ..ObjectMeta::default()
        },
        type_: Some(SECRET_TYPE.to_owned()),
        immutable: Some(true),
        data: Some(BTreeMap::from([(
            DATA_KEY.to_owned(),
            ByteString(bytes.to_vec()),
        )])),
        ..Secret::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(second: i64) -> Time {
        Time(jiff::Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn fidelity_changes_random_values_with_the_revision_and_stable_does_not() {
        let key = SeedKey([7; 32]);
        let seed = |randomness, revision| key.seed(randomness, revision, &since(5));
        assert_eq!(
            seed(Randomness::Stable, 1),
            Seed::Stable {
                key: [7; 32],
                now: 5
            }
        );
        assert_eq!(seed(Randomness::Stable, 1), seed(Randomness::Stable, 2));
        assert_eq!(seed(Randomness::Fidelity, 2), seed(Randomness::Fidelity, 2));
        assert_ne!(seed(Randomness::Fidelity, 1), seed(Randomness::Fidelity, 2));
    }

    #[test]
    fn names_of_secrets_are_never_too_long() {
        assert_eq!(secret_name("shop"), "whipstaff-seed-shop");
        let long = [secret_name(&"a".repeat(253)), secret_name(&"b".repeat(253))];
        assert!(long.iter().all(|name| name.len() <= MAX_NAME));
        assert_ne!(long[0], long[1]);
    }
}
