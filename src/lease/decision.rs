//! What a lease means for a candidate: pure, so that it can be table-tested.

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use std::time::Duration;
use tokio::time::Instant;

/// Longest lease of somebody else that is respected.
const MAX_LEASE_DURATION: Duration = Duration::from_hours(1);

/// A lease as it was last seen, and when it was first seen like that.
///
/// The times in a lease come from the clock of its holder and are only compared for being different: a lease is alive for its
/// duration after this process saw it change.
#[derive(Debug, Clone)]
pub(super) struct Observation {
    lease: Lease,
    changed: Instant,
}

/// What to do about a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nobody holds it, or its holder is gone: take it.
    Claim,
    /// It is ours: renew it.
    Renew,
    /// Somebody else holds it.
    Wait {
        /// The identity of the holder.
        holder: String,
    },
}

impl Observation {
    /// Notes what was read at a time.
    pub(super) fn update(previous: Option<&Self>, lease: Lease, now: Instant) -> Self {
        let changed = previous
            .filter(|previous| previous.lease.spec == lease.spec)
            .map_or(now, |previous| previous.changed);
        Self { lease, changed }
    }

    pub(super) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// What a candidate is to do about the lease.
    pub(super) fn decide(&self, identity: &str, now: Instant) -> Decision {
        match holder(&self.lease) {
            None => Decision::Claim,
            Some(holder) if holder == identity => Decision::Renew,
            Some(_) if now >= self.changed + duration(&self.lease) => Decision::Claim,
            Some(holder) => Decision::Wait {
                holder: holder.to_owned(),
            },
        }
    }
}

/// The identity that holds a lease.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    let spec = lease.spec.as_ref()?;
    spec.holder_identity
        .as_deref()
        .filter(|holder| !holder.is_empty())
}

fn duration(lease: &Lease) -> Duration {
    let seconds = lease
        .spec
        .as_ref()
        .and_then(|spec| spec.lease_duration_seconds)
        .unwrap_or(0);
    Duration::from_secs(seconds.max(0).unsigned_abs().into()).min(MAX_LEASE_DURATION)
}

/// The lease that makes an identity the holder for a time. A lease that it holds already is renewed.
pub(super) fn held(lease: &Lease, identity: &str, seconds: i32, now: Timestamp) -> Lease {
    let mut lease = lease.clone();
    let renewal = holder(&lease) == Some(identity);
    // A lease that never had a holder, a new one, has had no transition.
    let previous = lease.spec.take();
    let first = previous
        .as_ref()
        .is_none_or(|spec| spec.renew_time.is_none());
    let mut spec = previous.unwrap_or_default();
    if !renewal {
        spec.acquire_time = Some(MicroTime(now));
        let transitions = spec.lease_transitions.unwrap_or(0);
        spec.lease_transitions = Some(if first {
            0
        } else {
            transitions.saturating_add(1)
        });
    }
    spec.holder_identity = Some(identity.to_owned());
    spec.lease_duration_seconds = Some(seconds);
    spec.renew_time = Some(MicroTime(now));
    lease.spec = Some(spec);
    lease
}

