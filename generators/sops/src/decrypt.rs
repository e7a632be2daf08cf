//! Whole files, and all files of a tree.

use std::sync::Arc;

use whipstaff_generator::{Error, ErrorKind, FileTree, FileTreeError, Location};

use crate::data_key::{self, Effort};
use crate::error::SopsError;
use crate::format::{self, Format};
use crate::keys::Keys;
use crate::metadata::Metadata;
use crate::sniff::{encrypted_format, is_encrypted};
use crate::walk;

/// Most bytes of an encrypted file.
pub const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;

/// Most encrypted files of one tree.
pub const MAX_ENCRYPTED_FILES: usize = 1_000;

/// Decrypts a file.
///
/// The format that it is in is told by its metadata; the format of the result by the path's ending (`.yaml`, `.yml`, `.json`,
/// `.env`, `.ini`). Any other ending gives the `data` of a JSON object, which is how SOPS keeps files that it does not know, or else
/// the format that the file is in. Metadata are removed, and keys keep their order. Of a YAML stream, documents in which nothing is
/// left become empty.
///
/// # Errors
/// [`SopsError`] when the file is not encrypted or damaged, no key fits, its message authentication code does not, or it is
/// larger than [`MAX_FILE_BYTES`], nested deeper than 100 levels or asks for more than
/// [`MAX_PRIVATE_KEY_OPERATIONS`](crate::MAX_PRIVATE_KEY_OPERATIONS).
pub fn decrypt(path: &str, content: &[u8], keys: &Keys) -> Result<Vec<u8>, SopsError> {
    decrypt_file(path, content, keys, &mut Effort::new())
}

/// Decrypts the encrypted files of a tree. Paths stay, and files that are not encrypted are shared with the given tree.
///
/// # Errors
/// For the first file that cannot be decrypted, with its path as location and [`SopsError`] as cause, and when there are more than
/// [`MAX_ENCRYPTED_FILES`].
pub fn decrypt_tree(files: &FileTree, keys: &Keys) -> Result<FileTree, Error> {
    let mut decrypted = files.clone();
    let mut effort = Effort::new();
    let encrypted = files
        .iter()
        .filter(|(path, content)| is_encrypted(path, content));
    for (at, (path, content)) in encrypted.enumerate() {
        if at >= MAX_ENCRYPTED_FILES {
            let message = format!("more than {MAX_ENCRYPTED_FILES} files are encrypted");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        effort.next_file();
        let plain = decrypt_file(path, content, keys, &mut effort)
            .map_err(|problem| refused(path, problem))?;
        decrypted
            .insert(path, Arc::<[u8]>::from(plain))
            .map_err(|problem| too_large(path, problem))?;
    }
    Ok(decrypted)
}

fn decrypt_file(
    path: &str,
    content: &[u8],
    keys: &Keys,
    effort: &mut Effort,
) -> Result<Vec<u8>, SopsError> {
    if content.len() > MAX_FILE_BYTES {
        return Err(SopsError::Limit {
            what: "bytes",
            limit: MAX_FILE_BYTES,
        });
    }
    let named = Format::of_path(path);
    let input = encrypted_format(path, content)
        .or(named)
        .unwrap_or(Format::Json);
    let (mut documents, metadata) = format::read(input, content)?;
    let metadata = Metadata::read(&metadata.ok_or(SopsError::MissingMetadata)?)?;
    let cipher = data_key::recover(&metadata, keys, effort)?;
    walk::decrypt(&mut documents, &metadata, &cipher)?;
    format::write(named, input, &documents)
}

fn refused(path: &str, problem: SopsError) -> Error {
    let kind = match problem {
        SopsError::Limit { .. } => ErrorKind::Limit,
        _ => ErrorKind::Source,
    };
    Error::new(kind, format!("`{path}` cannot be decrypted"))
        .at(Location::file(path))
        .caused_by(problem)
}

fn too_large(path: &str, problem: FileTreeError) -> Error {
    Error::new(
        ErrorKind::Limit,
        format!("`{path}` does not fit in when it is decrypted"),
    )
    .at(Location::file(path))
    .caused_by(problem)
}
