//! Charts that are somewhere else: behind an address, in a chart repository, or in an OCI registry.

mod index;
mod oci;
mod update;

pub(super) use update::update_dependencies;

use super::{
    block_on,
    chart_files::{MAX_PACKED_BYTES, read_chart},
};
use crate::source::{Credentials, FileFetcher, Trust, same_origin};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
};
use whipstaff_generator::{Digest, FileTree};
use whipstaff_helm::unpack_chart_archive;

/// Largest index of a repository in bytes.
const MAX_INDEX_BYTES: usize = 128 * 1024 * 1024;

/// Where a chart comes from, and how its server is spoken to.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, with Helm's name"
)]
#[derive(Debug, Default, clap::Args)]
pub(super) struct RepositoryArguments {
    /// Address of the chart repository that has the chart
    #[arg(long, value_name = "URL")]
    repo: Option<String>,
    /// Version of the chart, or a range of versions
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Take development versions too, as with `--version '>0.0.0-0'`
    #[arg(long)]
    devel: bool,
    /// User name for the repository
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Password for the repository
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,
    /// Send user name and password to other servers too, when the repository's index names them
    #[arg(long)]
    pass_credentials: bool,
    /// Certificates of authorities to trust instead of the system's
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Certificate to identify with
    #[arg(long, value_name = "FILE")]
    cert_file: Option<PathBuf>,
    /// Key of that certificate
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Do not check servers' certificates
    #[arg(long)]
    insecure_skip_tls_verify: bool,
    /// Speak plain HTTP to OCI registries
    #[arg(long)]
    plain_http: bool,
    #[arg(long, hide = true)]
    verify: bool,
    /// Only for `--verify`
    #[arg(long, hide = true)]
    keyring: Option<String>,
}

impl RepositoryArguments {
    /// What a kustomization says about a chart: a repository, or a registry, which is part of the chart's own address.
    pub(super) fn of_kustomization(repository: &str, version: Option<String>, devel: bool) -> Self {
        Self {
            repo: Some(repository.to_owned()).filter(|address| !address.starts_with("oci://")),
            version,
            devel,
            ..Self::default()
        }
    }

    /// The files of a chart, wherever it is.
    pub(super) fn read(&self, chart: &str) -> Result<FileTree> {
        if self.verify {
            bail!(
                "`--verify` is not supported, because whipstaff does not read PGP signatures: check the archive's digest instead"
            );
        }
        let chart = chart.trim();
        if self.repo.is_none() && Path::new(chart).exists() {
            return read_chart(Path::new(chart));
        }
        let bytes = block_on(self.fetch(chart))?;
        unpack_chart_archive(&bytes)
            .with_context(|| format!("`{chart}` does not appear to be a valid chart file"))
    }

    async fn fetch(&self, chart: &str) -> Result<Vec<u8>> {
        let fetcher = FileFetcher::new(&self.trust()?)?;
        if let Some(repository) = &self.repo {
            return self.fetch_indexed(&fetcher, repository, chart).await;
        }
        if Path::new(chart).is_absolute() || chart.starts_with('.') {
            bail!("path \"{chart}\" not found");
        }
        if chart.starts_with("http://") || chart.starts_with("https://") {
            let credentials = self.credentials();
            return Ok(fetcher
                .fetch(chart, credentials.as_ref(), MAX_PACKED_BYTES)
                .await?);
        }
        if let Some(reference) = chart.strip_prefix("oci://") {
            let registry = oci::Registry::new(
                &self.trust()?,
                self.credentials_of_registry(),
                self.plain_http,
            )?;
            return registry.pull(reference, &self.constraint()).await;
        }
        match chart.split_once('/') {
            Some((repository, name)) => bail!(
                "`{repository}` is the name of a repository in Helm's configuration, which whipstaff does not read: use `--repo URL {name}`"
            ),
            None => bail!(
                "non-absolute URLs should be in form of repo_name/path_to_chart, got: {chart}"
            ),
        }
    }

    /// A chart out of a repository. Its digest must be the one in the index.
    async fn fetch_indexed(
        &self,
        fetcher: &FileFetcher,
        repository: &str,
        chart: &str,
    ) -> Result<Vec<u8>> {
        let credentials = self.credentials();
        let index = read_index(fetcher, repository, credentials.as_ref()).await?;
        let entry = index::choose(&index, repository, chart, &self.constraint())?;
        let trusted = self.pass_credentials || same_origin(repository, &entry.url);
        let credentials = credentials.filter(|_| trusted);
        fetch_entry(fetcher, &entry, credentials.as_ref()).await
    }

    fn constraint(&self) -> String {
        match (&self.version, self.devel) {
            (Some(version), _) if !version.trim().is_empty() => version.trim().to_owned(),
            (_, true) => ">0.0.0-0".to_owned(),
            _ => String::new(),
        }
    }

    /// User name and password; as with Helm, none unless both are there.
    fn credentials(&self) -> Option<Credentials> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Some(Credentials::Basic {
            username: given(&self.username)?,
            password: given(&self.password)?,
        })
    }

    fn credentials_of_registry(&self) -> Option<(String, String)> {
        match self.credentials()? {
            Credentials::Basic { username, password } => Some((username, password)),
            Credentials::Bearer { .. } => None,
        }
    }

    fn trust(&self) -> Result<Trust> {
        let read = |path: &PathBuf| {
            fs::read(path).with_context(|| format!("cannot read {}", path.display()))
        };
        let identity = match (&self.cert_file, &self.key_file) {
            (Some(certificate), Some(key)) => {
                Some([read(certificate)?, b"\n".to_vec(), read(key)?].concat())
            }
            (None, None) => None,
            _ => bail!("`--cert-file` and `--key-file` are only useful together"),
        };
        Ok(Trust {
            authorities: self.ca_file.as_ref().map(read).transpose()?,
            identity,
            insecure: self.insecure_skip_tls_verify,
        })
    }
}

async fn read_index(
    fetcher: &FileFetcher,
    repository: &str,
    credentials: Option<&Credentials>,
) -> Result<Vec<u8>> {
    let url = index::index_url(repository)?;
    fetcher
        .fetch(&url, credentials, MAX_INDEX_BYTES)
        .await
        .with_context(|| {
            format!(
                "looks like \"{repository}\" is not a valid chart repository or cannot be reached"
            )
        })
}

async fn fetch_entry(
    fetcher: &FileFetcher,
    entry: &index::Entry,
    credentials: Option<&Credentials>,
) -> Result<Vec<u8>> {
    let bytes = fetcher
        .fetch(&entry.url, credentials, MAX_PACKED_BYTES)
        .await?;
    // An index may leave digests out, or hold some of another kind; Helm does not look at them here.
    if let Ok(expected) = entry.digest.parse::<Digest>() {
        let found = Digest::of(&bytes);
        if found != expected {
            bail!(
                "the chart has the digest `{found}`, but the repository's index says `{expected}`"
            );
        }
    }
    Ok(bytes)
}
