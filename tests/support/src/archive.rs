//! Chart archives for tests.

use flate2::{Compression, write::GzEncoder};
use std::io::{Error, Result};
use std::path::Path;

/// Packs files, given by their path in the archive, into a gzipped tar.
///
/// # Errors
///
/// When a path is too long for a tar archive.
pub fn pack_files(files: &[(String, String)]) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, text.as_bytes())?;
    }
    archive.into_inner()?.finish()
}

/// Packs the text files of a folder, in the order of their paths, below a top folder of the archive.
///
/// # Errors
///
/// When a file cannot be read, or is not text.
pub fn pack_folder(folder: &Path, top: &str) -> Result<Vec<u8>> {
    let mut files = Vec::new();
    collect(folder, top, &mut files)?;
    files.sort();
    pack_files(&files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string();
        let name = name.map_err(|name| Error::other(format!("{} is not text", name.display())))?;
        let path = format!("{prefix}/{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else {
            files.push((path, std::fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}
