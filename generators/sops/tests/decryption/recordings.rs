use serde_json::Value;
use whipstaff_generator::yaml;
use whipstaff_sops::{decrypt, is_encrypted};

use super::{fixture, fixtures, keys};

/// The entries whose keys decrypt a case, each of them on its own if `|` is between them.
fn entries_of(case: &str) -> &'static [&'static [&'static str]] {
    match case {
        "two-age" => &[&["test-one.agekey"], &["test-two.agekey"]],
        "pgp-rsa" => &[
            &["test-rsa.asc"],
            &["test-stranger.agekey", "test-curve.asc", "test-rsa.asc"],
        ],
        "pgp-curve" => &[&["test-curve.asc"], &["test-curve-subkey.asc"]],
        "age-and-pgp" => &[&["test-two.agekey"], &["test-rsa.asc"], &["test-curve.asc"]],
        "groups" => &[
            &["test-one.agekey", "test-two.agekey"],
            &["test-one.agekey", "test-rsa.asc"],
            &["test-two.agekey", "test-rsa.asc"],
            &["test-one.agekey", "test-two.agekey", "test-rsa.asc"],
        ],
        _ => &[&["test-one.agekey"]],
    }
}

/// What a file says, as far as it is kept: values with their order, without comments.
fn meaning(file: &str, content: &[u8]) -> String {
    let text = String::from_utf8_lossy(content).into_owned();
    if file.ends_with(".yaml") {
        let documents = yaml::documents(&text).unwrap();
        let several = documents.len() > 1;
        let values = documents.into_iter().map(|document| document.value);
        // Maps compare without their order, texts with it.
        let texts = values.map(|value| match value {
            Value::Object(map) if map.is_empty() && several => "null".to_owned(),
            value => value.to_string(),
        });
        return texts.collect::<Vec<_>>().join("\n");
    }
    if file.ends_with(".ini") {
        let lines = text.lines().filter(|line| !line.starts_with("; "));
        return lines.collect::<Vec<_>>().join("\n");
    }
    format!("{content:?}\n{text}")
}

#[test]
fn every_recording_is_decrypted_to_what_sops_gives() {
    let mut files = 0;
    for case in std::fs::read_dir(fixtures().join("encrypted")).unwrap() {
        let case = case.unwrap();
        let name = case.file_name().into_string().unwrap();
        for file in std::fs::read_dir(case.path()).unwrap() {
            let file = file.unwrap().file_name().into_string().unwrap();
            let content = fixture(&format!("encrypted/{name}/{file}"));
            let expected = fixture(&format!("decrypted/{name}/{file}"));
            assert!(is_encrypted(&file, &content), "{name}/{file}");
            assert!(!is_encrypted(&file, &expected), "{name}/{file}");
            for entries in entries_of(&name) {
                let found = decrypt(&file, &content, &keys(entries))
                    .unwrap_or_else(|error| panic!("{name}/{file} with {entries:?}: {error}"));
                assert_eq!(
                    meaning(&file, &found),
                    meaning(&file, &expected),
                    "{name}/{file} with {entries:?}"
                );
                files += 1;
            }
        }
    }
    assert!(files >= 35, "only {files} files");
}

#[test]
fn strings_stay_strings_for_readers_of_yaml_1_1() {
    let content = fixture("encrypted/age/values.yaml");
    let plain = decrypt("values.yaml", &content, &keys(&["test-one.agekey"])).unwrap();
    let values = yaml::from_slice(&plain).unwrap();
    for (key, text) in [
        ("looksLikeInt", "0123"),
        ("looksLikeBool", "yes"),
        ("oldBool", "on"),
        ("looksLikeFloat", "1e3"),
        ("looksLikeNull", "null"),
        ("looksLikeDate", "2024-02-29"),
        ("empty", ""),
    ] {
        assert_eq!(values[key], text, "{key}");
    }
    assert_eq!(values["octal"], 420);
    assert_eq!(values["enabled"], true);
    assert_eq!(values["nothing"], Value::Null);
    assert_eq!(values.get("sops"), None);
}

#[test]
fn the_name_decides_on_the_format_of_the_result() {
    let one = keys(&["test-one.agekey"]);
    let json = fixture("encrypted/age/values.json");
    let yaml = decrypt("values.yml", &json, &one).unwrap();
    let expected: Value = serde_json::from_slice(&fixture("decrypted/age/values.json")).unwrap();
    let found = yaml::from_slice(&yaml).unwrap();
    assert_eq!(found["object"], expected["object"]);
    assert_eq!(found["float"], expected["float"]);

    let dotenv = fixture("encrypted/age/app.env");
    let json = decrypt("app.json", &dotenv, &one).unwrap();
    let found: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(found["LINES"], "first\nsecond");
    assert_eq!(found["NUMBER"], "5432");

    let same = decrypt("app.env.secret", &dotenv, &one).unwrap();
    assert_eq!(same, fixture("decrypted/age/app.env"));

    let stream = fixture("encrypted/age/manifests.yaml");
    let error = decrypt("manifests.json", &stream, &one).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it cannot be written as JSON: there is more than one document"
    );
}

#[test]
fn json_that_is_encrypted_as_binary_gives_its_bytes() {
    let one = keys(&["test-one.agekey"]);
    let content = fixture("encrypted/age/blob.bin");
    assert_eq!(
        decrypt("blob.bin", &content, &one).unwrap(),
        fixture("plain/blob.bin")
    );
    let error = decrypt("blob.yaml", &content, &one).unwrap_err();
    assert_eq!(error.to_string(), "the value of `data` is not text");
}
