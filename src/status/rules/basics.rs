//! Kinds that are ready at once or have a phase.

use super::{Assessment, Live};
use crate::status::Status;

/// Kinds that have nothing to wait for.
pub(super) fn existing(_: &Live<'_>) -> Assessment {
    Assessment::current("object exists")
}

pub(super) fn namespace(live: &Live<'_>) -> Assessment {
    match live.text("/status/phase") {
        Some("Active") => Assessment::current("namespace is active"),
        Some("Terminating") => Assessment::new(Status::Terminating, "namespace is being deleted"),
        _ => Assessment::in_progress("namespace is not active yet"),
    }
}

pub(super) fn persistent_volume_claim(live: &Live<'_>) -> Assessment {
    match live.text("/status/phase") {
        Some("Bound") => Assessment::current("claim is bound"),
        Some(phase) => Assessment::in_progress(format!("claim is not bound: it is {phase}")),
        None => Assessment::in_progress("claim is not bound"),
    }
}

/// The address of a load balancer is not waited for, as kstatus does not: many clusters never give one.
pub(super) fn service(live: &Live<'_>) -> Assessment {
    let balanced = live.text("/spec/type") == Some("LoadBalancer");
    if balanced && live.text("/spec/clusterIP").is_none() {
        return Assessment::in_progress("service has no cluster address yet");
    }
    Assessment::current("service exists")
}
