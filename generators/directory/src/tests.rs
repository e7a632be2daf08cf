use crate::{DirectoryGenerator, MAX_OBJECTS};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use whipstaff_generator::{
    Capabilities, Error, ErrorKind, FileTree, Generated, Generator, Input, LookupSnapshot,
};

fn tree(files: &[(&str, &str)]) -> FileTree {
    let mut tree = FileTree::new();
    for (path, content) in files {
        tree.insert(*path, content.as_bytes()).unwrap();
    }
    tree
}

fn generate(files: &[(&str, &str)], parameters: &Value) -> Result<Generated, Error> {
    generate_with(files, &Value::Null, parameters)
}

fn generate_with(
    files: &[(&str, &str)],
    options: &Value,
    parameters: &Value,
) -> Result<Generated, Error> {
    let prepared = DirectoryGenerator.prepare(&tree(files), options)?;
    let parameters = parameters.as_object().unwrap().clone();
    let kube_version = "v1.34.0".parse().unwrap();
    let capabilities = Capabilities {
        kube_version,
        api_versions: BTreeSet::new(),
    };
    let lookups = LookupSnapshot::default();
    prepared.generate(&Input::new(
        "apps",
        "shop",
        &parameters,
        &capabilities,
        &lookups,
    ))
}

/// `source: Kind/name` of every object.
fn listed(files: &[(&str, &str)]) -> Vec<String> {
    let generated = generate(files, &json!({})).unwrap();
    let line = |s: &whipstaff_generator::Sourced| {
        format!("{}: {}/{}", s.source, s.object.kind(), s.object.name())
    };
    generated.objects.iter().map(line).collect()
}

fn failure(files: &[(&str, &str)]) -> String {
    generate(files, &json!({})).unwrap_err().report()
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

#[test]
fn files_are_read_in_the_order_of_their_paths_and_documents_in_theirs() {
    let several = format!("---\n{}---\n{}", config_map("c"), config_map("b"));
    let json = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"j"}}"#;
    let files = [
        ("z.yml", config_map("z")),
        ("a/several.yaml", several),
        ("a/b/deep.json", json.to_owned()),
        ("README.md", "# no manifest".to_owned()),
        ("yaml", "no extension".to_owned()),
    ];
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    assert_eq!(
        listed(&files),
        [
            "a/b/deep.json: Secret/j",
            "a/several.yaml: ConfigMap/c",
            "a/several.yaml: ConfigMap/b",
            "z.yml: ConfigMap/z"
        ]
    );
}

#[test]
fn hidden_files_and_folders_are_passed_over() {
    let (seen, hidden) = (config_map("seen"), ": : not even yaml [");
    let files = [
        ("a.yaml", &*seen),
        (".b.yaml", hidden),
        (".git/c.yaml", hidden),
        ("d/.e/f.yaml", hidden),
    ];
    assert_eq!(listed(&files), ["a.yaml: ConfigMap/seen"]);
}

#[test]
fn lists_are_taken_apart_in_yaml_and_in_json() {
    let yaml =
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n";
    let json = r#"{"apiVersion":"v1","kind":"SecretList","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}}]}
                  {"apiVersion":"v1","kind":"Secret","metadata":{"name":"c"}}"#;
    assert_eq!(
        listed(&[("1.yaml", yaml), ("2.json", json)]),
        ["1.yaml: Pod/a", "2.json: Secret/b", "2.json: Secret/c"]
    );
}

#[test]
fn empty_documents_and_byte_order_marks_do_no_harm() {
    let text = format!("\u{feff}---\n---\n# nothing\n---\n{}---\n", config_map("a"));
    assert_eq!(
        listed(&[("a.yaml", &text), ("b.json", " \n")]),
        ["a.yaml: ConfigMap/a"]
    );
}

#[test]
fn fields_keep_their_order_and_their_types() {
    let text = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: a}\nspec: {z: 1, a: 1.5, m: '1'}\n";
    let generated = generate(&[("a.yaml", text)], &json!({})).unwrap();
    let spec = generated
        .objects
        .iter()
        .next()
        .unwrap()
        .object
        .pointer(&["spec"])
        .unwrap()
        .to_string();
    assert_eq!(spec, r#"{"z":1,"a":1.5,"m":"1"}"#);
}

#[test]
fn an_object_that_is_there_twice_is_refused_with_both_places() {
    let (one, two) = (
        config_map("a"),
        format!("{}---\n{}", config_map("b"), config_map("a")),
    );
    assert_eq!(
        failure(&[("one.yaml", &one), ("two.yaml", &two)]),
        "ConfigMap a is defined twice: in `one.yaml:1` and in `two.yaml:6`"
    );
}

