//! Charts out of file trees (Helm 4.3, `pkg/chart/v2/loader/load.go`).

use crate::{
    archive::{ArchiveError, unpack_chart_archive},
    chart::{Chart, ChartFile, Lock},
    decode::Fields,
    ignore::{IGNORE_FILE, IgnoreError, IgnoreRules},
    metadata::{Metadata, MetadataError, dependencies},
    values::{ValuesError, read_values},
};
use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};
use whipstaff_generator::{FileTree, yaml};
use whipstaff_gotemplate::Dialect;

/// Deepest nesting of subcharts.
pub const MAX_CHART_DEPTH: usize = 32;
/// Most charts in one chart, subcharts of subcharts included.
pub const MAX_CHARTS: usize = 1_000;
/// Most bytes that all packed subcharts of a chart may unpack to together.
pub const MAX_UNPACKED_BYTES: usize = 256 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file tree that is not a chart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no `Chart.yaml`.
    #[error("Chart.yaml file is missing")]
    NoChart,
    /// A file is not YAML.
    #[error("cannot load {file}")]
    Yaml {
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        #[source]
        cause: yaml::Error,
    },
    /// A file does not have the fields that it should have.
    #[error("cannot load {file}")]
    Fields {
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        #[source]
        cause: MetadataError,
    },
    /// `values.yaml` cannot be read.
    #[error("cannot load values.yaml")]
    Values(#[source] ValuesError),
    /// `Chart.yaml` says what Helm refuses.
    #[error(transparent)]
    Metadata(MetadataError),
    /// A subchart cannot be loaded.
    #[error("error unpacking subchart {name} in {chart}")]
    Subchart {
        /// Name of the subchart's folder or archive.
        name: String,
        /// Name of the chart.
        chart: String,
        /// What is wrong with it.
        #[source]
        cause: Box<Self>,
    },
    /// A path below `charts/` ends in `.tgz` but is a folder.
    #[error("error unpacking subchart tar in {chart}: expected {name}, got {path}")]
    ArchiveIsFolder {
        /// Name of the chart.
        chart: String,
        /// Name of the archive.
        name: String,
        /// Path of a file in it.
        path: String,
    },
    /// A packed subchart cannot be unpacked.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A limit was reached.
    #[error(
        "subcharts are nested deeper than {MAX_CHART_DEPTH}, more than {MAX_CHARTS}, or larger than {MAX_UNPACKED_BYTES} bytes"
    )]
    Limit,
}

/// Loads a chart and its subcharts. The order in which files were put into the tree does not matter. What a `.helmignore` says is not
/// heeded here: it concerns folders, not packed charts (see [`without_ignored`]).
///
/// The dialect decides how a `values.yaml` of several documents is read: Helm 3 sees the first, Helm 4 all of them.
///
/// # Errors
/// [`LoadError`] when a file that matters is missing or malformed.
pub fn load(files: &FileTree, dialect: Dialect) -> Result<Chart, LoadError> {
    let files: Vec<ChartFile> = files
        .iter()
        .map(|(path, data)| ChartFile {
            name: path.to_owned(),
            data: Arc::clone(data),
        })
        .collect();
    Loader {
        dialect,
        charts: 0,
        unpacked: 0,
    }
    .load(files, 0)
}

/// Leaves out the files that the tree's `.helmignore` names, as Helm does when it reads a chart from a folder.
///
/// # Errors
/// [`IgnoreError`] when a rule is malformed.
pub fn without_ignored(files: &FileTree) -> Result<FileTree, IgnoreError> {
    let text = files
        .get(IGNORE_FILE)
        .map(|text| String::from_utf8_lossy(text).into_owned());
    let rules = IgnoreRules::parse(text.as_deref().unwrap_or_default())?;
    let mut kept = FileTree::new();
    for (path, content) in files.iter() {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let ignored = rules.ignores(path, false)
            || folders
                .into_iter()
                .any(|folder| rules.ignores(folder, true));
        if !ignored {
            // What was in a tree fits into a tree.
            let _ = kept.insert(path, Arc::clone(content));
        }
    }
    Ok(kept)
}

struct Loader {
    dialect: Dialect,
    charts: usize,
    unpacked: usize,
}

impl Loader {
    fn load(&mut self, mut files: Vec<ChartFile>, depth: usize) -> Result<Chart, LoadError> {
        self.charts += 1;
        if depth > MAX_CHART_DEPTH || self.charts > MAX_CHARTS {
            return Err(LoadError::Limit);
        }
        for file in &mut files {
            if let Some(rest) = file.data.strip_prefix(BYTE_ORDER_MARK) {
                file.data = rest.into();
            }
        }
        files.sort_by(|one, other| walk_order(&one.name, &other.name));
        let metadata = files.iter().find(|file| file.name == "Chart.yaml");
        let Some(metadata) = metadata else {
            return Err(LoadError::NoChart);
        };
        let metadata = self.read_metadata(metadata, depth)?;
        let mut chart = Chart {
            metadata,
            lock: None,
            values: serde_json::Map::new(),
            schema: None,
            templates: Vec::new(),
            files: Vec::new(),
            dependencies: Vec::new(),
        };
        let mut subcharts: BTreeMap<String, Vec<ChartFile>> = BTreeMap::new();
        for file in files {
            self.place(file, &mut chart, &mut subcharts)?;
        }
        chart.metadata.validate().map_err(LoadError::Metadata)?;
        for (name, files) in subcharts {
            if name.starts_with(['_', '.']) {
                continue;
            }
            let subchart = self.load_subchart(&name, files, depth, chart.name())?;
            chart.dependencies.push(Arc::new(subchart));
        }
        Ok(chart)
    }

