//! The real tools that ours are compared with.

use crate::{Error, Progress, program};
use std::path::PathBuf;

/// A version of Helm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helm {
    /// 3.22.
    V3,
    /// 4.1.
    V4_1,
    /// 4.2.
    V4_2,
    /// 4.3.
    V4,
}

impl Helm {
    /// The real `helm`, built from its Go modules the first time.
    ///
    /// # Errors
    ///
    /// When Go is missing or the build fails.
    pub fn program(self) -> Result<PathBuf, Error> {
        program::helm(self, Progress::Stderr)
    }

    /// A program around the engine of that `helm`, which renders templates one by one: see
    /// `tests/peers/helm4/expressions`.
    ///
    /// # Errors
    ///
    /// When Go is missing or the build fails.
    pub fn expressions(self) -> Result<PathBuf, Error> {
        program::expressions(self, Progress::Stderr)
    }
}

/// The real `kustomize` 5.8.1, built from its Go modules the first time.
///
/// # Errors
///
/// When Go is missing or the build fails.
pub fn kustomize_program() -> Result<PathBuf, Error> {
    program::kustomize(Progress::Stderr)
}
