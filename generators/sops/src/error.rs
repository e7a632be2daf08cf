//! Why a file cannot be decrypted.

use std::fmt;

/// How many recipients an error names.
const MAX_NAMES_SHOWN: usize = 8;

/// How many characters of a name an error shows. Post-quantum recipients of age have 2,000.
const MAX_CHARACTERS_SHOWN: usize = 120;

/// Why a file cannot be decrypted. The file is not named: whoever asked knows it.
///
/// Names of keys in a file are shown (SOPS never encrypts them), contents never.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SopsError {
    /// The file was not encrypted by SOPS.
    #[error("it holds no SOPS metadata")]
    MissingMetadata,
    /// What SOPS wrote about the file is incomplete or contradicts itself.
    #[error("its SOPS metadata are wrong: {problem}")]
    Metadata {
        /// What is wrong, with the name of the field.
        problem: String,
    },
    /// The file is not of the format that its metadata are in.
    #[error("it is not {format}{}", at_line(*.line))]
    Syntax {
        /// `YAML`, `JSON`, `dotenv` or `INI`.
        format: &'static str,
        /// The line, counted from 1, if it is known.
        line: Option<usize>,
    },
    /// None of the keys is one that the file was encrypted for.
    #[error("no key for it: it is encrypted for {}{}", quoted(.recipients), and_services(.services))]
    NoKey {
        /// The age recipients and OpenPGP fingerprints that the file was encrypted for.
        recipients: Vec<String>,
        /// Key services that could decrypt it, which are never asked.
        services: Vec<KeyService>,
    },
    /// Only key services can decrypt the file.
    #[error("only {} can decrypt it, and key services are not supported", listed(.services))]
    KeyService {
        /// The services.
        services: Vec<KeyService>,
    },
    /// Keys for too few of the file's key groups are there.
    #[error(
        "keys for {found} of its key groups are there, and {threshold} are needed; those without are for {}{}",
        quoted(.recipients), and_services(.services)
    )]
    KeyGroups {
        /// Groups that a key is there for.
        found: usize,
        /// Groups that are needed.
        threshold: usize,
        /// The recipients and fingerprints of the other groups.
        recipients: Vec<String>,
        /// The key services of the other groups, which are never asked.
        services: Vec<KeyService>,
    },
    /// A key fits, but what was encrypted for it is damaged.
    #[error("its data key for `{recipient}` is damaged")]
    DataKey {
        /// The age recipient or OpenPGP fingerprint.
        recipient: String,
    },
    /// A value cannot be decrypted.
    #[error("the value of `{key}` {problem}")]
    Value {
        /// The path of keys to it, joined by colons.
        key: String,
        /// What is wrong with it.
        problem: ValueProblem,
    },
    /// The message authentication code does not fit: somebody changed the file after SOPS wrote it.
    #[error(
        "its message authentication code does not fit its values: it was changed after it had been encrypted"
    )]
    Mac,
    /// What was decrypted cannot be written in the format that the file's name asks for.
    #[error("it cannot be written as {format}: {problem}")]
    Output {
        /// `YAML`, `JSON`, `dotenv` or `INI`.
        format: &'static str,
        /// What is in the way, without contents.
        problem: &'static str,
    },
    /// A named limit was reached.
    #[error("it has more {what} than the {limit} allowed")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
}

/// What is wrong with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// It should be encrypted, and is not.
    #[error("should be encrypted, and is not")]
    Plain,
    /// It is not of the form `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`.
    #[error("is not in the form of SOPS")]
    Form,
    /// The key does not decrypt it, or it was changed or moved.
    #[error("does not decrypt: it was changed, or moved to another key")]
    Authentication,
    /// It is not what its type says.
    #[error("is not of the type that it was encrypted as")]
    Type,
    /// Its bytes are no UTF-8, which only binary files may hold.
    #[error("is not text")]
    NotText,
}

/// A service that keeps keys and decrypts on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum KeyService {
    /// AWS Key Management Service (`kms`).
    AwsKms,
    /// Google Cloud KMS (`gcp_kms`).
    GoogleKms,
    /// Huawei Cloud KMS (`hckms`).
    HuaweiKms,
    /// Azure Key Vault (`azure_kv`).
    AzureKeyVault,
    /// The transit engine of HashiCorp Vault (`hc_vault`).
    HashicorpVault,
}

impl fmt::Display for KeyService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AwsKms => "AWS KMS",
            Self::GoogleKms => "Google Cloud KMS",
            Self::HuaweiKms => "Huawei Cloud KMS",
            Self::AzureKeyVault => "Azure Key Vault",
            Self::HashicorpVault => "HashiCorp Vault",
        })
    }
}

fn at_line(line: Option<usize>) -> String {
    line.map(|line| format!(" (line {line})"))
        .unwrap_or_default()
}

fn quoted(names: &[String]) -> String {
    let mut shown: Vec<_> = names
        .iter()
        .take(MAX_NAMES_SHOWN)
        .map(|name| format!("`{}`", shown(name)))
        .collect();
    if names.is_empty() {
        return "no key that is supported".to_owned();
    }
    if names.len() > MAX_NAMES_SHOWN {
        shown.push(format!("{} more", names.len() - MAX_NAMES_SHOWN));
    }
    shown.join(", ")
}

/// A name out of a file as an error may show it: not too long, and on one line.
pub(crate) fn shown(name: &str) -> String {
    let mut text: String = name
        .chars()
        .take(MAX_CHARACTERS_SHOWN)
        .map(|letter| {
            if letter.is_control() {
                '\u{FFFD}'
            } else {
                letter
            }
        })
        .collect();
    if text.len() < name.len() && name.chars().nth(MAX_CHARACTERS_SHOWN).is_some() {
        text.push('…');
    }
    text
}

fn listed(services: &[KeyService]) -> String {
    let names: Vec<_> = services.iter().map(KeyService::to_string).collect();
    names.join(", ")
}

fn and_services(services: &[KeyService]) -> String {
    if services.is_empty() {
        return String::new();
    }
    format!(
        "; {} could decrypt it, but key services are not supported",
        listed(services)
    )
}
