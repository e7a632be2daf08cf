//! Charts in OCI registries (the distribution specification 1.1, and Helm's media types).

use crate::{
    cli::chart_files::MAX_PACKED_BYTES,
    source::{FileFetcher, Trust},
};
use anyhow::{Context, Result, anyhow, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value as Json;
use std::cmp::Ordering;
use whipstaff_generator::Digest;

use whipstaff_sprig::semver::{Constraint, Version};

const MANIFEST_TYPES: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";
const CHART_TYPES: [&str; 2] = [
    "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
    "application/tar+gzip",
];
/// Largest manifest, list of tags, or answer with a token, in bytes.
const MAX_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;
/// Most tags that are asked for.
const MAX_TAGS: usize = 10_000;

/// A registry that charts are pulled from.
#[derive(Debug)]
pub(super) struct Registry {
    fetcher: FileFetcher,
    /// User name and password.
    account: Option<(String, String)>,
    scheme: &'static str,
}

/// `host/path:tag` or `host/path@digest`, by its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference<'a> {
    host: &'a str,
    path: &'a str,
    tag: Option<&'a str>,
    digest: Option<&'a str>,
}

impl Registry {
    pub(super) fn new(
        trust: &Trust,
        account: Option<(String, String)>,
        plain_http: bool,
    ) -> Result<Self> {
        let scheme = if plain_http { "http" } else { "https" };
        Ok(Self {
            fetcher: FileFetcher::new(trust)?,
            account,
            scheme,
        })
    }

    /// The archive of a chart.
    pub(super) async fn pull(&self, reference: &str, constraint: &str) -> Result<Vec<u8>> {
        let reference = Reference::parse(reference)?;
        let base = format!("{}://{}/v2/{}", self.scheme, reference.host, reference.path);
        let mut session = Session {
            registry: self,
            authorization: None,
        };
        let version = match reference.named(constraint)? {
            Some(version) => version,
            None => session.newest(&base, constraint).await?,
        };
        let url = format!("{base}/manifests/{version}");
        let manifest = session
            .get(&url, MANIFEST_TYPES, MAX_DOCUMENT_BYTES)
            .await?;
        if let Some(expected) = reference.digest {
            check(&manifest, expected)?;
        }
        let digest = layer(&manifest)?;
        let url = format!("{base}/blobs/{digest}");
        let chart = session.get(&url, "*/*", MAX_PACKED_BYTES).await?;
        check(&chart, &digest)?;
        Ok(chart)
    }
}

/// Requests to a registry, with the token that it gave.
struct Session<'a> {
    registry: &'a Registry,
    authorization: Option<String>,
}

impl Session<'_> {
    /// The tag of the newest version in a range.
    async fn newest(&mut self, base: &str, constraint: &str) -> Result<String> {
        let url = format!("{base}/tags/list?n={MAX_TAGS}");
        let tags = self
            .get(&url, "application/json", MAX_DOCUMENT_BYTES)
            .await?;
        let tags: Json = serde_json::from_slice(&tags).context("cannot read the list of tags")?;
        let range = if constraint.is_empty() {
            "*"
        } else {
            constraint
        };
        let range = Constraint::parse(range)
            .with_context(|| format!("`{constraint}` is no range of versions"))?;
        let tags = tags.get("tags").and_then(Json::as_array);
        let mut versions: Vec<(Version, &str)> = tags
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            // A tag cannot have the plus sign of build metadata.
            .filter_map(|tag| Some((Version::parse(&tag.replace('_', "+")).ok()?, tag)))
            .filter(|(version, _)| range.check(version))
            .collect();
        versions.sort_by(|(one, _), (other, _)| one.partial_cmp(other).unwrap_or(Ordering::Equal));
        match versions.last() {
            Some((_, tag)) => Ok((*tag).to_owned()),
            None => {
                bail!("could not locate a version matching provided version string {constraint}")
            }
        }
    }

    /// Gets a document; signs in when the registry asks for it.
    async fn get(&mut self, url: &str, accept: &str, limit: usize) -> Result<Vec<u8>> {
        let fetcher = &self.registry.fetcher;
        let first = fetcher
            .ask(url, accept, self.authorization.as_deref(), limit)
            .await?;
        let challenge = match first {
            Ok(bytes) => return Ok(bytes),
            Err(challenge) => challenge,
        };
        let authorization = self.authorize(&challenge).await?;
        let second = fetcher
            .ask(url, accept, Some(&authorization), limit)
            .await?;
        self.authorization = Some(authorization);
        second.map_err(|_| anyhow!("the registry does not let this user read the chart"))
    }

    /// What the registry wants to see, as `WWW-Authenticate` says.
    async fn authorize(&self, challenge: &str) -> Result<String> {
        let basic = self.registry.account.as_ref().map(|(user, password)| {
            format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
        });
        let Some(parameters) = strip_scheme(challenge, "Bearer") else {
            return basic.context("the registry wants a user name and a password");
        };
        let parameter = |name: &str| parameter(parameters, name);
        let realm = parameter("realm").context("the registry does not say who gives tokens")?;
        let mut url =
            url::Url::parse(&realm).context("the address of the token server is malformed")?;
        for name in ["service", "scope"] {
            if let Some(value) = parameter(name) {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        let answer = self
            .registry
            .fetcher
            .ask(
                url.as_str(),
                "application/json",
                basic.as_deref(),
                MAX_DOCUMENT_BYTES,
            )
            .await?
            .map_err(|_| anyhow!("the registry does not know this user"))?;
        let answer: Json = serde_json::from_slice(&answer).context("cannot read the token")?;
        let token = answer.get("token").or_else(|| answer.get("access_token"));
        let token = token
            .and_then(Json::as_str)
            .context("the token server gave no token")?;
        Ok(format!("Bearer {token}"))
    }
}

impl<'a> Reference<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (text, None),
        };
        let Some((host, path)) = name.split_once('/') else {
            bail!("`oci://{text}` does not name a chart");
        };
        let (path, tag) = match path.rsplit_once(':') {
            Some((path, tag)) => (path, Some(tag)),
            None => (path, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
        if host.is_empty() || path.is_empty() || !path.chars().all(plain) {
            bail!("`oci://{text}` does not name a chart");
        }
        Ok(Self {
            host,
            path,
            tag,
            digest,
        })
    }

    /// The tag or digest that is asked for; nothing when the newest version of a range is.
    fn named(&self, constraint: &str) -> Result<Option<String>> {
        if let Some(digest) = self.digest {
            return Ok(Some(digest.to_owned()));
        }
        // A tag cannot have the plus sign of build metadata.
        let exact = Version::parse_strict(constraint.strip_prefix('v').unwrap_or(constraint));
        let version = exact.is_ok().then(|| constraint.replace('+', "_"));
        match (self.tag, version) {
            (Some(tag), Some(version)) if tag != version => {
                bail!("chart reference and version mismatch: {version} is not {tag}")
            }
            (Some(tag), _) => Ok(Some(tag.to_owned())),
            (None, version) => Ok(version),
        }
    }
}

