//! Decrypts files that SOPS encrypted for age and OpenPGP keys.
//!
//! [`decrypt_tree`] is what a host calls between fetching files and handing them to a generator: encrypted files are replaced by
//! what they hold, all others stay as they are.
//!
//! ```
//! use whipstaff_generator::FileTree;
//! use whipstaff_sops::{Keys, decrypt_tree};
//!
//! let keys = Keys::from_entries([(
//!     "team.agekey",
//!     b"# a key of nobody\nAGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33".as_slice(),
//! )])?;
//! let mut files = FileTree::new();
//! files.insert("values.yaml", b"replicas: 3\n".as_slice())?;
//! assert_eq!(decrypt_tree(&files, &keys)?, files);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing is asked outside of the process: data keys that only a key service (AWS KMS, Google Cloud KMS, Huawei Cloud KMS, Azure
//! Key Vault, HashiCorp Vault) can decrypt are refused, and the service is named. Every file's message authentication code is
//! checked. No error, and no `Debug`, shows key material or anything that was encrypted.
//!
//! What a file holds is what `sops decrypt` of SOPS 3.13.3 gives for it. Comments are kept in dotenv files only.

mod cipher;
mod data_key;
mod decrypt;
mod error;
mod format;
mod keys;
mod metadata;
mod rules;
mod shamir;
mod sniff;
mod tree;
mod walk;

pub use data_key::MAX_PRIVATE_KEY_OPERATIONS;
pub use decrypt::{MAX_ENCRYPTED_FILES, MAX_FILE_BYTES, decrypt, decrypt_tree};
pub use error::{KeyService, SopsError, ValueProblem};
pub use keys::{KeyError, KeyProblem, Keys, MAX_KEY_BYTES, MAX_KEYS};
pub use sniff::is_encrypted;
