//! How long the parts of the Helm generator take, each by itself, on the project's own fixtures.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a benchmark that cannot run says so"
)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value as Json, json};
use std::{fmt::Write as _, fs, hint::black_box, path::Path, sync::Arc};
use whipstaff::generator::{LookupQuestion, yaml};
use whipstaff_helm::{
    Assignment, Dialect, assign, functions,
    gotemplate::{
        Environment, FunctionError, FunctionTable, Map, Options, Renderer, TemplateSet, Value,
    },
    merge_values, values_from_json,
};

/// Objects of the text that is read and written as YAML.
const DOCUMENTS: usize = 200;
/// Rounds of the loops in templates.
const LOOPS: usize = 500;

/// Nothing of a cluster, no randomness, no time.
#[derive(Debug)]
struct Nowhere;

impl Environment for Nowhere {
    fn lookup(&mut self, _: LookupQuestion) -> Result<Json, FunctionError> {
        Ok(Json::Null)
    }

    fn random(&mut self, buffer: &mut [u8]) -> Result<(), FunctionError> {
        buffer.fill(7);
        Ok(())
    }

    fn now(&mut self) -> (i64, u32) {
        (0, 0)
    }
}

fn fixture(path: &str) -> Vec<u8> {
    fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures/charts")
            .join(path),
    )
    .unwrap()
}

/// All templates of a fixture, one after the other.
fn templates() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/charts/shop/templates");
    let mut templates = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            templates.push((name, fs::read(&path).unwrap()));
        }
    }
    templates
}

fn table() -> Arc<FunctionTable> {
    Arc::new(functions(Dialect::V4_3))
}

fn parse(criterion: &mut Criterion) {
    criterion.bench_function("functions", |bencher| {
        bencher.iter(|| functions(black_box(Dialect::V4_3)));
    });
    let (functions, templates) = (table(), templates());
    let mut group = criterion.benchmark_group("parse");
    let bytes: usize = templates.iter().map(|(_, text)| text.len()).sum();
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("shop", |bencher| {
        bencher.iter(|| {
            let mut set = TemplateSet::new(Arc::clone(&functions));
            for (name, text) in &templates {
                set.parse(name, black_box(text.as_slice())).unwrap();
            }
            set
        });
    });
    group.finish();
}

fn execute(criterion: &mut Criterion) {
    let cases = [
        ("fields", "{{ range until N }}{{ $.a.b.c }}{{ end }}"),
        (
            "conditions",
            "{{ range until N }}{{ if and (eq $.a.b.c \"x\") (not $.none) }}y{{ end }}{{ end }}",
        ),
        (
            "functions",
            "{{ range until N }}{{ $.a.b.c | upper | trunc 63 | trimSuffix \"-\" | quote }}{{ end }}",
        ),
        (
            "include",
            "{{ range until N }}{{ include \"labels\" $ | nindent 4 }}{{ end }}",
        ),
        (
            "tpl",
            "{{ range until N }}{{ tpl \"{{ .a.b.c }}-x\" $ }}{{ end }}",
        ),
        (
            "to-yaml",
            "{{ range until N }}{{ toYaml $.a | nindent 2 }}{{ end }}",
        ),
    ];
    let labels = "{{ define \"labels\" }}name: {{ .a.b.c }}\nother: {{ .a.d | quote }}{{ end }}";
    let dot = json!({"a": {"b": {"c": "a value"}, "d": true, "e": [1, "two", {"f": 3.5}]}});
    let dot = Value::from_json(&dot);
    let mut group = criterion.benchmark_group("execute");
    for (name, text) in cases {
        let mut set = TemplateSet::new(table());
        set.parse("labels.tpl", labels.as_bytes()).unwrap();
        let text = text.replace('N', &LOOPS.to_string());
        set.parse(name, text.as_bytes()).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut environment = Nowhere;
                let mut renderer = Renderer::new(&set, &mut environment, Options::default());
                renderer.render(name, black_box(&dot)).unwrap()
            });
        });
    }
    group.finish();
}

/// A list of objects as charts write them.
fn objects() -> String {
    let mut text = String::from("# Objects\nitems:\n");
    for number in 0..DOCUMENTS {
        let _ = write!(
            text,
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: object-{number} # its name\n    labels: {{a: b, \"c\": d}}\n  \
             data:\n    count: \"{number}\"\n    text: |\n      one\n        two\n    long: some words that go on\n      on the next line\n"
        );
    }
    text
}

fn documents(criterion: &mut Criterion) {
    let text = objects();
    let value = yaml::from_str(&text).unwrap();
    let values = fixture("shop/values.yaml");
    let mut group = criterion.benchmark_group("yaml");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("read", |bencher| {
        bencher.iter(|| yaml::from_str(black_box(&text)).unwrap());
    });
    group.bench_function("read-fields", |bencher| {
        bencher.iter(|| yaml::fields_from_slice(black_box(text.as_bytes()), &["kind"]).unwrap());
    });
    // An anchor takes the complete reader.
    let anchored = format!("anchor: &a 1\n{text}");
    group.bench_function("read-completely", |bencher| {
        bencher.iter(|| yaml::from_str(black_box(&anchored)).unwrap());
    });
    group.bench_function("write", |bencher| {
        bencher.iter(|| yaml::to_string(black_box(&value)));
    });
    group.throughput(Throughput::Bytes(values.len() as u64));
    group.bench_function("read-values", |bencher| {
        bencher.iter(|| yaml::from_slice(black_box(&values)).unwrap());
    });
    group.finish();
}

fn values(criterion: &mut Criterion) {
    let map = |json: Json| -> Map { values_from_json(json.as_object().unwrap()) };
    let wide = |start: usize| -> Json {
        let entry = |n: usize| (format!("key{n}"), json!({"a": n, "b": {"c": [n, "text"]}}));
        Json::Object((start..start + LOOPS).map(entry).collect())
    };
    let (base, over) = (map(wide(0)), map(wide(LOOPS / 2)));
    let mut group = criterion.benchmark_group("values");
    group.bench_function("merge", |bencher| {
        bencher.iter(|| merge_values(black_box(&base), black_box(&over)));
    });
    let text = "a.b.c=1,list[3].name=text,other={x,y,z},escaped\\.key=v,null.value=null";
    group.bench_function("assign", |bencher| {
        bencher.iter_batched(
            || map(json!({"a": {"b": 1}})),
            |values| assign(black_box(text), &values, Assignment::Typed, Dialect::V4_3),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, parse, execute, documents, values);
criterion_main!(benches);
