//! Recursion on input: the native stack grows on the heap instead of overflowing.

/// Stack that must be left before a recursive step.
const RED_ZONE: usize = 256 * 1024;

/// Size of each further piece of stack.
const SEGMENT: usize = 4 * 1024 * 1024;

/// Runs a step of a recursion whose depth the input controls, on a new piece of stack when the current one is nearly used up.
pub fn grow_stack<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, SEGMENT, step)
}

/// Runs somebody else's recursion, which does not call [`grow_stack`], with at least this many bytes of stack.
pub fn with_stack<T>(bytes: usize, step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(bytes, bytes, step)
}
