use std::sync::Arc;

use whipstaff_generator::{ErrorKind, FileTree};
use whipstaff_sops::{Keys, MAX_FILE_BYTES, decrypt_tree, is_encrypted};

use super::{encrypted, fixture, keys};

fn tree(files: &[(&str, Vec<u8>)]) -> FileTree {
    let mut tree = FileTree::new();
    for (path, content) in files {
        tree.insert(*path, content.clone()).unwrap();
    }
    tree
}

#[test]
fn encrypted_files_are_replaced_and_others_shared() {
    let about = format!(
        "An example:\n\n```yaml\n{}```\n",
        encrypted("age/values.yaml")
    );
    let files = tree(&[
        ("Chart.yaml", b"name: chart\n".to_vec()),
        ("README.md", about.into_bytes()),
        ("secrets/app.env", fixture("encrypted/age/app.env")),
        ("secrets/blob.bin", fixture("encrypted/pgp-rsa/blob.bin")),
        ("values.yaml", fixture("encrypted/two-age/values.yaml")),
    ]);
    let decrypted = decrypt_tree(&files, &keys(&["test-one.agekey", "test-rsa.asc"])).unwrap();
    let paths = |files: &FileTree| {
        let paths: Vec<_> = files.iter().map(|(path, _)| path.to_owned()).collect();
        paths
    };
    assert_eq!(paths(&decrypted), paths(&files));
    for path in ["Chart.yaml", "README.md"] {
        let (before, after) = (files.get(path).unwrap(), decrypted.get(path).unwrap());
        assert!(Arc::ptr_eq(before, after), "{path}");
    }
    assert_eq!(
        decrypted
            .get("secrets/app.env")
            .map(|content| content.to_vec()),
        Some(fixture("decrypted/age/app.env"))
    );
    assert_eq!(
        decrypted
            .get("secrets/blob.bin")
            .map(|content| content.to_vec()),
        Some(fixture("plain/blob.bin"))
    );
    assert!(
        decrypted
            .iter()
            .all(|(path, content)| !is_encrypted(path, content))
    );
}

#[test]
fn a_tree_without_encrypted_files_needs_no_keys() {
    let files = tree(&[("a.yaml", b"a: 1\n".to_vec())]);
    assert_eq!(decrypt_tree(&files, &Keys::default()).unwrap(), files);
}

#[test]
fn the_file_and_the_missing_key_are_named() {
    let files = tree(&[
        ("a.yaml", b"a: 1\n".to_vec()),
        (
            "secrets/values.yaml",
            fixture("encrypted/pgp-curve/values.yaml"),
        ),
    ]);
    let error = decrypt_tree(&files, &keys(&["test-one.agekey"])).unwrap_err();
    let fingerprint = keys(&["test-curve.asc"]).fingerprints().remove(0);
    assert_eq!(error.kind(), ErrorKind::Source);
    assert_eq!(
        error.location().map(|at| at.file.as_str()),
        Some("secrets/values.yaml")
    );
    assert_eq!(
        error.report(),
        format!(
            "`secrets/values.yaml` cannot be decrypted: no key for it: it is encrypted for `{fingerprint}`"
        )
    );
}

#[test]
fn errors_show_nothing_that_was_encrypted() {
    let one = keys(&["test-one.agekey"]);
    let content = encrypted("age/values.yaml");
    // Everything decrypts, and then the code does not fit.
    let changed = content
        .replace("numbers_unencrypted", "others_unencrypted")
        .replace("int: 7", "int: 8");
    let files = tree(&[("values.yaml", changed.into_bytes())]);
    let error = decrypt_tree(&files, &one).unwrap_err();
    let shown = format!("{} {error} {error:?}", error.report());
    assert!(shown.contains("message authentication code"), "{shown}");
    for secret in ["plain", "0123", "grüße", "after zebra", "AGE-SECRET"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn limits_are_told_from_other_failures() {
    let mut large = fixture("encrypted/age/app.env");
    large.resize(MAX_FILE_BYTES + 1, b'\n');
    let files = tree(&[("app.env", large)]);
    let error = decrypt_tree(&files, &keys(&["test-one.agekey"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(
        error.report(),
        format!(
            "`app.env` cannot be decrypted: it has more bytes than the {MAX_FILE_BYTES} allowed"
        )
    );
}

#[test]
fn the_number_of_encrypted_files_is_limited() {
    let content = fixture("encrypted/age/app.env");
    let mut files = FileTree::new();
    for at in 0..=whipstaff_sops::MAX_ENCRYPTED_FILES {
        files.insert(format!("{at}.env"), content.clone()).unwrap();
    }
    let error = decrypt_tree(&files, &keys(&["test-one.agekey"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}
