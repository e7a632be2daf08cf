//! Hostile templates end with an error that names the limit and the template.

#![allow(clippy::unwrap_used)]

mod common;

use common::{narrow, render_within};
use std::fmt::Write;
use whipstaff_generator::Limits;
use whipstaff_gotemplate::{FunctionErrorKind, Value};

fn end(templates: &[(&str, &str)], limits: Limits) -> String {
    let error = render_within(templates, &Value::map::<&str>([]), limits).unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Limit, "{}", error.text);
    error.text
}

const STEPS: &str = "rendering takes more than 200000 steps";
const BYTES: &str = "rendering produces more than 2000000 bytes";
const VARIABLE: &str = "a variable takes more than 4194304 bytes";

#[test]
fn each_limit_ends_a_template_that_would_not_end() {
    let doubling =
        "{% set x = 'xxxxxxxxxxxxxxxx' %}".to_owned() + &"{% set x = x ~ x %}".repeat(40);
    let shared = "{% set x = ['x'] %}".to_owned() + &"{% set x = [x, x] %}".repeat(40);
    let replacing = format!(
        "{{{{ 'x'{} }}}}",
        " | replace(from='x', to='xxxxxxxx')".repeat(60)
    );
    let deep = "{% set x = [] %}{% for i in range(end=1000) %}{% set_global x = [x] %}{% endfor %}";
    let cases: Vec<(&str, String, &str)> = vec![
        ("empty loops", "{% set r = range(end=50000) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}".into(), STEPS),
        ("a comprehension without elements", "{% set r = range(end=50000) %}{{ [[1 for b in r if false] for a in r] }}".into(), STEPS),
        ("a range that is too long", "{{ range(end=100000000) }}".into(), "a range has more than 100000 elements"),
        ("comprehensions of comprehensions", "{% set r = range(end=9000) %}{{ [[a ~ b for b in r] for a in r] }}".into(), BYTES),
        ("text in a capture", format!("{{% set x %}}{{% for a in range(end=50000) %}}{}{{% endfor %}}{{% endset %}}", "x".repeat(100)), BYTES),
        ("values in a capture", format!("{{% set s = '{}' %}}{{% set x %}}{{% for a in range(end=50000) %}}{{{{ s }}}}{{% endfor %}}{{% endset %}}", "x".repeat(100)), BYTES),
        ("a large output", format!("{{% for a in range(end=50000) %}}{}{{% endfor %}}", "x".repeat(100)), BYTES),
        ("a string that doubles", doubling, BYTES),
        ("a list that doubles", shared, VARIABLE),
        ("deep nesting of a value", deep.into(), "a value is nested deeper than 600 levels"),
        ("replacements", replacing, BYTES),
        ("an indentation", "{% set x %}{% for i in range(end=1000) %}a\n{% endfor %}{% endset %}{{ x | indent(width=1000) | indent(width=1000) }}".into(), BYTES),
        ("components in components", "{% component c(n) %}{% for i in range(end=9) %}{{ <c n={n}/> }}{% endfor %}{% endcomponent %}{{ <c n={1}/> }}".into(), "components are nested deeper than 20 calls"),
        ("components that branch", "{% component c(n) %}{% if n < 19 %}{{ <c n={n + 1}/> }}{{ <c n={n + 1}/> }}{{ <c n={n + 1}/> }}{% endif %}{% endcomponent %}{{ <c n={1}/> }}".into(), STEPS),
        ("arguments of components that double", "{% component c(x) %}{{ <c x={x ~ x ~ x ~ x ~ x ~ x ~ x ~ x}/> }}{% endcomponent %}{{ <c x={'xxxxxxxxxxxxxxxx'}/> }}".into(), BYTES),
        ("itself", "{{ include(name='c/x.tera') }}".into(), "Tera templates are nested deeper than 32 times"),
    ];
    for (what, text, limit) in cases {
        let found = end(&[("c/x.tera", &text)], narrow());
        assert!(found.ends_with(limit), "{what}: {found}");
        assert!(found.starts_with("template: c/x.tera:"), "{what}: {found}");
    }
}

