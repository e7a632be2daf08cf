//! Bringing `charts/` up to date with what a chart declares (Helm 4.3, `pkg/downloader/manager.go`).

use super::{RepositoryArguments, fetch_entry, index, oci, read_index};
use crate::{
    cli::{
        block_on,
        chart_files::{read_chart, read_folder},
        write_error,
    },
    source::FileFetcher,
};
use anyhow::{Context, Result, anyhow, bail};
use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;
use serde_json::{Map as JsonMap, Value as Json, json};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};
use whipstaff_generator::{Digest, FileTree, yaml};
use whipstaff_helm::{Chart, Dependency, Dialect, load, unpack_chart_archive};
use whipstaff_sprig::semver::{Constraint, Version};

/// What a dependency was found to be.
struct Found {
    /// The version that was chosen.
    version: String,
    /// Name of the archive and the archive itself; nothing when it is a folder below `charts/`.
    archive: Option<(String, Vec<u8>)>,
}

/// Fetches all dependencies of a chart's folder into its `charts/`, removes archives that are no dependencies, and writes the lock file
/// if the dependencies changed. Nothing is written unless all of them can be had.
///
/// # Errors
/// When a dependency cannot be had in a version that is asked for.
pub(in crate::cli) fn update_dependencies(
    folder: &Path,
    dialect: Dialect,
    arguments: &RepositoryArguments,
) -> Result<()> {
    if !folder.is_dir() {
        bail!("only unpacked charts can be updated");
    }
    let chart = load(&read_folder(folder)?, dialect)?;
    let declared = chart.metadata.dependencies();
    let updater = Updater {
        folder,
        dialect,
        arguments,
        fetcher: FileFetcher::new(&arguments.trust()?)?,
    };
    write_error(&format!("Saving {} charts", declared.len()));
    let mut found = Vec::new();
    for dependency in declared {
        found.push(updater.find(dependency)?);
    }
    save(&folder.join("charts"), declared, &found)?;
    write_lock(folder, &chart, &found)
}

struct Updater<'a> {
    folder: &'a Path,
    dialect: Dialect,
    arguments: &'a RepositoryArguments,
    fetcher: FileFetcher,
}

impl Updater<'_> {
    fn find(&self, dependency: &Dependency) -> Result<Found> {
        let name = &dependency.name;
        let range = Constraint::parse(&dependency.version).with_context(|| {
            format!("dependency \"{name}\" has an invalid version/constraint format")
        })?;
        let repository = dependency.repository.as_str();
        if repository.is_empty() {
            let path = self.local(&format!("charts/{name}"))?;
            let (chart, _) = self.load(&path)?;
            check_version(&chart, &range, dependency)?;
            return Ok(Found {
                version: dependency.version.clone(),
                archive: None,
            });
        }
        if let Some(path) = repository.strip_prefix("file://") {
            let (chart, files) = self.load(&self.local(path)?)?;
            check_version(&chart, &range, dependency)?;
            let version = chart.metadata.version.clone();
            let archive = pack(chart.name(), &files)?;
            return Ok(Found {
                archive: Some((format!("{}-{version}.tgz", chart.name()), archive)),
                version,
            });
        }
        write_error(&format!("Downloading {name} from repo {repository}"));
        if let Some(registry) = repository.strip_prefix("oci://") {
            return block_on(self.pull(registry, dependency));
        }
        if repository.starts_with("http://") || repository.starts_with("https://") {
            return block_on(self.download(repository, dependency));
        }
        bail!(
            "dependency `{name}` names the repository `{repository}` of Helm's configuration, which whipstaff does not read: give its address"
        )
    }

    /// A path that is relative to the chart, unless it is absolute.
    fn local(&self, path: &str) -> Result<PathBuf> {
        let path = self.folder.join(path);
        if !path.exists() {
            bail!("directory {} not found", path.display());
        }
        Ok(path)
    }

    fn load(&self, path: &Path) -> Result<(Chart, FileTree)> {
        let files = read_chart(path)?;
        let chart = load(&files, self.dialect);
        let chart = chart.with_context(|| format!("unable to load chart '{}'", path.display()))?;
        Ok((chart, files))
    }

    /// Credentials are for the chart's own repository; its dependencies' repositories do not get them.
    async fn download(&self, repository: &str, dependency: &Dependency) -> Result<Found> {
        let get = async {
            let index = read_index(&self.fetcher, repository, None).await?;
            let entry = index::choose(&index, repository, &dependency.name, &dependency.version)?;
            let archive = fetch_entry(&self.fetcher, &entry, None).await?;
            let name = file_name(&entry.url)
                .unwrap_or_else(|| format!("{}-{}.tgz", dependency.name, entry.version));
            Ok(Found {
                version: entry.version,
                archive: Some((name, archive)),
            })
        };
        get.await.map_err(|error: anyhow::Error| {
            error.context(format!("could not find {}", dependency.name))
        })
    }

    async fn pull(&self, registry: &str, dependency: &Dependency) -> Result<Found> {
        let arguments = self.arguments;
        let client = oci::Registry::new(&arguments.trust()?, None, arguments.plain_http)?;
        let reference = format!("{}/{}", registry.trim_end_matches('/'), dependency.name);
        let archive = client.pull(&reference, &dependency.version).await?;
        let chart = load(&unpack_chart_archive(&archive)?, self.dialect)?;
        let version = chart.metadata.version.clone();
        let name = format!("{}-{version}.tgz", dependency.name);
        Ok(Found {
            version,
            archive: Some((name, archive)),
        })
    }
}

