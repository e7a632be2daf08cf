//! What a process used.

use anyhow::{Context as _, Result};
use std::time::Duration;

/// Clock ticks of the kernel's accounts in a second, on every architecture that Linux runs on today.
const TICKS: u64 = 100;
const KIB_PER_MIB: f64 = 1024.0;

/// What a process used so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Time on a processor, all threads together.
    pub(crate) cpu: Duration,
    peak_kib: u64,
    resident_kib: u64,
}

impl Usage {
    /// What a process used until now.
    pub(crate) fn of(process: u32) -> Result<Self> {
        let read = |name: &str| {
            let path = format!("/proc/{process}/{name}");
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
        };
        let stat = read("stat")?;
        // The name of the program, in parentheses, may hold spaces.
        let (_, fields) = stat.rsplit_once(')').context("malformed `stat`")?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
        let status = read("status")?;
        let kib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let number = line.and_then(|line| line.split_whitespace().next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        Ok(Self {
            cpu: Duration::from_millis(ticks * 1000 / TICKS),
            peak_kib: kib("VmHWM:"),
            resident_kib: kib("VmRSS:"),
        })
    }

    /// The most memory that it ever held, in MiB.
    pub(crate) fn peak_mib(self) -> f64 {
        self.peak_kib as f64 / KIB_PER_MIB
    }

    /// The memory that it holds, in MiB.
    pub(crate) fn resident_mib(self) -> f64 {
        self.resident_kib as f64 / KIB_PER_MIB
    }
}
