//! Runs that hang give their places back.
//!
//! Only so many components are reconciled at a time. A run that waits for something for long, an answer that does not come for
//! example, goes on beside the others, so that a few components whose calls hang hold up nobody. How many may do so is bounded;
//! when there are more, the others keep their places. A component has one run at a time wherever it is.

use crate::cluster::ComponentName;
use futures::future::{Either, select};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep};

/// How long a run waits for one thing before it gives its place back.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most runs that go on beside the others.
const MOST_ASIDE: u32 = 64;

/// The run of a component: it gives the time after which to come again.
pub(super) type Running = Pin<Box<dyn Future<Output = Option<Duration>> + Send>>;

/// The runs that gave their places back. They end when it is dropped.
#[derive(Debug)]
pub(super) struct Aside {
    wake: UnboundedSender<ComponentName>,
    room: Arc<Semaphore>,
    /// Components with such a run, and whether there was a reason for another one meanwhile.
    under_way: Arc<Mutex<HashMap<ComponentName, bool>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Aside {
    /// Components that should be reconciled again are sent to `wake`.
    pub(super) fn new(wake: UnboundedSender<ComponentName>) -> Self {
        Self {
            wake,
            room: Arc::new(Semaphore::new(MOST_ASIDE as usize)),
            under_way: Arc::default(),
            tasks: Mutex::default(),
        }
    }

    /// Notes a reason for another run of a component if it still has one under way.
    pub(super) fn defer(&self, component: &ComponentName) -> bool {
        match lock(&self.under_way).get_mut(component) {
            Some(again) => {
                *again = true;
                true
            }
            None => false,
        }
    }

    /// Runs to the end, or until the run is to go on beside the others; then it is this that has the component reconciled again.
    pub(super) async fn run(&self, component: ComponentName, run: Running) -> Option<Duration> {
        let run = match Impatient::new(run).await {
            Ok(delay) => return delay,
            Err(run) => run,
        };
        // When there is no room, whichever comes first: an end, or room.
        let room = Box::pin(Arc::clone(&self.room).acquire_owned());
        match select(run, room).await {
            Either::Left((delay, _)) => delay,
            // The semaphore is never closed.
            Either::Right((Err(_), run)) => run.await,
            Either::Right((Ok(room), run)) => {
                self.put(component, run, room);
                None
            }
        }
    }

    fn put(&self, component: ComponentName, run: Running, room: OwnedSemaphorePermit) {
        tracing::debug!(component = component.1, "the run goes on beside the others");
        lock(&self.under_way).insert(component.clone(), false);
        let (under_way, wake) = (Arc::clone(&self.under_way), self.wake.clone());
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let delay = run.await;
            let again = lock(&under_way).remove(&component);
            drop(room);
            match (again, delay) {
                (Some(true), _) => {}
                (_, Some(delay)) => sleep(delay).await,
                (_, None) => return,
            }
            // Fails only while the operator stops: then nobody is left to wake.
            let _ = wake.send(component);
        });
    }

    /// Waits until no run is under way any more.
    pub(super) async fn finish(&self) {
        drop(self.room.acquire_many(MOST_ASIDE).await);
    }
}

/// A run that ends, or hands itself out when it has waited for one thing for too long: when nothing woke it.
struct Impatient {
    run: Option<Running>,
    patience: Pin<Box<Sleep>>,
}

impl Impatient {
    fn new(run: Running) -> Self {
        Self {
            run: Some(run),
            patience: Box::pin(sleep(PATIENCE)),
        }
    }
}

impl Future for Impatient {
    type Output = Result<Option<Duration>, Running>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(mut run) = self.run.take() else {
            return Poll::Pending;
        };
        if let Poll::Ready(delay) = run.as_mut().poll(context) {
            return Poll::Ready(Ok(delay));
        }
        // A poll before its time is one that something woke: patience begins anew.
        if !self.patience.is_elapsed() {
            self.patience.as_mut().reset(Instant::now() + PATIENCE);
            // Registers for the new time; it cannot have come yet.
            if self.patience.as_mut().poll(context).is_pending() {
                self.run = Some(run);
                return Poll::Pending;
            }
        }
        Poll::Ready(Err(run))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds the lock can leave what it guards half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::unbounded_channel;
    use tokio::time::advance;

    fn name() -> ComponentName {
        ("apps".to_owned(), "shop".to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn run_that_goes_on_keeps_its_place() {
        let (wake, mut woken) = unbounded_channel();
        let aside = Aside::new(wake);
        let steps = async {
            for _ in 0..10 {
                sleep(Duration::from_secs(1)).await;
            }
            Some(Duration::from_secs(7))
        };
        let delay = aside.run(name(), Box::pin(steps)).await;
        assert_eq!(delay, Some(Duration::from_secs(7)));
        assert!(woken.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn run_that_hangs_gives_its_place_back_and_is_heard_of_in_the_end() {
        let (wake, mut woken) = unbounded_channel();
        let aside = Aside::new(wake);
        let started = Instant::now();
        let hanging = async {
            sleep(Duration::from_secs(30)).await;
            Some(Duration::from_secs(5))
        };
        assert_eq!(aside.run(name(), Box::pin(hanging)).await, None);
        assert_eq!(started.elapsed().as_secs(), 2);
        assert_eq!(woken.recv().await, Some(name()));
        assert_eq!(started.elapsed().as_secs(), 35);
        assert!(!aside.defer(&name()));
    }

    #[tokio::test(start_paused = true)]
    async fn event_during_such_a_run_has_the_component_reconciled_when_it_ends() {
        let (wake, mut woken) = unbounded_channel();
        let aside = Aside::new(wake);
        let hanging = async {
            sleep(Duration::from_secs(30)).await;
            Some(Duration::from_secs(500))
        };
        assert_eq!(aside.run(name(), Box::pin(hanging)).await, None);
        assert!(aside.defer(&name()));
        let started = Instant::now();
        aside.finish().await;
        assert_eq!(woken.recv().await, Some(name()));
        assert_eq!(started.elapsed().as_secs(), 28);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_a_bounded_number_goes_on_beside_the_others() {
        let (wake, _woken) = unbounded_channel();
        let aside = Arc::new(Aside::new(wake));
        for number in 0..MOST_ASIDE {
            let component = ("apps".to_owned(), number.to_string());
            let delay = aside.run(component, Box::pin(futures::future::pending()));
            assert_eq!(delay.await, None);
        }
        let last = Arc::clone(&aside);
        let last =
            tokio::spawn(
                async move { last.run(name(), Box::pin(futures::future::pending())).await },
            );
        advance(Duration::from_mins(10)).await;
        assert!(!last.is_finished());
        last.abort();
    }
}
