//! What a rendering may use up, and that no template ends the process.

#![allow(clippy::unwrap_used, reason = "a test may stop anywhere")]

use std::sync::Arc;
use whipstaff_generator::LookupQuestion;
use whipstaff_gotemplate::{
    Environment, ExecuteError, Function, FunctionError, FunctionErrorKind, FunctionTable, Options,
    Renderer, Signature, TemplateSet, Type, Value, core_functions, format,
};

#[derive(Debug)]
struct Nowhere;

impl Environment for Nowhere {
    fn lookup(&mut self, question: LookupQuestion) -> Result<serde_json::Value, FunctionError> {
        match question.name.as_str() {
            "" => Ok(serde_json::Value::Null),
            "forbidden" => Err(FunctionError::new("forbidden")),
            name => Ok(serde_json::json!({"metadata": {"name": name}, "replicas": 3})),
        }
    }

    fn random(&mut self, _: &mut [u8]) -> Result<(), FunctionError> {
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

fn set(templates: &[(&str, &str)]) -> TemplateSet {
    let mut table = FunctionTable::new();
    table.extend(core_functions());
    table.extend([
        Function {
            name: "dict",
            signature: Signature {
                parameters: &[],
                variadic: Some(Type::Any),
            },
            call: |_, arguments| {
                let pairs = arguments.chunks_exact(2);
                Ok(Value::map(
                    pairs.map(|pair| (format::sprint(&pair[..1]), pair[1].clone())),
                ))
            },
        },
        Function {
            name: "list",
            signature: Signature {
                parameters: &[],
                variadic: Some(Type::Any),
            },
            call: |_, arguments| Ok(Value::list(arguments.to_vec())),
        },
        Function {
            name: "set",
            signature: Signature {
                parameters: &[Type::Map, Type::String, Type::Any],
                variadic: None,
            },
            call: |_, arguments| {
                let key = arguments[1].as_bytes().unwrap().clone();
                arguments[0]
                    .as_map()
                    .unwrap()
                    .insert(key, arguments[2].clone());
                Ok(arguments[0].clone())
            },
        },
    ]);
    let mut set = TemplateSet::new(Arc::new(table));
    for (name, text) in templates {
        set.parse(name, text.as_bytes()).unwrap();
    }
    set
}

fn render(
    templates: &[(&str, &str)],
    change: impl Fn(&mut Options),
) -> Result<String, ExecuteError> {
    let set = set(templates);
    let mut environment = Nowhere;
    let mut options = Options::default();
    change(&mut options);
    let mut renderer = Renderer::new(&set, &mut environment, options);
    let output = renderer.render(templates.last().unwrap().0, &Value::Nil)?;
    Ok(String::from_utf8(output).unwrap())
}

fn limit_of(templates: &[(&str, &str)], change: impl Fn(&mut Options)) -> String {
    let error = render(templates, change).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Limit, "{error}");
    error.text
}

#[test]
fn steps_are_counted() {
    let text = limit_of(&[("t", "{{ range 1000000 }}x{{ end }}")], |options| {
        options.limits.steps = 10_000;
    });
    assert!(
        text.ends_with("rendering takes more than 10000 steps"),
        "{text}"
    );
    assert!(
        text.starts_with("template: t:1:9: executing \"t\" at <1000000>: "),
        "{text}"
    );
}

#[test]
fn a_range_without_a_body_ends_too() {
    let text = limit_of(
        &[("t", "{{ range 9223372036854775807 }}{{ end }}")],
        |options| {
            options.limits.steps = 10_000;
        },
    );
    assert!(text.contains("steps"), "{text}");
}

#[test]
fn output_is_counted() {
    let text = limit_of(
        &[("t", "{{ range 100000 }}0123456789{{ end }}")],
        |options| {
            options.limits.output_bytes = 1_000;
        },
    );
    assert!(
        text.contains("rendering produces more than 1000 bytes"),
        "{text}"
    );
}

#[test]
fn wide_padding_is_refused_before_it_is_made() {
    let text = limit_of(
        &[("t", "{{ printf \"%1000000d%1000000d\" 1 2 }}")],
        |options| {
            options.limits.output_bytes = 1_500_000;
        },
    );
    assert!(
        text.contains("error calling printf: rendering produces more than"),
        "{text}"
    );
}

#[test]
fn template_calls_are_counted() {
    let endless = [(
        "t",
        "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}",
    )];
    let text = limit_of(&endless, |_| {});
    assert!(
        text.ends_with("templates are nested deeper than 1000 calls"),
        "{text}"
    );
}

#[test]
fn tpl_that_renders_itself_ends() {
    let endless = [(
        "t",
        "{{ define \"a\" }}{{ tpl \"{{ include `a` . }}\" . }}{{ end }}{{ include \"a\" . }}",
    )];
    let error = render(&endless, |options| options.limits.depth = 500).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Limit);
}

#[test]
fn deep_calls_do_not_overflow_the_stack() {
    let endless = [(
        "t",
        "{{ define \"a\" }}{{ with (dict \"a\" 1) }}{{ if (((((.a))))) }}{{ template \"a\" }}{{ end }}{{ end }}{{ end }}{{ template \"a\" }}",
    )];
    let error = render(&endless, |options| options.limits.depth = 20_000).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Limit);
}

#[test]
fn include_of_itself_fails_as_in_helm() {
    let endless = [(
        "t",
        "{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}",
    )];
    let error = render(&endless, |options| options.limits.depth = 2_000).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Error);
    let wanted = "rendering template has a nested reference name: a: unable to execute template";
    assert!(
        error.text.ends_with(wanted),
        "{}",
        &error.text[error.text.len() - 200..]
    );
}