/// The lease that lets anybody take over at once.
pub(super) fn released(lease: &Lease, now: Timestamp) -> Lease {
    let mut lease = lease.clone();
    lease.spec = Some(LeaseSpec {
        holder_identity: None,
        // The shortest that the API server accepts.
        lease_duration_seconds: Some(1),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        ..lease.spec.take().unwrap_or_default()
    });
    lease
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: Option<&str>, seconds: Option<i32>, renewed: i64) -> Lease {
        let spec = LeaseSpec {
            holder_identity: holder.map(str::to_owned),
            lease_duration_seconds: seconds,
            renew_time: Some(MicroTime(Timestamp::from_second(renewed).unwrap())),
            lease_transitions: Some(3),
            ..LeaseSpec::default()
        };
        Lease {
            spec: Some(spec),
            ..Lease::default()
        }
    }

    #[test]
    fn lease_is_claimed_renewed_or_waited_for() {
        let wait = || Decision::Wait {
            holder: "other".to_owned(),
        };
        let cases = [
            (Lease::default(), 0, Decision::Claim),
            (lease(None, Some(15), 0), 0, Decision::Claim),
            (lease(Some(""), Some(15), 0), 0, Decision::Claim),
            (lease(Some("me"), Some(15), 0), 0, Decision::Renew),
            (lease(Some("me"), Some(15), 0), 99, Decision::Renew),
            (lease(Some("other"), Some(15), 0), 0, wait()),
            (lease(Some("other"), Some(15), 0), 14, wait()),
            (lease(Some("other"), Some(15), 0), 15, Decision::Claim),
            (lease(Some("other"), None, 0), 0, Decision::Claim),
            (lease(Some("other"), Some(-5), 0), 0, Decision::Claim),
            (lease(Some("other"), Some(i32::MAX), 0), 3599, wait()),
            (
                lease(Some("other"), Some(i32::MAX), 0),
                3600,
                Decision::Claim,
            ),
        ];
        let start = Instant::now();
        for (lease, seconds, expected) in cases {
            let observation = Observation::update(None, lease.clone(), start);
            let decision = observation.decide("me", start + Duration::from_secs(seconds));
            assert_eq!(decision, expected, "after {seconds} s: {lease:?}");
        }
    }

    #[test]
    fn lease_lives_from_its_last_change_by_the_local_clock() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        // The holder's clock is far off, forwards and backwards.
        let first = Observation::update(None, lease(Some("other"), Some(15), 9_000_000_000), at(0));
        let same = Observation::update(
            Some(&first),
            lease(Some("other"), Some(15), 9_000_000_000),
            at(10),
        );
        assert_eq!(same.decide("me", at(15)), Decision::Claim);
        let renewed = Observation::update(Some(&same), lease(Some("other"), Some(15), 1), at(14));
        assert_ne!(renewed.decide("me", at(28)), Decision::Claim);
        assert_eq!(renewed.decide("me", at(29)), Decision::Claim);
    }

    #[test]
    fn foreign_metadata_does_not_prolong_a_lease() {
        let start = Instant::now();
        let first = Observation::update(None, lease(Some("other"), Some(15), 0), start);
        let mut touched = lease(Some("other"), Some(15), 0);
        touched.metadata.resource_version = Some("2".to_owned());
        let later = start + Duration::from_secs(15);
        let touched = Observation::update(Some(&first), touched, later);
        assert_eq!(touched.decide("me", later), Decision::Claim);
    }

    #[test]
    fn taking_a_lease_counts_a_transition_and_renewing_does_not() {
        let (then, now) = (
            MicroTime(Timestamp::UNIX_EPOCH),
            Timestamp::from_second(100).unwrap(),
        );
        let mut ours = lease(Some("me"), Some(15), 0);
        ours.spec.as_mut().unwrap().acquire_time = Some(then.clone());
        // (before, transitions, acquired)
        let cases = [
            (Lease::default(), 0, MicroTime(now)),
            (lease(None, None, 0), 4, MicroTime(now)),
            (lease(Some("other"), Some(15), 0), 4, MicroTime(now)),
            (ours, 3, then),
        ];
        for (before, transitions, acquired) in cases {
            let spec = held(&before, "me", 15, now).spec.unwrap();
            assert_eq!(spec.holder_identity.as_deref(), Some("me"));
            assert_eq!(spec.lease_duration_seconds, Some(15));
            assert_eq!(spec.lease_transitions, Some(transitions), "{before:?}");
            assert_eq!(spec.acquire_time, Some(acquired), "{before:?}");
            assert_eq!(spec.renew_time, Some(MicroTime(now)));
        }
    }

    #[test]
    fn released_lease_has_no_holder_and_keeps_its_count() {
        let lease = released(&lease(Some("me"), Some(15), 0), Timestamp::UNIX_EPOCH);
        assert_eq!(holder(&lease), None);
        let spec = lease.spec.unwrap();
        assert_eq!(
            (spec.lease_duration_seconds, spec.lease_transitions),
            (Some(1), Some(3))
        );
    }
}
