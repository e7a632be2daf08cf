//! Files on disk as a source has them: all of a folder, or those of an archive.

use crate::source::unpack_archive;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;
use whipstaff_generator::FileTree;

/// Deepest nesting of folders; a link to a folder above would nest without end.
const MAX_FOLDER_DEPTH: usize = 64;
/// Largest archive, and largest file of a folder, in bytes.
const MAX_FILE_BYTES: u64 = 100 * 1024 * 1024;
/// Folders of version control, which no archive has.
const IGNORED: [&str; 1] = [".git"];

/// The files of a folder or of an archive (gzipped tar).
pub(super) fn read_source(path: &Path) -> Result<FileTree> {
    let shown = path.display();
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    if metadata.is_dir() {
        let mut files = FileTree::new();
        add_folder(path, "", 0, &mut files)?;
        return Ok(files);
    }
    if metadata.len() > MAX_FILE_BYTES {
        bail!("{shown} is larger than {MAX_FILE_BYTES} bytes");
    }
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    unpack_archive(&bytes).with_context(|| format!("cannot unpack {shown}"))
}

/// Links are followed.
fn add_folder(path: &Path, below: &str, depth: usize, files: &mut FileTree) -> Result<()> {
    if depth > MAX_FOLDER_DEPTH {
        bail!("folders are nested deeper than {MAX_FOLDER_DEPTH} at {below}");
    }
    let unreadable = || format!("cannot read {}", path.display());
    for entry in fs::read_dir(path).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            bail!("the name of {} is not UTF-8", entry.path().display());
        };
        if IGNORED.contains(&name) {
            continue;
        }
        let relative = if below.is_empty() {
            name.to_owned()
        } else {
            format!("{below}/{name}")
        };
        add_entry(&entry.path(), relative, depth, files)?;
    }
    Ok(())
}

fn add_entry(path: &Path, relative: String, depth: usize, files: &mut FileTree) -> Result<()> {
    let shown = path.display();
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    if metadata.is_dir() {
        return add_folder(path, &relative, depth + 1, files);
    }
    if !metadata.is_file() {
        bail!("{shown} is neither a file nor a folder");
    }
    if metadata.len() > MAX_FILE_BYTES {
        bail!("{shown} is larger than {MAX_FILE_BYTES} bytes");
    }
    let content = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    files.insert(relative, content)?;
    Ok(())
}
