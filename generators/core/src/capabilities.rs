//! What the target cluster offers.

use std::{collections::BTreeSet, fmt, str::FromStr};

/// A Kubernetes version as `/version` and `--kube-version` give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeVersion {
    /// The full text with a leading `v`, for example `v1.34.2-gke.1`.
    pub version: String,
    /// Major version.
    pub major: String,
    /// Minor version.
    pub minor: String,
}

/// A text that is not a Kubernetes version.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{text}` is not a Kubernetes version: expected something like `v1.34.0`")]
pub struct KubeVersionError {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for KubeVersion {
    type Err = KubeVersionError;

    /// Reads `1.34`, `v1.34.2` and versions with a vendor's suffix.
    fn from_str(text: &str) -> Result<Self, KubeVersionError> {
        let invalid = || KubeVersionError {
            text: text.to_owned(),
        };
        let bare = text.strip_prefix('v').unwrap_or(text);
        let core = bare.split(['-', '+']).next().unwrap_or_default();
        let suffix = &bare[core.len()..];
        let mut numbers = Vec::with_capacity(3);
        for part in core.split('.') {
            numbers.push(part.parse::<u32>().map_err(|_| invalid())?);
        }
        let (major, minor, patch) = match numbers[..] {
            [major, minor] => (major, minor, 0),
            [major, minor, patch] => (major, minor, patch),
            _ => return Err(invalid()),
        };
        Ok(Self {
            version: format!("v{major}.{minor}.{patch}{suffix}"),
            major: major.to_string(),
            minor: minor.to_string(),
        })
    }
}

impl fmt::Display for KubeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.version)
    }
}

/// The version and the APIs of the cluster that objects are rendered for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Version of the API server.
    pub kube_version: KubeVersion,
    /// `group/version` and `group/version/Kind` (`v1` and `v1/Pod` in the core group).
    pub api_versions: BTreeSet<String>,
}

impl Capabilities {
    /// Whether the cluster serves a `group/version` or a `group/version/Kind`.
    pub fn has(&self, api_version: &str) -> bool {
        self.api_versions.contains(api_version)
    }

    /// Bytes that stand for these capabilities in an input digest.
    pub fn fingerprint(&self) -> String {
        let mut text = self.kube_version.version.clone();
        for api_version in &self.api_versions {
            text.push('\n');
            text.push_str(api_version);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_and_without_patch_and_suffix() {
        let cases = [
            ("1.34", "v1.34.0", "34"),
            ("v1.29.3", "v1.29.3", "29"),
            ("v1.29.3-gke.1+x", "v1.29.3-gke.1+x", "29"),
        ];
        for (text, version, minor) in cases {
            let parsed: KubeVersion = text.parse().unwrap();
            assert_eq!(
                (parsed.version.as_str(), parsed.minor.as_str()),
                (version, minor)
            );
        }
        for text in ["", "1", "v", "1.x", "1.2.3.4"] {
            assert!(text.parse::<KubeVersion>().is_err(), "{text}");
        }
    }
}