/// The digest of the layer that is the chart.
fn layer(manifest: &[u8]) -> Result<String> {
    let manifest: Json = serde_json::from_slice(manifest).context("cannot read the manifest")?;
    let layers = manifest.get("layers").and_then(Json::as_array);
    let is_chart = |layer: &&Json| {
        let media_type = layer.get("mediaType").and_then(Json::as_str);
        media_type.is_some_and(|media_type| CHART_TYPES.contains(&media_type))
    };
    let layer = layers.into_iter().flatten().find(is_chart);
    let digest = layer.and_then(|layer| layer.get("digest")?.as_str());
    digest
        .map(ToOwned::to_owned)
        .context("manifest does not contain a layer with a chart")
}

fn check(content: &[u8], expected: &str) -> Result<()> {
    let wanted: Digest = expected
        .parse()
        .with_context(|| format!("`{expected}` is not a digest that can be checked"))?;
    let found = Digest::of(content);
    if found != wanted {
        bail!("the registry gave `{found}` instead of `{wanted}`");
    }
    Ok(())
}

fn strip_scheme<'a>(challenge: &'a str, scheme: &str) -> Option<&'a str> {
    let (found, parameters) = challenge.split_once(' ')?;
    found.eq_ignore_ascii_case(scheme).then_some(parameters)
}

/// The value of `name="value"` in a list of such.
fn parameter(parameters: &str, name: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (value, behind) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        if key.trim_matches([',', ' ']).eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_apart() {
        let parts = |text| {
            let found = Reference::parse(text).unwrap();
            (found.host, found.path, found.tag, found.digest)
        };
        assert_eq!(
            parts("r.example:5000/a/b"),
            ("r.example:5000", "a/b", None, None)
        );
        assert_eq!(
            parts("r.example/a:1.0"),
            ("r.example", "a", Some("1.0"), None)
        );
        assert_eq!(
            parts("r.example/a@sha256:x"),
            ("r.example", "a", None, Some("sha256:x"))
        );
        for text in ["", "a", "/a", "h/", "h/a b", "h/a?x=y"] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_exact_version_is_a_tag_and_a_range_is_none() {
        let named = |text, constraint| Reference::parse(text).unwrap().named(constraint);
        assert_eq!(named("h/a", "1.0.0+b").unwrap().as_deref(), Some("1.0.0_b"));
        assert_eq!(named("h/a", "^1.0").unwrap(), None);
        assert_eq!(named("h/a:2", "").unwrap().as_deref(), Some("2"));
        assert!(named("h/a:2", "1.0.0").is_err());
    }

    #[test]
    fn parameters_of_a_challenge_are_found() {
        let text = "realm=\"https://t.example/token\",service=\"r, s\", scope=\"a:b:pull\"";
        assert_eq!(
            parameter(text, "realm").as_deref(),
            Some("https://t.example/token")
        );
        assert_eq!(parameter(text, "service").as_deref(), Some("r, s"));
        assert_eq!(parameter(text, "Scope").as_deref(), Some("a:b:pull"));
        assert_eq!(parameter(text, "x"), None);
    }
}
