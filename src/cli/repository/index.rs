//! The index of a chart repository: which versions of which charts it has, and where (Helm 4.3, `pkg/repo/v1`).

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value as Json;
use std::cmp::Ordering;
use url::Url;
use whipstaff_generator::yaml;
use whipstaff_sprig::semver::{Constraint, Version};

/// One version of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Version, as the index writes it.
    pub(super) version: String,
    /// Absolute address of the archive.
    pub(super) url: String,
    /// Digest of the archive as `sha256:…`, or empty.
    pub(super) digest: String,
}

/// Address of the index of a repository.
///
/// # Errors
/// When the repository's address is none.
pub(super) fn index_url(repository: &str) -> Result<String> {
    resolve(repository, "index.yaml")
}

/// An address in an index, which may be relative to the repository.
fn resolve(repository: &str, reference: &str) -> Result<String> {
    if Url::parse(reference).is_ok() {
        return Ok(reference.to_owned());
    }
    let mut base = Url::parse(repository).context("the address of the repository is malformed")?;
    let path = format!("{}/", base.path().trim_end_matches('/'));
    base.set_path(&path);
    let mut url = base
        .join(reference)
        .with_context(|| format!("failed to parse {reference} as URL"))?;
    url.set_query(base.query());
    Ok(url.into())
}

/// Chooses the version of a chart that a constraint asks for: the one that is written exactly so, or else the newest that satisfies it.
///
/// # Errors
/// When the index is malformed, or has no such chart or version.
pub(super) fn choose(
    index: &[u8],
    repository: &str,
    chart: &str,
    constraint: &str,
) -> Result<Entry> {
    let index = read(index)?;
    let wanted = match constraint {
        "" => format!("chart \"{chart}\""),
        constraint => format!("chart \"{chart}\" version \"{constraint}\""),
    };
    let none = || anyhow!("{wanted} not found in {repository} repository");
    let entries = index.get("entries").and_then(|entries| entries.get(chart));
    let versions = sorted(entries.and_then(Json::as_array).ok_or_else(none)?);
    let range = match constraint {
        "" => "*",
        constraint => constraint,
    };
    let range = Constraint::parse(range).map_err(|_| none())?;
    let exact = versions
        .iter()
        .find(|(_, entry)| text(entry, "version") == constraint);
    let newest = || versions.iter().find(|(version, _)| range.check(version));
    let (_, entry) = exact.or_else(newest).ok_or_else(none)?;
    let Some(url) = entry.pointer("/urls/0").and_then(Json::as_str) else {
        bail!("{wanted} has no downloadable URLs");
    };
    Ok(Entry {
        version: text(entry, "version").to_owned(),
        url: resolve(repository, url).context("failed to make chart URL absolute")?,
        digest: digest(text(entry, "digest")),
    })
}

fn read(index: &[u8]) -> Result<Json> {
    if index.is_empty() {
        bail!("empty index.yaml file");
    }
    // JSON is YAML, and much quicker to read as what it is.
    let index = match serde_json::from_slice(index) {
        Ok(index) => index,
        Err(_) => yaml::from_slice(index).context("cannot read the index")?,
    };
    if text(&index, "apiVersion").is_empty() {
        bail!("no API version specified");
    }
    Ok(index)
}

/// Versions that can be read, the newest first.
fn sorted(entries: &[Json]) -> Vec<(Version, &Json)> {
    let mut versions: Vec<(Version, &Json)> = entries
        .iter()
        .filter(|entry| !text(entry, "name").is_empty())
        .filter_map(|entry| Some((Version::parse(text(entry, "version")).ok()?, entry)))
        .collect();
    versions.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    versions
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn digest(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.contains(':') => text.to_owned(),
        text => format!("sha256:{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "apiVersion: v1
entries:
  shop:
  - {name: shop, version: 1.0.0, urls: [shop-1.0.0.tgz], digest: abc}
  - {name: shop, version: 1.10.0, urls: [https://other.example/shop-1.10.0.tgz]}
  - {name: shop, version: v1.9.0, urls: [/top/shop.tgz]}
  - {name: shop, version: 2.0.0-rc.1, urls: [rc.tgz]}
  - {name: shop, version: broken, urls: [x]}
  empty:
  - {name: empty, version: 1.0.0}
";

    fn chosen(constraint: &str) -> (String, String) {
        let repository = "https://charts.example/stable?key=1";
        let entry = choose(INDEX.as_bytes(), repository, "shop", constraint).unwrap();
        (entry.version, entry.url)
    }

    #[test]
    fn newest_version_in_the_range_is_chosen() {
        let other = "https://other.example/shop-1.10.0.tgz";
        let cases = [
            ("", "1.10.0", other),
            (
                "~1.9",
                "v1.9.0",
                "https://charts.example/top/shop.tgz?key=1",
            ),
            (
                "1.0.0",
                "1.0.0",
                "https://charts.example/stable/shop-1.0.0.tgz?key=1",
            ),
            (
                "<1.10.0",
                "v1.9.0",
                "https://charts.example/top/shop.tgz?key=1",
            ),
            (
                ">0.0.0-0",
                "2.0.0-rc.1",
                "https://charts.example/stable/rc.tgz?key=1",
            ),
        ];
        for (constraint, version, url) in cases {
            assert_eq!(
                chosen(constraint),
                (version.to_owned(), url.to_owned()),
                "{constraint}"
            );
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let fail = |index: &str, chart: &str, constraint: &str| {
            let error = choose(index.as_bytes(), "https://r.example", chart, constraint);
            format!("{:#}", error.unwrap_err())
        };
        let none = "chart \"x\" not found in https://r.example repository";
        assert_eq!(fail(INDEX, "x", ""), none);
        let none = "chart \"shop\" version \"^3\" not found in https://r.example repository";
        assert_eq!(fail(INDEX, "shop", "^3"), none);
        assert_eq!(
            fail(INDEX, "empty", ""),
            "chart \"empty\" has no downloadable URLs"
        );
        assert_eq!(fail("", "x", ""), "empty index.yaml file");
        assert_eq!(fail("entries: {}", "x", ""), "no API version specified");
    }

    #[test]
    fn digests_are_written_with_their_algorithm() {
        let entry = choose(INDEX.as_bytes(), "https://r.example/", "shop", "1.0.0").unwrap();
        assert_eq!(entry.digest, "sha256:abc");
        assert_eq!(
            index_url("https://r.example/a/").unwrap(),
            "https://r.example/a/index.yaml"
        );
    }
}
