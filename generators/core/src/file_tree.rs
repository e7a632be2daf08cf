//! The virtual file tree that generators read.

use crate::Digest;
use std::{collections::BTreeMap, fmt, ops::Bound, sync::Arc};

/// Most files in one tree.
pub const MAX_FILES: usize = 20_000;
/// Most bytes in one tree: Helm's own limit for an unpacked chart.
pub const MAX_TREE_BYTES: usize = 100 * 1024 * 1024;
/// Longest path in bytes.
pub const MAX_PATH_LENGTH: usize = 1024;

/// Files by their slash-separated path relative to the root, in the order of their paths.
///
/// Clones are cheap: contents are shared. Folders exist only as parts of paths.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FileTree {
    files: BTreeMap<String, Arc<[u8]>>,
    bytes: usize,
}

/// A file that cannot be put into a tree.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileTreeError {
    /// The path is absolute, empty, climbs with `..` or has an empty part.
    #[error("`{path}` is not a clean relative path")]
    Path {
        /// The path as it was given.
        path: String,
    },
    /// The path is longer than [`MAX_PATH_LENGTH`].
    #[error("a path of {length} bytes is over the limit of {MAX_PATH_LENGTH}")]
    PathLength {
        /// Its length in bytes.
        length: usize,
    },
    /// There are more than [`MAX_FILES`] files.
    #[error("more than {MAX_FILES} files")]
    Files,
    /// The files together are larger than [`MAX_TREE_BYTES`].
    #[error("the files are larger than {MAX_TREE_BYTES} bytes together")]
    Bytes,
}

impl FileTree {
    /// A tree without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file at a path; a file that was there before is replaced.
    ///
    /// # Errors
    /// [`FileTreeError`] when the path is not clean and relative, or a limit of the tree is reached.
    pub fn insert(
        &mut self,
        path: impl Into<String>,
        content: impl Into<Arc<[u8]>>,
    ) -> Result<(), FileTreeError> {
        let path = path.into();
        check_path(&path)?;
        let content = content.into();
        let replaced = self.files.get(&path).map_or(0, |old| old.len());
        let bytes = self.bytes - replaced + content.len();
        if bytes > MAX_TREE_BYTES {
            return Err(FileTreeError::Bytes);
        }
        if self.files.len() >= MAX_FILES && !self.files.contains_key(&path) {
            return Err(FileTreeError::Files);
        }
        self.bytes = bytes;
        self.files.insert(path, content);
        Ok(())
    }

    /// The content of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// Whether there is a file at the path.
    pub fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether there is a file below a folder.
    pub fn has_folder(&self, folder: &str) -> bool {
        let prefix = format!("{}/", folder.trim_matches('/'));
        if prefix == "/" {
            return true;
        }
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        self.files
            .range::<str, _>(from)
            .next()
            .is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// Paths and contents, in the order of the paths' bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files
            .iter()
            .map(|(path, content)| (path.as_str(), content))
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The files below a folder, with paths relative to it. An empty path gives the whole tree.
    #[must_use]
    pub fn subtree(&self, folder: &str) -> Self {
        let folder = folder.trim_matches('/');
        if folder.is_empty() || folder == "." {
            return self.clone();
        }
        let prefix = format!("{folder}/");
        let mut subtree = Self::new();
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        for (path, content) in self.files.range::<str, _>(from) {
            let Some(rest) = path.strip_prefix(&prefix) else {
                break;
            };
            subtree.bytes += content.len();
            subtree.files.insert(rest.to_owned(), Arc::clone(content));
        }
        subtree
    }

    /// The digest of all paths and contents.
    pub fn digest(&self) -> Digest {
        Digest::of_parts(
            self.files
                .iter()
                .flat_map(|(path, content)| [path.as_bytes(), &**content]),
        )
    }
}

impl fmt::Debug for FileTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Contents may be secret: only names and sizes are shown.
        f.debug_map()
            .entries(self.files.iter().map(|(path, c)| (path, c.len())))
            .finish()
    }
}

fn check_path(path: &str) -> Result<(), FileTreeError> {
    if path.len() > MAX_PATH_LENGTH {
        return Err(FileTreeError::PathLength { length: path.len() });
    }
    let clean = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if clean && !path.contains('\0') {
        Ok(())
    } else {
        Err(FileTreeError::Path {
            path: path.to_owned(),
        })
    }
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
    fn paths_that_escape_are_refused() {
        for path in ["", "/a", "../a", "a/../b", "a//b", "./a", "a/", "a\0b"] {
            assert!(
                FileTree::new().insert(path, b"".as_slice()).is_err(),
                "{path:?}"
            );
        }
    }

    #[test]
    fn subtree_has_paths_relative_to_its_folder() {
        let all = tree(&[("a/x", "1"), ("a/b/y", "2"), ("ab", "3"), ("a-b/z", "4")]);
        let paths: Vec<_> = all.subtree("a").iter().map(|(p, _)| p.to_owned()).collect();
        assert_eq!(paths, ["b/y", "x"]);
        assert_eq!(all.subtree("").len(), 4);
        assert_eq!(all.subtree("a").bytes(), 2);
        assert!(all.has_folder("a/b") && all.has_folder("") && !all.has_folder("a/x"));
    }

    #[test]
    fn digest_depends_on_names_and_contents_only() {
        let one = tree(&[("a", "1"), ("b", "2")]);
        let two = tree(&[("b", "2"), ("a", "1")]);
        assert_eq!(one.digest(), two.digest());
        assert_ne!(one.digest(), tree(&[("a", "12"), ("b", "")]).digest());
    }

    #[test]
    fn replacing_a_file_counts_its_bytes_once() {
        let mut files = tree(&[("a", "12345")]);
        files.insert("a", b"1".as_slice()).unwrap();
        assert_eq!((files.len(), files.bytes()), (1, 1));
    }
}
