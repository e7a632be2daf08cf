use super::*;
use crate::cluster::Resource;
use serde_json::json;
use whipstaff_generator::Transformer as _;

fn resources() -> Resources {
    let kinds = [
        ("", "v1", "Secret"),
        ("", "v1", "ConfigMap"),
        ("apps", "v1", "Deployment"),
    ];
    let kinds = kinds.map(|(group, version, kind)| Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: String::new(),
        namespaced: true,
    });
    Resources::fixed(&kinds)
}

fn generated(objects: &[Value]) -> Generated {
    let mut generated = Generated::default();
    for object in objects {
        let object = Object::from_value(object.clone()).unwrap();
        generated.objects.push(object, "web/templates/a.yaml");
    }
    generated
}

fn found(manifest: &str, renderings: &Renderings) -> Documents {
    let release = Release {
        manifest: manifest.to_owned(),
        ..Release::default()
    };
    let resources = resources();
    let scope = Scope {
        resources: &resources,
        namespace: "apps",
    };
    compare(&release, renderings, scope).unwrap()
}

fn verdicts(documents: &Documents) -> Vec<(&str, &Verdict)> {
    let all = documents.all.iter();
    all.map(|d| (d.id.name.as_str(), &d.verdict)).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "calls are shorter so")]
fn map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

#[test]
fn documents_are_equal_wherever_they_name_their_namespace() {
    let manifest = "---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps}\ndata: {k: v}\n";
    let renderings = Renderings {
        base: generated(&[map("a", json!({"k": "v"}))]),
        ..Renderings::default()
    };
    let documents = found(manifest, &renderings);
    assert_eq!(verdicts(&documents), [("a", &Verdict::Equal)]);
    assert!(documents.pins.is_empty());
}

#[test]
fn what_differs_and_what_is_on_one_side_only_is_named() {
    let manifest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v, l: w}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
    let renderings = Renderings {
        base: generated(&[map("a", json!({"k": "x", "l": "w"})), map("c", json!({}))]),
        ..Renderings::default()
    };
    let documents = found(manifest, &renderings);
    assert_eq!(
        verdicts(&documents),
        [
            ("a", &Verdict::Different(vec!["/data/k".to_owned()])),
            ("b", &Verdict::Missing),
            ("c", &Verdict::Extra),
        ]
    );
}

#[test]
fn random_values_are_pinned_to_those_of_the_release_even_if_equal_now() {
    let secret = |password: &str, same: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "stringData": {"password": password, "flag": same, "user": "u"}})
    };
    let manifest = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: old, flag: same, user: u}\n";
    let renderings = Renderings {
        base: generated(&[secret("one", "same")]),
        random: vec![
            generated(&[secret("two", "same")]),
            generated(&[secret("three", "other")]),
        ],
        ..Renderings::default()
    };
    let documents = found(manifest, &renderings);
    let pinned = vec![
        ("/data/flag".to_owned(), Cause::Random),
        ("/data/password".to_owned(), Cause::Random),
    ];
    assert_eq!(verdicts(&documents), [("s", &Verdict::Pinned(pinned))]);
    let wanted = documents.all[0].wanted.as_ref().unwrap();
    assert_eq!(wanted["data"]["password"], "b2xk");
    let mut again = generated(&[secret("four", "other")]);
    let context = whipstaff_generator::TransformContext::new("apps", "web");
    documents
        .pins
        .transform(&mut again.objects, &context)
        .unwrap();
    let applied = again.objects.iter().next().unwrap().object.clone();
    assert_eq!(applied.into_value()["data"], wanted["data"]);
}

#[test]
fn what_is_looked_up_is_pinned_only_where_it_differs() {
    let manifest =
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {kept: x, moved: old}\n";
    let renderings = Renderings {
        base: generated(&[map("a", json!({"kept": "x", "moved": "new"}))]),
        blind: Some(generated(&[map("a", json!({"kept": "-", "moved": "-"}))])),
        ..Renderings::default()
    };
    let documents = found(manifest, &renderings);
    let pinned = vec![("/data/moved".to_owned(), Cause::Lookup)];
    assert_eq!(verdicts(&documents), [("a", &Verdict::Pinned(pinned))]);
}

#[test]
fn what_is_left_out_because_it_is_there_is_left_alone() {
    let manifest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n";
    let renderings = Renderings {
        blind: Some(generated(&[map("a", json!({"k": "v"}))])),
        ..Renderings::default()
    };
    let documents = found(manifest, &renderings);
    assert_eq!(verdicts(&documents), [("a", &Verdict::LeftOut)]);
}

#[test]
fn random_fields_beside_a_real_difference_do_not_hide_it() {
    let manifest =
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {r: old, k: v}\n";
    let renderings = Renderings {
        base: generated(&[map("a", json!({"r": "1", "k": "changed"}))]),
        random: vec![generated(&[map("a", json!({"r": "2", "k": "changed"}))])],
        ..Renderings::default()
    };
    let documents = found(manifest, &renderings);
    assert_eq!(
        verdicts(&documents),
        [("a", &Verdict::Different(vec!["/data/k".to_owned()]))]
    );
}

#[test]
fn duplicates_and_hooks_are_kept_apart() {
    let manifest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps}\n";
    let release: Release = serde_json::from_value(json!({
        "manifest": manifest,
        "hooks": [{"name": "j", "kind": "Job", "events": ["pre-install"],
            "manifest": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"}],
    }))
    .unwrap();
    let resources = resources();
    let scope = Scope {
        resources: &resources,
        namespace: "apps",
    };
    let documents = compare(&release, &Renderings::default(), scope).unwrap();
    assert_eq!(documents.duplicates.len(), 1);
    assert_eq!(documents.hooks[0].id.name, "j");
    assert_eq!(documents.hooks[0].events, ["pre-install"]);
}
