//! No template makes rendering panic, overflow the stack, or run on past its limits; nor does the same template render differently
//! the second time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use whipstaff_generator::{Capabilities, FileTree, Generator, Input, Limits, LookupSnapshot, Seed};

const CHART: &[u8] = b"apiVersion: v2\nname: fuzz\nversion: 1.0.0\n";
const VALUES: &[u8] = b"text: some text\nnumber: 7\nfloat: 1.5\nlist: [1, b, {c: d}]\nmap: {a: 1, b: {c: d}}\nnothing:\n";

fuzz_target!(|source: &[u8]| {
    let mut files = FileTree::new();
    let named = [
        ("Chart.yaml", CHART),
        ("values.yaml", VALUES),
        ("templates/a.yaml", source),
    ];
    for (path, bytes) in named {
        if files.insert(path, bytes.to_vec()).is_err() {
            return;
        }
    }
    let Ok(prepared) = whipstaff_helm::HelmGenerator.prepare(&files, &serde_json::Value::Null)
    else {
        return;
    };
    let Ok(kube_version) = "v1.34.0".parse() else {
        return;
    };
    let capabilities = Capabilities {
        kube_version,
        api_versions: Default::default(),
    };
    let (parameters, lookups) = (serde_json::Map::new(), LookupSnapshot::new());
    let mut input = Input::new("default", "fuzz", &parameters, &capabilities, &lookups);
    let mut limits = Limits::default();
    limits.steps = 20_000;
    limits.output_bytes = 1 << 20;
    limits.time = Duration::from_secs(5);
    input.limits = limits;
    input.seed = Seed::Stable {
        key: [1; 32],
        now: 1,
    };
    let first = prepared.generate(&input);
    let second = prepared.generate(&input);
    match (first, second) {
        (Ok(first), Ok(second)) => assert_eq!(first.objects, second.objects),
        (Err(first), Err(second)) => assert_eq!(first.report(), second.report()),
        (first, second) => panic!("{first:?} and then {second:?}"),
    }
});
