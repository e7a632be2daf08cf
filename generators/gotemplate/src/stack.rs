//! Recursion on input: the native stack grows on the heap instead of overflowing.

/// Stack that must be left before a recursive step.
const RED_ZONE: usize = 128 * 1024;

/// Size of each further piece of stack.
const SEGMENT: usize = 2 * 1024 * 1024;

/// Runs a recursive step with enough stack.
pub(crate) fn grow<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, SEGMENT, step)
}
