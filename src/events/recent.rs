//! What was said lately about which object.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};
use whipstaff_generator::Digest;

/// The same reason and note about an object are published once in this time.
const REPEAT_AFTER: Duration = Duration::from_mins(5);
/// How long events are remembered: longer than kube's recorder merges events, 6 minutes.
const MEMORY: Duration = Duration::from_mins(7);
/// Most events about one object within [`MEMORY`]; client-go's burst.
pub(super) const MAX_EVENTS_PER_OBJECT: usize = 25;
/// Most objects that are remembered.
pub(super) const MAX_OBJECTS: usize = 4096;

/// An event, as far as it is compared with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// What kube's recorder takes for the same event: type, action and reason.
    pub(super) merged: Digest,
    /// The reason.
    pub(super) reason: Digest,
    /// The note.
    pub(super) note: Digest,
}

/// Whether an event is to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is.
    Publish,
    /// It is, under another action: an event with another note would swallow it.
    PublishApart,
    /// It is not.
    Withhold,
}

/// The latest events by object, in a bounded amount of memory.
#[derive(Debug, Default)]
pub(super) struct Recent {
    objects: HashMap<Digest, Vec<(Mark, Instant)>>,
}

impl Recent {
    /// Decides about an event, and remembers it when it is to be published.
    pub(super) fn judge(&mut self, object: Digest, mark: Mark, now: Instant) -> Verdict {
        self.make_room(&object, now);
        let past = self.objects.entry(object).or_default();
        past.retain(|(_, at)| now.duration_since(*at) < MEMORY);
        let repeated = past.iter().any(|(old, at)| {
            (old.reason, old.note) == (mark.reason, mark.note)
                && now.duration_since(*at) < REPEAT_AFTER
        });
        if repeated || past.len() >= MAX_EVENTS_PER_OBJECT {
            return Verdict::Withhold;
        }
        let apart = past
            .iter()
            .any(|(old, _)| old.merged == mark.merged && old.note != mark.note);
        past.push((mark, now));
        if apart {
            Verdict::PublishApart
        } else {
            Verdict::Publish
        }
    }

    /// Forgets objects that nothing was said about lately, or else the one that it is longest ago for.
    fn make_room(&mut self, object: &Digest, now: Instant) {
        if self.objects.len() < MAX_OBJECTS || self.objects.contains_key(object) {
            return;
        }
        let last = |past: &[(Mark, Instant)]| past.iter().map(|(_, at)| *at).max();
        self.objects
            .retain(|_, past| last(past).is_some_and(|at| now.duration_since(at) < MEMORY));
        if self.objects.len() < MAX_OBJECTS {
            return;
        }
        let oldest = self.objects.iter().min_by_key(|(_, past)| last(past));
        if let Some(oldest) = oldest.map(|(object, _)| *object) {
            self.objects.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Digest {
        Digest::of(text.as_bytes())
    }

    fn mark(reason: &str, note: &str) -> Mark {
        Mark {
            merged: digest(reason),
            reason: digest(reason),
            note: digest(note),
        }
    }

    #[test]
    fn repeated_events_are_withheld_and_others_kept_apart() {
        use Verdict::{Publish, PublishApart, Withhold};
        let (start, mut recent) = (Instant::now(), Recent::default());
        // (seconds, object, reason, note)
        let cases = [
            (0, "a", "Ready", "all is well", Publish),
            (0, "b", "Ready", "all is well", Publish),
            (1, "a", "Ready", "all is well", Withhold),
            (2, "a", "Failed", "no chart", Publish),
            (3, "a", "Failed", "no values", PublishApart),
            (4, "a", "Failed", "no chart", Withhold),
            (299, "a", "Ready", "all is well", Withhold),
            (300, "a", "Ready", "all is well", Publish),
            (302, "a", "Failed", "no chart", PublishApart),
            (800, "a", "Failed", "no image", Publish),
        ];
        for (seconds, object, reason, note, expected) in cases {
            let now = start + Duration::from_secs(seconds);
            let verdict = recent.judge(digest(object), mark(reason, note), now);
            assert_eq!(verdict, expected, "{seconds} s: {object} {reason} {note}");
        }
    }

    #[test]
    fn object_with_many_events_is_held_back() {
        let (start, mut recent) = (Instant::now(), Recent::default());
        let mut judge = |number: usize, now| {
            recent.judge(digest("a"), mark(&format!("Reason{number}"), ""), now)
        };
        for number in 0..MAX_EVENTS_PER_OBJECT {
            assert_eq!(judge(number, start), Verdict::Publish);
        }
        assert_eq!(judge(1000, start), Verdict::Withhold);
        assert_eq!(judge(1000, start + MEMORY), Verdict::Publish);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_object_is_forgotten() {
        let (start, mut recent) = (Instant::now(), Recent::default());
        for number in 0..=MAX_OBJECTS {
            let now = start + Duration::from_millis(number as u64);
            recent.judge(digest(&number.to_string()), mark("Ready", ""), now);
        }
        assert_eq!(recent.objects.len(), MAX_OBJECTS);
        let now = start + Duration::from_secs(10);
        assert_eq!(
            recent.judge(digest("1"), mark("Ready", ""), now),
            Verdict::Withhold
        );
        assert_eq!(
            recent.judge(digest("0"), mark("Ready", ""), now),
            Verdict::Publish
        );
        recent.judge(digest("new"), mark("Ready", ""), now + MEMORY);
        assert_eq!(recent.objects.len(), 1);
    }
}
