//! Leader election: of several replicas, one works.
//!
//! ```text
//! Candidate::acquire ─► Leadership::hold ─┬─► Released: stopped, and the next one may start at once
//!     (waits)              (renews)       └─► Lost: the process must exit
//! ```
//!
//! Times are client-go's: a lease is alive for 15 s after its last renewal, is renewed every 2 s, and a leader that could not
//! renew for 10 s gives up, 5 s before anybody else may begin. A process that lost the lease exits: whatever it has under way
//! cannot be stopped in a safer manner.
//!
//! Mirrors client-go `tools/leaderelection`, except that a leader which sees another holder gives up at once, and that its
//! deadline counts from when the last successful renewal was sent.

mod decision;
mod elector;
mod store;

use elector::Elector;
use kube::Client;
use std::time::Duration;
use store::ClusterStore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The lease, the candidate's identity and the times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseOptions {
    /// Namespace of the lease.
    pub namespace: String,
    /// Name of the lease.
    pub name: String,
    /// What tells this candidate from the others; see [`lease_identity`].
    pub identity: String,
    /// How long the lease is alive after a renewal, rounded up to seconds. Default: 15 s.
    pub lease_duration: Duration,
    /// How long the leader tries to renew before it gives up. Default: 10 s.
    pub renew_deadline: Duration,
    /// Time between two attempts to acquire or renew. Default: 2 s.
    pub retry_period: Duration,
}

/// Options that would let two candidates lead at once, or none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The candidate has no identity, or the lease no name or namespace.
    #[error("the {what} of the lease is empty")]
    Empty {
        /// What is missing.
        what: &'static str,
    },
    /// One time must be longer than another.
    #[error("the {longer} of the lease must be longer than {least:?}, the least for its {shorter}")]
    Times {
        /// The time that is too short.
        longer: &'static str,
        /// The time that it depends on.
        shorter: &'static str,
        /// What it must exceed.
        least: Duration,
    },
}

/// Somebody who may become the leader.
#[derive(Debug)]
pub(crate) struct Candidate {
    elector: Elector<ClusterStore>,
}

/// The leader. It is one only while [`Leadership::hold`] runs.
#[must_use = "the lease expires unless it is held"]
#[derive(Debug)]
pub(crate) struct Leadership {
    elector: Elector<ClusterStore>,
    renewed: Instant,
}

/// How leadership ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeadershipEnd {
    /// The leader was told to stop; somebody else may begin.
    Released,
    /// The lease could not be renewed, or somebody else has it. The process must exit now.
    Lost,
}

impl LeaseOptions {
    /// A lease with client-go's times.
    pub fn new(
        namespace: impl Into<String>,
        name: impl Into<String>,
        identity: impl Into<String>,
    ) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }

    fn check(&self) -> Result<(), LeaseError> {
        let texts = [
            ("namespace", &self.namespace),
            ("name", &self.name),
            ("identity", &self.identity),
        ];
        if let Some((what, _)) = texts.into_iter().find(|(_, text)| text.is_empty()) {
            return Err(LeaseError::Empty { what });
        }
        let period = self.retry_period.mul_f64(elector::JITTER);
        let times = [
            (
                "duration",
                self.lease_duration,
                "renew deadline",
                self.renew_deadline,
            ),
            (
                "renew deadline",
                self.renew_deadline,
                "retry period",
                period,
            ),
            ("retry period", self.retry_period, "jitter", Duration::ZERO),
        ];
        match times.into_iter().find(|(_, long, _, short)| long <= short) {
            Some((longer, _, shorter, least)) => Err(LeaseError::Times {
                longer,
                shorter,
                least,
            }),
            None => Ok(()),
        }
    }
}

/// The identity of this process among the candidates: the name of its pod, or the host name and something random.
///
/// A pod's name stays the same when its container restarts, so that it goes on with the lease that it had.
pub fn lease_identity(pod_name: Option<&str>) -> String {
    if let Some(name) = pod_name.filter(|name| !name.is_empty()) {
        return name.to_owned();
    }
    let host = hostname::get().unwrap_or_default();
    format!("{}_{:016x}", host.to_string_lossy(), fastrand::u64(..))
}

impl Candidate {
    /// A candidate for a lease. Needs `get`, `create` and `update` on `leases` of `coordination.k8s.io`.
    ///
    /// # Errors
    /// [`LeaseError`] when the options cannot work.
    pub(crate) fn new(client: Client, options: LeaseOptions) -> Result<Self, LeaseError> {
        options.check()?;
        let store = ClusterStore::new(client, &options.namespace, &options.name);
        Ok(Self {
            elector: Elector::new(store, options),
        })
    }

    /// Waits until this candidate leads, logging who does meanwhile. None when it is told to stop first.
    ///
    /// Failures of the API server are logged and retried.
    pub(crate) async fn acquire(mut self, stop: &CancellationToken) -> Option<Leadership> {
        let renewed = self.elector.acquire(stop).await?;
        Some(Leadership {
            elector: self.elector,
            renewed,
        })
    }
}

impl Leadership {
    /// Renews the lease until it is lost, or until `stop` is cancelled, when it is released.
    ///
    /// To be run from the moment that leadership is acquired, in a task of its own. `stop` is to be cancelled only after
    /// everything that the leader does has ended: another one may start right then.
    pub(crate) async fn hold(mut self, stop: &CancellationToken) -> LeadershipEnd {
        self.elector.hold(self.renewed, stop).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_cannot_work_are_refused() {
        let good = LeaseOptions::new("system", "whipstaff", "me");
        assert_eq!(good.check(), Ok(()));
        let seconds = Duration::from_secs;
        let empty = |what| LeaseError::Empty { what };
        let cases = [
            (
                LeaseOptions {
                    namespace: String::new(),
                    ..good.clone()
                },
                Some(empty("namespace")),
            ),
            (
                LeaseOptions {
                    name: String::new(),
                    ..good.clone()
                },
                Some(empty("name")),
            ),
            (
                LeaseOptions {
                    identity: String::new(),
                    ..good.clone()
                },
                Some(empty("identity")),
            ),
            (
                LeaseOptions {
                    lease_duration: seconds(10),
                    ..good.clone()
                },
                None,
            ),
            (
                LeaseOptions {
                    renew_deadline: seconds(2),
                    ..good.clone()
                },
                None,
            ),
            (
                LeaseOptions {
                    retry_period: seconds(9),
                    ..good.clone()
                },
                None,
            ),
            (
                LeaseOptions {
                    retry_period: Duration::ZERO,
                    ..good
                },
                None,
            ),
        ];
        for (options, expected) in cases {
            let error = options.check().unwrap_err();
            match expected {
                Some(expected) => assert_eq!(error, expected),
                None => assert!(matches!(error, LeaseError::Times { .. }), "{options:?}"),
            }
        }
    }

    #[test]
    fn identity_is_the_pod_or_something_that_no_other_process_has() {
        assert_eq!(lease_identity(Some("whipstaff-0")), "whipstaff-0");
        assert_ne!(lease_identity(None), lease_identity(Some("")));
    }
}
