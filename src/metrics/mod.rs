//! The metrics of the operator.
//!
//! Labels are enums, so that no input can add a time series. The two that carry names, `controller` and `generator`, take
//! them from code and hold a bounded number of them. Only components themselves are named, and their series go with them.

mod fleet;
mod labels;

pub(crate) use fleet::ComponentReport;
pub(crate) use labels::{
    ComponentState, DependentStatus, FetchOutcome, Operation, ReconcileOutcome, RequestAnswer,
    RequestMethod,
};

use crate::class::Class;
use fleet::Fleet;
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Content type of [`Metrics::encode`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Most distinct names of controllers and of generators; further ones are counted as `other`.
const MAX_NAMES: usize = 64;

const OTHER: &str = "other";
const PREFIX: &str = "whipstaff";
/// Seconds; a reconcile waits for the API server and may download.
const RECONCILE_BUCKETS: [f64; 12] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0,
];
/// Seconds; rendering only computes.
const RENDER_BUCKETS: [f64; 11] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0,
];

/// All metrics of one operator. Clones are cheap and count into the same metrics.
#[derive(Clone)]
pub(crate) struct Metrics {
    inner: Arc<Inner>,
}

/// The metrics of one controller. Clones are cheap.
#[derive(Clone)]
pub(crate) struct ControllerMetrics {
    metrics: Metrics,
    controller: String,
}

