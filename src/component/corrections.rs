//! Restraint towards objects that somebody keeps changing.

use crate::dependents::{Change, Plan, Waiting};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use whipstaff_generator::ObjectId;

/// Corrections of one object that are made at once.
const FREE_CORRECTIONS: u32 = 10;
/// How long the object must be left alone for the count to start anew; also the first pause between corrections once the free ones
/// are used up. Each further pause is twice as long.
const CALM: Duration = Duration::from_mins(1);
/// Longest pause between corrections.
const MAX_PAUSE: Duration = Duration::from_hours(1);

/// Counts corrections, so that two controllers that fight over a field do not keep the API server busy.
#[derive(Debug, Default)]
pub(crate) struct Corrections {
    objects: HashMap<ObjectId, Corrected>,
}

#[derive(Debug)]
struct Corrected {
    count: u32,
    last: Instant,
}

impl Corrected {
    /// How long the next correction has to wait after the last one.
    fn pause(&self) -> Duration {
        match self.count.checked_sub(FREE_CORRECTIONS) {
            None => Duration::ZERO,
            Some(over) => CALM.saturating_mul(1 << over.min(16)).min(MAX_PAUSE),
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.last) >= CALM.max(self.pause().saturating_mul(2))
    }
}

impl Corrections {
    /// Counts the corrections among changes.
    pub(super) fn count(&mut self, changes: &[Change], now: Instant) {
        for change in changes.iter().filter(|change| change.is_correction()) {
            self.corrected(&change.id, now);
        }
    }

    fn corrected(&mut self, id: &ObjectId, now: Instant) {
        let object = self.objects.entry(id.clone()).or_insert(Corrected {
            count: 0,
            last: now,
        });
        if object.is_over(now) {
            object.count = 0;
        }
        object.count = object.count.saturating_add(1);
        object.last = now;
    }

    /// Turns corrections of objects that were corrected too often lately into waiting, and gives when the first of them is due.
    /// `what` says what somebody does to an object.
    pub(super) fn restrain(
        &mut self,
        plan: &mut Plan,
        now: Instant,
        what: impl Fn(&ObjectId) -> Option<String>,
    ) -> Option<Duration> {
        self.objects.retain(|_, object| !object.is_over(now));
        let mut next = None;
        let objects = &self.objects;
        let restrained = plan.steps.extract_if(.., |step| {
            let Some(object) = objects.get(&step.key.id()) else {
                return false;
            };
            let left = object
                .pause()
                .saturating_sub(now.duration_since(object.last));
            let held = step.reason.is_drift() && !left.is_zero();
            if held {
                next = Some(next.map_or(left, |next: Duration| next.min(left)));
            }
            held
        });
        let waiting: Vec<_> = restrained
            .map(|step| {
                let id = step.key.id();
                let pause = objects.get(&id).map_or(CALM, Corrected::pause);
                let what = what(&id).unwrap_or_else(|| step.reason.to_string());
                Waiting {
                    failed: true,
                    ..Waiting::new(id, fight(&what, pause))
                }
            })
            .collect();
        plan.waiting.extend(waiting);
        next
    }
}

fn fight(what: &str, pause: Duration) -> String {
    format!(
        "somebody keeps changing it; it is put right only every {} minutes now: {what}",
        pause.as_secs() / 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependents::{Action, Outcome, Reason, Step};
    use whipstaff_generator::ObjectKey;

    fn key() -> ObjectKey {
        ObjectKey {
            group: String::new(),
            version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "apps".to_owned(),
            name: "a".to_owned(),
        }
    }

    fn plan() -> Plan {
        let step = Step {
            key: key(),
            wave: 0,
            action: Action::Apply,
            reason: Reason::Drifted,
        };
        Plan {
            steps: vec![step],
            ..Plan::default()
        }
    }

    fn correct(corrections: &mut Corrections, now: Instant) {
        let change = Change {
            id: key().id(),
            reason: Reason::Drifted,
            outcome: Outcome::Deleted,
        };
        corrections.count(&[change], now);
    }

    #[test]
    fn fight_is_told_and_fought_ever_more_slowly() {
        let mut corrections = Corrections::default();
        let mut now = Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..20 {
            let mut plan = plan();
            let what = |_: &ObjectId| Some("`/data/a` is 1, wanted 2, set by `tool`".to_owned());
            let pause = corrections.restrain(&mut plan, now, what);
            if let Some(pause) = pause {
                assert!(plan.steps.is_empty() && plan.waiting[0].failed);
                assert!(plan.waiting[0].reason.contains("set by `tool`"));
                pauses.push(pause.as_secs() / 60);
                now += pause;
            }
            correct(&mut corrections, now);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
    }

    #[test]
    fn object_that_is_left_alone_is_corrected_at_once_again() {
        let mut corrections = Corrections::default();
        let now = Instant::now();
        for _ in 0..FREE_CORRECTIONS {
            correct(&mut corrections, now);
        }
        let later = now + CALM * 3;
        let mut plan = plan();
        assert_eq!(corrections.restrain(&mut plan, later, |_| None), None);
        assert_eq!(plan.steps.len(), 1);
    }
}
