//! What a build asks of its host: charts, remote sources, and files.

#![allow(clippy::unwrap_used, reason = "a broken case is a failed test")]

use std::sync::Arc;
use whipstaff_generator::FileTree;
use whipstaff_kustomize::{
    BuildErrorKind, BuildOptions, ChartInflator, ChartRequest, FileSystem, LoadRestrictor,
    RemoteSource, RepoSpec, build,
};

type HostError = Box<dyn std::error::Error + Send + Sync>;

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: remote\n";

fn tree(files: &[(&str, &str)]) -> FileTree {
    let mut tree = FileTree::new();
    for (path, content) in files {
        tree.insert(*path, content.as_bytes()).unwrap();
    }
    tree
}

#[derive(Debug)]
struct Charts;

impl ChartInflator for Charts {
    fn inflate(&self, request: &ChartRequest) -> Result<String, HostError> {
        Ok(format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n  namespace: {}\ndata:\n  values: {:?}\n",
            request.release_name, request.namespace, request.values
        ))
    }

    fn default_values(&self, _: &ChartRequest) -> Result<String, HostError> {
        Ok("a: 1\nlist: [x]\n".to_owned())
    }
}

#[derive(Debug)]
struct Web;

impl RemoteSource for Web {
    fn file(&self, url: &str) -> Result<Arc<[u8]>, HostError> {
        match url {
            "https://example.com/cm.yaml" => Ok(CONFIG_MAP.as_bytes().into()),
            _ => Err("HTTP Error: status code 404 (Not Found)".into()),
        }
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Arc<dyn FileSystem + Send + Sync>, HostError> {
        assert_eq!(
            (spec.clone_url().as_str(), spec.reference()),
            ("https://github.com/org/repo", "v1")
        );
        Ok(Arc::new(tree(&[
            (
                "sub/kustomization.yaml",
                "resources: [cm.yaml]\nnamePrefix: git-\n",
            ),
            ("sub/cm.yaml", CONFIG_MAP),
        ])))
    }
}

#[test]
fn charts_are_inflated_by_the_host_with_merged_values() {
    let kustomization = "namespace: space\nhelmCharts:\n- name: c\n  releaseName: r\n  valuesInline: {list: [z], b: 2}\n";
    let files = tree(&[("kustomization.yaml", kustomization)]);
    let options = BuildOptions {
        enable_helm: true,
        charts: Some(&Charts),
        ..BuildOptions::default()
    };
    let built = build(&files, "/", &options).unwrap();
    let object = &built.objects()[0].value;
    assert_eq!(object["metadata"]["namespace"], "space");
    assert_eq!(object["data"]["values"][0], "a: 1\nb: 2\nlist:\n- z\n");
}

#[test]
fn charts_are_refused_without_a_host_that_inflates_them() {
    let files = tree(&[
        ("kustomization.yaml", "helmCharts:\n- name: c\n"),
        ("charts/c/values.yaml", "a: 1\n"),
    ]);
    let options = BuildOptions {
        enable_helm: true,
        ..BuildOptions::default()
    };
    let error = build(&files, "/", &options).unwrap_err();
    assert_eq!(error.kind(), BuildErrorKind::Refused);
    assert!(error.message().contains("charts are not available here"));
}

#[test]
fn remote_sources_come_from_the_host() {
    let kustomization = "resources:\n- https://example.com/cm.yaml\n- https://github.com/org/repo/sub?ref=v1\nnameSuffix: -z\n";
    let files = tree(&[("kustomization.yaml", kustomization)]);
    let refused = build(&files, "/", &BuildOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), BuildErrorKind::Refused);
    let options = BuildOptions {
        remote: Some(&Web),
        ..BuildOptions::default()
    };
    let built = build(&files, "/", &options).unwrap();
    let names: Vec<_> = built
        .objects()
        .iter()
        .map(|object| &object.value["metadata"]["name"])
        .collect();
    assert_eq!(names, ["git-remote-z", "remote-z"]);
}

#[test]
fn files_outside_of_the_root_are_read_on_request_only() {
    let files = tree(&[
        ("top/kustomization.yaml", "resources: [../cm.yaml]\n"),
        ("cm.yaml", CONFIG_MAP),
    ]);
    let error = build(&files, "/top", &BuildOptions::default()).unwrap_err();
    assert!(
        error
            .message()
            .contains("security; file '/cm.yaml' is not in or below '/top'")
    );
    let options = BuildOptions {
        load_restrictor: LoadRestrictor::None,
        ..BuildOptions::default()
    };
    assert_eq!(build(&files, "/top", &options).unwrap().objects().len(), 1);
}

#[test]
fn folders_of_output_name_files_by_type_and_name() {
    let cluster =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: Reader}\n";
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: other}\n";
    let files = tree(&[
        (
            "kustomization.yaml",
            "resources: [a.yaml, b.yaml, c.yaml]\n",
        ),
        ("a.yaml", cluster),
        ("b.yaml", other),
        ("c.yaml", CONFIG_MAP),
    ]);
    let built = build(&files, "/", &BuildOptions::default()).unwrap();
    let names: Vec<_> = built.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "rbac.authorization.k8s.io_v1_clusterrole_reader.yaml",
            "other_v1_configmap_b.yaml",
            "default_v1_configmap_remote.yaml",
        ]
    );
}