    fn read_metadata(&self, file: &ChartFile, depth: usize) -> Result<Metadata, LoadError> {
        let value = parse("Chart.yaml", file)?;
        let version = if depth == 0 && self.dialect.is_v4() {
            read_version(&value)
        } else {
            Ok(())
        };
        let metadata = version.and_then(|()| Metadata::decode(&value));
        metadata.map_err(|cause| match cause.in_dialect(self.dialect) {
            cause @ MetadataError::Decode(_) => LoadError::Fields {
                file: "Chart.yaml",
                cause,
            },
            refused => LoadError::Metadata(refused),
        })
    }

    fn place(
        &self,
        file: ChartFile,
        chart: &mut Chart,
        subcharts: &mut BTreeMap<String, Vec<ChartFile>>,
    ) -> Result<(), LoadError> {
        match file.name.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => chart.lock = Some(read_lock("Chart.lock", &file, self.dialect)?),
            "values.yaml" => {
                chart.values = read_values(&file.data, self.dialect).map_err(LoadError::Values)?;
            }
            "values.schema.json" => chart.schema = Some(file.data),
            "requirements.yaml" => {
                let value = parse("requirements.yaml", &file)?;
                chart
                    .metadata
                    .decode_requirements(&value)
                    .map_err(|cause| LoadError::Fields {
                        file: "requirements.yaml",
                        cause: cause.in_dialect(self.dialect),
                    })?;
                if chart.metadata.api_version == "v1" {
                    chart.files.push(file);
                }
            }
            "requirements.lock" => {
                chart.lock = Some(read_lock("requirements.lock", &file, self.dialect)?);
                if chart.metadata.api_version == "v1" {
                    chart.files.push(file);
                }
            }
            name if name.starts_with("templates/") => chart.templates.push(file),
            name => match name.strip_prefix("charts/") {
                Some(path) if !is_provenance(path) => {
                    let path = path.to_owned();
                    let folder = path.split('/').next().unwrap_or_default().to_owned();
                    let file = ChartFile {
                        name: path,
                        data: file.data,
                    };
                    subcharts.entry(folder).or_default().push(file);
                }
                _ => chart.files.push(file),
            },
        }
        Ok(())
    }

    fn load_subchart(
        &mut self,
        name: &str,
        files: Vec<ChartFile>,
        depth: usize,
        chart: &str,
    ) -> Result<Chart, LoadError> {
        let wrap = |cause| LoadError::Subchart {
            name: name.to_owned(),
            chart: chart.to_owned(),
            cause: Box::new(cause),
        };
        if extension(name) != Some("tgz") {
            let below = format!("{name}/");
            let inside = files.into_iter().filter_map(|file| {
                let name = file.name.strip_prefix(&below)?.to_owned();
                Some(ChartFile {
                    name,
                    data: file.data,
                })
            });
            return self.load(inside.collect(), depth + 1).map_err(wrap);
        }
        let Some(archive) = files.into_iter().next() else {
            return Err(LoadError::NoChart);
        };
        if archive.name != name {
            return Err(LoadError::ArchiveIsFolder {
                chart: chart.to_owned(),
                name: name.to_owned(),
                path: archive.name,
            });
        }
        self.load_archive(&archive.data, depth + 1).map_err(wrap)
    }

    fn load_archive(&mut self, bytes: &[u8], depth: usize) -> Result<Chart, LoadError> {
        let files = unpack_chart_archive(bytes)?;
        self.unpacked += files.bytes();
        if self.unpacked > MAX_UNPACKED_BYTES {
            return Err(LoadError::Limit);
        }
        let files = files.iter().map(|(path, data)| ChartFile {
            name: path.to_owned(),
            data: Arc::clone(data),
        });
        self.load(files.collect(), depth)
    }
}

/// The order in which folders are walked: names within a folder sorted, a folder's contents in place of the folder.
fn walk_order(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

fn is_provenance(path: &str) -> bool {
    extension(path) == Some("prov")
}

/// What follows the last point of the last part of a path.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, extension)| extension)
}

fn parse(name: &'static str, file: &ChartFile) -> Result<serde_json::Value, LoadError> {
    yaml::from_slice(&file.data).map_err(|cause| LoadError::Yaml { file: name, cause })
}

fn read_lock(name: &'static str, file: &ChartFile, dialect: Dialect) -> Result<Lock, LoadError> {
    let value = parse(name, file)?;
    let read = || {
        let fields = Fields::of("Lock", "chart.Lock", &value)?;
        Ok(Lock {
            digest: fields.text("digest")?,
            dependencies: dependencies(&fields)?,
        })
    };
    read().map_err(|cause: MetadataError| LoadError::Fields {
        file: name,
        cause: cause.in_dialect(dialect),
    })
}

/// Reads what Helm 4 looks at first, to tell which version of charts this is.
fn read_version(value: &serde_json::Value) -> Result<(), MetadataError> {
    Fields::of("chartBase", "loader.chartBase", value)?.text("apiVersion")?;
    Ok(())
}
