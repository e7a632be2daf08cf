use whipstaff_sops::{KeyError, KeyProblem, Keys, SopsError, decrypt};

use super::{encrypted, fixture, keys};

/// What is said of a file whose values are not those that SOPS saw.
const MAC: &str = "its message authentication code does not fit its values: it was changed after it had been encrypted";

fn refusal(file: &str, content: &str, keys: &Keys) -> String {
    match decrypt(file, content.as_bytes(), keys) {
        Ok(_) => panic!("{file} was decrypted"),
        Err(error) => error.to_string(),
    }
}

/// A change to the first text that fits; a test whose change does nothing would say nothing.
fn changed(content: &str, from: &str, to: &str) -> String {
    assert!(content.contains(from), "nothing to change: {from}");
    content.replacen(from, to, 1)
}

/// The encrypted value behind a key.
fn value<'c>(content: &'c str, key: &str) -> &'c str {
    let (_, rest) = content.split_once(key).unwrap();
    let start = rest.find("ENC[").unwrap();
    let end = rest[start..].find(']').unwrap();
    &rest[start..=start + end]
}

/// A value with other letters at the start of one of its parts.
fn damaged(value: &str, part: &str) -> String {
    let (start, rest) = value.split_once(part).unwrap();
    let letter = if rest.starts_with('A') { "B" } else { "A" };
    format!("{start}{part}{letter}{}", &rest[1..])
}

#[test]
fn missing_keys_are_named() {
    let age = "age174kassap9rnt035j8xr9wmlc6he8q8dkuu3yu2krdggjam07n96qx7smfl";
    let recipients = fixture("keys/test-one.agekey");
    assert!(String::from_utf8(recipients).unwrap().contains(age));
    let stranger = keys(&["test-stranger.agekey"]);
    for (file, content) in [
        ("values.yaml", encrypted("age/values.yaml")),
        ("app.env", encrypted("age/app.env")),
        ("app.ini", encrypted("age/app.ini")),
        ("blob.bin", encrypted("age/blob.bin")),
    ] {
        for keys in [&stranger, &Keys::default(), &keys(&["test-rsa.asc"])] {
            assert_eq!(
                refusal(file, &content, keys),
                format!("no key for it: it is encrypted for `{age}`"),
            );
        }
    }
    let rsa = keys(&["test-rsa.asc"]).fingerprints();
    assert_eq!(rsa[0].len(), 40);
    assert_eq!(
        refusal("values.yaml", &encrypted("pgp-rsa/values.yaml"), &stranger),
        format!("no key for it: it is encrypted for `{}`", rsa[0]),
    );
}

#[test]
fn too_few_key_groups_are_counted() {
    let two = keys(&["test-two.agekey"]).fingerprints();
    let rsa = keys(&["test-rsa.asc"]).fingerprints();
    assert_eq!(
        refusal(
            "app.env",
            &encrypted("groups/app.env"),
            &keys(&["test-one.agekey"])
        ),
        format!(
            "keys for 1 of its key groups are there, and 2 are needed; those without are for `{}`, `{}`",
            two[0], rsa[0]
        ),
    );
    // A threshold that was lowered gives another data key.
    let lowered = changed(&encrypted("groups/app.env"), "threshold=2", "threshold=1");
    let error = decrypt("app.env", lowered.as_bytes(), &keys(&["test-one.agekey"]));
    assert!(
        matches!(error, Err(SopsError::Metadata { .. })),
        "{error:?}"
    );
}

#[test]
fn changed_values_are_named_and_not_shown() {
    let one = keys(&["test-one.agekey"]);
    for file in ["values.yaml", "values.json", "app.env", "app.ini"] {
        let content = encrypted(&format!("age/{file}"));
        let (key, path) = match file {
            "values.yaml" => ("word", "word"),
            "values.json" => ("deep", "list:deep"),
            "app.env" => ("NUMBER", "NUMBER"),
            _ => ("number", "database:number"),
        };
        let good = value(&content, key);
        for part in ["data:", "iv:", "tag:"] {
            let content = changed(&content, good, &damaged(good, part));
            assert_eq!(
                refusal(file, &content, &one),
                format!(
                    "the value of `{path}` does not decrypt: it was changed, or moved to another key"
                ),
                "{part}"
            );
        }
        for (bad, problem) in [
            ("readable", "should be encrypted, and is not"),
            ("ENC[AES256_GCM,data:AAAA]", "is not in the form of SOPS"),
            (
                &*changed(good, ",tag:", ",tag:A"),
                "is not in the form of SOPS",
            ),
        ] {
            let content = changed(&content, good, bad);
            assert_eq!(
                refusal(file, &content, &one),
                format!("the value of `{path}` {problem}"),
            );
        }
    }
}

