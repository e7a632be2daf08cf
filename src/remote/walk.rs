//! The files of one commit, read out of its repository when they are asked for.

use super::modules;
use super::repository::{GitError, Scheme, fetched, scheme};
use gix::{
    ObjectId, ThreadSafeRepository,
    objs::tree::{EntryKind, EntryMode},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tempfile::TempDir;
use whipstaff_generator::FileTree;
use whipstaff_kustomize::{FileSystem, Resolved};

/// Most symbolic links that one path may lead through.
const MAX_LINKS: usize = 40;
/// Deepest nesting of folders that are listed.
const MAX_FOLDER_DEPTH: usize = 64;
/// Deepest nesting of submodules.
const MAX_SUBMODULE_DEPTH: usize = 8;
/// The file at a repository's root that tells where its submodules come from.
const MODULES_FILE: &str = ".gitmodules";

/// The files of a commit, with the root of the repository at `/`.
pub(super) struct GitFiles {
    repository: ThreadSafeRepository,
    /// The folder at the root.
    root: ObjectId,
    /// Where the repository came from.
    url: String,
    /// How long a submodule may take, if there are any.
    submodules: Option<Duration>,
    depth: usize,
    fetched: Mutex<HashMap<String, Result<Arc<Self>, String>>>,
    /// Holds the repository.
    _folder: Option<TempDir>,
}

impl std::fmt::Debug for GitFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitFiles")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// What is at a path: a folder or file, its path with links followed, and which submodule it is in.
struct Found {
    path: String,
    /// The path in that submodule, or again the path.
    inner: String,
    mode: EntryMode,
    id: ObjectId,
    inside: Option<Arc<GitFiles>>,
}

/// A folder whose files are listed: where it is, and below what its files are put.
#[derive(Clone, Copy)]
struct Listed<'a> {
    at: &'a str,
    below: &'a str,
    depth: usize,
}

impl GitFiles {
    pub(super) fn new(
        repository: ThreadSafeRepository,
        id: ObjectId,
        folder: Option<TempDir>,
        url: &str,
        submodules: Option<Duration>,
    ) -> Result<Self, GitError> {
        let local = repository.to_thread_local();
        let object = local.find_object(id);
        let tree = object.and_then(gix::Object::peel_to_tree);
        let tree = tree.map_err(|error| GitError::NoCommit {
            name: id.to_string(),
            reason: super::with_causes(&error),
        })?;
        let root = tree.id;
        drop(tree);
        drop(local);
        Ok(Self {
            repository,
            root,
            url: url.to_owned(),
            submodules,
            depth: 0,
            fetched: Mutex::default(),
            _folder: folder,
        })
    }

