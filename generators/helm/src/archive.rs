//! Packed charts (`.tgz`) to file trees, as Helm unpacks them (Helm 3.22, `pkg/chart/loader/archive.go`).

use flate2::read::MultiGzDecoder;
use std::io::{self, Read};
use whipstaff_generator::{FileTree, FileTreeError};

/// Most bytes of one file in an archive.
pub const MAX_ARCHIVE_FILE_BYTES: u64 = 5 * 1024 * 1024;
/// Most bytes of all files of an archive together.
pub const MAX_ARCHIVE_BYTES: u64 = 100 * 1024 * 1024;
/// Most entries of an archive, folders and empty files included.
pub const MAX_ARCHIVE_ENTRIES: usize = 40_000;
/// Most bytes that an archive may unpack to with headers and padding: entries that are passed over count as well.
const MAX_ARCHIVE_STREAM: u64 = MAX_ARCHIVE_BYTES + 64 * 1024 * 1024;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An archive that is not a chart or must not be unpacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The bytes are not gzip.
    #[error("gzip: invalid header")]
    NotGzip,
    /// The archive is damaged.
    #[error("the archive cannot be read")]
    Read(#[source] io::Error),
    /// A file would lie at an absolute path.
    #[error("chart illegally contains absolute paths")]
    AbsolutePath,
    /// A file lies beside the chart's folder.
    #[error("chart illegally contains content outside the base directory: {name:?}")]
    OutsideFolder {
        /// The entry's name.
        name: String,
    },
    /// A file would lie above the chart's folder.
    #[error("chart illegally references parent directory")]
    ParentFolder,
    /// A file's name begins with a drive letter.
    #[error("chart contains illegally named files")]
    DriveLetter,
    /// `Chart.yaml` is not in a folder.
    #[error("chart yaml not in base directory")]
    NoFolder,
    /// A file is larger than [`MAX_ARCHIVE_FILE_BYTES`].
    #[error(
        "decompressed chart file {name:?} is larger than the maximum file size {MAX_ARCHIVE_FILE_BYTES}"
    )]
    FileSize {
        /// The entry's name.
        name: String,
    },
    /// The files are larger than [`MAX_ARCHIVE_BYTES`] together.
    #[error("decompressed chart is larger than the maximum size {MAX_ARCHIVE_BYTES}")]
    TotalSize,
    /// There are more than [`MAX_ARCHIVE_ENTRIES`] entries.
    #[error("chart archive has more than {MAX_ARCHIVE_ENTRIES} entries")]
    Entries,
    /// There is no file.
    #[error("no files in chart archive")]
    Empty,
    /// A path is not fit for a file tree.
    #[error("chart archive contains a file that cannot be kept")]
    File(#[from] FileTreeError),
}

/// Unpacks a chart's `.tgz`. The first folder of every path is dropped, byte order marks are removed, folders are passed over, and
/// links become empty files: they are never followed.
///
/// # Errors
/// [`ArchiveError`] when the archive is damaged, too large or has files outside its folder.
pub fn unpack_chart_archive(bytes: &[u8]) -> Result<FileTree, ArchiveError> {
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Err(ArchiveError::NotGzip);
    }
    let stream = MultiGzDecoder::new(bytes).take(MAX_ARCHIVE_STREAM);
    let mut archive = tar::Archive::new(stream);
    let mut files = FileTree::new();
    let mut remaining = MAX_ARCHIVE_BYTES;
    for (count, entry) in archive.entries().map_err(ArchiveError::Read)?.enumerate() {
        if count >= MAX_ARCHIVE_ENTRIES {
            return Err(ArchiveError::Entries);
        }
        let mut entry = entry.map_err(ArchiveError::Read)?;
        if entry.header().entry_type().is_dir() || is_extension(entry.header().entry_type()) {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if name.ends_with('/') {
            continue;
        }
        let path = chart_path(&name)?;
        let content = read_entry(&mut entry, &name, remaining)?;
        remaining -= content.len() as u64;
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&content);
        // Where an archive names a file twice, Helm keeps both and uses the later one.
        files.insert(path, content)?;
    }
    check_end(archive.into_inner())?;
    if files.is_empty() {
        Err(ArchiveError::Empty)
    } else {
        Ok(files)
    }
}