#[test]
fn values_cannot_be_moved_or_left_out() {
    let one = keys(&["test-one.agekey"]);
    let content = encrypted("age/app.env");
    let (quoted, number) = (value(&content, "QUOTED="), value(&content, "NUMBER="));
    let moved = changed(&content, quoted, number);
    assert!(refusal("app.env", &moved, &one).starts_with("the value of `QUOTED` does not decrypt"));

    let line = format!("NUMBER={number}\n");
    for changed in [
        changed(&content, &line, ""),
        changed(&content, &line, "NUMBER=\n"),
        changed(&content, "_unencrypted=readable", "_unencrypted=changed"),
        changed(
            &content,
            "OPEN_unencrypted",
            "ADDED_unencrypted=1\nOPEN_unencrypted",
        ),
        changed(&content, "sops_lastmodified=2", "sops_lastmodified=1"),
        changed(
            &content,
            "sops_version",
            "sops_mac_only_encrypted=true\nsops_version",
        ),
        changed(&content, value(&content, "sops_mac="), ""),
        changed(&content, value(&content, "sops_mac="), number),
    ] {
        assert_eq!(refusal("app.env", &changed, &one), MAC, "{changed}");
    }
    let mac = value(&content, "sops_mac=");
    for part in ["data:", "iv:", "tag:"] {
        let changed = changed(&content, mac, &damaged(mac, part));
        assert_eq!(refusal("app.env", &changed, &one), MAC, "{part}");
    }
    // Keys are in another order, values are the same: the code is about the order.
    let lines: Vec<_> = content.lines().collect();
    let swapped = changed(&content, &format!("{}\n", lines[1]), "");
    let swapped = changed(&swapped, &line, &format!("{line}{}\n", lines[1]));
    assert_eq!(refusal("app.env", &swapped, &one), MAC);
}

#[test]
fn readable_values_are_free_if_the_code_is_about_encrypted_ones_alone() {
    let one = keys(&["test-one.agekey"]);
    let content = encrypted("mac-only-encrypted/app.env");
    let other = changed(
        &content,
        "OPEN_unencrypted=readable",
        "OPEN_unencrypted=other",
    );
    let plain = decrypt("app.env", other.as_bytes(), &one).unwrap();
    assert!(
        String::from_utf8(plain)
            .unwrap()
            .contains("OPEN_unencrypted=other\n")
    );

    let number = value(&content, "NUMBER=");
    let readable = changed(&content, number, "5432");
    assert_eq!(
        refusal("app.env", &readable, &one),
        "the value of `NUMBER` should be encrypted, and is not"
    );
    let stream = encrypted("mac-only-comment/manifests.yaml");
    let mode = value(&stream, "mode:");
    let readable = changed(&stream, mode, "'0644'");
    assert!(refusal("manifests.yaml", &readable, &one).starts_with("its message authentication"));
}

#[test]
fn files_without_metadata_are_refused() {
    let one = keys(&["test-one.agekey"]);
    for file in ["values.yaml", "values.json", "app.env", "app.ini"] {
        let plain = fixture(&format!("decrypted/age/{file}"));
        let error = decrypt(file, &plain, &one).unwrap_err();
        assert_eq!(error, SopsError::MissingMetadata, "{file}");
    }
    let content = encrypted("age/values.yaml");
    let (start, _) = content.split_once("\nsops:").unwrap();
    let without = format!("{start}\n");
    assert_eq!(
        refusal("values.yaml", &without, &one),
        "it holds no SOPS metadata"
    );
}

#[test]
fn incomplete_metadata_are_refused() {
    let one = keys(&["test-one.agekey"]);
    let content = encrypted("age/app.env");
    for (from, to, problem) in [
        (
            "sops_lastmodified",
            "sops_other",
            "`lastmodified` is missing",
        ),
        ("sops_mac=", "sops_cam=", "`mac` is missing"),
        (
            "sops_age__list_0__map_recipient",
            "sops_x",
            "an entry of `age` has no `recipient`",
        ),
        (
            "sops_age",
            "sops_ega",
            "an entry of `age` has no `recipient`",
        ),
        (
            "sops_version",
            "sops_encrypted_regex=a\nsops_version",
            "more than one rule says what is encrypted",
        ),
        (
            "sops_unencrypted_suffix=_",
            "sops_encrypted_regex=(",
            "`encrypted_regex` is not a pattern that is understood",
        ),
    ] {
        let to = content.replace(from, to);
        let problem = if from == "sops_age" {
            "no keys are named"
        } else {
            problem
        };
        assert_eq!(
            refusal("app.env", &to, &one),
            format!("its SOPS metadata are wrong: {problem}"),
        );
    }
}

#[test]
fn data_keys_that_are_damaged_are_told_from_missing_ones() {
    let one = keys(&["test-one.agekey"]);
    let content = encrypted("age/app.env");
    let damaged = changed(&content, "FILE-----\\nYWdl", "FILE-----\\nYWdm");
    let recipient = &one.fingerprints()[0];
    assert_eq!(
        refusal("app.env", &damaged, &one),
        format!("its data key for `{recipient}` is damaged")
    );
    let curve = keys(&["test-curve.asc"]);
    let content = encrypted("pgp-curve/app.env");
    let (_, rest) = content.split_once("MESSAGE-----\\n\\n").unwrap();
    let line = rest.split("\\n").nth(1).unwrap();
    let reversed: String = line.chars().rev().collect();
    assert_eq!(
        refusal("app.env", &changed(&content, line, &reversed), &curve),
        format!("its data key for `{}` is damaged", curve.fingerprints()[0])
    );
}

