//! No regular expression in a template, and no text that it is put to, makes matching panic or run on for ever.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use std::time::Duration;
use whipstaff_generator::{Capabilities, FileTree, Generator, Input, Limits, LookupSnapshot};

const TEMPLATE: &[u8] = b"{{- $e := .Files.Get \"e\" }}{{ $t := .Files.Get \"t\" }}{{ regexMatch $e $t }}{{ regexFindAll $e $t -1 }}{{ regexReplaceAll $e $t \"<$1>\" }}{{ regexSplit $e $t 3 }}";

fuzz_target!(|input: (&str, &str)| {
    let mut files = FileTree::new();
    let named: [(&str, &[u8]); 4] = [
        (
            "Chart.yaml",
            b"apiVersion: v2\nname: fuzz\nversion: 1.0.0\n",
        ),
        ("templates/NOTES.txt", TEMPLATE),
        ("e", input.0.as_bytes()),
        ("t", input.1.as_bytes()),
    ];
    for (path, bytes) in named {
        if files.insert(path, Arc::<[u8]>::from(bytes)).is_err() {
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
    limits.time = Duration::from_secs(10);
    input.limits = limits;
    let _ = prepared.generate(&input);
});
