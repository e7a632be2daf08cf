//! Counts what a fetch takes, and stops it at the limit.

use gix::odb::pack;
use gix::progress::{Count, Id, MessageLevel, NestedProgress, Progress, Step, StepShared, Unit};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Most bytes of one commit as they come, compressed.
pub(super) const MAX_PACK_BYTES: usize = 256 * 1024 * 1024;
/// Most objects (commits, folders and files) of one commit.
pub(super) const MAX_OBJECTS: usize = 1_000_000;

/// What all meters of a fetch share.
#[derive(Debug, Default)]
pub(super) struct Counted {
    bytes: AtomicUsize,
    /// Tells the fetch to stop.
    pub(super) stop: AtomicBool,
    too_large: AtomicBool,
}

impl Counted {
    /// Whether a limit was reached.
    pub(super) fn is_too_large(&self) -> bool {
        self.too_large.load(Ordering::Relaxed)
    }

    fn refuse(&self) {
        self.too_large.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The progress of a step.
#[derive(Debug)]
pub(super) struct Meter {
    counted: Arc<Counted>,
    step: StepShared,
    id: Id,
}

impl Meter {
    pub(super) fn new(counted: Arc<Counted>) -> Self {
        Self {
            counted,
            step: Arc::default(),
            id: gix::progress::UNKNOWN,
        }
    }
}

impl Count for Meter {
    fn set(&self, step: Step) {
        self.step.store(step, Ordering::Relaxed);
    }

    fn step(&self) -> Step {
        self.step.load(Ordering::Relaxed)
    }

    fn inc_by(&self, step: Step) {
        self.step.fetch_add(step, Ordering::Relaxed);
        if self.id == Id::from(pack::bundle::write::ProgressId::ReadPackBytes) {
            let before = self.counted.bytes.fetch_add(step, Ordering::Relaxed);
            if before.saturating_add(step) > MAX_PACK_BYTES {
                self.counted.refuse();
            }
        }
    }

    fn counter(&self) -> StepShared {
        Arc::clone(&self.step)
    }
}

impl Progress for Meter {
    fn init(&mut self, max: Option<Step>, _: Option<Unit>) {
        let is_objects = self.id == Id::from(pack::index::write::ProgressId::IndexObjects);
        if is_objects && max.is_some_and(|objects| objects > MAX_OBJECTS) {
            self.counted.refuse();
        }
    }

    fn set_name(&mut self, _: String) {}

    fn name(&self) -> Option<String> {
        None
    }

    fn id(&self) -> Id {
        self.id
    }

    fn message(&self, _: MessageLevel, _: String) {}
}

impl NestedProgress for Meter {
    type SubProgress = Self;

    fn add_child(&mut self, name: impl Into<String>) -> Self {
        self.add_child_with_id(name, gix::progress::UNKNOWN)
    }

    fn add_child_with_id(&mut self, _: impl Into<String>, id: Id) -> Self {
        Self {
            counted: Arc::clone(&self.counted),
            step: Arc::default(),
            id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_is_stopped_at_the_limits() {
        let counted = Arc::new(Counted::default());
        let id = pack::bundle::write::ProgressId::ReadPackBytes.into();
        let bytes = Meter::new(Arc::clone(&counted)).add_child_with_id("", id);
        bytes.inc_by(MAX_PACK_BYTES);
        assert!(!counted.stop.load(Ordering::Relaxed));
        bytes.inc_by(1);
        assert!(counted.stop.load(Ordering::Relaxed) && counted.is_too_large());

        let counted = Arc::new(Counted::default());
        let id = pack::index::write::ProgressId::IndexObjects.into();
        let mut objects = Meter::new(Arc::clone(&counted)).add_child_with_id("", id);
        objects.init(Some(MAX_OBJECTS + 1), None);
        assert!(counted.is_too_large());
    }
}
