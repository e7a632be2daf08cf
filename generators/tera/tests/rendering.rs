//! What Tera templates see, call and include, and what their errors say.

#![allow(clippy::unwrap_used)]

mod common;

use common::{compile, render};
use whipstaff_gotemplate::{List, ListType, Map, MapType, UintKind, Value};

fn data() -> Value {
    let bytes = |text: &str| {
        let items = text
            .bytes()
            .map(|byte| Value::Uint(UintKind::Uint8, byte.into()));
        Value::List(List::new(ListType::Byte, items.collect()))
    };
    let labels = Map::new(MapType::STRING, [("tier".into(), "web".into())].into());
    Value::map([
        (
            "Values",
            Value::map([
                ("replicas", Value::Float(3.0)),
                ("ratio", Value::Float(0.5)),
                ("size", Value::Float(1_000_000.0)),
                ("name", "shop".into()),
                ("nothing", Value::Nil),
                ("labels", Value::Map(labels)),
                (
                    "ports",
                    Value::list(vec![Value::Float(80.0), Value::Float(443.0)]),
                ),
                ("blob", bytes("raw")),
            ]),
        ),
        ("Release", Value::map([("Name", Value::from("rel"))])),
    ])
}

fn one(text: &str) -> String {
    render(&[("c/x.tera", text)], &data()).unwrap_or_else(|error| error.text)
}

