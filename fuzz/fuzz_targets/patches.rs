//! Whatever a patch and the object under it hold, applying it does no harm.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whipstaff_generator::FileTree;
use whipstaff_kustomize::{BuildOptions, build};

const KUSTOMIZATION: &[u8] = b"resources: [object.yaml]
patches:
- path: patch.yaml
  target: {kind: .*}
";
const OBJECT: &[u8] = b"apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {a/b: c}}
spec:
  template:
    spec:
      containers:
      - {name: main, image: 'shop:1.0', ports: [{containerPort: 80, protocol: TCP}], args: [a, b]}
      - {name: side, image: 'side:1.0'}
      volumes: [{name: data, emptyDir: {}}]
";

fuzz_target!(|input: (bool, &[u8], &[u8])| {
    let (own, patch, object) = input;
    let mut files = FileTree::new();
    let object = if own { object } else { OBJECT };
    let named = [
        ("kustomization.yaml", KUSTOMIZATION),
        ("patch.yaml", patch),
        ("object.yaml", object),
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
