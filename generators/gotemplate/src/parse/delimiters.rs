//! What actions stand between.

use std::sync::Arc;

const LEFT: &str = "{{";
const RIGHT: &str = "}}";

/// What actions of a template begin and end with: `{{` and `}}` unless others are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimiters {
    left: Arc<str>,
    right: Arc<str>,
}

impl Delimiters {
    /// These delimiters; an empty one stands for the usual one, as in Go's `Delims`.
    pub fn new(left: &str, right: &str) -> Self {
        let or = |text: &str, usual: &str| Arc::from(if text.is_empty() { usual } else { text });
        Self {
            left: or(left, LEFT),
            right: or(right, RIGHT),
        }
    }

    pub(super) fn left(&self) -> &[u8] {
        self.left.as_bytes()
    }

    pub(super) fn right(&self) -> &[u8] {
        self.right.as_bytes()
    }
}

impl Default for Delimiters {
    fn default() -> Self {
        Self::new("", "")
    }
}
