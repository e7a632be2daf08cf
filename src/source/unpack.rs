//! Unpacks a gzip-compressed tar archive into a file tree, in memory.
//!
//! Nothing in an archive is trusted: sizes are counted while they are read, paths may not leave the tree, and links, devices
//! and other entries that are not files are left out.

use super::ArchiveError;
use flate2::bufread::GzDecoder;
use std::{
    cell::Cell,
    io::{self, Read},
    sync::Arc,
};
use tar::EntryType;
use whipstaff_generator::{FileTree, MAX_TREE_BYTES};

/// Most bytes of one file: Helm's own limit.
pub(super) const MAX_FILE_BYTES: usize = 5 * 1024 * 1024;
/// Most entries in an archive, with folders and what is left out.
pub(super) const MAX_ENTRIES: usize = 50_000;
/// Most bytes that an archive may unpack to: a full tree and the headers of its entries.
pub(super) const MAX_UNPACKED_BYTES: usize = MAX_TREE_BYTES + MAX_ENTRIES * 1024;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Unpacks an archive. A folder that all files are in, as in every chart archive, is taken off their paths.
///
/// Unlike Helm, which drops the first part of every path and reads links as empty files.
pub(crate) fn unpack(archive: &[u8]) -> Result<FileTree, ArchiveError> {
    if !archive.starts_with(&GZIP_MAGIC) {
        return Err(ArchiveError::Format {
            looks_like: looks_like(archive),
        });
    }
    let fate = Cell::new(Fate::Intact);
    let mut tar = tar::Archive::new(Members::new(archive, &fate));
    let files = read_files(&mut tar)
        // What follows the end of the tar archive is read too: the checksum comes last.
        .and_then(|files| {
            io::copy(&mut tar.into_inner(), &mut io::sink())
                .map_err(damaged)
                .map(|_| files)
        })
        .map_err(|error| fate.get().explain(error))?;
    into_tree(files)
}

struct File {
    path: String,
    content: Vec<u8>,
}

fn read_files(tar: &mut tar::Archive<Members<'_>>) -> Result<Vec<File>, ArchiveError> {
    let mut files = Vec::new();
    for (number, entry) in tar.entries().map_err(damaged)?.enumerate() {
        if number >= MAX_ENTRIES {
            return Err(ArchiveError::Entries { limit: MAX_ENTRIES });
        }
        let mut entry = entry.map_err(damaged)?;
        if !matches!(
            entry.header().entry_type(),
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse
        ) {
            continue;
        }
        if entry.path_bytes().ends_with(b"/") {
            // The oldest archives mark a folder by nothing else.
            continue;
        }
        let path = clean_path(&entry.path_bytes())?;
        let content = read_content(&mut entry, &path)?;
        files.push(File { path, content });
    }
    Ok(files)
}

fn read_content(
    entry: &mut tar::Entry<'_, Members<'_>>,
    path: &str,
) -> Result<Vec<u8>, ArchiveError> {
    let size = entry.size();
    if size > MAX_FILE_BYTES as u64 {
        return Err(ArchiveError::FileSize {
            path: path.to_owned(),
            limit: MAX_FILE_BYTES,
        });
    }
    // The size is only claimed; memory is taken as bytes arrive.
    let mut content = Vec::new();
    entry.read_to_end(&mut content).map_err(damaged)?;
    if content.len() as u64 == size {
        Ok(content)
    } else {
        Err(ArchiveError::Truncated)
    }
}

/// The path in slashes without `.` and empty parts.
fn clean_path(bytes: &[u8]) -> Result<String, ArchiveError> {
    let refused = |reason| {
        let path = String::from_utf8_lossy(bytes)
            .escape_debug()
            .take(256)
            .collect();
        Err(ArchiveError::Path { path, reason })
    };
    let Ok(path) = std::str::from_utf8(bytes) else {
        return refused("it is not UTF-8");
    };
    if path.starts_with('/') {
        return refused("it is absolute");
    }
    if path.contains('\\') {
        return refused("it holds a backslash");
    }
    let mut clean = String::with_capacity(path.len());
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return refused("it leads out of the archive");
        }
        if matches!(part.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic()) {
            return refused("it names a drive");
        }
        if !clean.is_empty() {
            clean.push('/');
        }
        clean.push_str(part);
    }
    if clean.is_empty() {
        refused("it names no file")
    } else {
        Ok(clean)
    }
}

