//! Charts on disk: folders as Helm walks them, and packed ones.

use anyhow::{Context, Result, bail};
use std::{
    fs::{self, DirEntry, File, FileType},
    io::{self, Read as _},
    iter,
    path::Path,
    sync::Arc,
};
use whipstaff_generator::FileTree;
use whipstaff_helm::{IGNORE_FILE, IgnoreRules, MAX_ARCHIVE_FILE_BYTES, unpack_chart_archive};

/// Deepest nesting of folders in a chart; a link to a folder above would nest without end.
const MAX_FOLDER_DEPTH: usize = 64;
/// Largest packed chart in bytes.
pub(super) const MAX_PACKED_BYTES: usize = 100 * 1024 * 1024;

/// The files of a chart: of a folder those that its `.helmignore` leaves, of an archive all.
pub(super) fn read_chart(path: &Path) -> Result<FileTree> {
    let shown = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        if path.to_str().is_some_and(|text| text.contains("://")) {
            bail!("{shown} is not fetched, because this command talks to no server");
        }
        bail!("path \"{shown}\" not found");
    };
    if metadata.is_dir() {
        return read_folder(path);
    }
    if metadata.len() > MAX_PACKED_BYTES as u64 {
        bail!("{shown} is larger than {MAX_PACKED_BYTES} bytes");
    }
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    unpack_chart_archive(&bytes)
        .with_context(|| format!("file '{shown}' does not appear to be a valid chart file"))
}

/// The files of a folder that its `.helmignore` leaves.
pub(super) fn read_folder(path: &Path) -> Result<FileTree> {
    let ignore = match fs::read(path.join(IGNORE_FILE)) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context("cannot read .helmignore"),
    };
    let mut walk = Walk {
        rules: IgnoreRules::parse(&ignore)?,
        files: FileTree::new(),
    };
    walk.folder(path, "", 0)?;
    Ok(walk.files)
}

/// A walk through a chart's folder that follows links, as Helm does.
struct Walk {
    rules: IgnoreRules,
    files: FileTree,
}

impl Walk {
    fn folder(&mut self, path: &Path, below: &str, depth: usize) -> Result<()> {
        if depth > MAX_FOLDER_DEPTH {
            bail!("folders are nested deeper than {MAX_FOLDER_DEPTH} at {below}");
        }
        let entries =
            fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", path.display()))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                bail!("the name of {} is not UTF-8", entry.path().display());
            };
            let relative = if below.is_empty() {
                name.to_owned()
            } else {
                format!("{below}/{name}")
            };
            self.entry(&entry, &relative, depth)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, relative: &str, depth: usize) -> Result<()> {
        let path = entry.path();
        let kind = kind(entry, &path)
            .with_context(|| format!("error evaluating symlink {}", path.display()))?;
        if self.rules.ignores(relative, kind.is_dir()) {
            return Ok(());
        }
        if kind.is_dir() {
            return self.folder(&path, relative, depth + 1);
        }
        if !kind.is_file() {
            bail!(
                "cannot load irregular file {} as it has file mode type bits set",
                path.display()
            );
        }
        let reading = || format!("error reading {relative}");
        let mut file = File::open(&path).with_context(reading)?;
        let length = file.metadata().with_context(reading)?.len();
        if length > MAX_ARCHIVE_FILE_BYTES {
            bail!(
                "chart file \"{relative}\" is larger than the maximum file size {MAX_ARCHIVE_FILE_BYTES}"
            );
        }
        let content = read_file(&mut file, length as usize).with_context(reading)?;
        self.files.insert(relative, content)?;
        Ok(())
    }
}

/// What an entry of a folder is; of a link, what it leads to. The folder itself tells for all others.
fn kind(entry: &DirEntry, path: &Path) -> io::Result<FileType> {
    let kind = entry.file_type()?;
    if kind.is_symlink() {
        return Ok(fs::metadata(path)?.file_type());
    }
    Ok(kind)
}

/// Reads a file of so many bytes into the place where they stay: a buffer to be copied from would be as much memory again.
fn read_file(file: &mut File, length: usize) -> io::Result<Arc<[u8]>> {
    let mut content: Arc<[u8]> = iter::repeat_n(0, length).collect();
    let mut read = 0;
    if let Some(buffer) = Arc::get_mut(&mut content) {
        while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    // Whatever is not as long as it was said to be, a file that is being written for example.
    let mut rest = Vec::new();
    file.take(MAX_ARCHIVE_FILE_BYTES).read_to_end(&mut rest)?;
    if read == length && rest.is_empty() {
        return Ok(content);
    }
    Ok([&content[..read], &rest].concat().into())
}
