//! The files that a build may read, and how it finds them.
//!
//! Mirrors `internal/loader` of kustomize api v0.21.1 and `filesys/fsondisk.go` of kyaml v0.21.1. Files come from a [`FileSystem`]
//! that the host gives; a [`FileTree`] is one, with the tree at `/`.

use crate::error::{BuildError, BuildErrorKind, Result, over_limit};
use crate::limits::{MAX_BASE_DEPTH, MAX_INPUT_BYTES};
use crate::remote::{RemoteSource, RepoSpec};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use whipstaff_generator::FileTree;

/// Where a path leads, symbolic links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// To a folder, by its absolute path.
    Folder(String),
    /// To a file, by its absolute path.
    File(String),
}

/// Files by absolute paths with slashes.
pub trait FileSystem: std::fmt::Debug {
    /// Finds out where an absolute, clean path leads.
    ///
    /// # Errors
    /// When there is nothing: the text that Go's `filepath.EvalSymlinks` has for it, for example
    /// `lstat /app/x: no such file or directory`.
    fn resolve(&self, path: &str) -> std::result::Result<Resolved, String>;

    /// Reads a file at a path that was resolved.
    ///
    /// # Errors
    /// When it cannot be read: a text that names the file.
    fn read(&self, path: &str) -> std::result::Result<Arc<[u8]>, String>;

    /// All files below a folder at a path that was resolved, by their paths in it: a chart. Default: nothing, for file systems that
    /// charts are read from in another way.
    fn folder(&self, _path: &str) -> Option<FileTree> {
        None
    }
}

impl FileSystem for FileTree {
    fn resolve(&self, path: &str) -> std::result::Result<Resolved, String> {
        let inner = path.trim_matches('/');
        if self.contains(inner) {
            return Ok(Resolved::File(path.to_owned()));
        }
        if self.has_folder(inner) {
            return Ok(Resolved::Folder(path.to_owned()));
        }
        // The first part that is missing is named, as a walk along the path finds it.
        let mut walked = String::new();
        for part in inner.split('/') {
            if self.contains(walked.trim_start_matches('/')) {
                return Err("not a directory".to_owned());
            }
            walked = format!("{walked}/{part}");
            let inner = walked.trim_start_matches('/');
            if !self.contains(inner) && !self.has_folder(inner) {
                break;
            }
        }
        Err(format!("lstat {walked}: no such file or directory"))
    }

    fn read(&self, path: &str) -> std::result::Result<Arc<[u8]>, String> {
        self.get(path.trim_matches('/'))
            .cloned()
            .ok_or_else(|| format!("open {path}: no such file or directory"))
    }

    fn folder(&self, path: &str) -> Option<FileTree> {
        Some(self.subtree(path.trim_matches('/')))
    }
}

/// Which files a kustomization may read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoadRestrictor {
    /// Those in its own folder and below.
    #[default]
    RootOnly,
    /// All.
    None,
}

/// What is said of remote sources where the host has none.
pub const REMOTE_IS_OFF: &str = "remote sources are off";
/// What the texts of answers that are no success start with.
const HTTP_ERROR: &str = "HTTP Error";

/// Removes `.`, `..` and doubled slashes, as Go's `filepath.Clean` does.
pub(crate) fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if absolute => {}
                _ => parts.push(".."),
            },
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Puts two paths together, as Go's `filepath.Join` does.
pub(crate) fn join(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", "") => String::new(),
        ("", path) | (path, "") => clean(path),
        _ => clean(&format!("{folder}/{path}")),
    }
}

/// Whether a folder is another or below it.
fn is_within(folder: &str, outer: &str) -> bool {
    folder == outer
        || outer == "/"
        || folder
            .strip_prefix(outer)
            .is_some_and(|rest| rest.starts_with('/'))
}

fn load_error(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Load, message)
}

/// Reads the files of one kustomization.
#[derive(Debug, Clone)]
pub(crate) struct Loader<'f> {
    files: Rc<dyn FileSystem + 'f>,
    remote: Option<&'f dyn RemoteSource>,
    root: String,
    restrictor: LoadRestrictor,
    referrer: Option<Rc<Self>>,
    /// What the files here were fetched from, and where the copy is.
    repo: Option<(RepoSpec, String)>,
    depth: usize,
    bytes_read: Rc<Cell<usize>>,
}

impl<'f> Loader<'f> {
    /// A loader for the folder that a build starts at.
    ///
    /// # Errors
    /// When it is no folder, or a remote one that cannot be fetched.
    pub(crate) fn new(
        files: &'f dyn FileSystem,
        remote: Option<&'f dyn RemoteSource>,
        working_folder: &str,
        target: &str,
        restrictor: LoadRestrictor,
    ) -> Result<Self> {
        let start = Self {
            files: Rc::new(Behind(files)),
            remote,
            root: working_folder.to_owned(),
            restrictor,
            referrer: None,
            repo: None,
            depth: 0,
            bytes_read: Rc::default(),
        };
        if let Ok(spec) = RepoSpec::parse(target) {
            return Ok(Self {
                referrer: None,
                ..start.fetch(spec)?
            });
        }
        let root = start
            .confirm_folder(target, target)
            .map_err(|error| error.within("must build at directory"))?;
        Ok(Self { root, ..start })
    }

