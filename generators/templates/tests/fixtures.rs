//! Each folder of `fixtures/templates` is a file tree (`in`), what it is rendered with (`case.json`) and what it renders to
//! (`expected.txt`). With `UPDATE_FIXTURES=1` the last is written anew.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop anywhere"
)]

use serde_json::{Map, Value as Json};
use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};
use whipstaff_generator::{
    Capabilities, Error, FileTree, Input, LookupQuestion, LookupSnapshot, Release, Seed,
};
use whipstaff_templates::{Expanded, Layout, TemplateOptions, Templates};

fn read_tree(folder: &Path, prefix: &str, tree: &mut FileTree) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_tree(&entry.path(), &format!("{path}/"), tree);
        } else {
            tree.insert(path, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn map(case: &Json, key: &str) -> Map<String, Json> {
    case[key].as_object().cloned().unwrap_or_default()
}

fn question(written: &Json) -> LookupQuestion {
    let field = |name: &str| written[name].as_str().unwrap_or_default().to_owned();
    LookupQuestion {
        api_version: field("apiVersion"),
        kind: field("kind"),
        namespace: field("namespace"),
        name: field("name"),
        selector: field("selector"),
        local: written["local"].as_bool().unwrap_or_default(),
    }
}

fn render(folder: &Path, case: &Json) -> Result<Expanded, Error> {
    let mut files = FileTree::new();
    read_tree(&folder.join("in"), "", &mut files);
    let layout = match case["layout"].as_str().unwrap_or_default() {
        "directory" => Layout::Directory,
        _ => Layout::Kustomization,
    };
    let mut options = map(case, "options");
    let options = TemplateOptions::take(&mut options)?;
    let root = case["root"].as_str().unwrap_or_default();
    let templates = Templates::compile(&files, root, layout, &options)?;
    let served = case["apiVersions"].as_array().cloned().unwrap_or_default();
    let capabilities = Capabilities {
        kube_version: "v1.34.2".parse().unwrap(),
        api_versions: served
            .iter()
            .map(|served| served.as_str().unwrap().to_owned())
            .collect::<BTreeSet<_>>(),
    };
    let mut lookups = LookupSnapshot::new();
    for known in case["lookups"].as_array().into_iter().flatten() {
        lookups.insert(question(&known["question"]), known["answer"].clone());
    }
    let parameters = map(case, "parameters");
    let mut input = Input::new("apps", "shop", &parameters, &capabilities, &lookups);
    input.component = case.get("component");
    input.release = Release {
        revision: 7,
        is_upgrade: true,
    };
    input.seed = Seed::Stable {
        key: [7; 32],
        now: 1_700_000_000,
    };
    let first = templates.expand(&input);
    let again = templates.expand(&input);
    if let (Ok(first), Ok(again)) = (&first, &again) {
        assert!(first.files == again.files, "two renderings differ");
    }
    first
}

fn shown(result: Result<Expanded, Error>) -> String {
    let expanded = match result {
        Ok(expanded) => expanded,
        Err(error) => return format!("{:?}: {}\n", error.kind(), error.report()),
    };
    let mut text = String::new();
    for (path, content) in expanded.files.iter() {
        write!(text, "=== {path}\n{}", String::from_utf8_lossy(content)).unwrap();
        if !content.ends_with(b"\n") {
            text.push_str("⏎\n");
        }
    }
    let consulted = &expanded.consulted;
    for question in &consulted.lookups {
        let LookupQuestion {
            api_version,
            kind,
            namespace,
            name,
            selector,
            local,
        } = question;
        writeln!(
            text,
            "??? {api_version} {kind} {namespace:?} {name:?} {selector:?} {local}"
        )
        .unwrap();
    }
    for (what, was) in [
        ("random", consulted.random),
        ("clock", consulted.clock),
        ("component", consulted.component),
    ] {
        if was {
            writeln!(text, "??? {what}").unwrap();
        }
    }
    for warning in &expanded.warnings {
        writeln!(text, "!!! {warning}").unwrap();
    }
    text
}

#[test]
fn file_trees_render_to_what_is_expected() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/templates");
    let update = std::env::var_os("UPDATE_FIXTURES").is_some();
    let mut names: Vec<_> = fs::read_dir(&fixtures)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let folder = fixtures.join(&name);
        let case = fs::read_to_string(folder.join("case.json")).unwrap();
        let found = shown(render(&folder, &serde_json::from_str(&case).unwrap()));
        let golden = folder.join("expected.txt");
        if update {
            fs::write(golden, found).unwrap();
            continue;
        }
        assert_eq!(
            found,
            fs::read_to_string(golden).unwrap(),
            "{}",
            name.display()
        );
    }
}
