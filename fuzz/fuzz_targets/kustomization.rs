//! Whatever a kustomization says about the files beside it, building it does no harm, and building it again gives the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whipstaff_generator::FileTree;
use whipstaff_kustomize::{BuildOptions, build};

const OBJECTS: &[u8] = b"apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: 'shop:1.0', env: [{name: A, value: $(NAME)}], envFrom: [{configMapRef: {name: settings}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
";
const BASE: &[u8] = b"resources: [objects.yaml]\nnamePrefix: base-\n";

fuzz_target!(|kustomization: &[u8]| {
    let mut files = FileTree::new();
    let named = [
        ("kustomization.yaml", kustomization),
        ("objects.yaml", OBJECTS),
        ("base/kustomization.yaml", BASE),
        ("base/objects.yaml", OBJECTS),
        ("values.env", b"A=b\nC=d\n"),
    ];
    for (path, bytes) in named {
        if files.insert(path, bytes.to_vec()).is_err() {
            return;
        }
    }
    let once = build(&files, "/", &BuildOptions::default());
    let again = build(&files, "/", &BuildOptions::default());
    match (once, again) {
        (Ok(once), Ok(again)) => assert_eq!(once.to_yaml(), again.to_yaml()),
        (Err(once), Err(again)) => assert_eq!(once.to_string(), again.to_string()),
        (once, again) => panic!("{once:?} and then {again:?}"),
    }
});
