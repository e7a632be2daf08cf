//! Recursion on input: the native stack grows on the heap instead of overflowing.

use std::{cell::Cell, ptr};

/// Stack that must be left before a recursive step.
const RED_ZONE: usize = 256 * 1024;

/// Size of each further piece of stack.
const SEGMENT: usize = 4 * 1024 * 1024;

/// Stack that whoever takes the outermost step has left for it: how much there is at all is asked only beyond. On Linux that means
/// reading a list of all mappings, for nothing in most short processes.
const SHALLOW: usize = 64 * 1024;

thread_local! {
    /// Where the stack stands at the outermost step that this thread is taking; zero when it takes none.
    static OUTERMOST: Cell<usize> = const { Cell::new(0) };
}

/// Runs a step of a recursion whose depth the input controls, on a new piece of stack when the current one is nearly used up.
pub fn grow_stack<T>(step: impl FnOnce() -> T) -> T {
    let marker = 0_u8;
    let here = ptr::from_ref(&marker).addr();
    let outermost = OUTERMOST.get();
    if outermost == 0 {
        let _outermost = Outermost::at(here);
        return step();
    }
    // Stacks grow downwards. Another piece of stack is above or far below.
    if outermost.wrapping_sub(here) < SHALLOW {
        return step();
    }
    stacker::maybe_grow(RED_ZONE, SEGMENT, step)
}

/// Runs somebody else's recursion, which does not call [`grow_stack`], with at least this many bytes of stack.
pub fn with_stack<T>(bytes: usize, step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(bytes, bytes, step)
}

/// The outermost step, for as long as it runs, whether it ends or panics.
struct Outermost;

impl Outermost {
    fn at(here: usize) -> Self {
        OUTERMOST.set(here);
        Self
    }
}

impl Drop for Outermost {
    fn drop(&mut self) {
        OUTERMOST.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic;

    fn depth_of(levels: u32) -> u32 {
        if levels == 0 {
            return 0;
        }
        grow_stack(|| 1 + depth_of(levels - 1))
    }

    #[test]
    fn recursion_goes_deeper_than_the_stack_of_its_thread() {
        assert_eq!(depth_of(100_000), 100_000);
    }

    #[test]
    fn a_step_that_panics_is_no_longer_the_outermost() {
        let step = || grow_stack(|| panic::resume_unwind(Box::new(())));
        assert!(panic::catch_unwind(step).is_err());
        assert_eq!(OUTERMOST.get(), 0);
    }
}
