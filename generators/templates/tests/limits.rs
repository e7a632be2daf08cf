//! Failures with their places, limits, hostile input, and seeds.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop anywhere"
)]

use serde_json::{Map, Value as Json, json};
use std::{collections::BTreeSet, time::Duration};
use whipstaff_generator::{
    Capabilities, Error, ErrorKind, FileTree, Generated, Generator, Input, LookupSnapshot,
    ObjectSet, Prepared, Seed, yaml,
};
use whipstaff_templates::{
    Expanded, Layout, MAX_DELIMITER_LENGTH, MAX_INCLUDES, TemplateOptions, TemplatedGenerator,
    expand,
};

fn tree(files: &[(&str, &str)]) -> FileTree {
    let mut tree = FileTree::new();
    for (path, content) in files {
        tree.insert(*path, content.as_bytes()).unwrap();
    }
    tree
}

fn capabilities() -> Capabilities {
    Capabilities {
        kube_version: "v1.34.0".parse().unwrap(),
        api_versions: BTreeSet::new(),
    }
}

/// Renders below `app` with templating on.
fn render_with(
    files: &[(&str, &str)],
    options: &Json,
    change: impl FnOnce(&mut Input<'_>),
) -> Result<Expanded, Error> {
    let mut options = options.as_object().unwrap().clone();
    options.insert("template".to_owned(), true.into());
    let options = TemplateOptions::take(&mut options)?;
    let (capabilities, lookups) = (capabilities(), LookupSnapshot::new());
    let parameters = Map::from_iter([("a".to_owned(), json!({"b": 1}))]);
    let mut input = Input::new("apps", "shop", &parameters, &capabilities, &lookups);
    change(&mut input);
    expand(&tree(files), "app", Layout::Kustomization, &options, &input)
}

fn render(files: &[(&str, &str)]) -> Result<Expanded, Error> {
    render_with(files, &json!({}), |_| {})
}

/// Files, the kind of failure, and how its report begins.
type Case = (
    &'static [(&'static str, &'static str)],
    ErrorKind,
    &'static str,
);

#[test]
fn failures_have_a_kind_and_a_place() {
    const CONFIG: &str = "app/.component-config.yaml";
    let cases: [Case; 17] = [
        (
            &[("app/a.yaml", "x\n{{ if }}")],
            ErrorKind::Source,
            "app/a.yaml:2: malformed template: missing value for if",
        ),
        (
            &[("app/a.yaml", "{{ nothing }}")],
            ErrorKind::Source,
            "app/a.yaml:1: malformed template: function \"nothing\" not defined",
        ),
        (
            &[("app/a.yaml", "x\n  {{ .a.b.c }}")],
            ErrorKind::Render,
            "app/a.yaml:2:8: at <.a.b.c>: can't evaluate field c in type interface {}",
        ),
        (
            &[("app/a.yaml", "{{ required \"no size\" .size }}")],
            ErrorKind::Parameters,
            "app/a.yaml:1:4: no size",
        ),
        (
            &[("app/a.yaml", "{{ readFile \"none\" }}")],
            ErrorKind::Render,
            "app/a.yaml:1:4: at <readFile \"none\">: error calling readFile: file none does not exist",
        ),
        (
            &[("app/a.yaml", "{{ mustLookup \"v1\" \"Pod\" \"n\" \"p\" }}")],
            ErrorKind::Render,
            "app/a.yaml:1:4: at <mustLookup \"v1\" \"Pod\" \"n\" \"p\">: error calling mustLookup: Pod \"p\" not found",
        ),
        (
            &[("app/a.yaml", "{{ env \"HOME\" }}")],
            ErrorKind::Render,
            "app/a.yaml:1:4: at <env \"HOME\">: error calling env: environment variables are not supported: templates do not see those of the operator",
        ),
        (
            &[("app/a.yaml", "{{ fromYaml \"a: [\" }}")],
            ErrorKind::Render,
            "app/a.yaml:1:4: at <fromYaml",
        ),
        (
            &[(CONFIG, "values: [")],
            ErrorKind::Source,
            "app/.component-config.yaml:2: cannot read YAML",
        ),
        (
            &[(CONFIG, "[]")],
            ErrorKind::Source,
            "app/.component-config.yaml: expected a map",
        ),
        (
            &[(CONFIG, "templateSuffix: 1")],
            ErrorKind::Source,
            "app/.component-config.yaml: invalid options of templates: invalid type: integer `1`",
        ),
        (
            &[(CONFIG, "includedFiles: [/etc/passwd]")],
            ErrorKind::Source,
            "app/.component-config.yaml: included path `/etc/passwd` is not relative",
        ),
        (
            &[(CONFIG, "includedFiles: [../../x]")],
            ErrorKind::Source,
            "app/.component-config.yaml: included path `../../x` leads out of the files",
        ),
        (
            &[(CONFIG, "includedFiles: [../none]")],
            ErrorKind::Source,
            "app/.component-config.yaml: included path `../none` does not exist",
        ),
        (
            &[
                (CONFIG, "includedKustomizations: [../app/x]"),
                ("app/x/a.yaml", ""),
            ],
            ErrorKind::Source,
            "app/.component-config.yaml: included path `../app/x` is not outside of the folder",
        ),
        (
            &[(CONFIG, "includedKustomizations: [..]")],
            ErrorKind::Source,
            "app/.component-config.yaml: included folder `..` has the folder itself in it",
        ),
        (
            &[
                (CONFIG, "templateSuffix: .t"),
                ("app/a.yaml", ""),
                ("app/a.yaml.t", ""),
            ],
            ErrorKind::Source,
            "app/a.yaml.t: `a.yaml` and `a.yaml.t` both give `a.yaml`",
        ),
    ];
    for (files, kind, expected) in cases {
        let error = render(files).unwrap_err();
        let report = error.report();
        assert!(report.starts_with(expected), "{report}");
        assert_eq!(error.kind(), kind, "{report}");
    }
}

#[test]
fn lookups_with_a_kubeconfig_are_refused() {
    for name in [
        "lookupWithKubeConfig",
        "mustLookupWithKubeConfig",
        "lookupListWithKubeConfig",
    ] {
        let text = format!("{{{{ {name} \"v1\" \"Pod\" \"n\" \"p\" \"kubeconfig\" }}}}");
        let error = render(&[("app/a.yaml", &text)]).unwrap_err();
        assert!(
            error.report().contains("is not supported"),
            "{}",
            error.report()
        );
    }
}

#[test]
fn included_folders_may_include_each_other_but_not_lie_in_each_other() {
    let mutual = [
        (
            "app/.component-config.yaml",
            "includedKustomizations: [../base]",
        ),
        (
            "base/.component-config.yaml",
            "includedKustomizations: [../app]",
        ),
        ("base/a.yaml", "{{ .a.b }}"),
    ];
    let expanded = render(&mutual).unwrap();
    assert_eq!(expanded.files.get("base/a.yaml").unwrap().as_ref(), b"1");
    let nested = [
        (
            "app/.component-config.yaml",
            "includedKustomizations: [../base, ../base/deep]",
        ),
        ("base/a.yaml", ""),
        ("base/deep/b.yaml", ""),
    ];
    let report = render(&nested).unwrap_err().report();
    assert!(report.contains("are in each other"), "{report}");
}

#[test]
fn options_that_cannot_be_are_refused() {
    let long = "<".repeat(MAX_DELIMITER_LENGTH + 1);
    let many = vec!["../x"; MAX_INCLUDES + 1];
    for (options, part) in [
        (
            json!({"leftTemplateDelimiter": long}),
            "is longer than 32 bytes",
        ),
        (
            json!({"rightTemplateDelimiter": "> >"}),
            "has white space in it",
        ),
        (json!({"includedFiles": many}), "has more than 100 entries"),
        (json!({"values": []}), "invalid options of templates"),
    ] {
        let error = render_with(&[("app/a", "")], &options, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameters);
        assert!(error.report().contains(part), "{}", error.report());
    }
    let mut options = json!({"template": true, "own": 1, "values": {}});
    let options = options.as_object_mut().unwrap();
    TemplateOptions::take(options).unwrap();
    assert_eq!(Json::Object(options.clone()), json!({"own": 1}));
}

#[test]
fn what_a_rendering_may_use_up_is_limited() {
    let endless = "{{ range until 10000 }}{{ range until 10000 }}x{{ end }}{{ end }}";
    let recursive = "{{ define \"r\" }}{{ include \"r\" . }}{{ end }}{{ include \"r\" . }}";
    let reading = "{{ range until 10000 }}{{ $_ := readFile \"data\" }}{{ end }}";
    let listing = "{{ range until 10000 }}{{ $_ := listFiles \"**\" }}{{ end }}";
    let asking =
        "{{ range $i := until 20000 }}{{ lookup \"v1\" \"Pod\" \"n\" (print $i) }}{{ end }}";
    let data = "x".repeat(10_000);
    for (text, part) in [
        (endless, "rendering takes more than 200000 steps"),
        (recursive, "nested deeper than 50 calls"),
        (reading, "rendering produces more than 5000000 bytes"),
        (listing, "rendering produces more than 5000000 bytes"),
        (asking, "more than 10000 objects are looked up"),
    ] {
        let many: Vec<_> = (0..50).map(|n| format!("app/files/{n}")).collect();
        let mut files = vec![("app/a.yaml", text), ("app/data", data.as_str())];
        files.extend(many.iter().map(|path| (path.as_str(), "")));
        let error = render_with(&files, &json!({}), |input| {
            input.limits.steps = 200_000;
            input.limits.output_bytes = 5_000_000;
            input.limits.depth = 50;
        })
        .unwrap_err();
        assert!(error.report().contains(part), "{}", error.report());
        assert_eq!(error.kind(), ErrorKind::Limit, "{}", error.report());
    }
}

#[test]
fn included_folders_share_the_limits() {
    let loops = "{{ range until 1000 }}{{ end }}";
    let files = [
        (
            "app/.component-config.yaml",
            "includedKustomizations: [../b, ../c]",
        ),
        ("app/a.yaml", loops),
        ("b/a.yaml", loops),
        ("c/a.yaml", loops),
    ];
    let with_steps = |steps| render_with(&files, &json!({}), |input| input.limits.steps = steps);
    assert!(with_steps(10_000).is_ok());
    let error = with_steps(2_500).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.location().unwrap().file, "c/a.yaml");
    let error = render_with(&files, &json!({}), |input| {
        input.limits.time = Duration::ZERO;
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn files_that_are_no_text_and_names_that_are_odd_do_no_harm() {
    let mut files = FileTree::new();
    let bytes: Vec<u8> = (0..=255).collect();
    files.insert("binary", bytes.clone()).unwrap();
    files.insert("a b/ü.yaml", b"{{ .a }}".as_slice()).unwrap();
    let (capabilities, lookups, parameters) = (capabilities(), LookupSnapshot::new(), Map::new());
    let input = Input::new("apps", "shop", &parameters, &capabilities, &lookups);
    let mut options = TemplateOptions::default();
    options.template = Some(true);
    let expanded = expand(&files, "", Layout::Kustomization, &options, &input).unwrap();
    assert_eq!(expanded.files.get("binary").unwrap().as_ref(), bytes);
    assert_eq!(expanded.files.get("a b/ü.yaml").unwrap().as_ref(), b"");
    let report = expand(&files, "../x", Layout::Kustomization, &options, &input).unwrap_err();
    assert_eq!(report.to_string(), "`../x` leads out of the files");
}

#[test]
fn random_values_come_from_the_seed_and_are_recorded() {
    let files = [
        ("app/a.yaml", "{{ randAlphaNum 20 }}"),
        ("app/b.yaml", "{{ randAlphaNum 20 }}"),
    ];
    let with_seed = |seed| render_with(&files, &json!({}), |input| input.seed = seed);
    let key = [1; 32];
    let one = with_seed(Seed::Stable { key, now: 0 }).unwrap();
    let two = with_seed(Seed::Stable { key, now: 0 }).unwrap();
    assert!(one.files == two.files && one.consulted.random);
    assert_ne!(one.files.get("app/a.yaml"), one.files.get("app/b.yaml"));
    let error = with_seed(Seed::Unknown { now: 0 }).unwrap_err();
    assert!(error.consulted().random);
}

#[test]
fn what_was_asked_before_a_failure_is_told() {
    let files = [
        ("app/a.yaml", "{{ lookup \"v1\" \"Pod\" \"n\" \"p\" }}"),
        ("app/b.yaml", "{{ fail \"later\" }}"),
    ];
    let error = render(&files).unwrap_err();
    assert_eq!(error.consulted().lookups.len(), 1);
}

/// Gives each file as an object.
#[derive(Debug, Clone)]
struct Files;

#[derive(Debug)]
struct PreparedFiles(ObjectSet);

impl Generator for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn detects(&self, files: &FileTree) -> Option<String> {
        files
            .contains("kustomization.yaml")
            .then(|| "found it".to_owned())
    }

    fn prepare(&self, files: &FileTree, options: &Json) -> Result<Box<dyn Prepared>, Error> {
        if !options.is_null() {
            return Err(Error::new(ErrorKind::Parameters, "own options"));
        }
        let mut objects = ObjectSet::new();
        for (path, content) in files.iter().filter(|(path, _)| path.starts_with("o-")) {
            objects
                .push_document(yaml::from_slice(content).unwrap(), path)
                .map_err(|error| Error::new(ErrorKind::Output, error.to_string()))?;
        }
        Ok(Box::new(PreparedFiles(objects)))
    }
}

impl Prepared for PreparedFiles {
    fn generate(&self, _: &Input<'_>) -> Result<Generated, Error> {
        let mut generated = Generated::default();
        generated.objects = self.0.clone();
        Ok(generated)
    }
}

#[test]
fn another_generator_gets_what_templates_rendered_to() {
    let generator = TemplatedGenerator::new(Files);
    let object = "{apiVersion: v1, kind: Pod, metadata: {name: '{{ name }}'}}";
    let names = |files: &FileTree, options: &Json| -> Result<Vec<String>, Error> {
        let (capabilities, lookups, parameters) =
            (capabilities(), LookupSnapshot::new(), Map::new());
        let input = Input::new("apps", "shop", &parameters, &capabilities, &lookups);
        let generated = generator.prepare(files, options)?.generate(&input)?;
        assert_eq!(
            generated.consulted.clock,
            files.contains("clock"),
            "{files:?}"
        );
        let names = generated.objects.iter();
        Ok(names.map(|o| o.object.name().to_owned()).collect())
    };
    let plain = tree(&[("o-a", object)]);
    assert_eq!(names(&plain, &Json::Null).unwrap(), ["{{ name }}"]);
    assert_eq!(names(&plain, &json!({"template": true})).unwrap(), ["shop"]);
    let configured = tree(&[
        ("o-a", object),
        (".component-config.yaml", ""),
        ("clock", "{{ now }}"),
    ]);
    assert_eq!(names(&configured, &json!({})).unwrap(), ["shop"]);
    let error = names(&plain, &json!({"other": 1})).unwrap_err();
    assert_eq!(error.to_string(), "own options");
    let error = names(&tree(&[("o-a", "{{ now }}")]), &json!({"template": true})).unwrap_err();
    assert!(error.consulted().clock);
    assert_eq!(generator.name(), "files");
    assert!(generator.detects(&configured).is_some() && generator.detects(&plain).is_none());
}

#[test]
fn arithmetic_and_addresses_refuse_what_they_do_not_mean() {
    for (call, part) in [
        ("bitwiseAnd 1 -1", "unable to cast negative value"),
        (
            "bitwiseOr \"x\"",
            "unable to cast \"x\" of type string to uint64",
        ),
        ("bitwiseShiftLeft list 1", "to uint64"),
        ("parseIPv4Address \"10.0.0\"", "invalid IP address"),
        (
            "parseIPv4Address \"10.0.0.256\"",
            "strconv.ParseUint: parsing \"256\": value out of range",
        ),
        (
            "parseIPv4Address \"10.0.0.x\"",
            "strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
        ("formatIPv4Address -1", "unable to cast negative value"),
        ("fromJson \"{\"", "unexpected end of JSON input"),
        ("fromJsonArray \"{}\"", "cannot unmarshal object"),
        ("fromYamlArray \"a: b\"", "cannot unmarshal object"),
        ("listFiles \"[a\"", "unexpected end of input"),
    ] {
        let text = format!("{{{{ {call} }}}}");
        let report = render(&[("app/a.yaml", &text)]).unwrap_err().report();
        assert!(report.contains(part), "{call}: {report}");
    }
}
