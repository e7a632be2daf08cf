//! What is known of each component, as metrics that are made when they are asked for: they go with the component.

use super::labels::{ComponentState, DependentStatus};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder};
use prometheus_client::metrics::MetricType;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is told of one component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComponentReport {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its state, once it has one.
    pub(crate) state: Option<ComponentState>,
    /// How many of its dependents have each status.
    pub(crate) dependents: BTreeMap<DependentStatus, usize>,
}

/// The reports of all components by UID. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Fleet {
    reports: Arc<Mutex<HashMap<String, ComponentReport>>>,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: ComponentState,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabels {
    status: DependentStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ComponentLabels {
    namespace: String,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ComponentStateLabels {
    namespace: String,
    name: String,
    state: ComponentState,
}

impl Fleet {
    pub(super) fn report(&self, uid: &str, report: ComponentReport) {
        self.reports().insert(uid.to_owned(), report);
    }

    pub(super) fn forget(&self, uid: &str) {
        self.reports().remove(uid);
    }

    fn reports(&self) -> MutexGuard<'_, HashMap<String, ComponentReport>> {
        // Nothing that holds the lock can leave the map half changed.
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ComponentReport {
    fn labels(&self) -> ComponentLabels {
        ComponentLabels {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    fn all(&self) -> usize {
        self.dependents.values().sum()
    }

    fn unready(&self) -> usize {
        let current = self.dependents.get(&DependentStatus::Current);
        self.all() - current.copied().unwrap_or_default()
    }
}

impl Collector for Fleet {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut reports: Vec<_> = self.reports().values().cloned().collect();
        reports.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        gauges(
            &mut encoder,
            "components",
            "Components by their state",
            |family| {
                for &state in ComponentState::ALL {
                    let count = reports.iter().filter(|r| r.state == Some(state)).count();
                    set(family, &StateLabels { state }, count)?;
                }
                Ok(())
            },
        )?;
        gauges(
            &mut encoder,
            "dependents",
            "Dependents by their status",
            |family| {
                for &status in DependentStatus::ALL {
                    let count = reports
                        .iter()
                        .filter_map(|r| r.dependents.get(&status))
                        .sum();
                    set(family, &StatusLabels { status }, count)?;
                }
                Ok(())
            },
        )?;
        let help = "State of a component: 1 for the one that it is in";
        gauges(&mut encoder, "component_state", help, |family| {
            for report in &reports {
                for &state in ComponentState::ALL {
                    let labels = ComponentStateLabels {
                        namespace: report.namespace.clone(),
                        name: report.name.clone(),
                        state,
                    };
                    set(family, &labels, usize::from(report.state == Some(state)))?;
                }
            }
            Ok(())
        })?;
        let help = "Dependents of a component";
        gauges(&mut encoder, "component_dependents", help, |family| {
            let mut reports = reports.iter();
            reports.try_for_each(|report| set(family, &report.labels(), report.all()))
        })?;
        let help = "Dependents of a component that are not ready";
        gauges(
            &mut encoder,
            "component_unready_dependents",
            help,
            |family| {
                let mut reports = reports.iter();
                reports.try_for_each(|report| set(family, &report.labels(), report.unready()))
            },
        )
    }
}

fn gauges(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    fill: impl FnOnce(&mut MetricEncoder<'_>) -> Result<(), fmt::Error>,
) -> Result<(), fmt::Error> {
    let mut family =
        encoder.encode_descriptor(name, &format!("{help}."), None, MetricType::Gauge)?;
    fill(&mut family)
}

fn set(
    family: &mut MetricEncoder<'_>,
    labels: &impl EncodeLabelSet,
    count: usize,
) -> Result<(), fmt::Error> {
    family.encode_family(labels)?.encode_gauge(&(count as i64))
}
