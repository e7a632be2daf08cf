use std::io::Write as _;

/// Where a start says what it is doing: a first build takes minutes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// Lines on the standard error, past the capture of the test harness. The default.
    #[default]
    Stderr,
    /// Nothing is said.
    Silent,
}

impl Progress {
    pub(crate) fn say(self, line: &str) {
        if self == Self::Stderr {
            // Nobody to tell is no reason to fail.
            let _ = writeln!(std::io::stderr(), "control plane: {line}");
        }
    }
}