/// An archive that was cut off behind its last file is damaged all the same. What follows a whole archive does not matter.
fn check_end(mut rest: impl Read) -> Result<(), ArchiveError> {
    match io::copy(&mut rest, &mut io::sink()) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(ArchiveError::Read(error))
        }
        _ => Ok(()),
    }
}

fn is_extension(kind: tar::EntryType) -> bool {
    kind.is_pax_global_extensions() || kind.is_pax_local_extensions()
}

fn read_entry(entry: &mut impl Read, name: &str, remaining: u64) -> Result<Vec<u8>, ArchiveError> {
    let mut content = Vec::new();
    let limit = remaining.min(MAX_ARCHIVE_FILE_BYTES);
    entry
        .by_ref()
        .take(limit + 1)
        .read_to_end(&mut content)
        .map_err(ArchiveError::Read)?;
    let size = content.len() as u64;
    if size > MAX_ARCHIVE_FILE_BYTES {
        return Err(ArchiveError::FileSize {
            name: name.to_owned(),
        });
    }
    if size > remaining {
        return Err(ArchiveError::TotalSize);
    }
    Ok(content)
}

/// The path below the archive's folder, or why it is refused.
fn chart_path(name: &str) -> Result<String, ArchiveError> {
    // Archives made on Windows may use backslashes throughout.
    let delimiter = if name.contains('\\') { '\\' } else { '/' };
    let (folder, rest) = name.split_once(delimiter).unwrap_or((name, ""));
    let rest = rest.replace(delimiter, "/");
    if rest.starts_with('/') {
        return Err(ArchiveError::AbsolutePath);
    }
    let path = clean(&rest);
    if path.is_empty() {
        return Err(if folder == "Chart.yaml" {
            ArchiveError::NoFolder
        } else {
            ArchiveError::OutsideFolder {
                name: name.to_owned(),
            }
        });
    }
    if path.starts_with("..") {
        return Err(ArchiveError::ParentFolder);
    }
    if has_drive_letter(&path) {
        return Err(ArchiveError::DriveLetter);
    }
    if folder == "Chart.yaml" {
        return Err(ArchiveError::NoFolder);
    }
    Ok(path)
}

