//! Versions of charts and of Kubernetes against constraints.

use whipstaff_sprig::semver::{Constraint, Version};

/// Whether a version satisfies a constraint; never, when one of them cannot be read.
pub(crate) fn is_compatible(constraint: &str, version: &str) -> bool {
    let (Ok(version), Ok(constraint)) = (Version::parse(version), Constraint::parse(constraint))
    else {
        return false;
    };
    constraint.check(&version)
}
