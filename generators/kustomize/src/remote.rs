//! Sources that are not in the file system.
//!
//! Mirrors `internal/git/repospec.go` of kustomize api v0.21.1.

use crate::files::{FileSystem, clean};
use std::sync::Arc;
use std::time::Duration;

/// Fetches what a kustomization names by address; the host implements it.
pub trait RemoteSource: std::fmt::Debug + Send + Sync {
    /// The content behind an `http` or `https` address.
    ///
    /// # Errors
    /// When it cannot be fetched; the text becomes part of the build's error. For answers that are no success, kustomize's text is
    /// `HTTP Error: status code 404 (Not Found)`.
    fn file(&self, url: &str) -> Result<Arc<[u8]>, Box<dyn std::error::Error + Send + Sync>>;

    /// The files of a repository at the revision that is asked for, with its root at `/`. They may be read when they are needed.
    ///
    /// # Errors
    /// When it cannot be fetched; the text becomes part of the build's error.
    fn repository(
        &self,
        spec: &RepoSpec,
    ) -> Result<Arc<dyn FileSystem + Send + Sync>, Box<dyn std::error::Error + Send + Sync>>;
}

/// How long a repository may take to be fetched unless the address says something else.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(27);
/// The scheme of repositories in the file system.
const FILE_SCHEME: &str = "file://";
const SCHEMES: [&str; 4] = ["ssh://", "https://", "http://", FILE_SCHEME];

/// The address of a folder in a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoSpec {
    raw: String,
    host: String,
    repo_path: String,
    folder: String,
    reference: String,
    timeout: Duration,
    submodules: bool,
}

/// An address that names no repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no repository")]
pub struct NoRepository(String);

impl RepoSpec {
    /// Reads an address in any form that kustomize takes.
    ///
    /// # Errors
    /// When it is none, which is what tells folders from repositories.
    pub fn parse(address: &str) -> Result<Self, NoRepository> {
        Self::read(address).ok_or_else(|| NoRepository(address.to_owned()))
    }

    fn read(address: &str) -> Option<Self> {
        if address.starts_with('/') {
            return None;
        }
        let (rest, query) = address.split_once('?').unwrap_or((address, ""));
        let (host, rest) = split_host(rest)?;
        let whole = host.starts_with(FILE_SCHEME);
        let (repo_path, folder) = split_path(rest, whole)?;
        if repo_path.is_empty() || leaves(folder) {
            return None;
        }
        let query = Query::read(query);
        Some(Self {
            raw: address.to_owned(),
            host,
            repo_path: repo_path.to_owned(),
            folder: folder.strip_prefix('/').unwrap_or(folder).to_owned(),
            reference: query.reference,
            timeout: query.timeout,
            submodules: query.submodules,
        })
    }

    /// The address as it was given.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// What `git` is to fetch.
    pub fn clone_url(&self) -> String {
        format!("{}{}", self.host, self.repo_path)
    }

    /// The folder in the repository, empty for its root.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The branch, tag or commit; empty for the default branch.
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// How long fetching may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether submodules are fetched, too.
    pub fn submodules(&self) -> bool {
        self.submodules
    }
}

/// Takes a prefix away, in any case.
fn strip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    if start.eq_ignore_ascii_case(prefix) {
        text.get(prefix.len()..)
    } else {
        None
    }
}

fn split_host(text: &str) -> Option<(String, &str)> {
    let text = strip(text, "git::").unwrap_or(text);
    let (scheme, text) = SCHEMES
        .iter()
        .find_map(|scheme| Some((*scheme, strip(text, scheme)?)))
        .unwrap_or(("", text));
    let (user, rest) = split_user(text);
    let is_github = strip(rest, "github.com/").is_some() || strip(rest, "github.com:").is_some();
    let is_scp = scheme.is_empty() && (!user.is_empty() || is_github);
    if scheme.is_empty() && !is_scp {
        return None;
    }
    if scheme == FILE_SCHEME {
        return Some((scheme.to_owned(), text));
    }
    let (host, path) = match separator(rest, is_scp) {
        Some(at) => rest.split_at_checked(at + 1)?,
        None => (rest, ""),
    };
    if is_github {
        let host = if scheme == "ssh://" || !user.is_empty() {
            format!("{user}github.com:")
        } else {
            "https://github.com/".to_owned()
        };
        return Some((host, path));
    }
    (!host.is_empty()).then(|| (format!("{scheme}{user}{host}"), path))
}

