//! How long charts of three sizes take: to be read and compiled, and to be rendered once they are.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a benchmark that cannot run says so"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::path::Path;
use whipstaff::default_generators;
use whipstaff::generator::{Capabilities, FileTree, Input, LookupSnapshot};

/// Objects of the largest chart.
const LARGE: usize = 500;

fn read(folder: &Path, prefix: &str, files: &mut FileTree) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read(&entry.path(), &format!("{path}/"), files);
        } else {
            files
                .insert(path, std::fs::read(entry.path()).unwrap())
                .unwrap();
        }
    }
}

fn fixture(chart: &str) -> FileTree {
    let mut files = FileTree::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/charts")
        .join(chart);
    read(&folder, "", &mut files);
    files
}

/// A chart that repeats the templates of the middle one's kind many times over.
fn large() -> FileTree {
    let mut files = FileTree::new();
    let mut put = |path: &str, text: String| files.insert(path, text.into_bytes()).unwrap();
    put(
        "Chart.yaml",
        "apiVersion: v2\nname: large\nversion: 1.0.0\n".to_owned(),
    );
    put(
        "templates/_helpers.tpl",
        "{{- define \"large.labels\" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\napp.kubernetes.io/instance: {{ .Release.Name | trunc 63 | trimSuffix \"-\" }}\n{{- end }}\n".to_owned(),
    );
    put(
        "templates/all.yaml",
        format!(
            "{{{{- range $i := until {LARGE} }}}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ printf \"%s-%d\" $.Release.Name $i }}}}\n  labels:\n    {{{{- include \"large.labels\" $ | nindent 4 }}}}\ndata:\n  {{{{- toYaml $.Values.data | nindent 2 }}}}\n{{{{- end }}}}\n"
        ),
    );
    files
}

fn render(criterion: &mut Criterion) {
    let capabilities = Capabilities {
        kube_version: "v1.34.0".parse().unwrap(),
        api_versions: ["v1", "apps/v1"].map(str::to_owned).into(),
    };
    let values = json!({"data": {"one": "1", "two": "a longer text", "three": "true"}});
    let data = values.as_object().cloned().unwrap_or_default();
    let cases = [
        ("small", fixture("small"), Map::new()),
        ("shop", fixture("shop"), Map::new()),
        ("large", large(), data),
    ];
    for (name, files, parameters) in cases {
        let generator = default_generators()
            .choose(Some("helm"), &files)
            .unwrap()
            .generator;
        let mut group = criterion.benchmark_group(name);
        group.bench_function("prepare", |bencher| {
            bencher.iter(|| generator.prepare(black_box(&files), &Value::Null).unwrap());
        });
        let prepared = generator.prepare(&files, &Value::Null).unwrap();
        let lookups = LookupSnapshot::new();
        let input = Input::new("apps", "release", &parameters, &capabilities, &lookups);
        group.bench_function("generate", |bencher| {
            bencher.iter(|| prepared.generate(black_box(&input)).unwrap());
        });
        group.finish();
    }
}

criterion_group!(benches, render);
criterion_main!(benches);