#[test]
fn objects_of_one_name_in_different_namespaces_or_groups_are_different() {
    let text = "[
        {\"apiVersion\": \"a.example.org/v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"x\"}},
        {\"apiVersion\": \"b.example.org/v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"x\"}},
        {\"apiVersion\": \"b.example.org/v1\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"x\", \"namespace\": \"n\"}}
    ]";
    let list = format!("{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": {text}}}");
    assert_eq!(listed(&[("a.json", &list)]).len(), 3);
}

#[test]
fn what_is_wrong_is_reported_with_file_and_line() {
    let nameless = "---\n\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n";
    let kindless = format!(
        "{}---\napiVersion: v1\nmetadata: {{name: b}}\n",
        config_map("a")
    );
    let cases = [
        (
            "a/b.yaml",
            nameless,
            "a/b.yaml:3: `metadata.name` is missing in ConfigMap",
        ),
        (
            "a.yaml",
            &*kindless,
            "a.yaml:6: invalid object: `kind` is missing in b",
        ),
        (
            "a.yaml",
            "just text\n",
            "a.yaml:1: invalid object: expected an object with `apiVersion` and `kind`, found a string",
        ),
        (
            "a.json",
            "\n{}\n{}\n",
            "a.json:2: invalid object: `apiVersion` is missing",
        ),
    ];
    for (path, text, expected) in cases {
        assert_eq!(failure(&[(path, text)]), expected);
    }
}

#[test]
fn broken_yaml_and_json_are_reported_with_their_line() {
    let json = "\n{\"apiVersion\": \"v1\",\n \"kind\" 1}";
    assert!(
        failure(&[("a.json", json)]).starts_with("a.json:3:"),
        "{}",
        failure(&[("a.json", json)])
    );
    let yaml = "apiVersion: v1\nkind: ConfigMap\n  metadata: [\n";
    let report = failure(&[("a.yaml", yaml)]);
    assert!(
        report.starts_with("a.yaml:3: cannot read YAML: "),
        "{report}"
    );
}

#[test]
fn text_that_is_not_utf8_is_reported_with_its_line() {
    let mut files = FileTree::new();
    files
        .insert("a.yaml", b"a: 1\nb: \xff\n".as_slice())
        .unwrap();
    let error = DirectoryGenerator
        .prepare(&files, &Value::Null)
        .unwrap_err();
    assert!(
        error.report().starts_with("a.yaml:2: not valid UTF-8"),
        "{}",
        error.report()
    );
}

#[test]
fn a_tree_without_manifests_is_neither_detected_nor_read() {
    let files = tree(&[("README.md", ""), (".hidden.yaml", "a: b")]);
    assert_eq!(DirectoryGenerator.detects(&files), None);
    assert_eq!(
        DirectoryGenerator
            .prepare(&files, &Value::Null)
            .unwrap_err()
            .kind(),
        ErrorKind::Source
    );
    let files = tree(&[("b.yaml", ""), ("a/x.json", "")]);
    assert_eq!(
        DirectoryGenerator.detects(&files).as_deref(),
        Some("found `a/x.json`")
    );
}

#[test]
fn options_that_do_not_exist_are_refused() {
    let files = tree(&[("a.yaml", "")]);
    for options in [Value::Null, json!({})] {
        assert!(
            DirectoryGenerator.prepare(&files, &options).is_ok(),
            "{options}"
        );
    }
    for (options, expected) in [
        (
            json!({"recurse": true}),
            "unknown option `recurse`: a directory of manifests has `templates`, and `templateSuffix`, \
             `leftTemplateDelimiter`, `rightTemplateDelimiter` and `values` for templates",
        ),
        (
            json!({"templates": ["go"], "includedFiles": ["../x"]}),
            "unknown option `includedFiles`: a directory of manifests has `templates`, and `templateSuffix`, \
             `leftTemplateDelimiter`, `rightTemplateDelimiter` and `values` for templates",
        ),
        (
            json!({"values": {}}),
            "option `values` means nothing without `templates`",
        ),
        (
            json!({"templates": ["jinja"]}),
            "invalid option `templates`",
        ),
        (json!({"templates": "go"}), "invalid option `templates`"),
        (
            json!([]),
            "the options of a directory of manifests must be a map",
        ),
    ] {
        let error = DirectoryGenerator.prepare(&files, &options).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (ErrorKind::Parameters, expected.to_owned())
        );
    }
}

