use super::*;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// A tar archive; names are written as they are, so that bad ones can be.
fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in files {
        append(&mut tar, name, EntryType::Regular, content);
    }
    tar.into_inner().unwrap()
}

fn append(tar: &mut tar::Builder<Vec<u8>>, name: &str, kind: EntryType, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append(&header, content).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    gzip(&tar_of(files))
}

fn paths(tree: &FileTree) -> Vec<&str> {
    tree.iter().map(|(path, _)| path).collect()
}

#[test]
fn folder_that_all_files_share_is_taken_off() {
    let cases: [(&[&str], &[&str]); 6] = [
        (
            &["shop/Chart.yaml", "shop/templates/a.yaml"],
            &["Chart.yaml", "templates/a.yaml"],
        ),
        (
            &["shop/Chart.yaml", "shop2/Chart.yaml"],
            &["shop/Chart.yaml", "shop2/Chart.yaml"],
        ),
        (&["shop/a", "b"], &["b", "shop/a"]),
        (&["a.yaml"], &["a.yaml"]),
        (&["./a.yaml", "./b//c.yaml"], &["a.yaml", "b/c.yaml"]),
        (&["a/b/c", "a/b/d"], &["b/c", "b/d"]),
    ];
    for (names, expected) in cases {
        let files: Vec<_> = names.iter().map(|name| (*name, name.as_bytes())).collect();
        assert_eq!(paths(&unpack(&archive(&files)).unwrap()), expected);
    }
}

#[test]
fn contents_are_kept_byte_for_byte() {
    let tree = unpack(&archive(&[
        ("c/a", b"\xef\xbb\xbf\r\n\0\xff"),
        ("c/empty", b""),
    ]))
    .unwrap();
    assert_eq!(&**tree.get("a").unwrap(), b"\xef\xbb\xbf\r\n\0\xff");
    assert_eq!(&**tree.get("empty").unwrap(), b"");
}

// Defect 10.
#[test]
fn paths_that_leave_the_archive_are_refused() {
    let cases = [
        ("/etc/passwd", "absolute"),
        ("c/../../etc/passwd", "leads out"),
        ("..", "leads out"),
        ("c/..", "leads out"),
        ("C:/windows", "drive"),
        ("c/C:/windows", "drive"),
        ("c\\..\\windows", "backslash"),
        (".", "no file"),
    ];
    for (name, reason) in cases {
        let error = unpack(&archive(&[("c/a", b"a"), (name, b"b")])).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Path { .. }),
            "{name}: {error}"
        );
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
}

#[test]
fn entries_that_are_not_files_are_left_out() {
    let mut tar = tar::Builder::new(Vec::new());
    append(
        &mut tar,
        "pax_global_header",
        EntryType::XGlobalHeader,
        b"20 comment=revision\n",
    );
    append(&mut tar, "c/", EntryType::Directory, b"");
    append(&mut tar, "other/", EntryType::Directory, b"");
    append(&mut tar, "oldest/", EntryType::Regular, b"");
    append(&mut tar, "/absolute", EntryType::Symlink, b"");
    append(&mut tar, "c/hard", EntryType::Link, b"");
    append(&mut tar, "c/pipe", EntryType::Fifo, b"");
    append(&mut tar, "c/file", EntryType::Regular, b"x");
    let tree = unpack(&gzip(&tar.into_inner().unwrap())).unwrap();
    assert_eq!(paths(&tree), ["file"]);
}

#[test]
fn long_names_are_read() {
    let name = format!("c/{}/file", "long".repeat(60));
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    header.set_cksum();
    tar.append_data(&mut header, &name, b"x".as_slice())
        .unwrap();
    let tree = unpack(&gzip(&tar.into_inner().unwrap())).unwrap();
    assert_eq!(paths(&tree), [&name[2..]]);
}

#[test]
fn archive_cut_anywhere_is_refused() {
    let noise: Vec<u8> = (0..20_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let whole = archive(&[("c/a", &noise), ("c/b", b"b")]);
    for length in (2..whole.len())
        .step_by(97)
        .chain(whole.len() - 12..whole.len())
    {
        let error = unpack(&whole[..length]).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Truncated),
            "cut at {length}: {error:?}"
        );
    }
}