/// Go's `path.Clean` of a relative path, with nothing in place of `.`.
pub(crate) fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn has_drive_letter(path: &str) -> bool {
    let bytes = path.as_bytes();
    matches!(bytes, [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    /// An archive whose headers say exactly what is given, however wrong.
    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = Vec::new();
        for (name, content) in entries {
            tar.extend(raw_header(name, content.len() as u64, b'0'));
            tar.extend_from_slice(content);
            tar.resize(tar.len().next_multiple_of(512), 0);
        }
        tar.extend([0; 1024]);
        gzip(&tar)
    }

    fn raw_header(name: &str, size: u64, kind: u8) -> [u8; 512] {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        header[156] = kind;
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        header
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn first_folder_is_dropped_and_byte_order_marks_go() {
        let bytes = archive(&[
            ("shop/Chart.yaml", b"\xef\xbb\xbfname: shop"),
            ("shop/./templates//a.yaml", b"a"),
            ("other/b", b"b"),
        ]);
        let files = unpack_chart_archive(&bytes).unwrap();
        let found: Vec<_> = files
            .iter()
            .map(|(path, content)| (path, content.to_vec()))
            .collect();
        assert_eq!(
            found,
            [
                ("Chart.yaml", b"name: shop".to_vec()),
                ("b", b"b".to_vec()),
                ("templates/a.yaml", b"a".to_vec())
            ]
        );
    }

    #[test]
    fn backslashes_separate_when_there_are_any() {
        let files = unpack_chart_archive(&archive(&[("shop\\templates\\a.yaml", b"a")])).unwrap();
        assert!(files.contains("templates/a.yaml"));
    }

    #[test]
    fn files_outside_the_folder_are_refused() {
        let cases = [
            (
                "shop//etc/passwd",
                "chart illegally contains absolute paths",
            ),
            (
                "shop/../../x",
                "chart illegally references parent directory",
            ),
            (
                "shop/a/../../x",
                "chart illegally references parent directory",
            ),
            (
                "shop\\..\\..\\x",
                "chart illegally references parent directory",
            ),
            ("shop/c:/x", "chart contains illegally named files"),
            ("Chart.yaml", "chart yaml not in base directory"),
            ("Chart.yaml/x", "chart yaml not in base directory"),
            (
                "loose",
                "chart illegally contains content outside the base directory: \"loose\"",
            ),
            (
                "shop/a/..",
                "chart illegally contains content outside the base directory: \"shop/a/..\"",
            ),
        ];
        for (name, message) in cases {
            let error = unpack_chart_archive(&archive(&[(name, b"x")])).unwrap_err();
            assert_eq!(error.to_string(), message, "{name}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let mut tar = raw_header("shop/link", 0, b'2').to_vec();
        tar[157..168].copy_from_slice(b"/etc/passwd");
        tar[148..156].fill(b' ');
        let sum: u32 = tar.iter().map(|byte| u32::from(*byte)).sum();
        tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend([0; 1024]);
        let files = unpack_chart_archive(&gzip(&tar)).unwrap();
        assert_eq!(files.get("link").map(|content| content.len()), Some(0));
    }

    #[test]
    fn a_file_over_the_limit_is_refused() {
        let large = vec![0; MAX_ARCHIVE_FILE_BYTES as usize + 1];
        let error = unpack_chart_archive(&archive(&[("shop/large", &large)])).unwrap_err();
        assert!(matches!(error, ArchiveError::FileSize { .. }), "{error}");
    }

    #[test]
    fn many_files_over_the_limit_together_are_refused() {
        let content = vec![0; MAX_ARCHIVE_FILE_BYTES as usize];
        let names: Vec<String> = (0..21).map(|n| format!("shop/{n}")).collect();
        let entries: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), &content[..]))
            .collect();
        let error = unpack_chart_archive(&archive(&entries)).unwrap_err();
        assert!(matches!(error, ArchiveError::TotalSize), "{error}");
    }

    #[test]
    fn a_header_that_lies_about_its_size_is_an_error() {
        let mut tar = raw_header("shop/x", 1 << 32, b'0').to_vec();
        tar.extend([0; 1024]);
        assert!(unpack_chart_archive(&gzip(&tar)).is_err());
    }

    #[test]
    fn damaged_archives_are_errors() {
        let whole = archive(&[("shop/Chart.yaml", b"name: shop"), ("shop/b", &[7; 4096])]);
        assert!(matches!(
            unpack_chart_archive(b""),
            Err(ArchiveError::NotGzip)
        ));
        assert!(matches!(
            unpack_chart_archive(b"PK\x03\x04"),
            Err(ArchiveError::NotGzip)
        ));
        for cut in 2..whole.len() - 9 {
            assert!(unpack_chart_archive(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(matches!(
            unpack_chart_archive(&archive(&[])),
            Err(ArchiveError::Empty)
        ));
        assert!(unpack_chart_archive(&gzip(&[1; 700])).is_err());
    }

    #[test]
    fn too_many_entries_are_refused() {
        let folders: Vec<u8> = (0..=MAX_ARCHIVE_ENTRIES)
            .flat_map(|_| raw_header("shop/d/", 0, b'5'))
            .collect();
        let error = unpack_chart_archive(&gzip(&folders)).unwrap_err();
        assert!(matches!(error, ArchiveError::Entries), "{error}");
    }
}
