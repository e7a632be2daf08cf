//! Charts with Tera templates.

#![allow(clippy::unwrap_used, clippy::result_large_err)]

use std::{fs, path::Path};
use whipstaff_generator::{FileTree, Limits, LookupQuestion, LookupSnapshot, Seed};
use whipstaff_helm::{
    CompiledChart, Dialect, ReleaseObject, RenderCapabilities, RenderError, RenderInput, Rendered,
    TextOptions, load, read_values, render_text, without_ignored,
};

const CHART: (&str, &str) = (
    "Chart.yaml",
    "apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: \"2\"\nmaintainers: [{name: M}]\n",
);

fn chart(files: &[(&str, &str)], dialect: Dialect) -> CompiledChart {
    let mut tree = FileTree::new();
    for (path, content) in [CHART].iter().chain(files) {
        tree.insert(*path, content.as_bytes()).unwrap();
    }
    CompiledChart::new(load(&tree, dialect).unwrap(), dialect)
}

fn render_with(
    chart: &CompiledChart,
    values: &str,
    change: impl FnOnce(&mut RenderInput<'_>),
) -> Result<Rendered, RenderError> {
    let values = read_values(values.as_bytes(), chart.dialect()).unwrap();
    let values = whipstaff_helm::values_from_json(&values);
    let lookups = LookupSnapshot::new();
    let mut input = RenderInput {
        values: &values,
        release: ReleaseObject {
            name: "rel".to_owned(),
            namespace: "apps".to_owned(),
            revision: 1,
            is_upgrade: false,
        },
        capabilities: RenderCapabilities::offline(chart.dialect()),
        lookups: &lookups,
        seed: Seed::Stable {
            key: [3; 32],
            now: 1_700_000_000,
        },
        limits: Limits::default(),
        skip_schema_validation: false,
        subchart_notes: false,
    };
    change(&mut input);
    chart.render(&input)
}

fn text(rendered: &Rendered) -> String {
    let options = TextOptions {
        include_crds: true,
        no_hooks: false,
        skip_tests: false,
    };
    String::from_utf8(render_text(rendered, options)).unwrap()
}

fn render(files: &[(&str, &str)], values: &str) -> Result<String, RenderError> {
    render_with(&chart(files, Dialect::V4_3), values, |_| {}).map(|rendered| text(&rendered))
}

/// What one template renders to, without the lines around it.
fn one(template: &str, dialect: Dialect) -> String {
    let files = [
        ("templates/x.yaml.tera", template),
        (
            "values.yaml",
            "port: 80\nratio: 1.5\nsub: {a: 1, b: [x, 2]}\n",
        ),
        ("conf/a.txt", "one\ntwo\n"),
        ("conf/b.txt", "three"),
    ];
    let rendered = render_with(&chart(&files, dialect), "", |_| {}).unwrap();
    String::from_utf8(rendered.manifests[0].content.to_vec()).unwrap()
}

#[test]
fn tera_templates_see_what_go_templates_see() {
    let cases = [
        ("p: {{ Values.port }}", "p: 80"),
        ("p: {{ Values.port + 1 }}/{{ Values.ratio }}", "p: 81/1.5"),
        ("s: {{ Values.sub | toJson }}", r#"s: {"a":1,"b":["x",2]}"#),
        (
            "r: {{ Release.Name }} {{ Release.Namespace }} {{ Release.Revision }} {{ Release.IsInstall }} {{ Release.Service }}",
            "r: rel apps 1 true Helm",
        ),
        (
            "c: {{ Chart.Name }} {{ Chart.Version }} {{ Chart.AppVersion }} {{ Chart.IsRoot }} {{ Chart.Maintainers[0].Name }}",
            "c: shop 1.0.0 2 true M",
        ),
        (
            "k: {{ Capabilities.KubeVersion.Version }} {{ Capabilities.KubeVersion.Minor }}",
            "k: v1.37.0 37",
        ),
        (
            "v: {{ 'apps/v1' in Capabilities.APIVersions }} {{ has_api_version(version='x/v1') }}",
            "v: true false",
        ),
        (
            "t: {{ Template.Name }} {{ Template.BasePath }}",
            "t: shop/templates/x.yaml.tera shop/templates",
        ),
        (
            "f: {{ Files['conf/b.txt'] }} {{ files_get(path='conf/b.txt') }} [{{ files_get(path='none') }}]",
            "f: three three []",
        ),
        (
            "l: {{ files_lines(path='conf/a.txt') | toJson }}",
            r#"l: ["one","two"]"#,
        ),
        (
            "{{ files_glob(pattern='conf/*') | files_as_config }}",
            "a.txt: |\n  one\n  two\nb.txt: three",
        ),
        (
            "{{ files_glob(pattern='**/b*') | files_as_secrets }}",
            "b.txt: dGhyZWU=",
        ),
        (
            "g: {{ Files | method(name='Glob', args=['conf/a*']) | keys | toJson }}",
            r#"g: ["conf/a.txt"]"#,
        ),
        (
            "n: {% for path, text in Files %}{{ path }}:{{ text | length }};{% endfor %}",
            "n: conf/a.txt:8;conf/b.txt:5;",
        ),
        (
            "y: {{ Values.sub | toYaml | nindent(width=2) }}",
            "y: \n  a: 1\n  b:\n  - x\n  - 2",
        ),
        ("v: {{ Subcharts | toJson }}", "v: {}"),
    ];
    for dialect in [Dialect::V3, Dialect::V4_3] {
        for (template, expected) in cases {
            assert_eq!(one(template, dialect), expected, "{template} in {dialect}");
        }
    }
}

#[test]
fn output_of_tera_templates_is_handled_like_that_of_go_templates() {
    let templates = [
        ("b.yaml", "kind: ConfigMap\nmetadata: {name: c}\n"),
        (
            "a.yaml",
            "kind: Deployment\nmetadata: {name: d}\n---\nkind: Service\nmetadata: {name: s}\n---\n# nothing\n---\nkind: <no value>\n",
        ),
        ("_partial.yaml", "kind: Wrong\n"),
        ("empty.yaml", " \n\n"),
        ("sub/deep.yaml", "kind: Service\nmetadata: {name: deep}\n"),
        (
            "hook.yaml",
            "kind: Job\nmetadata: {name: h, annotations: {helm.sh/hook: pre-install}}\n",
        ),
        ("NOTES.txt", "these are notes"),
    ];
    for dialect in [Dialect::V3, Dialect::V4_3] {
        let render = |suffix: &str| {
            let paths = templates.map(|(path, _)| format!("templates/{path}{suffix}"));
            let files = paths.iter().map(String::as_str);
            let files: Vec<(&str, &str)> = files.zip(templates.map(|(_, text)| text)).collect();
            let rendered = render_with(&chart(&files, dialect), "", |_| {}).unwrap();
            assert_eq!(rendered.notes, "these are notes");
            assert_eq!(rendered.hooks.len(), 1);
            text(&rendered)
        };
        let (go, tera) = (render(""), render(".tera"));
        assert!(tera.contains("# Source: shop/templates/sub/deep.yaml.tera\n"));
        assert_eq!(go, tera.replace(".yaml.tera", ".yaml"));
    }
}

#[test]
fn subcharts_have_their_own_values_partials_and_components() {
    let card = "{% component card() %}of {% endcomponent %}";
    let files = [
        (
            "values.yaml",
            "name: root\nglobal: {g: all}\none: {name: first}\n",
        ),
        ("templates/x.yaml.tera", "x: {{ <card/> }}{{ Values.name }}"),
        ("templates/_card.tera", card),
        (
            "charts/one/Chart.yaml",
            "apiVersion: v2\nname: one\nversion: 1.0.0\n",
        ),
        (
            "charts/one/templates/x.yaml.tera",
            "x: {{ <card/> }}{{ Values.name }} {{ Values.global.g }} {{ Chart.Name }} {% include '_own.tera' %} {{ include(name='help') }}",
        ),
        ("charts/one/templates/_card.tera", card),
        ("charts/one/templates/_own.tera", "{{ Template.BasePath }}"),
        (
            "templates/_help.tpl",
            "{{ define \"help\" }}{{ .Values.name }}{{ end }}",
        ),
    ];
    assert_eq!(
        render(&files, "").unwrap(),
        "---\n# Source: shop/charts/one/templates/x.yaml.tera\n\
         x: of first all one shop/charts/one/templates first\n\
         ---\n# Source: shop/templates/x.yaml.tera\nx: of root\n"
    );
}

#[test]
fn both_kinds_of_templates_draw_from_the_same_seed_and_share_questions() {
    let files = [
        ("templates/a.yaml", "a: {{ randAlpha 8 }}"),
        (
            "templates/b.yaml.tera",
            "b: {{ randAlpha(n=8) }}{% set s = lookup(api_version='v1', kind='Secret', namespace='n', name='s') %}{{ s.data | default(value='') }} {{ now() | date(args=['2006']) }}",
        ),
    ];
    let chart = chart(&files, Dialect::V4_3);
    let first = render_with(&chart, "", |_| {}).unwrap();
    let again = render_with(&chart, "", |_| {}).unwrap();
    assert_eq!(text(&first), text(&again));
    assert!(text(&first).contains(" 2023\n"));
    let other = render_with(&chart, "", |input| {
        input.seed = Seed::Stable {
            key: [4; 32],
            now: 0,
        };
    });
    assert_ne!(text(&first), text(&other.unwrap()));
    let question = LookupQuestion {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: "n".to_owned(),
        name: "s".to_owned(),
        ..LookupQuestion::default()
    };
    assert_eq!(first.consulted.lookups, [question]);
}

#[test]
fn errors_have_the_form_of_those_of_go_templates() {
    let help = (
        "templates/_h.tpl",
        "{{ define \"need\" }}{{ required \"give a name\" .Values.name }}{{ end }}",
    );
    let broken = ("templates/x.yaml.tera", "a: 1\nb: {{ Values.a.b }}\n");
    let error = render(&[broken, help], "").unwrap_err().to_string();
    assert_eq!(
        error,
        "shop/templates/x.yaml.tera:2:13\n  executing \"shop/templates/x.yaml.tera\" at <a>:\n    Field `a` is not defined."
    );
    let raised = (
        "templates/x.yaml.tera",
        "a: 1\nb: {{ include(name='need') }}\n",
    );
    let error = render(&[raised, help], "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "execution error at (shop/templates/x.yaml.tera:2:6): give a name"
    );
    let raised = ("templates/x.yaml", "a: {{ include \"_y.tera\" . }}");
    let partial = ("templates/_y.tera", "{{ fail(message='not so') }}");
    let error = render(&[raised, partial], "").unwrap_err();
    assert_eq!(
        error.to_string(),
        "execution error at (shop/templates/x.yaml:1:6): not so"
    );
    let unparsed = ("templates/x.yaml.tera", "a: 1\nb: {{ x | }}\n");
    let error = render(&[unparsed], "").unwrap_err().to_string();
    assert_eq!(
        error,
        "parse error at (shop/templates/x.yaml.tera:2:11): Found `}}` but expected identifier."
    );
}

#[test]
fn all_templates_of_a_rendering_share_one_budget() {
    let go = ("templates/b.yaml", "{{ range until 3000 }}{{ end }}");
    let tera = (
        "templates/a.yaml.tera",
        "{% for i in range(end=3000) %}{% endfor %}",
    );
    let steps = |files: &[(&str, &str)]| {
        render_with(&chart(files, Dialect::V4_3), "", |input| {
            input.limits.steps = 10_000;
        })
    };
    assert!(steps(&[go]).is_ok());
    assert!(steps(&[tera]).is_ok());
    let error = steps(&[go, tera]).unwrap_err().to_string();
    assert!(
        error.contains("rendering takes more than 10000 steps"),
        "{error}"
    );
}

#[test]
fn a_chart_that_is_half_go_and_half_tera_renders_as_its_golden_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tree = FileTree::new();
    read(&root.join("examples/charts/half-and-half"), "", &mut tree);
    let tree = without_ignored(&tree).unwrap();
    for dialect in [Dialect::V3, Dialect::V4_3] {
        let chart = CompiledChart::new(load(&tree, dialect).unwrap(), dialect);
        let rendered = render_with(&chart, "", |_| {}).unwrap();
        let golden = fs::read_to_string(root.join("fixtures/tera/half-and-half.yaml")).unwrap();
        // Helm 4 leaves the line break at the end of a document, and adds another.
        let expected = match dialect {
            Dialect::V3 => golden.replace("\n\n---\n", "\n---\n").trim_end().to_owned() + "\n",
            _ => golden,
        };
        assert_eq!(text(&rendered), expected, "{dialect}");
        assert_eq!(
            rendered.notes,
            "rel sells novels, poetry, maps at https://books.example.org.\n"
        );
    }
}

fn read(folder: &Path, below: &str, tree: &mut FileTree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            read(&path, &format!("{name}/"), tree);
        } else {
            tree.insert(name, fs::read(&path).unwrap()).unwrap();
        }
    }
}
