//! Which variable a name means.

use std::sync::Arc;

/// The variables of one template at a place in it.
///
/// Go checks while parsing only that a name was seen before, and looks the variable up while executing. Both are done here, so a
/// name may be known and still have no slot.
#[derive(Debug)]
pub(super) struct Scope {
    names: Vec<(Arc<str>, Option<usize>)>,
    used: usize,
    most: usize,
}

/// A place to return to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    names: usize,
    used: usize,
}

impl Scope {
    /// The scope of a template's beginning: `$` has the first slot.
    pub(super) fn new() -> Self {
        Self {
            names: vec![("$".into(), Some(0))],
            used: 1,
            most: 1,
        }
    }

    /// How many slots are needed.
    pub(super) fn slots(&self) -> usize {
        self.most
    }

    /// Whether a name was seen before.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|(known, _)| &**known == name)
    }

    /// The slot of a name, if it has one.
    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        self.names
            .iter()
            .rev()
            .find(|(known, _)| &**known == name)
            .and_then(|&(_, slot)| slot)
    }

    /// Makes a name known before what it stands for is.
    pub(super) fn announce(&mut self, name: &Arc<str>) {
        let slot = self.slot(name);
        self.names.push((name.clone(), slot));
    }

    /// Gives a name a slot of its own.
    pub(super) fn declare(&mut self, name: &Arc<str>) -> usize {
        let slot = self.used;
        self.used += 1;
        self.most = self.most.max(self.used);
        self.names.push((name.clone(), Some(slot)));
        slot
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            names: self.names.len(),
            used: self.used,
        }
    }

    pub(super) fn restore(&mut self, mark: Mark) {
        self.names.truncate(mark.names);
        self.used = mark.used;
    }

    /// Leaves the names since a mark known but without their slots, as an `else` finds those of the branch before it.
    pub(super) fn forget(&mut self, mark: Mark) {
        let since = self.names.split_off(mark.names.min(self.names.len()));
        self.used = mark.used;
        for (name, _) in since {
            let slot = self.names[..mark.names.min(self.names.len())]
                .iter()
                .rev()
                .find(|(known, _)| *known == name)
                .and_then(|&(_, slot)| slot);
            self.names.push((name, slot));
        }
    }
}