    /// The absolute path of the folder.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// A loader for a folder or repository that the kustomization names.
    ///
    /// # Errors
    /// When it is none, or one that is being loaded already.
    pub(crate) fn enter(&self, path: &str) -> Result<Self> {
        if path.is_empty() {
            return Err(load_error("new root cannot be empty"));
        }
        if self.depth >= MAX_BASE_DEPTH {
            return Err(over_limit(
                "kustomizations inside each other",
                MAX_BASE_DEPTH,
            ));
        }
        if let Ok(spec) = RepoSpec::parse(path) {
            self.check_repo_cycle(&spec)?;
            return self.fetch(spec);
        }
        if path.starts_with('/') {
            return Err(load_error(format!("new root '{path}' cannot be absolute")));
        }
        let joined = join(&self.root, path);
        let root = self
            .confirm_folder(&joined, &joined)
            .map_err(|error| error.within("must build at directory"))?;
        if let Some((_, copy)) = self.containing_repo()
            && !is_within(&root, copy)
        {
            return Err(load_error(format!(
                "security; bases in kustomizations found in cloned git repos must be within the repo, but base '{root}' is outside \
                 '{copy}'"
            )));
        }
        self.check_cycle(&root)?;
        Ok(Self {
            root,
            referrer: Some(Rc::new(self.clone())),
            repo: None,
            depth: self.depth + 1,
            ..self.clone()
        })
    }

    fn containing_repo(&self) -> Option<&(RepoSpec, String)> {
        self.repo.as_ref().or_else(|| {
            self.referrer
                .as_ref()
                .and_then(|referrer| referrer.containing_repo())
        })
    }

    fn check_cycle(&self, candidate: &str) -> Result<()> {
        if is_within(&self.root, candidate) {
            return Err(load_error(format!(
                "cycle detected: candidate root '{candidate}' contains visited root '{}'",
                self.root
            )));
        }
        self.referrer
            .as_ref()
            .map_or(Ok(()), |referrer| referrer.check_cycle(candidate))
    }

    fn check_repo_cycle(&self, new: &RepoSpec) -> Result<()> {
        if let Some((spec, _)) = &self.repo
            && spec.raw().starts_with(new.raw())
        {
            return Err(load_error(format!(
                "cycle detected: URI '{}' referenced by previous URI '{}'",
                new.raw(),
                spec.raw()
            )));
        }
        self.referrer
            .as_ref()
            .map_or(Ok(()), |referrer| referrer.check_repo_cycle(new))
    }

    /// A loader for a repository that the host fetches.
    fn fetch(&self, spec: RepoSpec) -> Result<Self> {
        let remote = self.remote.ok_or_else(|| refuse_remote(spec.raw()))?;
        let repository = remote.repository(&spec).map_err(|cause| {
            BuildError::new(
                BuildErrorKind::Remote,
                format!("cannot fetch `{}`: {cause}", spec.raw()),
            )
        })?;
        let files: Rc<dyn FileSystem + 'f> = Rc::new(Behind(repository));
        let folder = join("/", spec.folder());
        let root = match files.resolve(&folder) {
            Ok(Resolved::Folder(root)) => root,
            Ok(Resolved::File(file)) => {
                return Err(load_error(format!(
                    "'{folder}' refers to file '{file}'; expecting directory"
                )));
            }
            Err(cause) => {
                return Err(load_error(format!(
                    "evalsymlink failure on '{folder}' : {cause}"
                )));
            }
        };
        Ok(Self {
            files,
            remote: self.remote,
            root,
            restrictor: LoadRestrictor::RootOnly,
            referrer: Some(Rc::new(self.clone())),
            repo: Some((spec, "/".to_owned())),
            depth: self.depth + 1,
            bytes_read: Rc::clone(&self.bytes_read),
        })
    }

    /// The folder that a path leads to; `shown` is what messages call it.
    fn confirm_folder(&self, path: &str, shown: &str) -> Result<String> {
        if path.is_empty() {
            return Err(load_error("directory path cannot be empty"));
        }
        let absolute = if path.starts_with('/') {
            clean(path)
        } else {
            join(&self.root, path)
        };
        match self.files.resolve(&absolute) {
            Ok(Resolved::Folder(folder)) => Ok(folder),
            Ok(Resolved::File(_)) => Err(load_error(format!("'{shown}': file is not directory"))),
            Err(cause) => Err(load_error(format!(
                "not a valid directory: evalsymlink failure on '{shown}' : {cause}"
            ))),
        }
    }

