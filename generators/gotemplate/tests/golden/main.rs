//! Cases whose outputs and errors were recorded from Go's own `text/template` and `fmt`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop anywhere"
)]

mod functions;

use serde_json::Value as Json;
use std::{fs, path::Path, sync::Arc};
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Environment, FunctionError, FunctionTable, IntKind, Map, MapType, Options, Renderer,
    TemplateSet, UintKind, Value, core_functions, format,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/gotemplate");

#[derive(Debug)]
struct Nowhere;

impl Environment for Nowhere {
    fn lookup(&mut self, _: LookupQuestion) -> Result<Json, FunctionError> {
        Ok(Json::Null)
    }

    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError> {
        buffer.fill(4);
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

#[test]
fn templates_give_what_go_gives() {
    check("templates.jsonl", render);
}

#[test]
fn texts_that_do_not_parse_are_refused_as_go_refuses_them() {
    check("parse.jsonl", render);
}

#[test]
fn failing_templates_say_what_go_says() {
    check("errors.jsonl", render);
}

#[test]
fn values_are_printed_as_go_prints_them() {
    check("format.jsonl", |case| Ok(print(case)));
}

fn check(file: &str, run: impl Fn(&Json) -> Result<Vec<u8>, String>) {
    let text = fs::read_to_string(Path::new(FIXTURES).join(file)).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        count += 1;
        let wanted = match (case.get("output"), case.get("error")) {
            (_, Some(error)) => Err(error.as_str().unwrap().to_owned()),
            (Some(output), None) => Ok(output.as_str().unwrap().to_owned()),
            (None, None) => panic!("case without a result: {line}"),
        };
        let got = run(&case).map(|bytes| as_json_text(&bytes));
        if got != wanted {
            let show = |result: &Result<String, String>| match result {
                Ok(text) => format!("output {text:?}"),
                Err(text) => format!("error  {text:?}"),
            };
            wrong.push(format!(
                "{line}\n  wanted {}\n  got    {}",
                show(&wanted),
                show(&got)
            ));
        }
    }
    assert!(count > 0, "{file} has no cases");
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Go's JSON encoder writes U+FFFD for each byte that is not UTF-8.
fn as_json_text(bytes: &[u8]) -> String {
    format::runes(bytes)
        .map(|(_, character, _)| character)
        .collect()
}

fn render(case: &Json) -> Result<Vec<u8>, String> {
    let mut table = FunctionTable::new();
    table.extend(core_functions());
    table.extend(functions::all());
    let mut set = TemplateSet::new(Arc::new(table));
    let mut last = "";
    for template in case["templates"].as_array().unwrap() {
        last = template["name"].as_str().unwrap();
        let text = template["text"].as_str().unwrap();
        set.parse(last, text.as_bytes())
            .map_err(|error| error.to_string())?;
    }
    let mut environment = Nowhere;
    let mut options = Options {
        strict: case["strict"] == true,
        ..Options::default()
    };
    options.limits.depth = 2_000;
    let mut renderer = Renderer::new(&set, &mut environment, options);
    let name = case["run"].as_str().unwrap_or(last);
    renderer
        .render(name, &context(&case["data"]))
        .map_err(|error| error.to_string())
}

/// The type that the recording had for Helm's `Values`.
const VALUES: MapType = MapType {
    name: "main.Values",
    ..MapType::VALUES_V4
};

/// The data, typed as Helm types it.
fn context(data: &Json) -> Value {
    let typed = |map: &Map| Value::Map(map.with_type(VALUES));
    let root = Value::from_json(data);
    let Some(map) = root.as_map() else {
        return root;
    };
    if let Some(Value::Map(values)) = map.get(b"Values") {
        map.insert("Values", typed(&values));
    }
    typed(map)
}

fn print(case: &Json) -> Vec<u8> {
    let none = Vec::new();
    let arguments = case["arguments"].as_array().unwrap_or(&none);
    let values: Vec<Value> = arguments.iter().map(argument).collect();
    match case["format"].as_str().unwrap() {
        "\0print" => format::sprint(&values),
        "\0println" => format::sprintln(&values),
        format => format::sprintf(format.as_bytes(), &values),
    }
}

fn argument(json: &Json) -> Value {
    let value = &json["value"];
    let number = || match value {
        Json::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap_or(0.0) as i64,
    };
    let text = || value.as_str().unwrap_or_default();
    match json["type"].as_str().unwrap() {
        "nil" => Value::Nil,
        "bool" => Value::Bool(value.as_bool().unwrap()),
        "int" => Value::int(number()),
        "int32" => Value::Int(IntKind::Int32, number()),
        "int64" => Value::int64(number()),
        "uint8" => Value::Uint(UintKind::Uint8, number() as u64),
        "uint64" => Value::Uint(
            UintKind::Uint64,
            value
                .as_str()
                .map_or_else(|| number() as u64, |text| text.parse().unwrap()),
        ),
        "float" => Value::Float(match value {
            Json::String(text) => text.parse().unwrap(),
            other => other.as_f64().unwrap_or(0.0),
        }),
        "string" => text().into(),
        "bytes" => functions::bytes(text().as_bytes()),
        "duration" => Value::Int(IntKind::Duration, number()),
        "month" => Value::Int(IntKind::Month, number()),
        "weekday" => Value::Int(IntKind::Weekday, number()),
        "strings" => Value::strings(
            value
                .as_array()
                .unwrap()
                .iter()
                .map(|text| text.as_str().unwrap()),
        ),
        "json" => Value::from_json(value),
        "values" => context(value),
        other => panic!("unknown type {other}"),
    }
}