fn check_version(chart: &Chart, range: &Constraint, dependency: &Dependency) -> Result<()> {
    let found = &chart.metadata.version;
    let version = Version::parse(found)
        .with_context(|| format!("invalid version {found} for dependency {}", dependency.name))?;
    if range.check(&version) {
        return Ok(());
    }
    Err(anyhow!(
        "dependency {} at version {found} does not satisfy the constraint {}",
        dependency.name,
        dependency.version
    ))
}

/// The last part of an address's path, if it can be the name of a file.
fn file_name(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    let name = url.path_segments()?.next_back()?.to_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._+~".contains(c);
    // Only such files are loaded as packed charts.
    let is_packed = Path::new(&name).extension().is_some_and(|e| e == "tgz");
    (name.chars().all(plain) && is_packed && !name.starts_with(['.', '_'])).then_some(name)
}

/// Packs a chart under its name. The same files always give the same archive.
fn pack(name: &str, files: &FileTree) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, content) in files.iter() {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("{name}/{path}"), &content[..])?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Writes the archives and removes those of charts that are no dependencies any more.
fn save(folder: &Path, declared: &[Dependency], found: &[Found]) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make folder {}", folder.display()))?;
    let mut written = BTreeSet::new();
    for (name, archive) in found.iter().filter_map(|found| found.archive.as_ref()) {
        write_whole(&folder.join(name), archive)?;
        written.insert(name.as_str());
    }
    write_error("Deleting outdated charts");
    let is_local = |name: &str| {
        let mut local = declared.iter().filter(|d| d.repository.is_empty());
        local.any(|dependency| dependency.name == name)
    };
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if path.is_dir() || name.is_none_or(|name| written.contains(name)) {
            continue;
        }
        // What is no chart is left alone.
        let chart = read_chart(&path).ok();
        let chart = chart.and_then(|files| load(&files, Dialect::default()).ok());
        if chart.is_some_and(|chart| !is_local(chart.name())) {
            fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        }
    }
    Ok(())
}

/// Writes a file under another name first, so that it is never there in part.
fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, content)
        .and_then(|()| fs::rename(&part, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn write_lock(folder: &Path, chart: &Chart, found: &[Found]) -> Result<()> {
    let declared = chart.metadata.dependencies();
    let locked: Vec<Json> = declared
        .iter()
        .zip(found)
        .map(|(dependency, found)| {
            json!({
                "name": dependency.name,
                "version": found.version,
                "repository": dependency.repository,
            })
        })
        .collect();
    let digest = digest(declared, &locked)?;
    if chart
        .lock
        .as_ref()
        .is_some_and(|lock| lock.digest == digest)
    {
        return Ok(());
    }
    let name = if chart.metadata.api_version == "v1" {
        "requirements.lock"
    } else {
        "Chart.lock"
    };
    let path = folder.join(name);
    if path.is_symlink() {
        bail!("the {name} file is a symlink");
    }
    let lock = json!({
        "dependencies": locked,
        "digest": digest,
        "generated": Timestamp::now().to_string(),
    });
    write_whole(&path, yaml::to_string(&lock).as_bytes())
}

/// The digest of what is declared and what was chosen, as Helm computes it from the JSON of both.
fn digest(declared: &[Dependency], locked: &[Json]) -> Result<String> {
    let declared: Vec<Json> = declared.iter().map(declaration).collect();
    let text = serde_json::to_string(&json!([declared, locked]))?;
    // Go writes these so that JSON can stand in HTML.
    let text = text
        .replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    Ok(Digest::of(text.as_bytes()).to_string())
}

fn declaration(dependency: &Dependency) -> Json {
    let mut fields = JsonMap::new();
    let mut text = |key: &str, value: &str| {
        if !value.is_empty() || matches!(key, "name" | "repository") {
            fields.insert(key.to_owned(), value.into());
        }
    };
    text("name", &dependency.name);
    text("version", &dependency.version);
    text("repository", &dependency.repository);
    text("condition", &dependency.condition);
    if !dependency.tags.is_empty() {
        fields.insert("tags".to_owned(), json!(dependency.tags));
    }
    if dependency.enabled {
        fields.insert("enabled".to_owned(), true.into());
    }
    if !dependency.import_values.is_empty() {
        let imports = dependency.import_values.iter().map(sorted).collect();
        fields.insert("import-values".to_owned(), Json::Array(imports));
    }
    if !dependency.alias.is_empty() {
        fields.insert("alias".to_owned(), json!(dependency.alias));
    }
    Json::Object(fields)
}

/// A value with the keys of its maps sorted, as Go writes maps.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)));
            Json::Object(entries.collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
