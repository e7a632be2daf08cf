//! Encodings, checksums, expressions, versions, dates, URLs, paths and cryptography, against what Sprig 3.3 and Helm 4.3 print.

use serde_json::Value as Json;
use std::sync::Arc;
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Dialect, Environment, FunctionError, Map, MapType, Options, Renderer, TemplateSet, Value,
};

/// An environment that repeats itself.
#[derive(Debug)]
struct Seeded {
    state: u64,
}

impl Environment for Seeded {
    fn lookup(&mut self, _question: LookupQuestion) -> Result<Json, FunctionError> {
        Ok(Json::Null)
    }

    /// The generator that is known as `SplitMix64`.
    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError> {
        for byte in buffer {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (mixed >> 56) as u8;
        }
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (1_700_000_000, 123_000_000)
    }
}

fn render(source: &str, seed: u64) -> Result<Vec<u8>, String> {
    let mut set = TemplateSet::new(Arc::new(whipstaff_sprig::functions(Dialect::V4_3)));
    set.parse("t", source.as_bytes())
        .map_err(|error| error.to_string())?;
    let mut environment = Seeded { state: seed };
    let mut renderer = Renderer::new(&set, &mut environment, Options::default());
    let dot = Value::Map(Map::new(
        MapType::ANY,
        std::collections::BTreeMap::default(),
    ));
    renderer
        .render("t", &dot)
        .map_err(|error| error.to_string())
}

fn from_hexadecimal(text: &str) -> Vec<u8> {
    let digits = |start| u8::from_str_radix(&text[start..start + 2], 16);
    (0..text.len())
        .step_by(2)
        .filter_map(|start| digits(start).ok())
        .collect()
}

#[test]
fn functions_print_what_sprig_prints() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/sprig/codecs.jsonl"
    );
    let cases = std::fs::read_to_string(path).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for line in cases.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let source = case["template"].as_str().unwrap();
        let expected = match (case["hex"].as_str(), case["output"].as_str()) {
            (Some(hexadecimal), _) => Ok(from_hexadecimal(hexadecimal)),
            (None, Some(output)) => Ok(output.as_bytes().to_vec()),
            (None, None) => Err(case["error"].as_str().unwrap().to_owned()),
        };
        count += 1;
        let actual = render(source, 1);
        if actual != expected {
            let show = |result: &Result<Vec<u8>, String>| match result {
                Ok(output) => format!("output {:?}", String::from_utf8_lossy(output)),
                Err(error) => format!("error {error}"),
            };
            let (expected, actual) = (show(&expected), show(&actual));
            failures.push(format!(
                "{source}\n  expected {expected}\n  actual   {actual}"
            ));
        }
    }
    assert!(count > 1000, "only {count} cases were read");
    let shown = failures
        .iter()
        .take(20)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        failures.is_empty(),
        "{} of {count} differ:\n{shown}",
        failures.len()
    );
}

#[test]
fn certificates_repeat_with_the_environments_bytes() {
    let source = r#"
        {{- $ca := genCA "authority" 365 -}}
        {{- $key := genPrivateKey "ecdsa" -}}
        {{- $signed := genSignedCertWithKey "service" (list "10.0.0.1") (list "a.b") 30 $ca $key -}}
        {{- $ca.Cert }}{{ $signed.Cert }}{{ $signed.Key }}{{ htpasswd "u" "p" }}{{ uuidv4 -}}
    "#;
    let first = render(source, 1).unwrap();
    assert_eq!(first, render(source, 1).unwrap());
    assert_ne!(first, render(source, 2).unwrap());
}

#[test]
fn keys_that_are_given_come_back_and_bind_their_authority() {
    let source = r#"
        {{- $key := genPrivateKey "ed25519" -}}
        {{- $ca := genCAWithKey "authority" 365 $key -}}
        {{- eq $ca.Key $key }} {{ (buildCustomCert (b64enc $ca.Cert) (b64enc $ca.Key)).Cert | eq $ca.Cert -}}
    "#;
    assert_eq!(render(source, 1).unwrap(), b"true true");

    let source = r#"
        {{- $ca := genCAWithKey "authority" 365 (genPrivateKey "ecdsa") -}}
        {{- $other := buildCustomCert (b64enc $ca.Cert) (genPrivateKey "ecdsa" | b64enc) -}}
        {{- genSignedCert "service" nil nil 30 $other -}}
    "#;
    let error = render(source, 1).unwrap_err();
    let expected = "error calling genSignedCert: error creating certificate: x509: provided \
                    PrivateKey doesn't match parent's PublicKey";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn dates_of_the_environment_are_what_now_and_ago_count_from() {
    for (source, expected) in [
        ("{{ now | unixEpoch }}", "1700000000"),
        (
            "{{ now | date \"2006-01-02T15:04:05.000\" }}",
            "2023-11-14T22:13:20.123",
        ),
        ("{{ ago 1699996400 }}", "1h0m0s"),
        ("{{ ago (now | dateModify \"-90s\") }}", "1m30s"),
        ("{{ durationRound (now | dateModify \"-49h\") }}", "2d"),
        ("{{ htmlDate \"whatever\" }}", "2023-11-14"),
        (
            "{{ date_in_zone \"15:04 MST\" 1.5 \"America/New_York\" }}",
            "17:13 EST",
        ),
    ] {
        assert_eq!(render(source, 1).unwrap(), expected.as_bytes(), "{source}");
    }
}

#[test]
fn sizes_that_templates_ask_for_are_limited() {
    for source in [
        "{{ randAlphaNum 9000000000000000000 }}",
        "{{ randBytes 9000000000000000000 }}",
    ] {
        assert!(render(source, 1).is_err(), "{source}");
    }
    let nested = format!(
        r#"{{{{ regexMatch "{}a{}" "a" }}}}"#,
        "(".repeat(990),
        ")".repeat(990)
    );
    assert_eq!(render(&nested, 1).unwrap(), b"true");
}