struct Inner {
    registry: Registry,
    reconciles: Family<ReconcileLabels, Counter>,
    reconcile_durations: Family<ControllerLabels, Histogram>,
    reconcile_errors: Family<ErrorLabels, Counter>,
    operations: Family<OperationLabels, Counter>,
    requests: Family<RequestLabels, Counter>,
    fleet: Fleet,
    fetches: Family<FetchLabels, Counter>,
    render_durations: Family<GeneratorLabels, Histogram>,
    controllers: Names,
    generators: Names,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcileLabels {
    controller: String,
    outcome: ReconcileOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ControllerLabels {
    controller: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    controller: String,
    class: Class,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    action: Operation,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: RequestMethod,
    answer: RequestAnswer,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FetchLabels {
    outcome: FetchOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GeneratorLabels {
    generator: String,
}

impl Metrics {
    /// Metrics that nothing has counted into yet.
    pub(crate) fn new() -> Self {
        Self {
            inner: Arc::new(Inner::new()),
        }
    }

    /// The metrics of a controller.
    ///
    /// The name comes from code, not from input: it becomes a label.
    pub(crate) fn controller(&self, name: &str) -> ControllerMetrics {
        let controller = self.inner.controllers.admit(name);
        self.inner.start_controller_at_zero(&controller);
        ControllerMetrics {
            metrics: self.clone(),
            controller,
        }
    }

    /// Counts a write to a dependent.
    pub(crate) fn operated(&self, action: Operation) {
        self.inner
            .operations
            .get_or_create(&OperationLabels { action })
            .inc();
    }

    /// Counts a request to an API server.
    pub(crate) fn requested(&self, method: RequestMethod, answer: RequestAnswer) {
        let labels = RequestLabels { method, answer };
        self.inner.requests.get_or_create(&labels).inc();
    }

    /// Says how a component is.
    pub(crate) fn report(&self, uid: &str, report: ComponentReport) {
        self.inner.fleet.report(uid, report);
    }

    /// Forgets a component with all its series.
    pub(crate) fn forget(&self, uid: &str) {
        self.inner.fleet.forget(uid);
    }

    /// Counts a fetch of an artifact.
    pub(crate) fn fetched(&self, outcome: FetchOutcome) {
        self.inner
            .fetches
            .get_or_create(&FetchLabels { outcome })
            .inc();
    }

    /// Records how long a generator took to render. The name is the one under which the generator is registered.
    pub(crate) fn rendered(&self, generator: &str, duration: Duration) {
        let labels = GeneratorLabels {
            generator: self.inner.generators.admit(generator),
        };
        self.inner
            .render_durations
            .get_or_create(&labels)
            .observe(duration.as_secs_f64());
    }

    /// All metrics in the `OpenMetrics` text format.
    pub(crate) fn encode(&self) -> String {
        let mut output = String::new();
        // Writing to a string does not fail; what was written before a failure of a metric is still worth serving.
        if let Err(error) = text::encode(&mut output, &self.inner.registry) {
            tracing::warn!(error = %error, "metrics cannot be encoded");
        }
        output
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl ControllerMetrics {
    /// Counts a reconcile and records how long it took.
    pub(crate) fn reconciled(&self, outcome: ReconcileOutcome, duration: Duration) {
        let inner = &self.metrics.inner;
        let controller = self.controller.clone();
        inner
            .reconciles
            .get_or_create(&ReconcileLabels {
                controller,
                outcome,
            })
            .inc();
        let labels = ControllerLabels {
            controller: self.controller.clone(),
        };
        inner
            .reconcile_durations
            .get_or_create(&labels)
            .observe(duration.as_secs_f64());
    }

    /// Counts an error that ended a reconcile.
    pub(crate) fn failed(&self, class: Class) {
        let labels = ErrorLabels {
            controller: self.controller.clone(),
            class,
        };
        self.metrics
            .inner
            .reconcile_errors
            .get_or_create(&labels)
            .inc();
    }
}

impl fmt::Debug for ControllerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerMetrics")
            .field("controller", &self.controller)
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn new() -> Self {
        let mut inner = Self {
            registry: Registry::with_prefix(PREFIX),
            reconciles: Family::default(),
            reconcile_durations: Family::new_with_constructor(|| Histogram::new(RECONCILE_BUCKETS)),
            reconcile_errors: Family::default(),
            operations: Family::default(),
            requests: Family::default(),
            fleet: Fleet::default(),
            fetches: Family::default(),
            render_durations: Family::new_with_constructor(|| Histogram::new(RENDER_BUCKETS)),
            controllers: Names::default(),
            generators: Names::default(),
        };
        inner.register();
        inner.start_at_zero();
        inner
    }

    fn register(&mut self) {
        // The encoder appends the full stop, and `_total` to counters.
        let registry = &mut self.registry;
        registry.register("reconcile", "Reconciles", self.reconciles.clone());
        registry.register_with_unit(
            "reconcile_duration",
            "Time that a reconcile took",
            Unit::Seconds,
            self.reconcile_durations.clone(),
        );
        registry.register(
            "reconcile_errors",
            "Reconciles that ended with an error",
            self.reconcile_errors.clone(),
        );
        registry.register(
            "operations",
            "Writes to dependents",
            self.operations.clone(),
        );
        registry.register(
            "requests",
            "Requests to API servers that were answered, or not",
            self.requests.clone(),
        );
        registry.register_collector(Box::new(self.fleet.clone()));
        registry.register("fetch", "Fetches of artifacts", self.fetches.clone());
        registry.register_with_unit(
            "render_duration",
            "Time that a generator took to render",
            Unit::Seconds,
            self.render_durations.clone(),
        );
    }

    fn start_controller_at_zero(&self, controller: &str) {
        for &outcome in ReconcileOutcome::ALL {
            let labels = ReconcileLabels {
                controller: controller.to_owned(),
                outcome,
            };
            drop(self.reconciles.get_or_create(&labels));
        }
        for class in Class::ALL {
            let labels = ErrorLabels {
                controller: controller.to_owned(),
                class,
            };
            drop(self.reconcile_errors.get_or_create(&labels));
        }
    }

    /// A series that is there from the start lets `rate` and `increase` see the first event.
    fn start_at_zero(&self) {
        for &action in Operation::ALL {
            drop(self.operations.get_or_create(&OperationLabels { action }));
        }
        for &method in RequestMethod::ALL {
            for &answer in RequestAnswer::ALL {
                drop(
                    self.requests
                        .get_or_create(&RequestLabels { method, answer }),
                );
            }
        }
        for &outcome in FetchOutcome::ALL {
            drop(self.fetches.get_or_create(&FetchLabels { outcome }));
        }
    }
}

/// The names that a label has taken so far.
#[derive(Default)]
struct Names(Mutex<BTreeSet<String>>);

impl Names {
    fn admit(&self, name: &str) -> String {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(name) {
            if names.len() >= MAX_NAMES {
                return OTHER.to_owned();
            }
            names.insert(name.to_owned());
        }
        name.to_owned()
    }
}

#[cfg(test)]
mod tests;