#[test]
fn values_are_seen_as_tera_users_write_them() {
    let cases = [
        ("", ""),
        ("text { } %}", "text { } %}"),
        (
            "{{ Values.replicas }} {{ Values.ratio }} {{ Values.size }}",
            "3 0.5 1000000",
        ),
        ("{{ Values.replicas * 2 + 1 }}", "7"),
        ("[{{ Values.nothing }}]", "[]"),
        ("{{ Values.absent | default(value='d') }}", "d"),
        (
            "{% for k, v in Values.labels %}{{ k }}={{ v }}{% endfor %}",
            "tier=web",
        ),
        (
            "{% for p in Values.ports %}{{ loop.index }}:{{ p }} {% endfor %}",
            "1:80 2:443 ",
        ),
        (
            "{% for p in Values.ports -%}\n  {{ p }}\n{%- endfor %}",
            "80443",
        ),
        ("{{ [p * 2 for p in Values.ports if p > 100] }}", "[886]"),
        ("{{ Values.blob }}", "raw"),
        (
            "{% if Values.replicas == 3 and 'shop' in Values.name %}y{% else %}n{% endif %}",
            "y",
        ),
        (
            "{% set a = 1 %}{% set b %}<{{ a }}>{% endset %}{{ b }}",
            "<1>",
        ),
        (
            "{% set b | upper %}{{ Values.name }}{% endset %}{{ b }}",
            "SHOP",
        ),
        ("{% filter upper %}{{ Values.name }}{% endfilter %}", "SHOP"),
        ("{{ '<&>' }}", "<&>"),
        ("{% raw %}{{ x }}{% endraw %}{# {{ x }} #}", "{{ x }}"),
        ("{{ dot.Release.Name }}", "rel"),
        (
            "{{ Values | keys | join(sep=',') }}",
            "blob,labels,name,nothing,ports,ratio,replicas,size",
        ),
        (
            "{{ 'b-a-b' | split(pat='-') | unique | join(sep='+') }}",
            "b+a",
        ),
        (
            "{{ range(end=3) }} {{ range(start=6, end=0, step_by=-3) }}",
            "[0, 1, 2] [6, 3]",
        ),
        ("{{ 'a\nb\n' | indent(width=2) }}", "a\n  b\n"),
        (
            "{{ 'a\n\nb' | indent(width=1, first=true, blank=true) }}",
            " a\n \n b",
        ),
        ("{{ 'aXbX' | replace(from='X', to='--') }}", "a--b--"),
        (
            "{{ [{'k': 'z', 'v': 1}, {'k': 'a', 'v': 2}, {'k': 'z', 'v': 3}] | group_by(attribute='k') | keys }}",
            r#"["z", "a"]"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(one(text), expected, "{text}");
    }
}

#[test]
fn functions_are_called_by_name_and_as_filters() {
    let cases = [
        ("{{ Values.name | quote }}", r#""shop""#),
        ("{{ quote(args=[Values.name, 1]) }}", r#""shop" "1""#),
        ("{{ Values.name | trunc(n=2) }}", "sh"),
        ("{{ trunc(args=[2, Values.name]) }}", "sh"),
        ("{{ Values.name | trimSuffix(suffix='op') | upper }}", "SH"),
        (
            "{{ Values.labels | toYaml | nindent(width=2) }}",
            "\n  tier: web",
        ),
        ("{{ Values.ports | toJson }}", "[80,443]"),
        // Functions see the numbers of values as Helm's do.
        (
            "{{ Values.size | toString }} {{ kindOf(value=Values.size) }}",
            "1e+06 float64",
        ),
        (
            "{{ kindOf(value=1) }} {{ typeOf(value=Values.labels) }}",
            "int map[string]string",
        ),
        // Tera's filter, and the function of the same name.
        (
            "{{ Values.nothing | default(value='d', boolean=true) }}",
            "d",
        ),
        ("{{ Values.nothing | default(args=['d']) }}", "d"),
        ("{{ default(args=['d', '']) }}", "d"),
        ("{{ '  x ' | trim(args=[]) }}|", "x|"),
        ("{{ ternary(args=['yes', 'no', true]) }}", "yes"),
        (
            "{{ add(args=[1, Values.replicas]) }} {{ until(n=3) }}",
            "4 [0, 1, 2]",
        ),
        ("{{ dict(args=['b', 1, 'a', 2]) }}", r#"{"a": 2, "b": 1}"#),
        ("{{ set(args=[dict(), 'c', 2]) | toJson }}", r#"{"c":2}"#),
        ("{{ printf(args=['%s-%03d', Values.name, 7]) }}", "shop-007"),
        ("{{ Values.name | required(message='no name') }}", "shop"),
        (
            "{% set l = lookup(api_version='v1', kind='Secret', name='s') %}{{ l.asked }}",
            "Secret/s",
        ),
        ("{{ now() | date(args=['2006-01-02']) }}", "1970-01-02"),
        ("{{ date(args=['2006-01-02', now()]) }}", "1970-01-02"),
        ("{% set v = semver(version='1.2.3') %}{{ v.Minor }}", "2"),
        (
            "{{ semver(version='1.2.3') | method(name='Compare', args=[semver(version='1.3.0')]) }}",
            "-1",
        ),
        ("{{ randAlpha(n=4) == randAlpha(n=4) }}", "true"),
        ("{{ tpl(text='{{ .Values.name }}!') }}", "shop!"),
    ];
    for (text, expected) in cases {
        assert_eq!(one(text), expected, "{text}");
    }
}

#[test]
fn templates_of_both_kinds_include_each_other() {
    let go = (
        "c/_go.tpl",
        r#"{{ define "name" }}{{ .Release.Name }}-{{ .Values.name }}{{ end }}{{ define "type" }}{{ printf "%T" . }}{{ end }}"#,
    );
    let cases: [(&str, &str, &str); 14] = [
        ("c/x.tera", "{{ include(name='name') }}", "rel-shop"),
        (
            "c/x.tera",
            "{{ include(name='name', context=dot) }}",
            "rel-shop",
        ),
        (
            "c/x.tera",
            "{{ Values | include(name='type') }}",
            "map[string]interface {}",
        ),
        (
            "c/x.tera",
            "{{ include(name='type', context=Values.labels) }}",
            "map[string]string",
        ),
        ("c/x.tera", "{% include '_part.tera' %}", "<rel>"),
        ("c/x.tera", "{{ include(name='_part.tera') }}", "<rel>"),
        ("c/x.yaml", r#"{{ include "_part.tera" . }}"#, "<rel>"),
        (
            "c/x.yaml",
            r#"{{ include "c/_part.tera" . | upper }}"#,
            "<REL>",
        ),
        ("c/x.yaml", r#"{{ template "_part.tera" . }}"#, "<rel>"),
        ("c/x.yaml", r#"{{ include "_value.tera" 7 }}"#, "dot=7"),
        (
            "c/x.yaml",
            r#"{{ include "_more.tera#card" (dict "title" "T") }}"#,
            "[T]",
        ),
        (
            "c/x.yaml",
            r#"{{ include "_more.tera#middle" . }}"#,
            "middle",
        ),
        ("c/x.tera", "{{ <card title={Release.Name}/> }}", "[rel]"),
        (
            "c/x.tera",
            "{% extends '_more.tera' %}{% block middle %}{{ super() }}!{% endblock %}",
            "a middle! z",
        ),
    ];
    for (name, text, expected) in cases {
        let templates = [
            (name, text),
            go,
            ("c/_part.tera", "<{{ Release.Name }}>"),
            ("c/_value.tera", "dot={{ dot }}"),
            (
                "c/_more.tera",
                "{% component card(title) %}[{{ title }}]{% endcomponent %}a {% block middle %}middle{% endblock %} z",
            ),
        ];
        let out = render(&templates, &data()).unwrap_or_else(|error| error.text);
        assert_eq!(out, expected, "{text}");
    }
}

#[test]
fn what_a_function_changes_is_changed_for_go_templates_too() {
    let templates = [
        (
            "c/x.yaml",
            r#"{{ include "_set.tera" . }}{{ .Values.added }}"#,
        ),
        (
            "c/_set.tera",
            "{% set _ = set(args=[Values, 'added', 5]) %}",
        ),
    ];
    assert_eq!(render(&templates, &data()).unwrap(), "5");
}

#[test]
fn scopes_do_not_share_components() {
    let card = |text| format!("{{% component card() %}}{text}{{% endcomponent %}}");
    let (one, other) = (card("one"), card("other"));
    let templates = [
        ("a/x.tera", "{{ <card/> }} {{ include(name='b/x.tera') }}"),
        ("a/_c.tera", one.as_str()),
        ("b/x.tera", "{{ <card/> }}"),
        ("b/_c.tera", other.as_str()),
    ];
    assert_eq!(render(&templates, &data()).unwrap(), "one other");
}

#[test]
fn errors_tell_template_line_column_and_what_stands_there() {
    let cases = [
        (
            "a\n  {{ Values.absent }}",
            r#"template: c/x.tera:2:5: executing "c/x.tera" at <Values.absent>: `Values.absent` is not defined"#,
        ),
        (
            "é {{ absent }}",
            r#"template: c/x.tera:1:6: executing "c/x.tera" at <absent>: `absent` is not defined"#,
        ),
        (
            "{{ 1 }} {{ Values.name | trunc(n='x') }}",
            r#"template: c/x.tera:1:25: executing "c/x.tera" at <trunc(n='x')>: error calling trunc: wrong type for value; expected int; got string"#,
        ),
        (
            "{{ trunc(n=1, m=2) }}",
            r#"template: c/x.tera:1:3: executing "c/x.tera" at <trunc(n=1, m=2)>: error calling trunc: trunc takes several arguments by position: `trunc(args=[…])`"#,
        ),
        (
            "{% for x in [1] %}\n{{ fail(message='no: ' ~ x) }}{% endfor %}",
            r#"template: c/x.tera:2:3: executing "c/x.tera" at <fail(message='no: ' ~ x)>: error calling fail: no: 1"#,
        ),
        (
            "{{ 1 + 'a' }}",
            r#"template: c/x.tera:1:3: executing "c/x.tera" at <1 + 'a'>: `+` requires"#,
        ),
    ];
    for (text, expected) in cases {
        let found = one(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

#[test]
fn nested_errors_tell_each_template_on_the_way() {
    let templates = [
        ("c/x.yaml", "\n{{ include \"a.tera\" . }}"),
        (
            "c/a.tera",
            "{% if true %}\n {% include 'b.tera' %}{% endif %}",
        ),
        ("c/b.tera", "{{ include(name='go') }}"),
        (
            "c/_go.tpl",
            r#"{{ define "go" }}{{ required "give a name" "" }}{{ end }}"#,
        ),
    ];
    let error = render(&templates, &data()).unwrap_err();
    assert_eq!(
        error.text,
        r#"template: c/x.yaml:2:3: executing "c/x.yaml" at <include "a.tera" .>: error calling include: template: c/a.tera:2:12: executing "c/a.tera" at <'b.tera'>: error calling include: template: c/b.tera:1:3: executing "c/b.tera" at <include(name='go')>: error calling include: template: c/_go.tpl:1:20: executing "go" at <required "give a name" "">: error calling required: give a name"#
    );
    assert_eq!(error.raised.as_deref(), Some("give a name"));
    assert_eq!(
        (error.name.as_str(), error.line, error.column),
        ("c/x.yaml", 2, 3)
    );
}

#[test]
fn templates_that_do_not_compile_are_told_with_their_place() {
    let cases = [
        ("{{ a", "c/x.tera:1:5: Unexpected end of input"),
        (
            "\n {% for %}",
            "c/x.tera:2:9: Found `%}` but expected identifier.",
        ),
        (
            "{{ 1 }}{{ a | nosuch }}",
            "c/x.tera:1:15: Unknown filter `nosuch`",
        ),
        (
            "{{ 1 }} {{ nosuch(a=1) }}",
            "c/x.tera:1:12: Unknown function `nosuch`",
        ),
        (
            "{{ 1 }} {{ get_env(name='HOME') }}",
            "c/x.tera:1:12: Unknown function `get_env`",
        ),
        (
            "é{% include 'nosuch' %}",
            "c/x.tera:1:14: Unknown template `nosuch`",
        ),
        (
            "{% extends 'nosuch' %}",
            "c/x.tera:1:4: there is no template `nosuch`",
        ),
        (
            "{{ 1 }}{% include 'x.tera' %}",
            "c/x.tera:1:1: Circular include detected",
        ),
        (
            "{{ <nosuch/> }}",
            "c/x.tera:1:4: Unknown component `nosuch`",
        ),
        (
            "{{ __tera_context }}",
            "c/x.tera:1:4: `__tera_context` is reserved",
        ),
    ];
    for (text, expected) in cases {
        let error = compile(&[("c/x.tera", text)]).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}
