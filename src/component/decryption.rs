//! Decrypting a component's files before anything else is done with them.

use super::error::ReconcileError;
use super::mask::Mask;
use super::memory::{Decrypted, Sources};
use super::source::Fetching;
use crate::source::Artifact;
use std::sync::Arc;
use std::time::Instant;
use whipstaff_generator::Digest;
use whipstaff_sops::{Keys, decrypt_tree};

/// What the digest of decrypted files has beside that of the encrypted ones: who has no keys must never meet what was compiled for
/// somebody who had them.
const DECRYPTED: &[u8] = b"decrypted";

impl Fetching<'_> {
    /// The files with those decrypted that SOPS encrypted.
    pub(super) async fn decrypt(
        &self,
        artifact: Arc<Artifact>,
        secret: &str,
        memory: &mut Sources,
    ) -> Result<Arc<Artifact>, ReconcileError> {
        let of = (artifact.digest, secret.to_owned());
        let now = Instant::now();
        let known = memory.decrypted.iter().find(|known| known.of == of);
        if let Some(known) = known.filter(|known| now < known.next) {
            return Ok(Arc::clone(&known.artifact));
        }
        let keys = self.keys(secret).await?;
        let work = move || {
            let files = decrypt_tree(&artifact.files, &keys)?;
            let mask = Mask::between(&artifact.files, &files);
            let digest = Digest::of_parts([artifact.digest.as_bytes().as_slice(), DECRYPTED]);
            let decrypted = Artifact {
                files,
                digest,
                ..(*artifact).clone()
            };
            Ok((Arc::new(decrypted), Arc::new(mask)))
        };
        let decrypted: Result<_, whipstaff_generator::Error> = tokio::task::spawn_blocking(work)
            .await
            .map_err(ReconcileError::RenderTask)?;
        let (artifact, mask) = decrypted.map_err(|error| ReconcileError::Decrypt {
            report: error.report(),
        })?;
        memory.remember_decrypted(Decrypted {
            of,
            artifact: Arc::clone(&artifact),
            mask,
            next: now + self.interval,
        });
        Ok(artifact)
    }

    async fn keys(&self, name: &str) -> Result<Keys, ReconcileError> {
        let name = name.to_owned();
        let entries = match self.secrets.read(self.namespace, &name).await {
            Ok(Some(entries)) => entries,
            Ok(None) => return Err(ReconcileError::KeysMissing { name }),
            Err(cause) => return Err(ReconcileError::ReadKeys { name, cause }),
        };
        let keys = Keys::from_entries(&entries).map_err(|cause| ReconcileError::Keys {
            name: name.clone(),
            cause,
        })?;
        if keys.is_empty() {
            return Err(ReconcileError::NoKeys { name });
        }
        Ok(keys)
    }
}
