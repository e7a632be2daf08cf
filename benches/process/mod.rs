//! What whole processes use.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use wait4::Wait4;

/// What a process used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) time: Duration,
    pub(crate) bytes: u64,
}

impl Usage {
    /// The lesser of both, each by itself.
    fn least(self, other: Self) -> Self {
        Self {
            time: self.time.min(other.time),
            bytes: self.bytes.min(other.bytes),
        }
    }
}

/// What a program uses at least in some runs; nothing if it fails.
///
/// A process counts the memory that its parent had when it was started, so that the caller must be small.
pub(crate) fn usage(program: &Path, arguments: &[&str], rounds: usize) -> Result<Option<Usage>> {
    let mut least: Option<Usage> = None;
    for _ in 0..rounds {
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let result = child.wait4()?;
        if !result.status.success() {
            return Ok(None);
        }
        let usage = Usage {
            time: result.rusage.utime + result.rusage.stime,
            bytes: result.rusage.maxrss,
        };
        least = Some(least.map_or(usage, |least| least.least(usage)));
    }
    Ok(least)
}

/// How many times more the other takes.
pub(crate) fn ratio(theirs: Duration, ours: Duration) -> f64 {
    theirs.as_secs_f64() / ours.as_secs_f64().max(1e-6)
}

/// The folders that were given, or else the one of the fixtures.
pub(crate) fn folders(fixtures: &str) -> Vec<std::path::PathBuf> {
    // Cargo adds an argument of its own.
    let given: Vec<_> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .map(Into::into)
        .collect();
    if given.is_empty() {
        vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(fixtures)]
    } else {
        given
    }
}
