//! The files of this machine.

use crate::cli::system_reason::system_reason;
use std::{
    cell::RefCell,
    collections::HashMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};
use whipstaff_kustomize::{FileSystem, MAX_INPUT_BYTES, Resolved};

/// The files of this machine, as one build sees them.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Where folders lead that were resolved before: a build looks for many files in few folders.
    folders: RefCell<HashMap<PathBuf, PathBuf>>,
}

impl FileSystem for Disk {
    fn resolve(&self, path: &str) -> std::result::Result<Resolved, String> {
        let fail = |error| explain(path, &error);
        let path = Path::new(path);
        let (real, is_folder) = self.follow(path).map_err(fail)?;
        let text = real.to_string_lossy().into_owned();
        if !is_folder {
            return Ok(Resolved::File(text));
        }
        let mut folders = self.folders.borrow_mut();
        folders.insert(path.to_owned(), real.clone());
        folders.insert(real.clone(), real);
        Ok(Resolved::Folder(text))
    }

    fn read(&self, path: &str) -> std::result::Result<Arc<[u8]>, String> {
        let fail = |error: io::Error| format!("open {path}: {}", system_reason(&error));
        let too_large = || Err(format!("open {path}: larger than {MAX_INPUT_BYTES} bytes"));
        let mut file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        let Some(length) = usize::try_from(length)
            .ok()
            .filter(|length| *length <= MAX_INPUT_BYTES)
        else {
            return too_large();
        };
        let mut bytes = Vec::with_capacity(length + 1);
        let most = (MAX_INPUT_BYTES + 1) as u64;
        file.by_ref()
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(fail)?;
        if bytes.len() > MAX_INPUT_BYTES {
            return too_large();
        }
        Ok(bytes.into())
    }
}

impl Disk {
    /// Where a path leads, and whether that is a folder.
    fn follow(&self, path: &Path) -> io::Result<(PathBuf, bool)> {
        let known = path.parent().zip(path.file_name());
        let known = known.and_then(|(parent, name)| {
            let folders = self.folders.borrow();
            folders.get(parent).map(|parent| parent.join(name))
        });
        if let Some(path) = known {
            let metadata = fs::symlink_metadata(&path)?;
            if !metadata.is_symlink() {
                return Ok((path, metadata.is_dir()));
            }
        }
        let real = fs::canonicalize(path)?;
        let is_folder = real.is_dir();
        Ok((real, is_folder))
    }
}

/// Names the first part of a path that cannot be followed.
fn explain(path: &str, error: &io::Error) -> String {
    let path: PathBuf = Path::new(path).components().collect();
    let missing = if path.parent().is_some_and(Path::is_dir) {
        path
    } else {
        match first_missing(&path) {
            Some(missing) => missing,
            None => return "not a directory".to_owned(),
        }
    };
    // A link that leads nowhere is named by where it leads.
    let missing = match fs::read_link(&missing) {
        Ok(target) => missing.parent().unwrap_or(Path::new("/")).join(target),
        Err(_) => missing,
    };
    format!("lstat {}: {}", missing.display(), system_reason(error))
}

/// The first part of a path that leads nowhere; none when something before it is no folder.
fn first_missing(path: &Path) -> Option<PathBuf> {
    let mut walked = PathBuf::new();
    for part in path.components() {
        let parent_is_folder = walked.as_os_str().is_empty() || walked.is_dir();
        walked.push(part);
        if !parent_is_folder {
            return None;
        }
        if fs::metadata(&walked).is_err() {
            break;
        }
    }
    Some(walked)
}
