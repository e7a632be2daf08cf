//! Charts that a kustomization on this machine names.

use crate::{
    cli::{TIME_LIMIT, chart_files::read_chart, repository::RepositoryArguments},
    inflate::{InflateSettings, inflate, without_ignored},
};
use anyhow::{Result, bail};
use std::{
    collections::HashMap,
    error::Error,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};
use whipstaff_generator::{FileTree, Limits, LookupSnapshot, Seed};
use whipstaff_helm::{Dialect, RenderCapabilities};
use whipstaff_kustomize::{ChartInflator, ChartRequest};

/// The file of a chart's default values.
const VALUES_FILE: &str = "values.yaml";

/// Charts in folders, and those that have to be fetched. Each is read once.
#[derive(Debug, Default)]
pub(super) struct Charts {
    read: Mutex<HashMap<String, Arc<FileTree>>>,
}

impl ChartInflator for Charts {
    fn inflate(&self, request: &ChartRequest) -> Result<String, Box<dyn Error + Send + Sync>> {
        let files = self.files(request).map_err(|error| explain(&error))?;
        let mut limits = Limits::default();
        limits.time = TIME_LIMIT;
        let dialect = Dialect::default();
        let settings = InflateSettings {
            dialect,
            now: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs(),
            seed: Seed::Random,
            limits,
            capabilities: RenderCapabilities::offline(dialect),
            // As with `helm template` there is no cluster to ask.
            lookups: &LookupSnapshot::new(),
        };
        match inflate(&files, request, settings) {
            Ok(inflated) => Ok(inflated.text),
            Err(error) => Err(explain(&error.into())),
        }
    }

    fn default_values(
        &self,
        request: &ChartRequest,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let files = self.files(request).map_err(|error| explain(&error))?;
        let values = files
            .get(VALUES_FILE)
            .map(|bytes| String::from_utf8_lossy(bytes));
        Ok(values.unwrap_or_default().into_owned())
    }
}

impl Charts {
    fn files(&self, request: &ChartRequest) -> Result<Arc<FileTree>> {
        // Those of a repository have paths of their own.
        if let Some(files) = &request.files {
            return Ok(Arc::new(without_ignored(files)?));
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = read.get(&request.chart_folder) {
            return Ok(Arc::clone(files));
        }
        let files = Arc::new(read_or_fetch(request)?);
        read.insert(request.chart_folder.clone(), Arc::clone(&files));
        Ok(files)
    }
}

fn read_or_fetch(request: &ChartRequest) -> Result<FileTree> {
    let folder = Path::new(&request.chart_folder);
    if folder.exists() {
        return read_chart(folder);
    }
    if request.repository.is_empty() {
        bail!(
            "no repo specified for pull, no chart found at '{}'",
            request.chart_folder
        );
    }
    let version = &request.version;
    let repository = RepositoryArguments::of_kustomization(
        &request.repository,
        Some(version.clone()).filter(|version| !version.is_empty()),
        request.devel,
    );
    match request
        .repository
        .strip_suffix('/')
        .unwrap_or(&request.repository)
    {
        registry if registry.starts_with("oci://") => {
            repository.read(&format!("{registry}/{}", request.name))
        }
        _ => repository.read(&request.name),
    }
}

/// An error with its causes, in one line.
fn explain(error: &anyhow::Error) -> Box<dyn Error + Send + Sync> {
    format!("{error:#}").into()
}
