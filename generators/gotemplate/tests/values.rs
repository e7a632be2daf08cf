//! The methods of Helm's `Values`, and maps under several types.

#![allow(clippy::unwrap_used, reason = "a test may stop anywhere")]

use serde_json::json;
use std::sync::Arc;
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Delimiters, Environment, FunctionError, FunctionTable, MapType, Options, Renderer, TemplateSet,
    Value,
};

#[derive(Debug)]
struct Nowhere;

impl Environment for Nowhere {
    fn lookup(&mut self, _: LookupQuestion) -> Result<serde_json::Value, FunctionError> {
        Ok(serde_json::Value::Null)
    }

    fn random(&mut self, _: &mut [u8]) -> Result<(), FunctionError> {
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

fn render(text: &str) -> Result<String, String> {
    let values = Value::from_json(&json!({"a": {"b": {"c": 1}}, "half": 1.5, "t": "x"}));
    let values = Value::Map(values.as_map().unwrap().with_type(MapType::VALUES_V4));
    let mut set = TemplateSet::new(Arc::new(FunctionTable::new()));
    set.parse("t", text.as_bytes()).unwrap();
    let mut environment = Nowhere;
    let mut renderer = Renderer::new(&set, &mut environment, Options::default());
    let output = renderer.render("t", &values).map_err(|error| error.text)?;
    Ok(String::from_utf8(output).unwrap())
}

#[test]
fn values_have_their_methods() {
    let cases = [
        ("{{ .YAML }}", "a:\n  b:\n    c: 1\nhalf: 1.5\nt: x\n"),
        (
            "{{ .AsMap.t }} {{ printf \"%T\" .AsMap }}",
            "x map[string]interface {}",
        ),
        (
            "{{ (.Table \"a.b\").c }} {{ printf \"%T\" (.Table \"a\") }}",
            "1 common.Values",
        ),
        ("{{ .PathValue \"a.b.c\" }} {{ .PathValue \"t\" }}", "1 x"),
        ("{{ .a.YAML }}", "<no value>"),
    ];
    for (text, wanted) in cases {
        assert_eq!(render(text).unwrap(), wanted, "{text}");
    }
}

#[test]
fn methods_of_values_fail_as_in_helm() {
    let cases = [
        (
            "{{ .Table \"a.z\" }}",
            "error calling Table: \"z\" is not a table",
        ),
        (
            "{{ .PathValue \"a.b\" }}",
            "error calling PathValue: \"b\" is not a value",
        ),
        (
            "{{ .PathValue \"z.b\" }}",
            "error calling PathValue: \"b\" is not a value",
        ),
        (
            "{{ .PathValue \"\" }}",
            "error calling PathValue: YAML path cannot be empty",
        ),
    ];
    for (text, wanted) in cases {
        let error = render(text).unwrap_err();
        assert!(error.ends_with(wanted), "{error}");
    }
}

#[test]
fn a_retyped_map_is_the_same_map() {
    let map = whipstaff_gotemplate::Map::new(MapType::VALUES_V4, std::collections::BTreeMap::new());
    let plain = map.with_type(MapType::ANY);
    plain.insert("a", Value::int(1));
    assert!(map.contains(b"a") && map.is_same(&plain));
    assert_ne!(map.map_type(), plain.map_type());
}

#[test]
fn delimiters_may_be_others() {
    // left, right, text, output or error
    let cases = [
        (
            "<%",
            "%>",
            "<% .t %>{{ .t }}<%- /* no */ -%> b",
            Ok("x{{ .t }}b"),
        ),
        ("<%", "%>", "a <%- \"b\" -%> c", Ok("abc")),
        ("[[", "", "[[ .t }}]]", Ok("x]]")),
        ("", "]]", "{{ .t ]]}}", Ok("x}}")),
        ("$", "$", "a$.t$b", Ok("axb")),
        (
            "<%",
            "%>",
            "<% .t }}",
            Err("template: t:1: unexpected \"}\" in operand"),
        ),
        (
            "<%",
            "%>",
            "x\n<%/* %>",
            Err("template: t:2: unclosed comment"),
        ),
    ];
    for (left, right, text, expected) in cases {
        let set = TemplateSet::new(Arc::new(FunctionTable::new()));
        let mut set = set.with_delimiters(Delimiters::new(left, right));
        let parsed = set.parse("t", text.as_bytes());
        let found = parsed.map_err(|error| error.to_string()).map(|()| {
            let mut environment = Nowhere;
            let mut renderer = Renderer::new(&set, &mut environment, Options::default());
            let output = renderer.render("t", &Value::from_json(&json!({"t": "x"})));
            String::from_utf8(output.unwrap()).unwrap()
        });
        assert_eq!(
            found.as_deref().map_err(String::as_str),
            expected,
            "{left} {right} {text}"
        );
    }
}
