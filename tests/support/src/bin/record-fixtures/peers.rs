//! The versions of Helm that are asked.

use whipstaff_test_support::Helm;

/// Dialects and the real tools that speak them.
pub(crate) const PEERS: [(&str, Helm); 4] = [
    ("v3", Helm::V3),
    ("v4.1", Helm::V4_1),
    ("v4.2", Helm::V4_2),
    ("v4.3", Helm::V4),
];