/// A name in front of `@`.
fn split_user(text: &str) -> (&str, &str) {
    let Some(at) = text.find('@') else {
        return ("", text);
    };
    let name = text.get(..at).unwrap_or_default();
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if valid {
        text.split_at_checked(at + 1).unwrap_or(("", text))
    } else {
        ("", text)
    }
}

/// Where the host ends: at the first slash, or at a colon in front of it.
fn separator(text: &str, is_scp: bool) -> Option<usize> {
    let slash = text.find('/');
    let colon = text.find(':').filter(|_| is_scp);
    match (slash, colon) {
        (None, colon) => colon,
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => Some(colon),
        (slash, _) => slash,
    }
}

/// Splits a path into the repository and the folder in it.
fn split_path(path: &str, whole: bool) -> Option<(&str, &str)> {
    if let Some(at) = path.find("_git/") {
        let start = at + "_git/".len();
        let rest = path.get(start..)?;
        let end = rest.find('/').map_or(path.len(), |slash| start + slash);
        return Some((path.get(..end)?, path.get(end + 1..).unwrap_or_default()));
    }
    if let Some(at) = path.find("//") {
        return Some((path.get(..at)?, path.get(at + 2..)?));
    }
    if let Some(at) = path.find(".git") {
        return path.split_at_checked(at + ".git".len());
    }
    if whole {
        return Some((path, ""));
    }
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    slashes.next()?;
    match slashes.next() {
        None => Some((path, "")),
        Some(at) => Some((path.get(..at)?, path.get(at + 1..)?)),
    }
}

fn leaves(folder: &str) -> bool {
    let folder = clean(folder.strip_prefix('/').unwrap_or(folder));
    folder.split('/').next() == Some("..")
}

struct Query {
    reference: String,
    timeout: Duration,
    submodules: bool,
}

impl Query {
    fn read(text: &str) -> Self {
        let mut query = Self {
            reference: String::new(),
            timeout: DEFAULT_TIMEOUT,
            submodules: true,
        };
        let mut version = None;
        let mut reference = None;
        for pair in text.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value);
            match key {
                "ref" if reference.is_none() => reference = Some(value),
                "version" if version.is_none() => version = Some(value),
                "timeout" => query.timeout = timeout(&value).unwrap_or(query.timeout),
                "submodules" => query.submodules = boolean(&value).unwrap_or(query.submodules),
                _ => {}
            }
        }
        query.reference = reference
            .filter(|reference| !reference.is_empty())
            .or(version)
            .unwrap_or_default();
        query
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// Whole seconds, or a number with a unit.
fn timeout(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u32>() {
        return (seconds > 0).then(|| Duration::from_secs(seconds.into()));
    }
    let units = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let (number, scale) = units
        .iter()
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    let number: f64 = number.parse().ok()?;
    (number > 0.0 && number < 1e9)
        .then(|| Duration::from_secs_f64(number * f64::from(scale) / 1_000.0))
}

/// Undoes the escapes of a query.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, hex) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = tail.get(2..).unwrap_or_default();
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(byte),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split_as_kustomize_splits_them() {
        let cases = [
            (
                "https://github.com/org/repo/sub/dir?ref=v1",
                "https://github.com/org/repo",
                "sub/dir",
                "v1",
            ),
            (
                "github.com/org/repo//a",
                "https://github.com/org/repo",
                "a",
                "",
            ),
            (
                "git@github.com:org/repo.git/a",
                "git@github.com:org/repo.git",
                "/a",
                "",
            ),
            (
                "ssh://git@host.com/org/repo",
                "ssh://git@host.com/org/repo",
                "",
                "",
            ),
            ("file:///tmp/repo//x", "file:///tmp/repo", "x", ""),
            (
                "https://dev.azure.com/o/p/_git/r/x?version=main",
                "https://dev.azure.com/o/p/_git/r",
                "x",
                "main",
            ),
        ];
        for (address, url, folder, reference) in cases {
            let spec = RepoSpec::parse(address).unwrap();
            assert_eq!(spec.clone_url(), url);
            assert_eq!(spec.folder(), folder.trim_start_matches('/'));
            assert_eq!(spec.reference(), reference);
        }
        for address in [
            "../base",
            "/abs",
            "https://host/only",
            "https://github.com/o/r//../../x",
        ] {
            assert!(RepoSpec::parse(address).is_err(), "{address}");
        }
    }
}
