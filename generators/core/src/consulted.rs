//! What a rendering made use of beside its files and parameters.

use crate::LookupQuestion;

/// What a rendering asked of the world outside: it tells the host what to answer, what to keep, and what to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Consulted {
    /// Every question that was asked of the cluster, whether the snapshot held its answer or not, without repetition.
    pub lookups: Vec<LookupQuestion>,
    /// Whether random values were drawn.
    pub random: bool,
    /// Whether the time was asked for.
    pub clock: bool,
    /// Whether [`Input::component`](crate::Input::component) was read: a change of it may change the output.
    pub component: bool,
}

impl Consulted {
    /// Adds what another part of the same work consulted.
    pub fn merge(&mut self, other: Self) {
        self.random |= other.random;
        self.clock |= other.clock;
        self.component |= other.component;
        self.lookups.extend(other.lookups);
        self.lookups.sort_unstable();
        self.lookups.dedup();
    }
}
