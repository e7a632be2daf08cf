//! Gets at the key that a file's values are encrypted with.
//!
//! **Source**: `GetDataKeyWithKeyServices` in `sops.go`, `age/keysource.go` and `pgp/keysource.go` of SOPS 3.13.3.

use zeroize::Zeroizing;

use crate::cipher::Cipher;
use crate::error::{KeyService, SopsError};
use crate::keys::Keys;
use crate::metadata::{Metadata, Recipient};
use crate::shamir;

/// Most operations with private keys for one file: a file can name as many recipients as it likes.
pub const MAX_PRIVATE_KEY_OPERATIONS: usize = 64;

/// Most operations with private keys for all files of a tree.
const MAX_OPERATIONS_PER_TREE: usize = 2_000;

/// How many operations with private keys are left.
#[derive(Debug)]
pub(crate) struct Effort {
    file: usize,
    tree: usize,
}

impl Effort {
    pub(crate) fn new() -> Self {
        Self {
            file: MAX_PRIVATE_KEY_OPERATIONS,
            tree: MAX_OPERATIONS_PER_TREE,
        }
    }

    /// Goes on to another file of the same tree.
    pub(crate) fn next_file(&mut self) {
        self.file = MAX_PRIVATE_KEY_OPERATIONS;
    }

    /// Takes a number of operations.
    pub(crate) fn take(&mut self, operations: usize) -> Result<(), SopsError> {
        let limit = |limit| SopsError::Limit {
            what: "operations with private keys",
            limit,
        };
        self.file = self
            .file
            .checked_sub(operations)
            .ok_or(limit(MAX_PRIVATE_KEY_OPERATIONS))?;
        self.tree = self
            .tree
            .checked_sub(operations)
            .ok_or(limit(MAX_OPERATIONS_PER_TREE))?;
        Ok(())
    }
}

/// What a key made of a data key that is encrypted for it.
pub(crate) enum Opened {
    Yes(Zeroizing<Vec<u8>>),
    /// There is no such key.
    NoKey,
    /// The key is there, and does not decrypt it.
    Damaged,
}

/// Decrypts a file's data key, and makes the cipher of it.
pub(crate) fn recover(
    metadata: &Metadata,
    keys: &Keys,
    effort: &mut Effort,
) -> Result<Cipher, SopsError> {
    let mut parts = Vec::new();
    let mut missing = Missing::default();
    for group in &metadata.groups {
        match open_group(group, keys, effort, &mut missing)? {
            Some(part) => parts.push(part),
            None => missing.groups += 1,
        }
    }
    let data_key = if metadata.groups.len() > 1 {
        if parts.len() < metadata.threshold {
            return Err(missing.error(parts.len(), metadata.threshold));
        }
        shamir::combine(&parts).ok_or_else(|| SopsError::Metadata {
            problem: "the parts of the data key do not belong together".to_owned(),
        })?
    } else {
        parts.pop().ok_or_else(|| missing.error(0, 1))?
    };
    Cipher::new(&data_key).ok_or_else(|| SopsError::Metadata {
        problem: "the data key is not of the length that values need".to_owned(),
    })
}

/// Whom groups without a key are for.
#[derive(Default)]
struct Missing {
    groups: usize,
    recipients: Vec<String>,
    services: Vec<KeyService>,
    damaged: Option<String>,
}

impl Missing {
    fn error(&mut self, found: usize, threshold: usize) -> SopsError {
        if let Some(recipient) = self.damaged.take() {
            return SopsError::DataKey { recipient };
        }
        let recipients = std::mem::take(&mut self.recipients);
        let mut services = std::mem::take(&mut self.services);
        services.sort_unstable();
        services.dedup();
        if threshold > 1 {
            return SopsError::KeyGroups {
                found,
                threshold,
                recipients,
                services,
            };
        }
        if recipients.is_empty() {
            return SopsError::KeyService { services };
        }
        SopsError::NoKey {
            recipients,
            services,
        }
    }
}

/// Decrypts the part of the data key that a group's keys share.
fn open_group(
    group: &[Recipient],
    keys: &Keys,
    effort: &mut Effort,
    missing: &mut Missing,
) -> Result<Option<Zeroizing<Vec<u8>>>, SopsError> {
    let mut recipients = Vec::new();
    let mut services = Vec::new();
    for recipient in group {
        let (opened, name) = match recipient {
            Recipient::Age {
                recipient,
                encrypted,
            } => (keys.open_age(recipient, encrypted, effort)?, recipient),
            Recipient::Pgp {
                fingerprint,
                encrypted,
            } => (keys.open_pgp(encrypted, effort)?, fingerprint),
            Recipient::Service(service) => {
                services.push(*service);
                continue;
            }
        };
        match opened {
            Opened::Yes(part) => return Ok(Some(part)),
            Opened::NoKey => recipients.push(name.clone()),
            Opened::Damaged => missing.damaged = Some(name.clone()),
        }
    }
    missing.recipients.append(&mut recipients);
    missing.services.append(&mut services);
    Ok(None)
}