#[test]
fn key_services_are_refused_by_name() {
    let one = keys(&["test-one.agekey"]);
    let recipient = one.fingerprints().remove(0);
    let content = encrypted("age/app.env");
    for (field, name) in [
        ("kms", "AWS KMS"),
        ("gcp_kms", "Google Cloud KMS"),
        ("hckms", "Huawei Cloud KMS"),
        ("azure_kv", "Azure Key Vault"),
        ("hc_vault", "HashiCorp Vault"),
    ] {
        let only = content.replace("sops_age__", &format!("sops_{field}__"));
        assert_eq!(
            refusal("app.env", &only, &one),
            format!("only {name} can decrypt it, and key services are not supported")
        );
        // With a key of ours besides, the service is not needed.
        let also = format!("{content}sops_{field}__list_0__map_enc=x\n");
        decrypt("app.env", also.as_bytes(), &one).unwrap();
        assert_eq!(
            refusal("app.env", &also, &Keys::default()),
            format!(
                "no key for it: it is encrypted for `{recipient}`; {name} could decrypt it, but key services are not supported"
            )
        );
    }
}

#[test]
fn keys_that_cannot_be_used_are_refused_with_their_entry() {
    let identity = String::from_utf8(fixture("keys/test-one.agekey")).unwrap();
    let secret = identity.lines().last().unwrap();
    let good = fixture("keys/test-curve.asc");
    let public = String::from_utf8(good.clone())
        .unwrap()
        .replace("PRIVATE", "PUBLIC");
    let many = vec![fixture("keys/test-curve.asc"); 65].concat();
    for (entry, content, problem) in [
        ("a.agekey", b"# none\n".to_vec(), KeyProblem::Empty),
        (
            "a.agekey",
            b"\n\nhunter2\n".to_vec(),
            KeyProblem::Identity { line: 3 },
        ),
        ("a.agekey", vec![0xFF], KeyProblem::Identity { line: 1 }),
        (
            "a.agekey",
            b"AGE-SECRET-KEY-PQ-1AAAA".to_vec(),
            KeyProblem::PostQuantum { line: 1 },
        ),
        (
            "a.agekey",
            b"age-plugin-yubikey-1AAAA".to_vec(),
            KeyProblem::Plugin { line: 1 },
        ),
        (
            "a.agekey",
            b"age-encryption.org/v1\n-> scrypt".to_vec(),
            KeyProblem::Protected,
        ),
        (
            "a.agekey",
            format!("{secret}\n").repeat(65).into_bytes(),
            KeyProblem::Many,
        ),
        ("a.agekey", vec![b'#'; 1024 * 1024 + 1], KeyProblem::Large),
        ("a.asc", b"hunter2".to_vec(), KeyProblem::Armor),
        ("a.asc", good[..300].to_vec(), KeyProblem::Armor),
        ("a.asc", public.into_bytes(), KeyProblem::Public),
        (
            "a.asc",
            fixture("keys/test-protected.asc"),
            KeyProblem::Protected,
        ),
        ("a.asc", many, KeyProblem::Many),
    ] {
        let entry = entry.to_owned();
        let error = Keys::from_entries([(&entry, content)]).unwrap_err();
        assert_eq!(error, KeyError { entry, problem });
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("hunter2") && !shown.contains(secret),
            "{shown}"
        );
    }
}

#[test]
fn entries_of_other_names_are_passed_over() {
    let keys = Keys::from_entries([("sops.aws-kms", b"x".as_slice()), ("README", b"")]).unwrap();
    assert!(keys.is_empty());
}

#[test]
fn keys_are_known_by_their_public_parts_and_show_nothing() {
    let keys = keys(&[
        "test-one.agekey",
        "test-rsa.asc",
        "test-curve.asc",
        "test-curve-subkey.asc",
    ]);
    let fingerprints = keys.fingerprints();
    assert_eq!(fingerprints.len(), 3);
    assert!(fingerprints[0].starts_with("age1"));
    assert!(fingerprints[1..].iter().all(|print| {
        print.len() == 40
            && print
                .bytes()
                .all(|letter| b"0123456789ABCDEF".contains(&letter))
    }));
    assert_eq!(format!("{keys:?}"), "Keys(..)");
}

#[test]
fn several_keys_may_be_in_one_entry() {
    let age = [
        fixture("keys/test-stranger.agekey"),
        fixture("keys/test-two.agekey"),
    ]
    .concat();
    let pgp = [fixture("keys/test-curve.asc"), fixture("keys/test-rsa.asc")].concat();
    let keys = Keys::from_entries([("all.agekey", age), ("all.asc", pgp)]).unwrap();
    assert_eq!(keys.fingerprints().len(), 4);
    for file in [
        "two-age/values.yaml",
        "pgp-rsa/values.yaml",
        "pgp-curve/values.yaml",
    ] {
        decrypt("values.yaml", encrypted(file).as_bytes(), &keys).unwrap();
    }
}