    /// The files of a folder by its absolute path, if there is one and its files can be listed.
    pub(crate) fn folder(&self, path: &str) -> Option<FileTree> {
        match self.files.resolve(path) {
            Ok(Resolved::Folder(folder)) => self.files.folder(&folder),
            _ => None,
        }
    }

    /// Reads a file that the kustomization names, or fetches it.
    ///
    /// # Errors
    /// When it is missing, or outside of what may be read.
    pub(crate) fn load(&self, path: &str) -> Result<Arc<[u8]>> {
        let content = if is_url(path) {
            self.load_url(path)?
        } else {
            self.load_file(path)?
        };
        let total = self.bytes_read.get() + content.len();
        self.bytes_read.set(total);
        if total > MAX_INPUT_BYTES {
            return Err(over_limit("bytes of input", MAX_INPUT_BYTES));
        }
        Ok(content)
    }

    fn load_url(&self, url: &str) -> Result<Arc<[u8]>> {
        let remote = self.remote.ok_or_else(|| refuse_remote(url))?;
        remote.file(url).map_err(|cause| {
            let cause = cause.to_string();
            if !cause.starts_with(HTTP_ERROR) {
                return load_error(cause);
            }
            // An address that may be a repository is tried as one.
            match RepoSpec::parse(url) {
                Ok(_) => load_error("URL is a git repository"),
                Err(_) => BuildError::new(BuildErrorKind::Remote, cause),
            }
        })
    }

    fn load_file(&self, path: &str) -> Result<Arc<[u8]>> {
        let joined = if path.starts_with('/') {
            path.to_owned()
        } else {
            join(&self.root, path)
        };
        let resolved = self.files.resolve(&clean(&joined));
        let file = match (self.restrictor, resolved) {
            (LoadRestrictor::None, Ok(Resolved::Folder(_))) => {
                return Err(load_error(format!("read {joined}: is a directory")));
            }
            (LoadRestrictor::None, Err(cause)) => {
                let cause = cause.rsplit(": ").next().unwrap_or_default().to_owned();
                return Err(load_error(format!("open {joined}: {cause}")));
            }
            (_, Err(cause)) => {
                return Err(load_error(format!(
                    "evalsymlink failure on '{joined}' : {cause}"
                )));
            }
            (_, Ok(Resolved::Folder(_))) => {
                return Err(load_error(format!("'{joined}' must resolve to a file")));
            }
            (_, Ok(Resolved::File(file))) => file,
        };
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        if self.restrictor == LoadRestrictor::RootOnly && !is_within(folder, &self.root) {
            return Err(load_error(format!(
                "security; file '{joined}' is not in or below '{}'",
                self.root
            )));
        }
        self.files.read(&file).map_err(load_error)
    }
}

/// Whether a path is to be fetched over HTTP.
fn is_url(path: &str) -> bool {
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
}

fn refuse_remote(what: &str) -> BuildError {
    BuildError::new(
        BuildErrorKind::Refused,
        format!("`{what}` is remote, and {REMOTE_IS_OFF}"),
    )
}

/// A file system behind a pointer: the host's own, or the files of a repository.
#[derive(Debug)]
struct Behind<P>(P);

impl<P> FileSystem for Behind<P>
where
    P: std::ops::Deref<Target: FileSystem> + std::fmt::Debug,
{
    fn resolve(&self, path: &str) -> std::result::Result<Resolved, String> {
        self.0.resolve(path)
    }

    fn read(&self, path: &str) -> std::result::Result<Arc<[u8]>, String> {
        self.0.read(path)
    }

    fn folder(&self, path: &str) -> Option<FileTree> {
        self.0.folder(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_as_go_cleans_them() {
        for (path, want) in [
            ("/a/../../b", "/b"),
            ("a/./b//c/..", "a/b"),
            ("../a", "../a"),
            ("", "."),
            ("/", "/"),
        ] {
            assert_eq!(clean(path), want);
        }
    }

    #[test]
    fn a_tree_says_where_a_path_ends() {
        let mut tree = FileTree::new();
        tree.insert("a/b", b"x".as_slice()).unwrap();
        assert_eq!(
            FileSystem::resolve(&tree, "/a"),
            Ok(Resolved::Folder("/a".to_owned()))
        );
        assert_eq!(
            FileSystem::resolve(&tree, "/a/b"),
            Ok(Resolved::File("/a/b".to_owned()))
        );
        assert_eq!(
            FileSystem::resolve(&tree, "/a/c/d"),
            Err("lstat /a/c: no such file or directory".to_owned())
        );
        assert_eq!(
            FileSystem::resolve(&tree, "/a/b/c"),
            Err("not a directory".to_owned())
        );
    }
}
