//! Acquiring and holding a lease over time.

use super::{
    LeadershipEnd, LeaseOptions,
    decision::{Decision, Observation, held, holder, released},
    store::Store,
};
use k8s_openapi::{
    api::coordination::v1::Lease, apimachinery::pkg::apis::meta::v1::ObjectMeta, jiff::Timestamp,
};
use std::time::Duration;
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

/// Waits of candidates are up to this many times the retry period, so that they do not all ask at once.
pub(super) const JITTER: f64 = 1.2;

/// One candidate, and what it knows of the lease.
#[derive(Debug)]
pub(super) struct Elector<S> {
    store: S,
    options: LeaseOptions,
    observation: Option<Observation>,
    /// Who was last logged to hold the lease.
    announced: Option<String>,
}

/// How an attempt to acquire or renew ended.
#[derive(Debug, PartialEq, Eq)]
enum Attempt {
    Held,
    HeldBy(String),
    Failed,
}

impl<S: Store> Elector<S> {
    pub(super) fn new(store: S, options: LeaseOptions) -> Self {
        Self {
            store,
            options,
            observation: None,
            announced: None,
        }
    }

    /// Waits for the lease; gives the time at which the request that got it was sent.
    pub(super) async fn acquire(&mut self, stop: &CancellationToken) -> Option<Instant> {
        // An attempt is never cut off by a stop: it could succeed unseen, and nobody would lead until the lease expires.
        while !stop.is_cancelled() {
            let sent = Instant::now();
            match self.attempt(sent + self.request_timeout()).await {
                Attempt::Held => {
                    tracing::info!(identity = %self.options.identity, "leadership acquired");
                    return Some(sent);
                }
                Attempt::HeldBy(holder) => self.announce(holder),
                Attempt::Failed => {}
            }
            let factor = 1.0 + fastrand::f64() * (JITTER - 1.0);
            stop.run_until_cancelled(time::sleep(self.options.retry_period.mul_f64(factor)))
                .await;
        }
        None
    }

    /// Renews the lease until it is lost or released.
    pub(super) async fn hold(
        &mut self,
        mut renewed: Instant,
        stop: &CancellationToken,
    ) -> LeadershipEnd {
        loop {
            let deadline = renewed + self.options.renew_deadline;
            let next = deadline.min(Instant::now() + self.options.retry_period);
            if stop
                .run_until_cancelled(time::sleep_until(next))
                .await
                .is_none()
            {
                self.release().await;
                return LeadershipEnd::Released;
            }
            let sent = Instant::now();
            if sent >= deadline {
                tracing::error!("leadership lost: the lease could not be renewed in time");
                return LeadershipEnd::Lost;
            }
            match self
                .attempt(deadline.min(sent + self.request_timeout()))
                .await
            {
                Attempt::Held => renewed = sent,
                Attempt::HeldBy(holder) => {
                    tracing::error!(holder, "leadership lost: somebody else has the lease");
                    return LeadershipEnd::Lost;
                }
                Attempt::Failed => {}
            }
        }
    }

    /// Lets go of the lease, if it is still ours. A lease that cannot be released expires.
    async fn release(&mut self) {
        let release = async {
            let lease = self.store.read().await?;
            let Some(lease) = lease.filter(|l| holder(l) == Some(&self.options.identity)) else {
                return Ok(false);
            };
            self.store
                .replace(&released(&lease, Timestamp::now()))
                .await
                .map(|_| true)
        };
        match time::timeout(self.request_timeout(), release).await {
            Ok(Ok(true)) => tracing::info!("leadership released"),
            Ok(Ok(false)) => tracing::info!("leadership had ended before it was released"),
            Ok(Err(error)) => tracing::warn!(error = %error, "lease is not released"),
            Err(_) => tracing::warn!("lease is not released in time"),
        }
    }

    /// A hanging request leaves time for another one before the deadline.
    fn request_timeout(&self) -> Duration {
        self.options.renew_deadline / 2
    }

    async fn attempt(&mut self, deadline: Instant) -> Attempt {
        match time::timeout_at(deadline, self.acquire_or_renew()).await {
            Ok(Ok(attempt)) => attempt,
            Ok(Err(error)) => {
                tracing::warn!(error = %error, "lease is not updated");
                Attempt::Failed
            }
            Err(_) => {
                tracing::warn!("lease is not updated in time");
                Attempt::Failed
            }
        }
    }

    async fn acquire_or_renew(&mut self) -> Result<Attempt, kube::Error> {
        // What we hold is renewed without being read first; when that does not fit, something has changed.
        if let Some(observation) = &self.observation
            && observation.decide(&self.options.identity, Instant::now()) == Decision::Renew
        {
            let lease = self.held(observation.lease());
            match self.store.replace(&lease).await {
                Ok(lease) => return Ok(self.observe(lease)),
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => return Err(error),
            }
        }
        let Some(lease) = self.store.read().await? else {
            let lease = self.store.create(&self.held(&self.fresh())).await?;
            return Ok(self.observe(lease));
        };
        self.observe(lease);
        let Some(observation) = &self.observation else {
            return Ok(Attempt::Failed);
        };
        match observation.decide(&self.options.identity, Instant::now()) {
            Decision::Wait { holder } => Ok(Attempt::HeldBy(holder)),
            Decision::Claim | Decision::Renew => {
                let lease = self.store.replace(&self.held(observation.lease())).await?;
                Ok(self.observe(lease))
            }
        }
    }

    /// Notes a lease as the API server has it, after which it is ours or somebody else's.
    fn observe(&mut self, lease: Lease) -> Attempt {
        let attempt = match holder(&lease) {
            Some(holder) if holder == self.options.identity => Attempt::Held,
            other => Attempt::HeldBy(other.unwrap_or_default().to_owned()),
        };
        self.observation = Some(Observation::update(
            self.observation.as_ref(),
            lease,
            Instant::now(),
        ));
        attempt
    }

    fn held(&self, lease: &Lease) -> Lease {
        let duration = self.options.lease_duration;
        let seconds = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
        let seconds = i32::try_from(seconds).unwrap_or(i32::MAX);
        held(lease, &self.options.identity, seconds, Timestamp::now())
    }

    fn fresh(&self) -> Lease {
        let metadata = ObjectMeta {
            name: Some(self.options.name.clone()),
            namespace: Some(self.options.namespace.clone()),
            ..ObjectMeta::default()
        };
        Lease {
            metadata,
            spec: None,
        }
    }

    fn announce(&mut self, holder: String) {
        if self.announced.as_ref() != Some(&holder) {
            tracing::info!(holder, "waiting for leadership");
            self.announced = Some(holder);
        }
    }
}

#[cfg(test)]
mod tests;
