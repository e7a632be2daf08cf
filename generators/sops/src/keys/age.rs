//! age identities.

use std::io::Read as _;

use age::armor::ArmoredReader;
use age::x25519::Identity;
use age::{DecryptError, Decryptor};
use zeroize::Zeroizing;

use super::{KeyProblem, MAX_DATA_KEY_BYTES, MAX_KEYS};
use crate::data_key::Opened;

/// An identity with the recipient that it decrypts for.
pub(super) struct AgeKey {
    recipient: String,
    identity: Identity,
}

impl AgeKey {
    pub(super) fn recipient(&self) -> &str {
        &self.recipient
    }

    /// Decrypts an armoured age file.
    pub(super) fn open(&self, encrypted: &str) -> Opened {
        match decrypt(encrypted, &self.identity) {
            Ok(key) if key.len() <= MAX_DATA_KEY_BYTES => Opened::Yes(key),
            _ => Opened::Damaged,
        }
    }
}

/// Reads the identities of a file.
pub(super) fn read(content: &[u8]) -> Result<Vec<AgeKey>, KeyProblem> {
    let text = std::str::from_utf8(content).map_err(|_| KeyProblem::Identity { line: 1 })?;
    if text.starts_with("age-encryption.org/") || text.starts_with("-----BEGIN AGE ENCRYPTED") {
        return Err(KeyProblem::Protected);
    }
    let mut keys = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if keys.len() >= MAX_KEYS {
            return Err(KeyProblem::Many);
        }
        keys.push(identity(text, at + 1)?);
    }
    if keys.is_empty() {
        return Err(KeyProblem::Empty);
    }
    Ok(keys)
}

fn identity(text: &str, line: usize) -> Result<AgeKey, KeyProblem> {
    let starts_with = |start: &str| {
        text.get(..start.len())
            .is_some_and(|letters| letters.eq_ignore_ascii_case(start))
    };
    if starts_with("AGE-SECRET-KEY-PQ-1") {
        return Err(KeyProblem::PostQuantum { line });
    }
    if starts_with("AGE-PLUGIN-") {
        return Err(KeyProblem::Plugin { line });
    }
    let identity: Identity = text.parse().map_err(|_| KeyProblem::Identity { line })?;
    Ok(AgeKey {
        recipient: identity.to_public().to_string(),
        identity,
    })
}

fn decrypt(encrypted: &str, identity: &Identity) -> Result<Zeroizing<Vec<u8>>, DecryptError> {
    let decryptor = Decryptor::new_buffered(ArmoredReader::new(encrypted.as_bytes()))?;
    let reader = decryptor.decrypt(std::iter::once(identity as &dyn age::Identity))?;
    let mut key = Zeroizing::new(Vec::with_capacity(MAX_DATA_KEY_BYTES + 1));
    reader
        .take(MAX_DATA_KEY_BYTES as u64 + 1)
        .read_to_end(&mut key)?;
    Ok(key)
}
