//! OpenPGP keys.

use std::io::Read as _;

use pgp::composed::{
    DecryptionOptions, Deserializable as _, Esk, Message, SignedSecretKey, TheRing,
};
use pgp::types::{KeyDetails as _, Seipdv1ReadMode};
use zeroize::Zeroizing;

use super::{KeyProblem, MAX_DATA_KEY_BYTES, MAX_KEYS};
use crate::data_key::{Effort, Opened};
use crate::error::SopsError;

/// What an armoured private key starts with.
const PRIVATE_KEY: &str = "-----BEGIN PGP PRIVATE KEY BLOCK-----";

/// Most bytes of the encrypted part of a message.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// How many layers of compression and signatures may be around a data key.
const MAX_LAYERS: usize = 4;

/// A private key with its subkeys, some of which decrypt.
pub(super) struct PgpKey {
    fingerprint: String,
    key: SignedSecretKey,
}

impl PgpKey {
    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How often a message's session key would be decrypted with this key or a subkey of it.
    fn operations(&self, session_keys: &[Esk]) -> usize {
        let primary =
            (!self.key.primary_key.secret_params().is_encrypted()).then_some(&self.key.primary_key);
        session_keys
            .iter()
            .filter_map(|session_key| match session_key {
                Esk::PublicKeyEncryptedSessionKey(session_key) => Some(session_key),
                Esk::SymKeyEncryptedSessionKey(_) => None,
            })
            .map(|session_key| {
                let is_primary =
                    primary.is_some_and(|key| session_key.match_identity(key.public_key()));
                let subkeys = self.key.secret_subkeys.iter().filter(|subkey| {
                    !subkey.secret_params().is_encrypted()
                        && session_key.match_identity(subkey.public_key())
                });
                usize::from(is_primary) + subkeys.count()
            })
            .sum()
    }

    /// Whether any part of it can be used without a passphrase.
    fn is_usable(&self) -> bool {
        let mut subkeys = self.key.secret_subkeys.iter();
        !self.key.primary_key.secret_params().is_encrypted()
            || subkeys.any(|subkey| !subkey.secret_params().is_encrypted())
    }
}

/// Reads the keys of a file: several blocks, or several keys in one.
pub(super) fn read(content: &[u8]) -> Result<Vec<PgpKey>, KeyProblem> {
    let text = std::str::from_utf8(content).map_err(|_| KeyProblem::Armor)?;
    let mut starts: Vec<_> = text.match_indices(PRIVATE_KEY).map(|(at, _)| at).collect();
    if starts.is_empty() {
        let is_public = text.contains("-----BEGIN PGP PUBLIC KEY BLOCK-----");
        return Err(if is_public {
            KeyProblem::Public
        } else {
            KeyProblem::Armor
        });
    }
    if starts.len() > MAX_KEYS {
        return Err(KeyProblem::Many);
    }
    starts.push(text.len());
    let mut keys = Vec::new();
    for block in starts.windows(2) {
        let &[start, end] = block else { continue };
        let block = text.get(start..end).unwrap_or_default();
        read_block(block, &mut keys)?;
    }
    if keys.is_empty() {
        return Err(KeyProblem::Empty);
    }
    if keys.iter().any(|key| !key.is_usable()) {
        return Err(KeyProblem::Protected);
    }
    Ok(keys)
}

fn read_block(block: &str, keys: &mut Vec<PgpKey>) -> Result<(), KeyProblem> {
    let (found, _) =
        SignedSecretKey::from_armor_many(block.as_bytes()).map_err(|_| KeyProblem::Armor)?;
    for key in found {
        if keys.len() >= MAX_KEYS {
            return Err(KeyProblem::Many);
        }
        let key = key.map_err(|_| KeyProblem::Armor)?;
        keys.push(PgpKey {
            fingerprint: format!("{:X}", key.primary_key.fingerprint()),
            key,
        });
    }
    Ok(())
}

/// Decrypts an armoured message with the first key that it is for.
pub(super) fn open(
    encrypted: &str,
    keys: &[PgpKey],
    effort: &mut Effort,
) -> Result<Opened, SopsError> {
    let mut opened = Opened::NoKey;
    for key in keys {
        let Some(message) = message(encrypted) else {
            return Ok(Opened::Damaged);
        };
        let Message::Encrypted { esk, .. } = &message else {
            return Ok(Opened::Damaged);
        };
        let operations = key.operations(esk);
        if operations == 0 {
            continue;
        }
        effort.take(operations)?;
        match decrypt(message, &key.key) {
            Some(data_key) => return Ok(Opened::Yes(data_key)),
            None => opened = Opened::Damaged,
        }
    }
    Ok(opened)
}

fn message(encrypted: &str) -> Option<Message<'_>> {
    let (message, _) = Message::from_armor(encrypted.as_bytes()).ok()?;
    Some(message)
}

fn decrypt(message: Message<'_>, key: &SignedSecretKey) -> Option<Zeroizing<Vec<u8>>> {
    // GnuPG 2.4 encrypts with its own AEAD for keys that it made. Packets without integrity protection stay refused. There are no
    // passwords in the ring, so nothing is ever derived from one.
    let options = DecryptionOptions::new()
        .enable_gnupg_aead()
        .set_seipdv1_read_mode(Seipdv1ReadMode::CheckFirst {
            max_message_size: MAX_MESSAGE_BYTES,
        });
    let ring = TheRing {
        secret_keys: vec![key],
        decrypt_options: options,
        ..Default::default()
    };
    let (mut message, _) = message.decrypt_the_ring(ring, true).ok()?;
    for _ in 0..MAX_LAYERS {
        if !message.is_compressed() {
            break;
        }
        message = message.decompress().ok()?;
    }
    if message.is_compressed() || message.is_encrypted() {
        return None;
    }
    let mut data_key = Zeroizing::new(Vec::with_capacity(MAX_DATA_KEY_BYTES + 1));
    message
        .take(MAX_DATA_KEY_BYTES as u64 + 1)
        .read_to_end(&mut data_key)
        .ok()?;
    (data_key.len() <= MAX_DATA_KEY_BYTES).then_some(data_key)
}
