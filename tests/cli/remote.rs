//! Kustomizations that name files and repositories by address.

use crate::git::{Git, GitServer};
use crate::program::{Said, whipstaff};
use gix::objs::tree::EntryKind::{self, Blob, Commit, Link};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use whipstaff_test_support::{ChartServer, Serving};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n";

fn map(name: &str) -> String {
    MAP.replace("NAME", name)
}

fn build(resource: &str) -> Said {
    built(
        &format!("resources: [\"{resource}\"]\n"),
        &["--allow-remote"],
    )
}

fn built(kustomization: &str, flags: &[&str]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kustomization.yaml"), kustomization).unwrap();
    whipstaff(folder.path(), &[&["build"], flags].concat())
}

fn files(map: &str) -> [(&str, &str, EntryKind); 4] {
    [
        (
            "base/kustomization.yaml",
            "resources: [link.yaml, ../more]\n",
            Blob,
        ),
        ("base/link.yaml", "../base/map.yaml", Link),
        ("base/map.yaml", map, Blob),
        ("more", "other", Link),
    ]
}

/// A repository with a branch, two commits on it, a tag, and links.
fn repository(folder: &Path) -> (Git, String) {
    let git = Git::new(folder);
    let other = [
        ("other/kustomization.yaml", "resources: [m.yaml]\n", Blob),
        (
            "other/m.yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: more}}",
            Blob,
        ),
    ];
    let (first, second, third) = (map("first"), map("second"), map("third"));
    let all = |text| [&files(text)[..], &other[..]].concat();
    let id = git.commit("main", &all(&first));
    git.tag("v1", id);
    git.commit("main", &all(&second));
    git.commit("feature/x", &all(&third));
    (git, id.to_string())
}

fn check_revisions(base: &str, first: &str) {
    let expected = [
        ("", "second"),
        ("?ref=main", "second"),
        ("?ref=v1", "first"),
        ("?ref=refs/heads/feature/x", "third"),
        ("?ref=feature/x", "third"),
        (&format!("?ref={first}"), "first"),
    ];
    for (query, name) in expected {
        let output = build(&format!("{base}//base{query}")).output();
        for name in [name, "more"] {
            assert!(
                output.contains(&format!("name: {name}\n")),
                "{query}: {output}"
            );
        }
    }
    let error = build(&format!("{base}//base?ref=none")).failure();
    let expected = "the repository has no branch, tag or commit `none`";
    assert!(error.contains(expected), "{error}");
    let error = build(&format!("{base}//nowhere")).failure();
    assert!(error.contains("lstat /nowhere: no such file"), "{error}");
    let missing = "0123456789012345678901234567890123456789";
    let error = build(&format!("{base}//base?ref={missing}")).failure();
    assert!(
        error.contains(missing) && error.contains("cannot fetch"),
        "{error}"
    );
}

fn served() -> (TempDir, GitServer) {
    let root = tempfile::tempdir().unwrap();
    let server = GitServer::start(root.path());
    (root, server)
}

#[test]
fn repositories_in_folders_are_read_at_any_revision() {
    let folder = tempfile::tempdir().unwrap();
    let (_, first) = repository(folder.path());
    check_revisions(&format!("file://{}", folder.path().display()), &first);
}

#[test]
fn repositories_behind_addresses_are_fetched_at_any_revision() {
    let (root, server) = served();
    let (_, first) = repository(&root.path().join("repo.git"));
    check_revisions(&server.url("repo.git"), &first);
}

#[test]
fn a_revision_is_fetched_once_in_a_build() {
    let (root, server) = served();
    repository(&root.path().join("repo.git"));
    let url = server.url("repo.git");
    let kustomization = format!("resources: [\"{url}//base\", one]\n");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("one")).unwrap();
    let one =
        format!("namePrefix: again-\nresources: [\"{url}//base\", \"{url}//other?ref=v1\"]\n");
    fs::write(folder.path().join("one/kustomization.yaml"), one).unwrap();
    fs::write(folder.path().join("kustomization.yaml"), kustomization).unwrap();
    let said = whipstaff(folder.path(), &["build", "--allow-remote"]);
    let error = said.failure();
    assert!(error.contains("already registered id"), "{error}");
    let requests = server.requests.lock().unwrap();
    let fetches = requests
        .iter()
        .filter(|path| path.ends_with("/info/refs?service=git-upload-pack"));
    // Once for the default branch, and once for the tag.
    assert_eq!(fetches.count(), 2, "{requests:?}");
}

#[test]
fn submodules_are_fetched_when_a_path_leads_into_them() {
    let (root, server) = served();
    let inner = Git::new(&root.path().join("libs/inner.git"));
    let text = map("inner");
    let commit = inner.commit(
        "main",
        &[
            ("kustomization.yaml", "resources: [m.yaml]\n", Blob),
            ("m.yaml", &text, Blob),
        ],
    );
    let outer = Git::new(&root.path().join("outer.git"));
    let modules = "[submodule \"i\"]\n\tpath = sub/inner\n\turl = ../libs/inner.git\n[submodule \"l\"]\n\tpath = local\n\turl = file:///etc\n";
    let commit = commit.to_string();
    outer.commit(
        "main",
        &[
            (".gitmodules", modules, Blob),
            ("kustomization.yaml", "resources: [sub/inner]\n", Blob),
            ("sub/inner", &commit, Commit),
            ("local", &commit, Commit),
            ("bad/kustomization.yaml", "resources: [../local]\n", Blob),
        ],
    );
    let url = server.url("outer.git");
    let output = build(&url).output();
    assert!(output.contains("name: inner\n"), "{output}");
    let error = build(&format!("{url}?submodules=false")).failure();
    assert!(
        error.contains("unable to find one of 'kustomization.yaml'"),
        "{error}"
    );
    let error = build(&format!("{url}//bad")).failure();
    assert!(
        error.contains("submodules behind `file://` are not allowed"),
        "{error}"
    );
}

