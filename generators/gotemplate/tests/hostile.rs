//! No text makes the engine panic, and every rendering ends.

#![allow(clippy::unwrap_used, reason = "a test may stop anywhere")]

use serde_json::{Value as Json, json};
use std::{fs, path::Path, sync::Arc};
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Environment, FunctionError, FunctionTable, Options, Renderer, TemplateSet, Value,
    core_functions, format,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/gotemplate");

#[derive(Debug)]
struct Nowhere;

impl Environment for Nowhere {
    fn lookup(&mut self, _: LookupQuestion) -> Result<Json, FunctionError> {
        Ok(Json::Null)
    }

    fn random(&mut self, _: &mut [u8]) -> Result<(), FunctionError> {
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

fn texts() -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    for file in ["templates.jsonl", "errors.jsonl", "parse.jsonl"] {
        let lines = fs::read_to_string(Path::new(FIXTURES).join(file)).unwrap();
        for line in lines.lines() {
            let case: Json = serde_json::from_str(line).unwrap();
            let text = case["templates"].as_array().unwrap().last().unwrap()["text"].clone();
            texts.push(text.as_str().unwrap().as_bytes().to_vec());
        }
    }
    texts
}

/// Renders if it parses. Whether either succeeds does not matter.
fn try_text(table: &Arc<FunctionTable>, text: &[u8], data: &Value) -> bool {
    let mut set = TemplateSet::new(table.clone());
    if set.parse("t", text).is_err() {
        return false;
    }
    let mut environment = Nowhere;
    let mut options = Options::default();
    options.limits.steps = 5_000;
    options.limits.output_bytes = 100_000;
    options.limits.depth = 20;
    let _ = Renderer::new(&set, &mut environment, options).render("t", data);
    true
}

/// A generator of numbers that gives the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn table() -> Arc<FunctionTable> {
    let mut table = FunctionTable::new();
    table.extend(core_functions());
    Arc::new(table)
}

fn data() -> Value {
    Value::from_json(&json!({
        "Values": {
            "name": "app", "n": 3, "list": ["a", null, 2], "map": {"a": {"b": []}}, "nul": null,
        },
    }))
}

#[test]
fn texts_that_are_cut_off_do_no_harm() {
    let (table, data) = (table(), data());
    let mut parsed = 0;
    for text in texts() {
        for end in 0..text.len() {
            parsed += usize::from(try_text(&table, &text[..end], &data));
        }
    }
    assert!(parsed > 1_000);
}

#[test]
fn texts_with_wrong_bytes_do_no_harm() {
    const PIECES: [&[u8]; 16] = [
        b"{{",
        b"}}",
        b"{{-",
        b" -}}",
        b"\xff",
        b"\xe2\x98",
        b"\0",
        b"\"",
        b"`",
        b"'",
        b"(",
        b")",
        b"|",
        b".",
        b"$x",
        b"/*",
    ];
    let (table, data, mut numbers) = (table(), data(), Numbers(0x9E37_79B9_7F4A_7C15));
    let mut parsed = 0;
    for text in texts() {
        for _ in 0..20 {
            let mut text = text.clone();
            for _ in 0..=numbers.below(3) {
                let at = numbers.below(text.len() + 1);
                let end = (at + numbers.below(4)).min(text.len());
                text.splice(at..end, PIECES[numbers.below(PIECES.len())].iter().copied());
            }
            parsed += usize::from(try_text(&table, &text, &data));
        }
    }
    assert!(parsed > 1_000);
}

#[test]
fn formats_of_any_shape_do_no_harm() {
    const PIECES: [&str; 24] = [
        "%", "v", "d", "s", "q", "x", "U", "c", "f", "g", "e", "#", "+", "-", " ", "0", "*", ".",
        "[1]", "[", "9", "1000000", "65536", "☃",
    ];
    let values = [
        Value::Nil,
        Value::int(-5),
        Value::Float(1e-9),
        Value::from("é\u{FFFD}"),
        Value::string(&b"\xff\xfe"[..]),
        data(),
    ];
    let mut numbers = Numbers(0xD1B5_4A32_D192_ED03);
    for _ in 0..20_000 {
        let format: String = (0..numbers.below(10))
            .map(|_| PIECES[numbers.below(PIECES.len())])
            .collect();
        let count = numbers.below(values.len() + 1);
        let text = format::sprintf_within(format.as_bytes(), &values[..count], 10_000);
        assert!(text.map_or(0, |text| text.len()) <= 10_000);
    }
}
