//! An operator that is killed at a write, whichever it is, is followed by one that ends where an undisturbed one ends.

use crate::Operator;
use crate::world::{Phase, World};
use futures::StreamExt;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whipstaff_test_support::{Effect, FaultProxy, ProxiedRequest, shared};

/// How many operators are killed side by side.
const PARALLEL: usize = 4;
/// How long to wait for what is written after the component says that it is ready: events.
const AFTERWARDS: Duration = Duration::from_millis(300);

/// When the operator dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The write never reaches the API server.
    Before,
    /// The write is made, and the operator never hears of it.
    After,
}

/// The write at which it dies, counted anew in each phase.
pub(crate) type Death = (usize, Moment);

/// How far a component came.
struct End {
    /// The objects after each phase.
    snapshots: Vec<Vec<Value>>,
    /// In each phase, whether the operator was killed.
    killed: Vec<bool>,
    /// How many writes the first operator of each phase made, or tried to.
    writes: Vec<usize>,
}

/// Kills by silence: from the deadly write on, no request of the operator has any effect, as if it were dead already.
pub(crate) fn deadly(
    death: Option<Death>,
    writes: Arc<AtomicUsize>,
) -> impl FnMut(&ProxiedRequest) -> Option<Effect> {
    let mut is_dead = false;
    move |request| {
        if is_dead {
            return Some(Effect::Hang);
        }
        if !request.is_write() || request.query.contains("dryRun") {
            return None;
        }
        let number = writes.fetch_add(1, Ordering::SeqCst) + 1;
        let (deadly, moment) = death?;
        is_dead = number == deadly;
        is_dead.then_some(match moment {
            Moment::Before => Effect::Hang,
            Moment::After => Effect::Swallow,
        })
    }
}

async fn live_and_die(death: Option<Death>) -> End {
    let world = World::new("every").await;
    let proxy = FaultProxy::start(shared().await.admin()).await.unwrap();
    let kubeconfig = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(kubeconfig.path(), proxy.access().kubeconfig()).unwrap();
    let start = || Operator::of_shard(kubeconfig.path(), &world.shard);
    let mut operator = start();
    let mut end = End {
        snapshots: Vec::new(),
        killed: Vec::new(),
        writes: Vec::new(),
    };
    for phase in Phase::ALL {
        let writes = Arc::new(AtomicUsize::new(0));
        let mut silent = proxy.silent();
        let before = *silent.borrow_and_update();
        proxy.govern(deadly(death, Arc::clone(&writes)));
        world.begin(phase).await;
        let undisturbed = async {
            world.end(phase).await;
            tokio::time::sleep(AFTERWARDS).await;
        };
        let is_killed = tokio::select! {
            () = undisturbed => false,
            silent = silent.wait_for(|count| *count > before) => silent.is_ok(),
        };
        if is_killed {
            operator.kill();
            proxy.govern_no_more();
            operator = start();
            world.end(phase).await;
        }
        end.killed.push(is_killed);
        end.writes.push(writes.load(Ordering::SeqCst));
        end.snapshots.push(world.snapshot().await);
    }
    end
}

#[tokio::test(flavor = "multi_thread")]
async fn operator_that_is_killed_at_any_write_leaves_nothing_behind() {
    let undisturbed = live_and_die(None).await;
    assert_eq!(
        undisturbed
            .snapshots
            .iter()
            .map(Vec::len)
            .collect::<Vec<_>>(),
        [5, 5, 5, 0]
    );
    let most = undisturbed.writes.iter().copied().max().unwrap();
    let all = (1..=most).flat_map(|number| [(number, Moment::Before), (number, Moment::After)]);
    let killed = Mutex::new(0);
    let tally = |phase: usize, death: Death, end: &End| {
        // The next operator may find less to do than the first one, never more.
        let is_due = death.0 <= undisturbed.writes[phase] && death.0 == 1;
        assert!(
            end.killed[phase] || !is_due,
            "{death:?} in {:?}",
            Phase::ALL[phase]
        );
        *killed.lock().unwrap() += usize::from(end.killed[phase]);
    };
    futures::stream::iter(all)
        .for_each_concurrent(PARALLEL, |death| {
            let (undisturbed, tally) = (&undisturbed, &tally);
            async move {
                let end = live_and_die(Some(death)).await;
                for (phase, snapshot) in end.snapshots.iter().enumerate() {
                    let name = Phase::ALL[phase];
                    assert_eq!(
                        snapshot, &undisturbed.snapshots[phase],
                        "{death:?} in {name:?}"
                    );
                    tally(phase, death, &end);
                }
            }
        })
        .await;
    let writes: usize = undisturbed.writes.iter().sum();
    let killed = killed.into_inner().unwrap();
    println!(
        "{killed} operators were killed, at {writes} writes: {:?}",
        undisturbed.writes
    );
    assert!(
        killed >= 2 * writes - 8,
        "only {killed} operators were killed at {writes} writes"
    );
}
