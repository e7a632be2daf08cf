//! On a paused clock: waiting takes no time, and every instant is exact.

use super::*;
use kube::core::Status;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Server {
    lease: Option<Lease>,
    version: u64,
    trouble: Trouble,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Trouble {
    #[default]
    None,
    Fails,
    Hangs,
}

/// A lease in memory, with the API server's optimistic locking.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Server>>);

fn failure(code: u16) -> kube::Error {
    kube::Error::Api(Box::new(
        Status::failure("trouble", "Trouble").with_code(code),
    ))
}

impl Memory {
    async fn reach(&self) -> Result<(), kube::Error> {
        let trouble = self.0.lock().unwrap().trouble;
        match trouble {
            Trouble::None => Ok(()),
            Trouble::Fails => Err(failure(500)),
            Trouble::Hangs => std::future::pending().await,
        }
    }

    fn trouble(&self, trouble: Trouble) {
        self.0.lock().unwrap().trouble = trouble;
    }

    fn lease(&self) -> Lease {
        self.0.lock().unwrap().lease.clone().unwrap()
    }

    fn holder(&self) -> Option<String> {
        holder(&self.lease()).map(str::to_owned)
    }

    /// Writes past the optimistic lock, as a person with kubectl does.
    fn force(&self, lease: &Lease) {
        self.0.lock().unwrap().put(lease);
    }
}

impl Server {
    fn put(&mut self, lease: &Lease) -> Lease {
        self.version += 1;
        let mut lease = lease.clone();
        lease.metadata.resource_version = Some(self.version.to_string());
        self.lease.insert(lease).clone()
    }
}

impl Store for Memory {
    async fn read(&self) -> Result<Option<Lease>, kube::Error> {
        self.reach().await?;
        Ok(self.0.lock().unwrap().lease.clone())
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, kube::Error> {
        self.reach().await?;
        let mut server = self.0.lock().unwrap();
        if server.lease.is_some() {
            Err(failure(409))
        } else {
            Ok(server.put(lease))
        }
    }

    async fn replace(&self, lease: &Lease) -> Result<Lease, kube::Error> {
        self.reach().await?;
        let mut server = self.0.lock().unwrap();
        let Some(stored) = &server.lease else {
            return Err(failure(404));
        };
        if stored.metadata.resource_version != lease.metadata.resource_version {
            return Err(failure(409));
        }
        Ok(server.put(lease))
    }
}

fn candidate(store: &Memory, identity: &str) -> Elector<Memory> {
    Elector::new(
        store.clone(),
        LeaseOptions::new("system", "whipstaff", identity),
    )
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Lets a future run for a time of the paused clock.
async fn run_for<T>(duration: Duration, future: impl Future<Output = T>) -> Option<T> {
    time::timeout(duration, future).await.ok()
}

#[tokio::test(start_paused = true)]
async fn released_lease_is_taken_over_within_a_retry() {
    let (store, never, stop) = (
        Memory::default(),
        CancellationToken::new(),
        CancellationToken::new(),
    );
    let (mut first, mut second) = (candidate(&store, "first"), candidate(&store, "second"));
    let renewed = first.acquire(&never).await.unwrap();
    let hold = async {
        assert_eq!(first.hold(renewed, &stop).await, LeadershipEnd::Released);
        Instant::now()
    };
    let wait = async {
        assert_eq!(run_for(seconds(100), second.acquire(&never)).await, None);
        stop.cancel();
        second.acquire(&never).await.unwrap()
    };
    let (released, acquired) = tokio::join!(hold, wait);
    assert!(acquired - released <= seconds(2).mul_f64(JITTER));
    assert_eq!(store.holder().as_deref(), Some("second"));
    let spec = store.lease().spec.unwrap();
    assert_eq!(
        (spec.lease_transitions, spec.lease_duration_seconds),
        (Some(1), Some(15))
    );
}

#[tokio::test(start_paused = true)]
async fn lease_of_a_dead_leader_is_taken_over_after_its_duration() {
    let (store, never) = (Memory::default(), CancellationToken::new());
    let died = candidate(&store, "first").acquire(&never).await.unwrap();
    let acquired = candidate(&store, "second").acquire(&never).await.unwrap();
    assert!(acquired - died >= seconds(15), "{:?}", acquired - died);
    assert!(acquired - died <= seconds(15 + 3), "{:?}", acquired - died);
}

#[tokio::test(start_paused = true)]
async fn restarted_leader_goes_on_with_its_lease() {
    let (store, never) = (Memory::default(), CancellationToken::new());
    let before = candidate(&store, "first").acquire(&never).await.unwrap();
    let after = candidate(&store, "first").acquire(&never).await.unwrap();
    assert_eq!(before, after);
    assert_eq!(store.lease().spec.unwrap().lease_transitions, Some(0));
}

#[tokio::test(start_paused = true)]
async fn leader_gives_up_before_anybody_else_may_begin() {
    for trouble in [Trouble::Fails, Trouble::Hangs] {
        let (store, never) = (Memory::default(), CancellationToken::new());
        let mut first = candidate(&store, "first");
        let renewed = first.acquire(&never).await.unwrap();
        assert_eq!(
            run_for(seconds(60), first.hold(renewed, &never)).await,
            None
        );
        let mut second = candidate(&store, "second");
        assert_eq!(run_for(seconds(5), second.acquire(&never)).await, None);
        let last = {
            let renewed = Instant::now();
            first.acquire_or_renew().await.unwrap();
            renewed
        };
        store.trouble(trouble);
        assert_eq!(first.hold(last, &never).await, LeadershipEnd::Lost);
        assert_eq!(Instant::now() - last, seconds(10));
        store.trouble(Trouble::None);
        let next = second.acquire(&never).await.unwrap();
        assert!(next - last >= seconds(15), "{:?}", next - last);
    }
}

#[tokio::test(start_paused = true)]
async fn short_trouble_does_not_end_leadership() {
    let (store, never) = (Memory::default(), CancellationToken::new());
    let mut leader = candidate(&store, "first");
    let renewed = leader.acquire(&never).await.unwrap();
    let trouble = async {
        for trouble in [Trouble::Fails, Trouble::Hangs].repeat(5) {
            // One request that hangs for its 5 s still leaves an attempt, 9 s after the last success.
            store.trouble(trouble);
            time::sleep(seconds(5)).await;
            store.trouble(Trouble::None);
            time::sleep(seconds(7)).await;
        }
    };
    tokio::select! {
        end = leader.hold(renewed, &never) => panic!("{end:?}"),
        () = trouble => {}
    }
}

#[tokio::test(start_paused = true)]
async fn leader_whose_lease_was_given_away_gives_up() {
    let (store, never) = (Memory::default(), CancellationToken::new());
    let mut leader = candidate(&store, "first");
    let renewed = leader.acquire(&never).await.unwrap();
    store.force(&held(&store.lease(), "second", 15, Timestamp::now()));
    assert_eq!(leader.hold(renewed, &never).await, LeadershipEnd::Lost);
    assert_eq!(Instant::now() - renewed, seconds(2));
    assert_eq!(store.holder().as_deref(), Some("second"));
}

#[tokio::test(start_paused = true)]
async fn leader_writes_a_lease_that_was_touched_or_deleted_again() {
    let (store, never) = (Memory::default(), CancellationToken::new());
    let mut leader = candidate(&store, "first");
    let renewed = leader.acquire(&never).await.unwrap();
    let mut touched = store.lease();
    touched.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    store.force(&touched);
    assert_eq!(
        run_for(seconds(20), leader.hold(renewed, &never)).await,
        None
    );
    assert!(
        store.lease().metadata.labels.is_some(),
        "labels of others stay"
    );
    store.0.lock().unwrap().lease = None;
    let renewed = Instant::now();
    assert_eq!(
        run_for(seconds(20), leader.hold(renewed, &never)).await,
        None
    );
    assert_eq!(store.holder().as_deref(), Some("first"));
}

#[tokio::test(start_paused = true)]
async fn of_many_candidates_one_leads() {
    let (store, never) = (Memory::default(), CancellationToken::new());
    let mut candidates: Vec<_> = (0..5)
        .map(|number| candidate(&store, &format!("candidate-{number}")))
        .collect();
    let attempts = candidates
        .iter_mut()
        .map(|one| run_for(seconds(10), one.acquire(&never)));
    let leaders = futures::future::join_all(attempts)
        .await
        .into_iter()
        .flatten()
        .count();
    assert_eq!(leaders, 1);
}

#[tokio::test(start_paused = true)]
async fn candidate_stops_waiting_when_told_to() {
    let (store, never, stop) = (
        Memory::default(),
        CancellationToken::new(),
        CancellationToken::new(),
    );
    candidate(&store, "first").acquire(&never).await.unwrap();
    let mut second = candidate(&store, "second");
    let wait = second.acquire(&stop);
    let (waited, ()) = tokio::join!(wait, async {
        time::sleep(seconds(1)).await;
        stop.cancel();
    });
    assert_eq!(waited, None);
    assert_eq!(store.holder().as_deref(), Some("first"));
}

#[tokio::test(start_paused = true)]
async fn stopping_leaves_the_lease_of_somebody_else_alone() {
    let (store, stop) = (Memory::default(), CancellationToken::new());
    let mut leader = candidate(&store, "first");
    let renewed = leader.acquire(&stop).await.unwrap();
    store.force(&held(&store.lease(), "second", 15, Timestamp::now()));
    stop.cancel();
    assert_eq!(leader.hold(renewed, &stop).await, LeadershipEnd::Released);
    assert_eq!(store.holder().as_deref(), Some("second"));
}
