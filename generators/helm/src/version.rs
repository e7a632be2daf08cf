//! Versions of charts and of Kubernetes against constraints.

use whipstaff_sprig::semver::{Constraints, Version};

/// Whether a version satisfies a constraint; never, when one of them cannot be read.
pub(crate) fn is_compatible(constraint: &str, version: &str) -> bool {
    let (Ok(version), Ok(constraint)) = (Version::parse(version), Constraints::parse(constraint))
    else {
        return false;
    };
    constraint.check(&version)
}