#[test]
fn tar_cut_inside_an_intact_gzip_stream_is_refused() {
    let tar = tar_of(&[("c/a", &[b'a'; 2000])]);
    for length in [100, 512 + 10, 1024] {
        let error = unpack(&gzip(&tar[..length])).unwrap_err();
        let expected = matches!(
            error,
            ArchiveError::Truncated | ArchiveError::Damaged { .. }
        );
        assert!(expected, "cut at {length}: {error:?}");
    }
}

#[test]
fn damaged_archive_is_refused() {
    let mut bytes = archive(&[("c/a", b"some text that is compressed")]);
    let checksum = bytes.len() - 6;
    bytes[checksum] ^= 0xff;
    let error = unpack(&bytes).unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error:?}");
    let error = unpack(&gzip(b"this is no tar archive".repeat(100).as_slice())).unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error:?}");
}

#[test]
fn several_gzip_members_are_one_archive_and_padding_is_passed_over() {
    let tar = tar_of(&[("c/a", b"a"), ("c/b", b"b")]);
    let (front, back) = tar.split_at(700);
    let mut bytes = [gzip(front), gzip(back)].concat();
    assert_eq!(paths(&unpack(&bytes).unwrap()), ["a", "b"]);
    bytes.extend([0; 512]);
    assert_eq!(paths(&unpack(&bytes).unwrap()), ["a", "b"]);
}

#[test]
fn file_over_the_limit_is_refused() {
    let content = vec![0; MAX_FILE_BYTES + 1];
    assert!(unpack(&archive(&[("c/a", &content[1..])])).is_ok());
    let error = unpack(&archive(&[("c/a", &content)])).unwrap_err();
    assert!(
        matches!(&error, ArchiveError::FileSize { path, .. } if path == "c/a"),
        "{error:?}"
    );
}

#[test]
fn archive_that_unpacks_to_too_much_is_refused() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder
        .write_all(&tar_of(&[("c/a", b"a")])[..1024])
        .unwrap();
    // A link's claimed content is passed over, yet it has to be unpacked to be.
    let mut header = tar::Header::new_gnu();
    header.set_path("c/link").unwrap();
    header.set_entry_type(EntryType::Symlink);
    header.set_size(MAX_UNPACKED_BYTES as u64);
    header.set_cksum();
    encoder.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..=(MAX_UNPACKED_BYTES >> 20) {
        encoder.write_all(&zeros).unwrap();
    }
    let error = unpack(&encoder.finish().unwrap()).unwrap_err();
    assert!(
        matches!(error, ArchiveError::UnpackedSize { .. }),
        "{error:?}"
    );
}

#[test]
fn too_many_entries_are_refused() {
    let mut tar = Vec::new();
    let one = &tar_of(&[("c/a", b"")])[..512];
    for _ in 0..=MAX_ENTRIES {
        tar.extend_from_slice(one);
    }
    let mut bytes = tar;
    bytes.extend([0; 1024]);
    let error = unpack(&gzip(&bytes)).unwrap_err();
    assert!(matches!(error, ArchiveError::Entries { .. }), "{error:?}");
}

#[test]
fn archive_without_files_is_refused() {
    assert!(matches!(
        unpack(&archive(&[])).unwrap_err(),
        ArchiveError::Empty
    ));
}

#[test]
fn error_names_what_came_instead_of_an_archive() {
    let tar = tar_of(&[("c/a", b"a")]);
    let cases: [(&[u8], &str); 11] = [
        (b"", "an empty answer"),
        (b"\xef\xbb\xbf \n<!DOCTYPE html><html>", "HTML"),
        (b"<html lang=en>", "HTML"),
        (b"<?xml version=\"1.0\"?>", "XML"),
        (b" {\"errors\":[]}", "JSON"),
        (b"apiVersion: v1\n", "text"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"\x28\xb5\x2f\xfdrest", "zstd-compressed data"),
        (b"\x7fELF\x02\x00", "binary data"),
        (b"-----BEGIN PGP SIGNED MESSAGE-----", "a signature"),
        (&tar, "an uncompressed tar archive"),
    ];
    for (bytes, expected) in cases {
        let error = unpack(bytes).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("not a gzip archive: looks like {expected}")
        );
    }
}