#[test]
fn values_that_have_no_effect_are_warned_of() {
    let text = config_map("a");
    assert!(
        generate(&[("a.yaml", &text)], &Value::Object(Map::new()))
            .unwrap()
            .warnings
            .is_empty()
    );
    let warnings = generate(&[("a.yaml", &text)], &json!({"replicas": 2}))
        .unwrap()
        .warnings;
    assert_eq!(
        warnings,
        ["plain manifests have no parameters: the values are not used"]
    );
    let warnings = generate(&[("a.yaml", "# nothing\n")], &json!({}))
        .unwrap()
        .warnings;
    assert_eq!(warnings, ["the manifests hold no object"]);
}

#[test]
fn more_objects_than_the_limit_are_refused() {
    let items = (0..=MAX_OBJECTS).map(
        |number| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": number.to_string()}}),
    );
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Vec<_>>()});
    let files = tree(&[("a.json", &list.to_string())]);
    let error = DirectoryGenerator
        .prepare(&files, &Value::Null)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.report(), "a.json:1: more than 50000 objects");
}

#[test]
fn templates_are_rendered_only_when_they_are_asked_for() {
    let braces = "{apiVersion: v1, kind: Pod, metadata: {name: '{{ .name }}'}}";
    let go = "{apiVersion: v1, kind: Pod, metadata: {name: 'go-{{ .name }}-{{ namespace }}'}}";
    let tera = "{apiVersion: v1, kind: Pod, metadata: {name: 'tera-{{ name }}'}}";
    let files = [
        ("a.yaml", braces),
        ("b.yaml.gotmpl", go),
        ("c.yaml.tera", tera),
        ("helpers.tpl", "{{ define \"x\" }}{{ end }}"),
    ];
    let forgotten = |path: &str, engine: &str| {
        format!("`{path}` is not rendered: the option `templates` does not name `{engine}`")
    };
    let unused = "plain manifests have no parameters: the values are not used".to_owned();
    // options, names, warnings
    let cases = [
        (
            json!({}),
            vec!["{{ .name }}"],
            vec![
                forgotten("b.yaml.gotmpl", "go"),
                forgotten("c.yaml.tera", "tera"),
                unused,
            ],
        ),
        (
            json!({"templates": ["go"]}),
            vec!["{{ .name }}", "go-x-apps"],
            vec![],
        ),
        (
            json!({"templates": ["tera", "go"]}),
            vec!["{{ .name }}", "go-x-apps", "tera-x"],
            vec![],
        ),
        (
            json!({"templates": ["go"], "templateSuffix": ""}),
            vec!["x"],
            vec![],
        ),
    ];
    for (options, names, warnings) in cases {
        let generated = generate_with(&files, &options, &json!({"name": "x"})).unwrap();
        let found: Vec<_> = generated.objects.iter().map(|o| o.object.name()).collect();
        assert_eq!(found, names, "{options}");
        assert_eq!(generated.warnings, warnings, "{options}");
    }
}

#[test]
fn what_templates_render_to_is_held_to_what_manifests_are() {
    let options = json!({"templates": ["go"], "values": {"name": "a"}});
    let object = "{apiVersion: v1, kind: Pod, metadata: {name: '{{ .name }}'}}";
    let twice = [("a.yaml.gotmpl", object), ("b.yaml.gotmpl", object)];
    let error = generate_with(&twice, &options, &json!({})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert_eq!(
        error.report(),
        "Pod a is defined twice: in `a.yaml:1` and in `b.yaml:1`"
    );
    let broken = [("a.yaml.gotmpl", "{{ now | date \"2006\" }}: [")];
    let error = generate_with(&broken, &options, &json!({})).unwrap_err();
    assert!(error.report().starts_with("a.yaml:2: cannot read YAML"));
    assert!(error.consulted().clock);
}

#[test]
fn ignored_files_are_passed_over() {
    let (seen, hidden) = (config_map("seen"), ": : not even yaml [");
    let files = [
        (".whipstaffignore", "*.bad.yaml\n/ci/\n"),
        ("a.yaml", &*seen),
        ("deep/b.bad.yaml", hidden),
        ("ci/c.yaml", hidden),
        ("deep/.whipstaffignore", "values.yaml"),
        ("deep/values.yaml", hidden),
    ];
    assert_eq!(listed(&files), ["a.yaml: ConfigMap/seen"]);
    let malformed = [(".whipstaffignore", "[z-a]"), ("a.yaml", &*seen)];
    assert!(failure(&malformed).starts_with(".whipstaffignore:1: malformed rule"));
}
