//! Functions on data, against what Helm 3.22.0 and 4.3.1 make of the same templates.

use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};
use whipstaff_generator::{Limits, LookupQuestion};
use whipstaff_gotemplate::{
    Dialect, Environment, FunctionError, Map, MapType, Options, Renderer, TemplateSet, Value,
    format,
};

/// Nothing from outside: the functions under test need none.
#[derive(Debug)]
struct Nowhere;

impl Environment for Nowhere {
    fn lookup(&mut self, _: LookupQuestion) -> Result<Json, FunctionError> {
        Ok(Json::Null)
    }

    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError> {
        buffer.fill(0);
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

#[expect(clippy::panic, reason = "a missing fixture shall be named")]
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/sprig")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn typed(json: &Json, map_type: MapType) -> Value {
    match Value::from_json(json) {
        Value::Map(map) => Value::Map(map.with_type(map_type)),
        other => other,
    }
}

fn context(dialect: Dialect, values: &Json) -> Value {
    let values_type = if dialect.is_v4() {
        MapType::VALUES_V4
    } else {
        MapType::VALUES_V3
    };
    let release = Value::map([("Name", "r".into()), ("Revision", Value::int(1))]);
    let root = BTreeMap::from([
        ("Values".into(), typed(values, values_type)),
        ("Release".into(), release),
    ]);
    Value::Map(Map::new(values_type, root))
}

/// The output without Go's mark for absent values, or the error's text.
fn render(dialect: Dialect, values: &Json, template: &str) -> Result<String, String> {
    render_within(Limits::default(), dialect, values, template)
}

fn render_within(
    limits: Limits,
    dialect: Dialect,
    values: &Json,
    template: &str,
) -> Result<String, String> {
    let mut set = TemplateSet::new(Arc::new(whipstaff_sprig::functions(dialect)));
    set.parse("c/t", template.as_bytes()).map_err(|error| {
        format!(
            "parse error at ({}:{}): {}",
            error.name, error.line, error.message
        )
    })?;
    let options = Options {
        dialect,
        limits,
        ..Options::default()
    };
    let mut environment = Nowhere;
    let mut renderer = Renderer::new(&set, &mut environment, options);
    let output = renderer
        .render("c/t", &context(dialect, values))
        .map_err(|error| error.text)?;
    // Go's JSON, which the expectations come in, has U+FFFD for each invalid byte.
    let output: String = format::runes(&output).map(|(_, rune, _)| rune).collect();
    Ok(output.replace("<no value>", ""))
}

/// What is expected of a dialect; Helm 4 is recorded only where it differs.
fn expected(case: &Json, dialect: Dialect) -> Result<String, String> {
    let text = |key: &str| case[key].as_str().map(str::to_owned);
    if dialect.is_v4() {
        if let Some(output) = text("output_v4") {
            return Ok(output);
        }
        if let Some(error) = text("error_v4") {
            return Err(error);
        }
    }
    text("output").ok_or_else(|| text("error").unwrap_or_default())
}

#[test]
fn no_dialect_has_a_function_that_its_helm_lacks() {
    let names: Json = serde_json::from_str(&fixture("functions.json")).unwrap();
    let recorded = |dialect: Dialect| -> BTreeSet<String> {
        let names = names[dialect.to_string()].as_array().unwrap();
        names
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect()
    };
    let v3 = recorded(Dialect::V3);
    let v4_1: BTreeSet<String> = v3
        .iter()
        .cloned()
        .chain(["mustToYaml".to_owned()])
        .collect();
    let v4_2 = v4_1
        .iter()
        .cloned()
        .chain(["mustToToml".to_owned()])
        .collect();
    for (dialect, expected) in [
        (Dialect::V3, v3),
        (Dialect::V4_1, v4_1),
        (Dialect::V4_2, v4_2),
        (Dialect::V4_3, recorded(Dialect::V4_3)),
    ] {
        let found = whipstaff_sprig::functions(dialect).names();
        let added: Vec<_> = found
            .iter()
            .filter(|name| !expected.contains(**name))
            .collect();
        assert!(added.is_empty(), "{dialect}: {added:?}");
        let missing: Vec<_> = expected
            .iter()
            .filter(|name| !found.contains(&name.as_str()))
            .collect();
        assert!(missing.is_empty(), "{dialect}: {missing:?}");
    }
}

#[test]
fn templates_give_what_helm_gives() {
    let values: Json = serde_json::from_str(&fixture("data-values.json")).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for line in fixture("data.jsonl").lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let template = case["template"].as_str().unwrap();
        for dialect in [Dialect::V3, Dialect::V4_3] {
            count += 1;
            let (found, expected) = (render(dialect, &values, template), expected(&case, dialect));
            if found != expected {
                failures.push(format!(
                    "{dialect} {template}\n  expected {expected:?}\n  found    {found:?}"
                ));
            }
        }
    }
    assert!(count > 1000, "only {count} cases were read");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// In Go each of these would take all memory, or end the process with a stack overflow.
#[test]
fn what_is_too_large_is_an_error_of_the_template() {
    let cycle = r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}"#;
    let other = r#"{{ $e := dict }}{{ $_ := set $e "d" $e }}"#;
    let shared = "{{ $l := list }}{{ range until 64 }}{{ $l = list $l $l }}{{ end }}";
    let shared_map =
        r#"{{ $l := dict }}{{ range until 64 }}{{ $l = dict "a" $l "b" $l }}{{ end }}"#;
    let long = r#"{{ $s := "x" }}{{ range until 40 }}{{ $s = print $s $s }}{{ end }}"#;
    let mut templates = vec![
        "{{ until 10000000000 }}".to_owned(),
        "{{ untilStep -9223372036854775807 9223372036854775807 1 }}".to_owned(),
        "{{ seq 10000000000 }}".to_owned(),
        "{{ seq -9223372036854775808 1 9223372036854775806 }}".to_owned(),
        r#"{{ repeat 100000000000 "x" }}"#.to_owned(),
        r#"{{ indent 100000000000 "x" }}"#.to_owned(),
        r#"{{ nindent 1000000 (repeat 1000000 "\n") }}"#.to_owned(),
        r#"{{ replace "" (repeat 10000000 "y") (repeat 10000000 "x") }}"#.to_owned(),
        r#"{{ wrapWith 1 (repeat 10000000 "y") (repeat 10000000 "x") }}"#.to_owned(),
        r#"{{ join (repeat 10000000 "y") (until 1000000) }}"#.to_owned(),
        format!("{long}{{{{ $s }}}}"),
        format!("{cycle}{other}{{{{ deepEqual $d $e }}}}"),
        format!("{cycle}{other}{{{{ merge $d $e }}}}"),
        format!("{shared}{{{{ deepEqual $l (deepCopy $l) }}}}"),
    ];
    for source in [cycle, shared, shared_map] {
        let name = if source == cycle { "$d" } else { "$l" };
        for function in [
            "toJson",
            "toPrettyJson",
            "toRawJson",
            "toYaml",
            "toYamlPretty",
            "toToml",
            "deepCopy",
            "toString",
            "quote",
            "cat",
            "print",
        ] {
            templates.push(format!("{source}{{{{ {function} {name} }}}}"));
        }
    }
    let mut limits = Limits::default();
    limits.output_bytes = 1024 * 1024;
    let rendered: Vec<String> = templates
        .into_iter()
        .filter(|template| render_within(limits, Dialect::V4_3, &Json::Null, template).is_ok())
        .collect();
    assert!(rendered.is_empty(), "{}", rendered.join("\n"));
}
