//! Charts that stand in a component's source, beside the kustomization that names them.

use super::{InflateSettings, inflate, without_ignored};
use std::{
    error::Error,
    sync::{Mutex, PoisonError},
    time::Instant,
};
use whipstaff_generator::{Consulted, Digest, FileTree, Input, Seed};
use whipstaff_helm::{Dialect, RenderCapabilities};
use whipstaff_kustomize::{ChartHost, ChartInflator, ChartRequest, RecordingInflator};

/// The file of a chart's default values.
const VALUES_FILE: &str = "values.yaml";
/// The file that makes a folder a chart.
const CHART_FILE: &str = "Chart.yaml";

type Failure = Box<dyn Error + Send + Sync>;

/// Renders charts with the seed, the capabilities and the live objects of the component. Nothing is fetched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SourceCharts;

impl ChartHost for SourceCharts {
    fn inflator<'a>(&'a self, input: &'a Input<'a>) -> Box<dyn RecordingInflator + 'a> {
        Box::new(Session {
            input,
            started: Instant::now(),
            consulted: Mutex::default(),
        })
    }
}

/// The charts of one rendering.
#[derive(Debug)]
struct Session<'a> {
    input: &'a Input<'a>,
    started: Instant,
    consulted: Mutex<Consulted>,
}

impl RecordingInflator for Session<'_> {
    fn consulted(&self) -> Consulted {
        let consulted = self.consulted.lock();
        consulted.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ChartInflator for Session<'_> {
    fn inflate(&self, request: &ChartRequest) -> Result<String, Failure> {
        let files = files(request)?;
        let dialect = Dialect::default();
        // All charts share the time of the rendering.
        let mut limits = self.input.limits;
        limits.time = limits.time.saturating_sub(self.started.elapsed());
        let settings = InflateSettings {
            dialect,
            now: u64::try_from(self.now()).unwrap_or_default(),
            seed: self.seed(request),
            limits,
            capabilities: RenderCapabilities::of_cluster(self.input.capabilities, dialect),
            lookups: self.input.lookups,
        };
        match inflate(&files, request, settings) {
            Ok(inflated) => {
                self.record(inflated.consulted);
                if request.release_name.is_empty() && request.name_template.is_empty() {
                    self.record_clock();
                }
                Ok(inflated.text)
            }
            Err(error) => {
                self.record(error.consulted());
                Err(format!("{:#}", anyhow::Error::from(error)).into())
            }
        }
    }

    fn default_values(&self, request: &ChartRequest) -> Result<String, Failure> {
        let files = files(request)?;
        let values = files.get(VALUES_FILE);
        let values = values.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Ok(values.unwrap_or_default())
    }
}

impl Session<'_> {
    fn record(&self, consulted: Consulted) {
        let mut all = self
            .consulted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.merge(consulted);
    }

    /// Names that are made up hold the time.
    fn record_clock(&self) {
        let mut consulted = Consulted::default();
        consulted.clock = true;
        self.record(consulted);
    }

    fn now(&self) -> i64 {
        match self.input.seed {
            Seed::Stable { now, .. } | Seed::Unknown { now } => now,
            _ => jiff::Timestamp::now().as_second(),
        }
    }

    /// Two releases of one chart must not draw the same passwords.
    fn seed(&self, request: &ChartRequest) -> Seed {
        let Seed::Stable { key, now } = self.input.seed else {
            return self.input.seed;
        };
        let parts = [&request.name, &request.release_name, &request.namespace];
        let parts = parts.into_iter().map(String::as_bytes);
        let key = *Digest::of_parts([key.as_slice()].into_iter().chain(parts)).as_bytes();
        Seed::Stable { key, now }
    }
}

/// The files of the chart, which must be in the source.
fn files(request: &ChartRequest) -> Result<FileTree, Failure> {
    let files = request.files.as_ref();
    let Some(files) = files.filter(|files| files.contains(CHART_FILE)) else {
        let folder = request.chart_folder.trim_start_matches('/');
        let hint = if request.repository.is_empty() {
            ""
        } else {
            ", and charts of repositories are not fetched here: put it there"
        };
        return Err(format!("the source has no chart in `{folder}`{hint}").into());
    };
    Ok(without_ignored(files)?)
}
