//! YAML against the recorded answers of the Go libraries, and what no record can show.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};
use whipstaff_generator::yaml;

/// The smallest stack the library has to get along with.
const SMALL_STACK: usize = 2 << 20;

fn recorded(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/yaml")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    let cases: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(cases.len() > 300, "the record is cut off");
    cases
}

#[test]
fn texts_are_read_as_go_reads_them() {
    let mut wrong = Vec::new();
    for case in recorded("read.jsonl") {
        let text = case["text"].as_str().unwrap();
        let strict = case.get("strict").is_some();
        let read = if strict {
            yaml::from_str_strict(text)
        } else {
            yaml::from_str(text)
        };
        let answer = match read {
            Ok(value) => json!({ "value": value }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        if answer.get("value") != case.get("value") || answer.get("error") != case.get("error") {
            wrong.push(format!("{case}\n  {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_are_written_as_go_writes_them() {
    let mut wrong = Vec::new();
    for case in recorded("write.jsonl") {
        let answer = match yaml::marshal(&case["value"]) {
            Ok(text) => json!({ "yaml": text }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        if answer.get("yaml") != case.get("yaml") || answer.get("error") != case.get("error") {
            wrong.push(format!("{case}\n  {answer}"));
        }
        let pretty = yaml::to_string_pretty(&case["value"]);
        if case["pretty"] != pretty.as_str() {
            wrong.push(format!("{case}\n  {pretty:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_written_is_read_back() {
    for case in recorded("write.jsonl") {
        let value = &case["value"];
        let written = yaml::to_string(value);
        let read = yaml::from_str(&written).unwrap();
        // A float without a fraction comes back as an integer.
        assert_eq!(yaml::to_string(&read), written, "{value}");
    }
}

#[test]
fn keys_keep_the_order_of_the_document() {
    let text = "z: 1\nb: 2\na:\n- d: 1\n  c: 2\nb: 3\n";
    let value = yaml::from_str(text).unwrap();
    assert_eq!(value.to_string(), r#"{"z":1,"b":3,"a":[{"d":1,"c":2}]}"#);
    assert_eq!(
        yaml::to_string_ordered(&value),
        "z: 1\nb: 3\na:\n- d: 1\n  c: 2\n"
    );
    assert_eq!(yaml::to_string(&value), "a:\n- c: 2\n  d: 1\nb: 3\nz: 1\n");
}

#[test]
fn each_document_of_a_stream_has_the_line_it_starts_at() {
    let text = "# first\na: 1\n---\n---\n# third\n- b\n...\n--- c\n";
    let documents = yaml::documents(text).unwrap();
    let found: Vec<_> = documents
        .iter()
        .map(|d| (d.line, d.value.to_string()))
        .collect();
    let expected = [
        (2, r#"{"a":1}"#),
        (4, "null"),
        (6, r#"["b"]"#),
        (8, r#""c""#),
    ];
    assert_eq!(
        found,
        expected.map(|(line, value)| (line, value.to_owned()))
    );
    assert_eq!(yaml::documents("").unwrap(), []);
}

#[test]
fn an_error_in_a_later_document_counts_lines_from_the_start() {
    let error = yaml::documents("a: 1\n---\nb: 1\nc: d: e\n").unwrap_err();
    assert_eq!(error.line(), Some(4));
    assert_eq!(error.column(), Some(5));
    assert_eq!(
        error.problem(),
        "mapping values are not allowed in this context"
    );
    assert_eq!(
        error.message(),
        "yaml: line 4: mapping values are not allowed in this context"
    );
}

#[test]
fn errors_know_their_place_where_the_text_of_go_does_not() {
    // Text, line and column of the problem, text of the error.
    let cases = [
        (
            "a: b: c\n",
            (1, Some(5)),
            "yaml: mapping values are not allowed in this context",
        ),
        (
            "a: 1\nb: [1,\n",
            (3, Some(1)),
            "yaml: line 2: did not find expected node content",
        ),
        (
            "a: 1\nb: *c\n",
            (2, None),
            "yaml: unknown anchor 'c' referenced",
        ),
        (
            "a: 1\nb: .inf\n",
            (2, None),
            "json: unsupported value: +Inf",
        ),
    ];
    for (text, (line, column), message) in cases {
        let error = yaml::from_str(text).unwrap_err();
        assert_eq!(
            (error.line(), error.column()),
            (Some(line), column),
            "{text:?}"
        );
        assert_eq!(error.message(), message);
        assert_eq!(
            error.to_string(),
            format!("error converting YAML to JSON: {message}")
        );
    }
}

#[test]
fn bytes_may_be_utf_8_or_marked_utf_16() {
    let expected = json!({ "a": "é" });
    let text = "a: é\n";
    let utf_16: Vec<u16> = "\u{feff}"
        .encode_utf16()
        .chain(text.encode_utf16())
        .collect();
    let little: Vec<u8> = utf_16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = utf_16.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let marked = format!("\u{feff}{text}");
    for bytes in [text.as_bytes(), marked.as_bytes(), &little, &big] {
        assert_eq!(yaml::from_slice(bytes).unwrap(), expected);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let cases: [(&[u8], &str); 6] = [
        (b"a: \xFF", "yaml: invalid leading UTF-8 octet"),
        (b"a: \xC3(", "yaml: invalid trailing UTF-8 octet"),
        (b"a: \xC3", "yaml: incomplete UTF-8 octet sequence"),
        (b"a: \xC0\x80", "yaml: invalid length of a UTF-8 sequence"),
        (b"a: \xED\xA0\x80", "yaml: invalid Unicode character"),
        (b"a: \x00", "yaml: control characters are not allowed"),
    ];
    for (bytes, message) in cases {
        assert_eq!(yaml::from_slice(bytes).unwrap_err().message(), message);
    }
}

#[test]
fn characters_that_are_not_reached_may_be_anything() {
    let mut bytes = b"a: 1\n---\n".to_vec();
    bytes.extend([b'#'; 600]);
    bytes.push(0xFF);
    assert_eq!(yaml::from_slice(&bytes).unwrap(), json!({ "a": 1 }));
}

#[test]
fn deep_nesting_fits_a_small_stack_or_is_refused() {
    let deepest = 1_000;
    let run = move || {
        for depth in [deepest, deepest + 1, 100_000] {
            let texts = [
                format!("{}{}", "[".repeat(depth), "]".repeat(depth)),
                format!("{}{}", "{a: ".repeat(depth), "}".repeat(depth)),
                format!("{}x", "- ".repeat(depth)),
            ];
            for text in texts {
                match yaml::from_str(&text) {
                    Ok(value) => {
                        assert_eq!(depth, deepest);
                        assert!(yaml::to_string(&value).len() > depth);
                        assert!(yaml::marshal(&value).is_ok());
                    }
                    Err(error) => {
                        assert_ne!(depth, deepest);
                        assert_eq!(error.problem(), "exceeded max depth of 1000");
                    }
                }
            }
        }
    };
    thread::Builder::new()
        .stack_size(SMALL_STACK)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn aliases_cannot_blow_a_document_up() {
    let mut nodes = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let previous = format!("*a{}, ", level - 1).repeat(10);
        nodes.extend([format!("a{level}: &a{level} [{previous}]\n")]);
    }
    let long = "x".repeat(1 << 20);
    let bytes = format!("a: &a {long}\nb: [{}]\n", "*a, ".repeat(90));
    for text in [nodes, bytes] {
        let error = yaml::from_str(&text).unwrap_err();
        assert_eq!(error.problem(), "document contains excessive aliasing");
    }
    let error = yaml::from_str("a: &a\n  b: *a\n").unwrap_err();
    assert_eq!(error.problem(), "anchor 'a' value contains itself");
}

#[test]
fn keys_that_go_sorts_by_chance_are_sorted_all_the_same() {
    // Each of the three comes before the next, and the last before the first.
    let first = json!({ "a10": 1, "a1b": 2, "a9": 3 });
    let second = json!({ "a9": 3, "a10": 1, "a1b": 2 });
    assert_eq!(yaml::to_string(&first), yaml::to_string(&second));
}

#[test]
fn strings_that_go_cannot_write_are_escaped() {
    let value = json!({ "a": "\u{7f}" });
    assert_eq!(yaml::to_string(&value), "a: \"\\x7F\"\n");
    let error = yaml::marshal(&value).unwrap_err();
    assert_eq!(
        error.to_string(),
        "yaml: control characters are not allowed"
    );
}
