//! Names that occur again and again: one text for all of their places.

use foldhash::HashSet;
use std::sync::Arc;

/// Names that texts have had so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    known: HashSet<Arc<str>>,
}

impl Names {
    /// The shared text of a name.
    pub(super) fn shared(&mut self, bytes: &[u8]) -> Arc<str> {
        // Nearly all names are short and ASCII: the lossy conversion would be the larger part of the work.
        let name =
            std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Into::into);
        if let Some(known) = self.known.get(&*name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.known.insert(name.clone());
        name
    }
}
