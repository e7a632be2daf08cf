//! Restraint towards objects that somebody keeps changing.

use crate::dependents::{Plan, Waiting};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use whipstaff_generator::ObjectId;

/// Corrections of one object that are made at once.
const FREE_CORRECTIONS: u32 = 10;
/// How long the object must be left alone for the count to start anew; also the time between corrections once they are over.
const CALM: Duration = Duration::from_mins(1);

/// Counts corrections, so that two controllers that fight over a field do not keep the API server busy.
#[derive(Debug, Default)]
pub(crate) struct Corrections {
    counts: HashMap<ObjectId, (u32, Instant)>,
}

impl Corrections {
    /// Notes that an object was put right.
    pub(super) fn corrected(&mut self, id: &ObjectId) {
        let now = Instant::now();
        let (count, last) = self.counts.entry(id.clone()).or_insert((0, now));
        *count = if now.duration_since(*last) < CALM {
            count.saturating_add(1)
        } else {
            1
        };
        *last = now;
    }

    /// Turns corrections of objects that were corrected too often lately into waiting.
    pub(super) fn restrain(&mut self, plan: &mut Plan) {
        self.counts.retain(|_, (_, last)| last.elapsed() < CALM);
        let restrained = plan.steps.extract_if(.., |step| {
            let count = self
                .counts
                .get(&step.key.id())
                .map_or(0, |(count, _)| *count);
            step.reason.is_drift() && count >= FREE_CORRECTIONS
        });
        plan.waiting.extend(restrained.map(|step| Waiting {
            id: step.key.id(),
            reason: "somebody keeps changing it; it will be put right again in a minute".to_owned(),
            since: None,
            failed: true,
        }));
    }
}