#[test]
fn templates_that_include_ever_more_of_each_other_end() {
    let mut sources = vec![("c/t0.tera".to_owned(), "x".to_owned())];
    for number in 1..40 {
        let text = format!(
            "{{% include 't{0}.tera' %}}{{% include 't{0}.tera' %}}",
            number - 1
        );
        sources.insert(0, (format!("c/t{number}.tera"), text));
    }
    let templates: Vec<(&str, &str)> = sources
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let found = end(&templates, narrow());
    assert!(found.ends_with(STEPS), "{found}");
}

#[test]
fn recursion_through_go_templates_ends_at_the_depth() {
    let go = (
        "c/_go.tpl",
        r#"{{ define "go" }}{{ include "x.tera" . }}{{ end }}"#,
    );
    let templates = [("c/x.tera", "{{ include(name='go') }}"), go];
    let found = end(&templates, narrow());
    assert!(
        found.ends_with("templates are nested deeper than 50 calls"),
        "{found}"
    );
    let found = end(&templates, Limits::default());
    assert!(
        found.ends_with("Tera templates are nested deeper than 32 times"),
        "{found}"
    );
}

#[test]
fn the_native_stack_is_never_used_up() {
    // Each component includes the next template, which extends a chain of blocks inside of blocks.
    let mut blocks = String::new();
    for number in 0..30 {
        write!(blocks, "{{% block b{number} %}}").unwrap();
    }
    blocks.push_str("{{ <c n={n}/> }}");
    blocks.push_str(&"{% endblock %}".repeat(30));
    let templates = [
        ("c/x.tera", "{% set n = 1 %}{% include 'blocks.tera' %}"),
        ("c/blocks.tera", blocks.as_str()),
        (
            "c/c.tera",
            "{% component c(n) %}{% for i in [1] %}{{ include(name='c/x.tera') }}{% endfor %}{% endcomponent %}",
        ),
    ];
    let found = end(&templates, Limits::default());
    assert!(
        found.contains("nested deeper than") || found.contains("nested too deep"),
        "{found}"
    );
}

#[test]
fn the_time_is_a_limit() {
    let mut limits = Limits::default();
    limits.time = std::time::Duration::ZERO;
    let text = "{% for a in range(end=9000) %}{% endfor %}";
    let found = end(&[("c/x.tera", text)], limits);
    assert!(found.contains("rendering takes longer than 0ns"), "{found}");
}

#[test]
fn what_one_tag_makes_of_a_large_value_is_counted() {
    let large = "{% set s %}{% for i in range(end=4000) %}xxxxxxxxxx{% endfor %}{% endset %}{% set l = s | split(pat='') %}";
    let cases = [
        ("concatenations", "'' ~ s, ", BYTES),
        ("concatenations before operators", "s ~ 'x' in s, ", BYTES),
        ("filters", "s | upper, ", BYTES),
        ("filters after each other", "s | upper | lower, ", BYTES),
        ("slices", "l[1:], ", BYTES),
        ("spreads", "...l, ", BYTES),
        ("spreads of choices", "...(l if s else l), ", BYTES),
    ];
    for (what, item, limit) in cases {
        let text = format!("{large}{{% set x = [{}] %}}", item.repeat(60));
        let found = end(&[("c/x.tera", &text)], narrow());
        assert!(found.ends_with(limit), "{what}: {found}");
    }
}

#[test]
fn values_that_are_shared_cross_without_growing() {
    let go = (
        "c/x.yaml",
        r#"{{ $x := list "x" }}{{ range until 40 }}{{ $x = list $x $x }}{{ end }}{{ include "x.tera" (dict "x" $x) }}"#,
    );
    let tera = ("c/x.tera", "{{ x | typeOf }} {{ [x, x] | typeOf }}");
    let found = render_within(&[go, tera], &Value::Nil, narrow()).unwrap();
    assert_eq!(found, "[]interface {} []interface {}");
}

#[test]
fn large_values_of_the_chart_may_be_named() {
    let file = "x".repeat(5 * 1024 * 1024);
    let data = Value::map([("Files", Value::map([("a", Value::from(file))]))]);
    let text = "{% set files = Files %}{% for name, text in files %}{{ name }}{% endfor %}";
    let limits = Limits::default();
    assert_eq!(
        render_within(&[("c/x.tera", text)], &data, limits).unwrap(),
        "a"
    );
}
