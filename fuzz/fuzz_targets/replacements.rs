//! Whatever the paths and options of a replacement are, carrying it out does no harm.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whipstaff_generator::FileTree;
use whipstaff_kustomize::{BuildOptions, build};

const OBJECTS: &[u8] = b"apiVersion: v1
kind: Pod
metadata: {name: web, annotations: {config.example.com/name: 'a-b-c'}}
spec:
  containers:
  - {name: main, image: 'shop:1.0', env: [{name: A, value: one}, {name: B, value: two}]}
  - {name: side, image: 'side:1.0'}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {host: shop.example.com, '*': star, list.json: '[1, 2]'}
";

fuzz_target!(|input: (&str, &str, &str, u8, i8, bool)| {
    let (from, to, delimiter, flags, index, create) = input;
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let options = |on: bool| {
        if on {
            format!(
                "{{delimiter: {}, index: {index}, create: {create}}}",
                quoted(delimiter)
            )
        } else {
            format!("{{create: {create}}}")
        }
    };
    let kustomization = format!(
        "resources: [objects.yaml]
replacements:
- source: {{kind: ConfigMap, name: settings, fieldPath: {}, options: {}}}
  targets:
  - select: {{kind: Pod}}
    fieldPaths: [{}]
    options: {}
",
        quoted(from),
        options(flags & 1 == 1),
        quoted(to),
        options(flags & 2 == 2),
    );
    let mut files = FileTree::new();
    let named = [
        ("kustomization.yaml", kustomization.as_bytes()),
        ("objects.yaml", OBJECTS),
    ];
    for (path, bytes) in named {
        if files.insert(path, bytes.to_vec()).is_err() {
            return;
        }
    }
    if let Ok(built) = build(&files, "/", &BuildOptions::default()) {
        built.to_yaml();
    }
});
