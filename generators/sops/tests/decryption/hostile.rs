use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use whipstaff_generator::yaml;
use whipstaff_sops::{Keys, SopsError, decrypt, is_encrypted};

use super::{encrypted, fixture, keys};

fn limit(file: &str, content: &str) -> &'static str {
    match decrypt(file, content.as_bytes(), &Keys::default()) {
        Err(SopsError::Limit { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nesting_is_limited() {
    let deep = |count: usize, start: &str, end: &str| {
        format!("{}{}", start.repeat(count), end.repeat(count))
    };
    assert_eq!(
        limit(
            "a.yaml",
            &deep(500, "a: {", "}")
                .replace("a: {a", "{a")
                .replacen("{a", "a: {a", 1)
        ),
        "levels"
    );
    for count in [10_000, 1_000_000] {
        let content = deep(count, "[", "]");
        for file in ["a.yaml", "a.json", "a.ini", "a.env"] {
            decrypt(file, content.as_bytes(), &Keys::default()).unwrap_err();
        }
        let content = format!("{{\"sops\":{}}}", deep(count, "[", "]"));
        for file in ["a.yaml", "a.json"] {
            decrypt(file, content.as_bytes(), &Keys::default()).unwrap_err();
        }
    }
}

#[test]
fn aliases_are_limited() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let previous = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb += &format!("a{level}: &a{level} [{previous}]\n");
    }
    assert_eq!(limit("a.yaml", &bomb), "values");
    assert_eq!(limit("a.yaml", "a: &a [*a]\n"), "levels");
}

#[test]
fn recipients_are_limited() {
    let mut content = encrypted("age/app.env");
    for at in 1..300 {
        content += &format!("sops_pgp__list_{at}__map_fp=x\nsops_pgp__list_{at}__map_enc=x\n");
    }
    assert_eq!(limit("app.env", &content), "recipients");
}

#[test]
fn operations_with_private_keys_are_limited() {
    let content = encrypted("pgp-curve/app.env");
    let (_, rest) = content.split_once("sops_pgp__list_0__map_enc=").unwrap();
    let (message, _) = rest.split_once('\n').unwrap();
    // The session key is for the test key, which cannot decrypt it: it is tried, again and again.
    let letters: String = message
        .split("\\n")
        .filter(|line| !line.starts_with(['-', '=']))
        .collect();
    let mut packets = BASE64_STANDARD.decode(letters).unwrap();
    packets[40] ^= 1;
    let damaged = format!(
        "-----BEGIN PGP MESSAGE-----\\n\\n{}\\n-----END PGP MESSAGE-----\\n",
        BASE64_STANDARD.encode(packets)
    );
    let mut content = content.replace(message, &damaged);
    for at in 1..200 {
        content += &format!("sops_pgp__list_{at}__map_fp=x\n");
        content += &format!("sops_pgp__list_{at}__map_enc={damaged}\n");
    }
    let error = decrypt("app.env", content.as_bytes(), &keys(&["test-curve.asc"])).unwrap_err();
    assert!(
        matches!(
            error,
            SopsError::Limit {
                what: "operations with private keys",
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn what_errors_show_of_a_file_is_short_and_on_one_line() {
    let content = encrypted("age/app.env");
    let key = "K\u{1b}\r".repeat(100_000);
    let content = content.replacen("NUMBER=", &format!("{key}="), 1);
    let error = decrypt("app.env", content.as_bytes(), &keys(&["test-one.agekey"])).unwrap_err();
    let text = error.to_string();
    assert!(
        text.len() < 1_000 && !text.contains('\r') && !text.contains('\u{1b}'),
        "{text}"
    );
}

/// A small generator of numbers: what is cut and replaced has to be the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// What the authentication code of a file is about: the texts of all values, one behind the other. Comments, empty values and the
/// names of keys whose values are readable or empty are nowhere in it.
fn authenticated(name: &str, content: &[u8]) -> String {
    let text = String::from_utf8_lossy(content).into_owned();
    let mut all = String::new();
    if name.ends_with(".yaml") || name.ends_with(".json") {
        for document in yaml::documents(&text).unwrap() {
            texts(&document.value, &mut all);
        }
        return all;
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        all.push_str(line.split_once('=').map_or(line, |(_, value)| value).trim());
    }
    all
}

fn texts(value: &Value, all: &mut String) {
    match value {
        Value::Null => {}
        Value::String(text) => all.push_str(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(entries) => entries.values().for_each(|item| texts(item, all)),
        other => all.push_str(&other.to_string()),
    }
}

#[test]
fn damaged_files_never_panic_and_never_give_other_values() {
    let one = keys(&["test-one.agekey", "test-curve.asc"]);
    let mut numbers = Numbers(0x5EED_CAFE);
    for file in [
        "age/values.yaml",
        "age/values.json",
        "age/app.env",
        "age/app.ini",
        "age/blob.bin",
        "pgp-curve/app.env",
    ] {
        let good = fixture(&format!("encrypted/{file}"));
        let name = file.rsplit('/').next().unwrap();
        let expected = decrypt(name, &good, &one).unwrap();
        for _ in 0..150 {
            let mut bad = good.clone();
            match numbers.below(3) {
                0 => bad.truncate(numbers.below(good.len())),
                1 => {
                    let at = numbers.below(good.len());
                    bad[at] = u8::try_from(numbers.below(256)).unwrap();
                }
                _ => {
                    let (from, to) = (numbers.below(good.len()), numbers.below(good.len()));
                    let (from, to) = (from.min(to), from.max(to));
                    bad.drain(from..to);
                }
            }
            let _ = is_encrypted(name, &bad);
            if let Ok(found) = decrypt(name, &bad, &one) {
                assert_eq!(
                    authenticated(name, &found),
                    authenticated(name, &expected),
                    "{file}"
                );
            }
        }
    }
}
