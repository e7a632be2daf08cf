//! `.helmignore`: which files of a folder do not belong to a chart (Helm 4.3, `pkg/ignore`).
//!
//! The rules only look like `.gitignore`: the first decisive one wins, and a negated rule ignores everything that it does *not*
//! match.

use crate::path_pattern::{BadPattern, PathPattern};

/// Name of the file that rules are read from.
pub const IGNORE_FILE: &str = ".helmignore";
/// Most rules in one file.
pub const MAX_IGNORE_RULES: usize = 10_000;

/// Rules in the order of their lines.
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules {
    rules: Vec<Rule>,
}

/// A `.helmignore` that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IgnoreError {
    /// `**` is not part of the language.
    #[error("double-star (**) syntax is not supported")]
    DoubleStar,
    /// A pattern is malformed.
    #[error("syntax error in pattern")]
    Pattern,
    /// There are more than [`MAX_IGNORE_RULES`] rules.
    #[error("more than {MAX_IGNORE_RULES} rules in {IGNORE_FILE}")]
    Rules,
}

impl From<BadPattern> for IgnoreError {
    fn from(BadPattern: BadPattern) -> Self {
        Self::Pattern
    }
}

#[derive(Debug, Clone)]
struct Rule {
    /// None if what is left of a line that could be read can not: such a rule matches nothing.
    pattern: Option<PathPattern>,
    negated: bool,
    folders_only: bool,
    whole_path: bool,
}

impl IgnoreRules {
    /// The rules of a `.helmignore`, followed by the one that always holds: hidden files in `templates/`.
    ///
    /// # Errors
    /// [`IgnoreError`] when a rule is malformed.
    pub fn parse(text: &str) -> Result<Self, IgnoreError> {
        let mut rules = Vec::new();
        for line in text.trim_start_matches('\u{feff}').lines() {
            rules.extend(Rule::parse(line)?);
            if rules.len() > MAX_IGNORE_RULES {
                return Err(IgnoreError::Rules);
            }
        }
        rules.extend(Rule::parse("templates/.?*")?);
        Ok(Self { rules })
    }

    /// Whether a file or folder is to be left out; of an ignored folder, everything below is.
    pub fn ignores(&self, path: &str, is_folder: bool) -> bool {
        if matches!(path, "" | "." | "./") {
            return false;
        }
        for rule in &self.rules {
            let wrong_type = rule.folders_only && !is_folder;
            if rule.negated {
                if wrong_type || !rule.matches(path) {
                    return true;
                }
            } else if !wrong_type && rule.matches(path) {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Option<Self>, IgnoreError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.contains("**") {
            return Err(IgnoreError::DoubleStar);
        }
        PathPattern::parse(line)?;
        let (negated, rest) = line
            .strip_prefix('!')
            .map_or((false, line), |rest| (true, rest));
        let (folders_only, rest) = rest
            .strip_suffix('/')
            .map_or((false, rest), |rest| (true, rest));
        let whole_path = rest.contains('/');
        let pattern = PathPattern::parse(rest.strip_prefix('/').unwrap_or(rest)).ok();
        Ok(Some(Self {
            pattern,
            negated,
            folders_only,
            whole_path,
        }))
    }

    fn matches(&self, path: &str) -> bool {
        let name = if self.whole_path {
            path
        } else {
            path.trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or(path)
        };
        self.pattern
            .as_ref()
            .is_some_and(|pattern| pattern.matches(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_ignore_what_helm_ignores() {
        // rules, path, is a folder, ignored
        let cases = [
            ("notes.md", "notes.md", false, true),
            ("notes.*", "notes.md", false, true),
            ("notes.*", "readme.md", false, false),
            ("*.md", "docs/deep/x.md", false, true),
            ("docs/*.md", "docs/x.md", false, true),
            ("docs/*.md", "docs/deep/x.md", false, false),
            ("docs/*.md", "other/x.md", false, false),
            ("no[s-u]?s.md", "notes.md", false, true),
            // Folders.
            ("ci/", "ci", true, true),
            ("ci", "ci", true, true),
            ("ci", "docs/ci", true, true),
            ("ci/", "docs", true, false),
            ("notes.md/", "notes.md", false, false),
            // Negation ignores what it does not match.
            ("!notes.md", "notes.md", false, false),
            ("!notes.md", "readme.md", false, true),
            ("!*.md", "docs", true, true),
            ("!docs/", "ci", true, true),
            ("!docs/", "docs", true, false),
            ("!docs/", "docs", false, true),
            ("!*.md\n!b*", "b.md", false, false),
            ("!*.md\n!b*", "a.md", false, true),
            // Anchored.
            ("/x.md", "x.md", false, true),
            ("/x.md", "docs/x.md", false, false),
            ("/docs/x.md", "docs/x.md", false, true),
            // Blank lines, comments, surrounding spaces, a byte order mark.
            ("\n# x.md\n\n", "x.md", false, false),
            ("  x.md  ", "x.md", false, true),
            ("\u{feff}x.md", "x.md", false, true),
            // The rule that always holds.
            ("", "templates/.hidden", false, true),
            ("", "templates/a/.hidden", false, false),
            (".*", ".", true, false),
            (".*", ".git", true, true),
            ("*", "", true, false),
        ];
        for (rules, path, is_folder, ignored) in cases {
            let parsed = IgnoreRules::parse(rules).unwrap();
            assert_eq!(
                parsed.ignores(path, is_folder),
                ignored,
                "{rules:?} {path:?}"
            );
        }
    }

    #[test]
    fn malformed_rules_are_refused() {
        assert_eq!(
            IgnoreRules::parse("a/**").unwrap_err(),
            IgnoreError::DoubleStar
        );
        assert_eq!(IgnoreRules::parse("a[").unwrap_err(), IgnoreError::Pattern);
    }
}
