//! The private keys of a Secret.

mod age;
mod openpgp;

use std::fmt;

use self::age::AgeKey;
use self::openpgp::PgpKey;
use crate::data_key::{Effort, Opened};
use crate::error::SopsError;

/// Most keys of one set.
pub const MAX_KEYS: usize = 64;

/// Most bytes of one entry: what a Secret can hold.
pub const MAX_KEY_BYTES: usize = 1024 * 1024;

/// Longest data key, or part of one, as it is decrypted.
const MAX_DATA_KEY_BYTES: usize = 256;

/// Private keys that files may be encrypted for. `Debug` shows none of them.
#[derive(Default)]
pub struct Keys {
    age: Vec<AgeKey>,
    pgp: Vec<PgpKey>,
}

/// Why keys cannot be used. No part of a key is shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry `{entry}` {problem}")]
pub struct KeyError {
    /// The name of the entry.
    pub entry: String,
    /// What is wrong with it.
    pub problem: KeyProblem,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// A line is no age identity.
    #[error("has no age identity in line {line}: identities start with `AGE-SECRET-KEY-1`")]
    Identity {
        /// The line, counted from 1.
        line: usize,
    },
    /// A post-quantum age identity.
    #[error(
        "has a post-quantum age identity in line {line}, which is not supported; X25519 identities are"
    )]
    PostQuantum {
        /// The line, counted from 1.
        line: usize,
    },
    /// An age identity that a plugin has to be asked for.
    #[error(
        "has the age identity of a plugin in line {line}, which is not supported; X25519 identities are"
    )]
    Plugin {
        /// The line, counted from 1.
        line: usize,
    },
    /// There is no key in it.
    #[error("holds no private key")]
    Empty,
    /// It is no armoured OpenPGP key.
    #[error("is not an armoured OpenPGP private key")]
    Armor,
    /// It is a public key.
    #[error("is a public key, which decrypts nothing")]
    Public,
    /// A passphrase is needed for it.
    #[error("is protected by a passphrase, which is not supported")]
    Protected,
    /// It is larger than [`MAX_KEY_BYTES`].
    #[error("is larger than {MAX_KEY_BYTES} bytes")]
    Large,
    /// It brings the keys to more than [`MAX_KEYS`].
    #[error("brings more than the {MAX_KEYS} keys allowed")]
    Many,
}

impl Keys {
    /// Takes the keys out of a Secret's entries: those that end in `.agekey` are age identities, one a line with comments between
    /// them, and those that end in `.asc` armoured OpenPGP private keys. All other entries are passed over.
    ///
    /// # Errors
    /// [`KeyError`] when an entry of these names holds anything else, is protected by a passphrase, or is too large.
    pub fn from_entries<N, B>(entries: impl IntoIterator<Item = (N, B)>) -> Result<Self, KeyError>
    where
        N: AsRef<str>,
        B: AsRef<[u8]>,
    {
        let mut keys = Self::default();
        for (name, content) in entries {
            let name = name.as_ref();
            keys.add(name, content.as_ref())
                .map_err(|problem| KeyError {
                    entry: name.to_owned(),
                    problem,
                })?;
        }
        Ok(keys)
    }

    /// What the keys are known by: age recipients, and OpenPGP fingerprints in capital letters.
    pub fn fingerprints(&self) -> Vec<String> {
        let age = self.age.iter().map(AgeKey::recipient);
        let pgp = self.pgp.iter().map(PgpKey::fingerprint);
        age.chain(pgp).map(str::to_owned).collect()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.age.is_empty() && self.pgp.is_empty()
    }

    /// Decrypts what is encrypted for an age recipient.
    pub(crate) fn open_age(
        &self,
        recipient: &str,
        encrypted: &str,
        effort: &mut Effort,
    ) -> Result<Opened, SopsError> {
        let Some(key) = self.age.iter().find(|key| key.recipient() == recipient) else {
            return Ok(Opened::NoKey);
        };
        effort.take(1)?;
        Ok(key.open(encrypted))
    }

    /// Decrypts an OpenPGP message, which says itself for whom it is.
    pub(crate) fn open_pgp(
        &self,
        encrypted: &str,
        effort: &mut Effort,
    ) -> Result<Opened, SopsError> {
        openpgp::open(encrypted, &self.pgp, effort)
    }

    fn add(&mut self, name: &str, content: &[u8]) -> Result<(), KeyProblem> {
        let kind = name.rsplit_once('.').map(|(_, kind)| kind);
        if !matches!(kind, Some("agekey" | "asc")) {
            return Ok(());
        }
        if content.len() > MAX_KEY_BYTES {
            return Err(KeyProblem::Large);
        }
        if kind == Some("agekey") {
            for key in age::read(content)? {
                let is_known = |known: &AgeKey| known.recipient() == key.recipient();
                if !self.age.iter().any(is_known) {
                    self.age.push(key);
                }
            }
        } else {
            for key in openpgp::read(content)? {
                let is_known = |known: &PgpKey| known.fingerprint() == key.fingerprint();
                if !self.pgp.iter().any(is_known) {
                    self.pgp.push(key);
                }
            }
        }
        if self.age.len() + self.pgp.len() > MAX_KEYS {
            return Err(KeyProblem::Many);
        }
        Ok(())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}
