//! Findings that Helm cannot have. Each is proven by renderings, never guessed from the text of templates.

use super::{Finding, LintInput};

/// The codes of findings, with what they stand for.
pub const CODES: &[(&str, &str)] = &[];

/// Looks for what Helm cannot know.
pub fn lint_rendering(_input: &LintInput<'_>) -> Vec<Finding> {
    Vec::new()
}