fn into_tree(files: Vec<File>) -> Result<FileTree, ArchiveError> {
    let Some(first) = files.first() else {
        return Err(ArchiveError::Empty);
    };
    let folder = first
        .path
        .split_once('/')
        .map(|(folder, _)| format!("{folder}/"));
    let shared = folder.filter(|folder| files.iter().all(|file| file.path.starts_with(folder)));
    let skip = shared.map_or(0, |folder| folder.len());
    let mut tree = FileTree::new();
    for File { mut path, content } in files {
        path.drain(..skip);
        tree.insert(path, content)
            .map_err(|source| ArchiveError::Files {
                source: Arc::new(source),
            })?;
    }
    Ok(tree)
}

fn damaged(source: io::Error) -> ArchiveError {
    ArchiveError::Damaged {
        source: Arc::new(source),
    }
}

/// What became of the compressed stream. The tar reader wraps and rewords errors, so they are noted where they arise.
#[derive(Clone, Copy)]
enum Fate {
    Intact,
    Truncated,
    TooLarge,
}

impl Fate {
    fn explain(self, error: ArchiveError) -> ArchiveError {
        match self {
            Self::Intact => error,
            Self::Truncated => ArchiveError::Truncated,
            Self::TooLarge => ArchiveError::UnpackedSize {
                limit: MAX_UNPACKED_BYTES,
            },
        }
    }
}

/// Reads all gzip members of an archive, one after the other. Bytes after the last one that are no member are padding.
struct Members<'a> {
    decoder: GzDecoder<&'a [u8]>,
    left: usize,
    fate: &'a Cell<Fate>,
}

impl<'a> Members<'a> {
    fn new(archive: &'a [u8], fate: &'a Cell<Fate>) -> Self {
        Self {
            decoder: GzDecoder::new(archive),
            left: MAX_UNPACKED_BYTES,
            fate,
        }
    }
}

impl Read for Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.decoder.read(buffer).inspect_err(|error| {
                if error.kind() == io::ErrorKind::UnexpectedEof {
                    self.fate.set(Fate::Truncated);
                }
            })?;
            if read > self.left {
                self.fate.set(Fate::TooLarge);
                return Err(io::Error::other("too many bytes"));
            }
            self.left -= read;
            let rest = *self.decoder.get_ref();
            if read > 0 || !rest.starts_with(&GZIP_MAGIC) {
                return Ok(read);
            }
            self.decoder = GzDecoder::new(rest);
        }
    }
}

/// Names what somebody got instead of an archive.
fn looks_like(bytes: &[u8]) -> &'static str {
    const MAGIC: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
        (b"\xfd7zXZ\0", "xz-compressed data"),
        (b"BZh", "bzip2-compressed data"),
        (b"-----BEGIN PGP", "a signature"),
        (b"version https://git-lfs", "a Git LFS pointer"),
    ];
    if bytes.is_empty() {
        return "an empty answer";
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return name;
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return "an uncompressed tar archive";
    }
    let start = bytes.get(..512).unwrap_or(bytes);
    let text = String::from_utf8_lossy(start)
        .trim_start_matches('\u{feff}')
        .trim_start()
        .to_ascii_lowercase();
    match text.chars().next() {
        _ if start.contains(&0) => "binary data",
        _ if ["<!doctype html", "<html", "<head", "<body"]
            .iter()
            .any(|tag| text.starts_with(tag)) =>
        {
            "HTML"
        }
        Some('<') => "XML",
        Some('{' | '[') => "JSON",
        _ if text.contains(char::REPLACEMENT_CHARACTER) => "binary data",
        _ => "text",
    }
}

#[cfg(test)]
mod tests;
