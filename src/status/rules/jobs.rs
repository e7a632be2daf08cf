//! Jobs.

use super::{Assessment, Live};
use crate::status::live::Condition;

/// A job is ready when it is complete. A suspended one is not: what it is for has not happened.
pub(super) fn job(live: &Live<'_>) -> Assessment {
    let succeeded = live.count("/status/succeeded");
    if live.condition("Complete").is_some_and(|c| c.is_true()) {
        return Assessment::current("job is complete");
    }
    if let Some(failed) = live.condition("Failed").filter(Condition::is_true) {
        return Assessment::failed(failed.explain());
    }
    if live.condition("Suspended").is_some_and(|c| c.is_true()) || live.flag("/spec/suspend") {
        return Assessment::in_progress("job is suspended");
    }
    if live.text("/status/startTime").is_none() {
        return Assessment::in_progress("job has not started");
    }
    let parallelism = live.integer("/spec/parallelism").unwrap_or(1);
    let completions = live.integer("/spec/completions").unwrap_or(parallelism);
    let progress = format!("{succeeded} of {completions} pods have succeeded");
    Assessment::in_progress(
        match (live.count("/status/active"), live.count("/status/failed")) {
            (active, 0) => format!("{progress}, {active} active"),
            (active, failures) => format!("{progress}, {active} active, {failures} failed"),
        },
    )
}
