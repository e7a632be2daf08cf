//! Limits on what a build may use.

/// How deep kustomizations may refer to each other.
pub const MAX_BASE_DEPTH: usize = 64;
/// How many kustomizations one build may load, each base counted as often as it is used.
pub const MAX_KUSTOMIZATIONS: usize = 5_000;
/// How many objects one kustomization may hold.
pub const MAX_RESOURCES: usize = 50_000;
/// How many bytes one build may read.
pub const MAX_INPUT_BYTES: usize = 256 << 20;
/// How many nodes (scalars, lists, maps) one build may make.
pub const MAX_NODES: usize = 20_000_000;
/// How many parts the path of a patch, a replacement or a field specification may have.
pub const MAX_PATH_PARTS: usize = 256;
/// How many bytes one regular expression may have.
pub const MAX_EXPRESSION_BYTES: usize = 16 << 10;
/// How many operations one JSON patch may have.
pub const MAX_PATCH_OPERATIONS: usize = 10_000;
/// How many replacements one kustomization may have.
pub const MAX_REPLACEMENTS: usize = 10_000;
/// How many bytes one object may have as JSON while a patch copies parts of it.
pub const MAX_PATCHED_BYTES: usize = 64 << 20;