#[test]
fn charts_of_a_repository_are_inflated() {
    let (root, server) = served();
    let git = Git::new(&root.path().join("repo.git"));
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {a: '{{ .Values.a }}'}\n";
    let chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    git.commit(
        "main",
        &[
            (
                "kustomization.yaml",
                "helmCharts: [{name: c, releaseName: r}]\n",
                Blob,
            ),
            ("charts/c/Chart.yaml", chart, Blob),
            ("charts/c/values.yaml", "a: one\n", Blob),
            ("charts/c/.helmignore", "notes/\n", Blob),
            (
                "charts/c/templates/notes/a.yaml",
                "{{ fail \"read\" }}",
                Blob,
            ),
            ("charts/c/templates/m.yaml", template, Blob),
        ],
    );
    let kustomization = format!("resources: [\"{}\"]\n", server.url("repo.git"));
    let output = built(&kustomization, &["--allow-remote", "--enable-helm"]).output();
    assert!(
        output.contains("a: one\n") && output.contains("name: r\n"),
        "{output}"
    );
}

#[test]
fn files_behind_addresses_are_fetched_once() {
    let server = ChartServer::start().unwrap();
    server.put("/map.yaml", map("far").into_bytes());
    server.put("/text", b"hello\n".to_vec());
    server.put_with(
        "/moved.yaml",
        Vec::new(),
        Serving::default().redirect_to(&server.url("/map.yaml")),
    );
    let text = server.url("/text");
    let kustomization = format!(
        "resources: [\"{}\"]\nconfigMapGenerator:\n- {{name: a, files: [\"t={text}\"]}}\n- {{name: b, files: [\"t={text}\"]}}\n",
        server.url("/moved.yaml")
    );
    let output = built(&kustomization, &["--allow-remote"]).output();
    assert!(output.contains("name: far\n"), "{output}");
    assert_eq!(output.matches("hello").count(), 2, "{output}");
    assert_eq!(server.count("/text"), 1);
}

#[test]
fn what_cannot_be_fetched_is_told_without_passwords() {
    let server = ChartServer::start().unwrap();
    let error = build(&server.url("/none.yaml")).failure();
    assert!(
        error.contains("HTTP Error: status code 404 (Not Found)"),
        "{error}"
    );
    // What may be a repository is tried as one.
    let error = build(&server.url("/org/none.git")).failure();
    assert!(
        error.contains("URL is a git repository") && error.contains("404"),
        "{error}"
    );
    server.put("/org/page.git/info/refs", b"<html>".to_vec());
    let error = build(&server.url("/org/page.git")).failure();
    assert!(error.contains("cannot fetch"), "{error}");
    let cut = Serving::default()
        .header(
            "Content-Type",
            "application/x-git-upload-pack-advertisement",
        )
        .truncated_at(20);
    let advertisement = b"001e# service=git-upload-pack\n0000000eversion 2\n0000".to_vec();
    server.put_with("/org/cut.git/info/refs", advertisement, cut);
    let error = build(&server.url("/org/cut.git")).failure();
    assert!(error.contains("cannot fetch"), "{error}");
    let address = server
        .url("/a/b?sig=s3cret")
        .replace("http://", "http://me:s3cret@");
    for secret in [address.as_str(), "https://s3cret@127.0.0.1:1/a/b"] {
        let error = build(secret).failure();
        assert!(
            error.contains("cannot") && !error.contains("s3cret"),
            "{error}"
        );
    }
    for ssh in ["ssh://git@127.0.0.1/a/b", "git@127.0.0.1:a/b"] {
        let error = build(ssh).failure();
        assert!(
            error.contains("takes an `ssh` program, and none is run"),
            "{error}"
        );
    }
}

#[test]
fn fetching_ends_when_its_time_is_over() {
    let server = ChartServer::start().unwrap();
    let slow = Serving::default().slowly(1, std::time::Duration::from_secs(2));
    server.put_with(
        "/org/slow.git/info/refs",
        b"001e# service=git-upload-pack\n".to_vec(),
        slow,
    );
    let error = build(&server.url("/org/slow.git?timeout=1")).failure();
    assert!(error.contains("fetching takes longer than 1 s"), "{error}");
}

#[test]
fn remote_sources_are_off_unless_a_flag_turns_them_on() {
    for resource in [
        "https://example.invalid/a.yaml",
        "https://github.com/org/repo//a",
        "file:///a",
    ] {
        let error = built(&format!("resources: [\"{resource}\"]\n"), &[]).failure();
        let expected = "remote sources are off: `--allow-remote` turns them on";
        assert!(error.contains(expected), "{error}");
    }
}