#[test]
fn errors_of_deep_calls_stay_short() {
    let argument = "x".repeat(10_000);
    let text = format!(
        "{{{{ define \"a\" }}}}{{{{ include \"a\" \"{argument}\" }}}}{{{{ end }}}}{{{{ include \"a\" . }}}}"
    );
    let error = render(&[("t", &text)], |_| {}).unwrap_err();
    assert!(error.text.len() < 1_000_000);
    assert!(
        error
            .text
            .ends_with("templates are nested deeper than 1000 calls")
    );
}

#[test]
fn nesting_in_a_text_is_limited() {
    for (open, close) in [
        ("(", ")"),
        ("{{ if true }}", "{{ end }}"),
        ("{{ with 1 }}", "{{ end }}"),
    ] {
        let body = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let text = if open == "(" {
            format!("{{{{ {body} }}}}")
        } else {
            body
        };
        let mut set = set(&[]);
        let error = set.parse("t", text.as_bytes()).unwrap_err();
        assert_eq!(error.message, "nested deeper than 1000 levels");
    }
}

#[test]
fn deeply_nested_values_are_dropped() {
    let text = "{{ $d := dict }}{{ range 300000 }}{{ $d = dict \"a\" (list $d) }}{{ end }}done";
    assert_eq!(render(&[("t", text)], |_| {}).unwrap(), "done");
}

#[test]
fn a_map_that_contains_itself_is_not_printed() {
    let text = "{{ $d := dict }}{{ $_ := set $d \"a\" $d }}{{ $_ := set $d \"b\" $d }}{{ $d }}";
    let text = limit_of(&[("t", text)], |_| {});
    assert!(text.contains("rendering produces more than"), "{text}");
}

#[test]
fn a_limit_inside_an_include_stays_a_limit() {
    let templates = [(
        "t",
        "{{ define \"a\" }}{{ range 1000000 }}x{{ end }}{{ end }}\n{{ include \"a\" . }}",
    )];
    let error = render(&templates, |options| options.limits.steps = 5_000).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Limit);
    assert_eq!((error.name.as_str(), error.line, error.column), ("t", 2, 3));
}

#[test]
fn raised_message_and_outermost_place_are_known() {
    let templates = [
        (
            "_h",
            "{{ define \"a\" }}\n{{ fail \"no \\\"way\\\"\" }}{{ end }}",
        ),
        ("t", "x\n  {{ tpl \"{{ include `a` . }}\" . }}"),
    ];
    let error = render(&templates, |_| {}).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Raised);
    assert_eq!(error.raised.as_deref(), Some("no \"way\""));
    assert_eq!((error.name.as_str(), error.line, error.column), ("t", 2, 5));
    let wanted = concat!(
        "template: t:2:5: executing \"t\" at <tpl \"{{ include `a` . }}\" .>: error calling tpl: ",
        "error during tpl function execution for \"{{ include `a` . }}\": ",
        "template: gotpl:1:3: executing \"gotpl\" at <include `a` .>: error calling include: ",
        "template: _h:2:3: executing \"a\" at <fail \"no \\\"way\\\"\">: error calling fail: no \"way\"",
    );
    assert_eq!(error.text, wanted);
}

#[test]
fn lint_lets_required_and_fail_pass() {
    let text = "[{{ required \"m\" nil }}{{ fail \"m\" }}]";
    assert_eq!(
        render(&[("t", text)], |options| options.lint = true).unwrap(),
        "[]"
    );
    let error = render(&[("t", "{{ required \"m\" \"\" }}")], |_| {}).unwrap_err();
    assert_eq!(error.raised.as_deref(), Some("m"));
}

#[test]
fn lookup_asks_the_environment() {
    let found = "{{ (lookup \"v1\" \"Pod\" \"ns\" \"p\").metadata.name }} {{ printf \"%T\" (lookup \"v1\" \"Pod\" \"ns\" \"p\").replicas }}";
    assert_eq!(render(&[("t", found)], |_| {}).unwrap(), "p int64");
    let absent = "{{ printf \"%v\" (lookup \"v1\" \"Pod\" \"ns\" \"\") }}";
    assert_eq!(render(&[("t", absent)], |_| {}).unwrap(), "map[]");
    let error = render(
        &[("t", "{{ lookup \"v1\" \"Pod\" \"ns\" \"forbidden\" }}")],
        |_| {},
    )
    .unwrap_err();
    assert!(error.text.ends_with("error calling lookup: forbidden"));
}

#[test]
fn a_renderer_goes_on_after_a_failure() {
    let set = set(&[
        (
            "bad",
            "{{ define \"a\" }}{{ nil }}{{ end }}{{ $x := 1 }}{{ include \"a\" . }}",
        ),
        ("good", "{{ $y := 2 }}{{ $y }}{{ tpl \"{{ . }}\" 3 }}"),
    ]);
    let mut environment = Nowhere;
    let mut renderer = Renderer::new(&set, &mut environment, Options::default());
    renderer.render("bad", &Value::Nil).unwrap_err();
    assert_eq!(renderer.render("good", &Value::Nil).unwrap(), b"23");
    let error = renderer.render("absent", &Value::Nil).unwrap_err();
    assert_eq!(
        error.text,
        "template: no template \"absent\" associated with template \"gotpl\""
    );
}

#[test]
fn a_template_set_may_be_shared_between_threads() {
    fn check<T: Send + Sync>(_: &T) {}
    let set = set(&[("t", "{{ . }}")]);
    check(&set);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut environment = Nowhere;
            let mut renderer = Renderer::new(&set, &mut environment, Options::default());
            assert_eq!(renderer.render("t", &Value::int(7)).unwrap(), b"7");
        });
    });
}
