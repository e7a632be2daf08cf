//! Files that are left out, in the language of `.gitignore`.

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use whipstaff_generator::{Error, ErrorKind, FileTree, Location};

/// Most rules in all ignore files of a tree.
pub const MAX_IGNORE_RULES: usize = 2_000;
/// Longest rule in bytes.
pub const MAX_IGNORE_RULE_LENGTH: usize = 1_024;
/// Deepest folder that rules are applied to.
pub const MAX_IGNORE_DEPTH: usize = 100;

/// Where ignore files are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoreScope {
    /// At the root alone.
    Root,
    /// In all folders; rules are relative to their folder, and those of deeper folders come first.
    Everywhere,
}

/// The rules of a tree's ignore files: `*`, `?`, `[a-z]` and `**`, rules with a slash are relative to the folder of their file, a
/// final slash asks for a folder, `!` takes back, the last rule that matches decides, and what is below an ignored folder cannot be
/// taken back. As in git.
#[derive(Debug, Default)]
pub struct IgnoreRules {
    /// Folders (with a final slash; empty for the root) and their rules, the root first.
    levels: Vec<(String, Gitignore)>,
}

impl IgnoreRules {
    /// Reads the ignore files of a name.
    ///
    /// # Errors
    /// [`ErrorKind::Source`] when a rule is malformed, [`ErrorKind::Limit`] when there are too many or a file lies too deep.
    pub fn read(files: &FileTree, name: &str, scope: IgnoreScope) -> Result<Self, Error> {
        let mut rules = Self::default();
        let mut count = 0;
        for (path, content) in files.iter() {
            let Some(folder) = path.strip_suffix(name) else {
                continue;
            };
            let is_root = folder.is_empty();
            if is_root || scope == IgnoreScope::Everywhere && folder.ends_with('/') {
                let level = read_file(path, content, &mut count)?;
                rules.levels.push((folder.to_owned(), level));
            }
        }
        if !rules.levels.is_empty() {
            check_depth(files)?;
        }
        Ok(rules)
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Whether a file is to be left out, for itself or for a folder that it is in.
    pub fn ignores(&self, path: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        folders.into_iter().any(|folder| self.decides(folder, true)) || self.decides(path, false)
    }

    /// The tree without what is ignored.
    #[must_use]
    pub fn kept(&self, files: &FileTree) -> FileTree {
        let mut kept = FileTree::new();
        for (path, content) in files.iter().filter(|(path, _)| !self.ignores(path)) {
            // A part of a tree is within the limits of one.
            let _ = kept.insert(path, std::sync::Arc::clone(content));
        }
        kept
    }

    /// What the deepest level that says anything says.
    fn decides(&self, path: &str, is_folder: bool) -> bool {
        for (folder, rules) in self.levels.iter().rev() {
            let Some(below) = path.strip_prefix(folder.as_str()) else {
                continue;
            };
            match rules.matched(below, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn read_file(path: &str, content: &[u8], count: &mut usize) -> Result<Gitignore, Error> {
    let text = String::from_utf8_lossy(content);
    let mut builder = GitignoreBuilder::new(".");
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let place = || Location::line(path, index + 1);
        *count += usize::from(!line.is_empty());
        if *count > MAX_IGNORE_RULES {
            let message = format!("more than {MAX_IGNORE_RULES} rules of ignored files");
            return Err(Error::new(ErrorKind::Limit, message).at(place()));
        }
        if line.len() > MAX_IGNORE_RULE_LENGTH {
            let message = format!("a rule is longer than {MAX_IGNORE_RULE_LENGTH} bytes");
            return Err(Error::new(ErrorKind::Limit, message).at(place()));
        }
        builder.add_line(None, line).map_err(|error| {
            Error::new(ErrorKind::Source, "malformed rule of ignored files")
                .at(place())
                .caused_by(error)
        })?;
    }
    builder.build().map_err(|error| {
        Error::new(ErrorKind::Source, "cannot use the rules of ignored files")
            .at(Location::file(path))
            .caused_by(error)
    })
}

/// Each folder of each path is matched against the rules.
fn check_depth(files: &FileTree) -> Result<(), Error> {
    let too_deep = |path: &str| path.matches('/').count() > MAX_IGNORE_DEPTH;
    let Some((path, _)) = files.iter().find(|(path, _)| too_deep(path)) else {
        return Ok(());
    };
    let message = format!("rules of ignored files reach {MAX_IGNORE_DEPTH} folders deep at most");
    Err(Error::new(ErrorKind::Limit, message).at(Location::file(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> FileTree {
        let mut tree = FileTree::new();
        for (path, content) in files {
            tree.insert(*path, content.as_bytes()).unwrap();
        }
        tree
    }

    #[test]
    fn rules_ignore_what_git_ignores() {
        // rules, path, ignored
        let cases = [
            ("a.yaml", "a.yaml", true),
            ("a.yaml", "deep/down/a.yaml", true),
            ("/a.yaml", "deep/a.yaml", false),
            ("deep/a.yaml", "deep/a.yaml", true),
            ("deep/a.yaml", "x/deep/a.yaml", false),
            ("*.md", "docs/x.md", true),
            ("docs/*", "docs/deep/x.md", true),
            ("docs/*.md", "docs/deep/x.md", false),
            ("docs/**/x.md", "docs/a/b/x.md", true),
            ("**/ci", "a/ci/x.yaml", true),
            ("ci/", "ci/x.yaml", true),
            ("ci/", "a/ci/x.yaml", true),
            ("ci/", "ci", false),
            ("*.yaml\n!keep.yaml", "keep.yaml", false),
            ("*.yaml\n!keep.yaml", "other.yaml", true),
            ("!keep.yaml\n*.yaml", "keep.yaml", true),
            ("ci/\n!ci/keep.yaml", "ci/keep.yaml", true),
            ("ci/*\n!ci/keep.yaml", "ci/keep.yaml", false),
            ("# a.yaml\n\n", "a.yaml", false),
            ("\\#a", "#a", true),
            ("a.yaml   ", "a.yaml", true),
            ("[ab].yaml", "b.yaml", true),
            ("?.yaml", "b.yaml", true),
            ("?.yaml", "bb.yaml", false),
        ];
        for (rules, path, ignored) in cases {
            let files = tree(&[(".ignore", rules), (path, "")]);
            let rules = IgnoreRules::read(&files, ".ignore", IgnoreScope::Root).unwrap();
            assert_eq!(rules.ignores(path), ignored, "{path} {files:?}");
        }
    }

    #[test]
    fn deeper_files_come_first_where_they_count() {
        let files = tree(&[
            (".ignore", "*.md\nsecret/"),
            ("docs/.ignore", "!keep.md\n/here.yaml"),
            ("docs/keep.md", ""),
            ("docs/other.md", ""),
            ("docs/here.yaml", ""),
            ("here.yaml", ""),
            ("secret/.ignore", "!x.yaml"),
            ("secret/x.yaml", ""),
        ]);
        let kept = |scope| {
            let rules = IgnoreRules::read(&files, ".ignore", scope).unwrap();
            let paths: Vec<_> = rules
                .kept(&files)
                .iter()
                .map(|(p, _)| p.to_owned())
                .collect();
            paths.join(" ")
        };
        assert_eq!(
            kept(IgnoreScope::Everywhere),
            ".ignore docs/.ignore docs/keep.md here.yaml"
        );
        assert_eq!(
            kept(IgnoreScope::Root),
            ".ignore docs/.ignore docs/here.yaml here.yaml"
        );
    }

    #[test]
    fn malformed_and_excessive_rules_are_refused_with_their_line() {
        let long = "a".repeat(MAX_IGNORE_RULE_LENGTH + 1);
        let many = "a\n".repeat(MAX_IGNORE_RULES + 1);
        let cases = [
            ("ok\n[z-a]", ErrorKind::Source, ".ignore:2: malformed rule"),
            (&long, ErrorKind::Limit, ".ignore:1: a rule is longer"),
            (&many, ErrorKind::Limit, ".ignore:2001: more than 2000"),
        ];
        for (text, kind, expected) in cases {
            let files = tree(&[(".ignore", text)]);
            let error = IgnoreRules::read(&files, ".ignore", IgnoreScope::Root).unwrap_err();
            assert_eq!(error.kind(), kind);
            assert!(error.report().starts_with(expected), "{}", error.report());
        }
        let deep = format!("{}x", "a/".repeat(MAX_IGNORE_DEPTH + 1));
        let files = tree(&[(&deep, ""), (".ignore", "x")]);
        assert_eq!(
            IgnoreRules::read(&files, ".ignore", IgnoreScope::Root)
                .unwrap_err()
                .kind(),
            ErrorKind::Limit
        );
        assert!(
            IgnoreRules::read(&files, ".other", IgnoreScope::Root)
                .unwrap()
                .is_empty()
        );
    }
}
