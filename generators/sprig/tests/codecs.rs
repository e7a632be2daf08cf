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

    /// SplitMix64.
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
    let digits = |start| u8::from_str_radix(&text[start..start + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digits).collect()
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
        .take(400)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        failures.is_empty(),
        "{} of {count} differ:\n{shown}",
        failures.len()
    );
}
