//! What a rendering may use up.

use crate::FunctionError;
use std::time::Instant;
use whipstaff_generator::Limits;

/// The clock is read once in so many steps.
const STEPS_PER_CLOCK: u64 = 4_096;

#[derive(Debug)]
pub(super) struct Budget {
    limits: Limits,
    started: Instant,
    steps: u64,
    bytes: u64,
    depth: u32,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            steps: 0,
            bytes: 0,
            depth: 0,
        }
    }

    /// Takes several steps and looks at the clock.
    pub(super) fn steps(&mut self, count: u64) -> Result<(), FunctionError> {
        // The last step is taken as a single one; the clock is read when a boundary was crossed.
        let before = self.steps;
        self.steps = self.steps.saturating_add(count.saturating_sub(1));
        let crossed = before / STEPS_PER_CLOCK != self.steps / STEPS_PER_CLOCK;
        if crossed && self.started.elapsed() > self.limits.time {
            let limit = self.limits.time;
            return Err(FunctionError::limit(format!(
                "rendering takes longer than {limit:?}"
            )));
        }
        if count > 0 { self.step() } else { Ok(()) }
    }

    /// Takes one step.
    pub(super) fn step(&mut self) -> Result<(), FunctionError> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            let limit = self.limits.steps;
            return Err(FunctionError::limit(format!(
                "rendering takes more than {limit} steps"
            )));
        }
        if self.steps.is_multiple_of(STEPS_PER_CLOCK) && self.started.elapsed() > self.limits.time {
            let limit = self.limits.time;
            return Err(FunctionError::limit(format!(
                "rendering takes longer than {limit:?}"
            )));
        }
        Ok(())
    }

    /// Takes bytes.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), FunctionError> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.bytes > self.limits.output_bytes {
            Err(self.too_large())
        } else {
            Ok(())
        }
    }

    /// How many bytes are left.
    pub(super) fn remaining(&self) -> usize {
        let left = self.limits.output_bytes.saturating_sub(self.bytes);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// What is left of the limits.
    pub(super) fn left(&self) -> Limits {
        let mut left = self.limits;
        left.steps = left.steps.saturating_sub(self.steps);
        left.output_bytes = left.output_bytes.saturating_sub(self.bytes);
        left.time = left.time.saturating_sub(self.started.elapsed());
        left
    }

    pub(super) fn too_large(&self) -> FunctionError {
        let limit = self.limits.output_bytes;
        FunctionError::limit(format!("rendering produces more than {limit} bytes"))
    }

    /// Goes one template call deeper.
    pub(super) fn enter(&mut self) -> Result<Depth, FunctionError> {
        if self.depth >= self.limits.depth {
            let limit = self.limits.depth;
            return Err(FunctionError::limit(format!(
                "templates are nested deeper than {limit} calls"
            )));
        }
        self.depth += 1;
        Ok(Depth(self.depth - 1))
    }

    /// Goes back to where a call was made, whether it succeeded or not.
    pub(super) fn leave(&mut self, depth: Depth) {
        self.depth = depth.0;
    }
}

/// Where a template call was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth(u32);