    fn find(&self, path: &str) -> Result<Found, String> {
        let repository = self.repository.to_thread_local();
        let mut ahead: Vec<String> = parts(path);
        let mut folders: Vec<(String, ObjectId)> = Vec::new();
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part == ".." {
                // Above the root there is nothing of the repository.
                folders.pop().ok_or_else(|| missing("/.."))?;
                continue;
            }
            let inside = folders.last().map_or(self.root, |(_, id)| *id);
            let here = joined(&folders, &part);
            let (mode, id) = entry(&repository, inside, &part)?.ok_or_else(|| missing(&here))?;
            match mode.kind() {
                EntryKind::Tree => folders.push((part, id)),
                EntryKind::Commit => return self.find_inside(&here, id, &rest(ahead)),
                EntryKind::Link => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err("too many links".to_owned());
                    }
                    let target = content(&repository, id, &here)?;
                    let target = String::from_utf8_lossy(&target);
                    if target.starts_with('/') {
                        return Err(missing(&target));
                    }
                    ahead.extend(parts(&target));
                }
                EntryKind::Blob | EntryKind::BlobExecutable if ahead.is_empty() => {
                    return Ok(Found {
                        inner: here.clone(),
                        path: here,
                        mode,
                        id,
                        inside: None,
                    });
                }
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    return Err("not a directory".to_owned());
                }
            }
        }
        let id = folders.last().map_or(self.root, |(_, id)| *id);
        let path = joined(&folders, "");
        Ok(Found {
            inner: path.clone(),
            path,
            mode: EntryKind::Tree.into(),
            id,
            inside: None,
        })
    }

    /// Finds the rest of a path in the submodule at its beginning. Without submodules there is an empty folder in its place.
    fn find_inside(&self, at: &str, commit: ObjectId, rest: &str) -> Result<Found, String> {
        let Some(timeout) = self.submodules else {
            if rest.is_empty() {
                return Ok(Found {
                    path: at.to_owned(),
                    inner: at.to_owned(),
                    mode: EntryKind::Tree.into(),
                    id: ObjectId::empty_tree(gix::hash::Kind::Sha1),
                    inside: None,
                });
            }
            return Err(missing(&format!("{at}/{rest}")));
        };
        let known = {
            let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            let known = fetched
                .entry(at.to_owned())
                .or_insert_with(|| self.fetch_inside(at, commit, timeout).map(Arc::new));
            known.clone()
        };
        let files =
            known.map_err(|cause| format!("submodule `{at}` cannot be fetched: {cause}"))?;
        let found = files.find(rest)?;
        Ok(Found {
            path: format!("{at}{}", found.path.trim_end_matches('/')),
            inside: found.inside.or(Some(files)),
            ..found
        })
    }

    fn fetch_inside(&self, at: &str, commit: ObjectId, timeout: Duration) -> Result<Self, String> {
        if self.depth >= MAX_SUBMODULE_DEPTH {
            return Err(format!("nested deeper than {MAX_SUBMODULE_DEPTH}"));
        }
        let folder = at.trim_start_matches('/');
        let modules = self.read(&format!("/{MODULES_FILE}"))?;
        let address = modules::address(&modules, folder)
            .ok_or_else(|| format!("`{MODULES_FILE}` does not name it"))?;
        let url = modules::absolute(&address, &self.url)
            .ok_or_else(|| "its address cannot be understood".to_owned())?;
        let reached = scheme(&url).map_err(|error| error.to_string())?;
        if matches!(reached, Scheme::File(_)) {
            // As `git` has it: files of this machine are not to be had by whoever writes a `.gitmodules`.
            return Err("submodules behind `file://` are not allowed".to_owned());
        }
        let files = fetched(&url, &commit.to_string(), timeout, self.submodules);
        let files = files.map_err(|error| super::with_causes(&error))?;
        Ok(Self {
            depth: self.depth + 1,
            ..files
        })
    }

    /// Adds the files of a folder at a path of this repository below another path.
    fn list(
        &self,
        tree: ObjectId,
        listed: &Listed<'_>,
        files: &mut FileTree,
    ) -> Result<(), String> {
        if listed.depth > MAX_FOLDER_DEPTH {
            return Err(format!("folders are nested deeper than {MAX_FOLDER_DEPTH}"));
        }
        let repository = self.repository.to_thread_local();
        let tree = repository.find_tree(tree).map_err(|e| e.to_string())?;
        for entry in tree.iter() {
            let entry = entry.map_err(|error| error.to_string())?;
            let name = String::from_utf8_lossy(entry.filename()).into_owned();
            let at = format!("{}/{name}", listed.at.trim_end_matches('/'));
            let below = format!("{}/{name}", listed.below);
            let inner = Listed {
                at: &at,
                below: below.trim_start_matches('/'),
                depth: listed.depth + 1,
            };
            match entry.mode().kind() {
                EntryKind::Tree => self.list(entry.object_id(), &inner, files)?,
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    let bytes = content(&repository, entry.object_id(), &at)?;
                    files
                        .insert(inner.below, bytes)
                        .map_err(|e| e.to_string())?;
                }
                EntryKind::Link | EntryKind::Commit => self.list_elsewhere(&inner, files)?,
            }
        }
        Ok(())
    }

    /// What a link or a submodule leads to. Links that lead nowhere are left out.
    fn list_elsewhere(&self, listed: &Listed<'_>, files: &mut FileTree) -> Result<(), String> {
        let Ok(found) = self.find(listed.at) else {
            return Ok(());
        };
        let owner = found.inside.as_deref().unwrap_or(self);
        if found.mode.is_tree() {
            let inner = Listed {
                at: &found.inner,
                ..*listed
            };
            return owner.list(found.id, &inner, files);
        }
        let bytes = content(&owner.repository.to_thread_local(), found.id, listed.at)?;
        files
            .insert(listed.below, bytes)
            .map_err(|error| error.to_string())
    }
}

impl FileSystem for GitFiles {
    fn resolve(&self, path: &str) -> Result<Resolved, String> {
        let found = self.find(path)?;
        Ok(if found.mode.is_tree() {
            Resolved::Folder(found.path)
        } else {
            Resolved::File(found.path)
        })
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let found = self.find(path)?;
        if found.mode.is_tree() {
            return Err(format!("read {path}: is a directory"));
        }
        let owner = found.inside.as_deref().unwrap_or(self);
        let bytes = content(&owner.repository.to_thread_local(), found.id, path)?;
        Ok(bytes.into())
    }

    fn folder(&self, path: &str) -> Option<FileTree> {
        let found = self.find(path).ok()?;
        let owner = found.inside.as_deref().unwrap_or(self);
        let listed = Listed {
            at: &found.inner,
            below: "",
            depth: 0,
        };
        let mut files = FileTree::new();
        owner.list(found.id, &listed, &mut files).ok()?;
        Some(files)
    }
}

/// The parts of a path, the last one first.
fn parts(path: &str) -> Vec<String> {
    let parts = path.split('/').rev();
    let parts = parts.filter(|part| !part.is_empty() && *part != ".");
    parts.map(str::to_owned).collect()
}

/// The path that parts are of.
fn rest(mut ahead: Vec<String>) -> String {
    ahead.reverse();
    ahead.join("/")
}

fn joined(folders: &[(String, ObjectId)], name: &str) -> String {
    let names = folders.iter().map(|(name, _)| name.as_str());
    let names: Vec<_> = names
        .chain([name])
        .filter(|name| !name.is_empty())
        .collect();
    format!("/{}", names.join("/"))
}

fn missing(path: &str) -> String {
    format!("lstat {path}: no such file or directory")
}

/// The entry of a name in a folder.
fn entry(
    repository: &gix::Repository,
    tree: ObjectId,
    name: &str,
) -> Result<Option<(EntryMode, ObjectId)>, String> {
    let tree = repository.find_tree(tree).map_err(|e| e.to_string())?;
    for entry in tree.iter() {
        let entry = entry.map_err(|error| error.to_string())?;
        if entry.filename() == name.as_bytes() {
            return Ok(Some((entry.mode(), entry.object_id())));
        }
    }
    Ok(None)
}

fn content(repository: &gix::Repository, id: ObjectId, path: &str) -> Result<Vec<u8>, String> {
    let blob = repository.find_blob(id);
    let mut blob = blob.map_err(|error| format!("open {path}: {}", super::with_causes(&error)))?;
    Ok(blob.take_data())
}
