//! Semantic versions and constraints as Helm reads them.
//!
//! Mirrors `github.com/Masterminds/semver/v3` 3.5.0, which Helm 3.22 and 4.3 use: [`Version::parse`] is its `NewVersion`,
//! [`Version::parse_strict`] its `StrictNewVersion`, and [`Constraint`] its `Constraints`.

mod constraint;
mod functions;
mod version;

pub use constraint::{Constraint, ConstraintError};
pub use version::{Version, VersionError};

pub(crate) use functions::functions;
