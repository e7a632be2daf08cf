//! A kustomization for folders that have none.

use std::collections::BTreeSet;
use whipstaff_generator::{FileTree, yaml};

/// Names that a kustomization may have.
pub const KUSTOMIZATION_FILES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The kustomization of a folder without one: all its manifests, in the order of their paths. Hidden files and folders are passed
/// over, and a folder with a kustomization of its own stands for its files. Nothing when the folder has one already.
pub fn missing_kustomization(folder: &FileTree) -> Option<String> {
    if KUSTOMIZATION_FILES.iter().any(|name| folder.contains(name)) {
        return None;
    }
    let kustomized: BTreeSet<&str> = folder
        .iter()
        .filter_map(|(path, _)| path.rsplit_once('/'))
        .filter(|(_, name)| KUSTOMIZATION_FILES.contains(name))
        .map(|(folder, _)| folder)
        .collect();
    let mut resources: Vec<&str> = Vec::new();
    for (path, _) in folder.iter().filter(|(path, _)| !is_hidden(path)) {
        let outermost = path
            .match_indices('/')
            .map(|(end, _)| &path[..end])
            .find(|folder| kustomized.contains(folder));
        // The files of a folder follow each other, so that it is enough to look at the last resource.
        match outermost {
            Some(folder) if resources.last() != Some(&folder) => resources.push(folder),
            None if is_yaml(path) => resources.push(path),
            Some(_) | None => {}
        }
    }
    let mut kustomization = serde_json::json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
    });
    // A kustomization that does nothing is refused by those who build it.
    if resources.is_empty() {
        kustomization["namespace"] = "_dummy".into();
    } else {
        kustomization["resources"] = resources.into();
    }
    Some(yaml::to_string(&kustomization))
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

fn is_yaml(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_listed_unless_there_is_a_kustomization() {
        let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
        // files, what follows the head
        let cases: [(&[&str], Option<&str>); 7] = [
            (&["kustomization.yaml", "a.yaml"], None),
            (&["kustomization.yml"], None),
            (&["Kustomization"], None),
            (
                &[
                    "b.yml",
                    "a.yaml",
                    "c.json",
                    "deep/x.yaml",
                    ".hidden.yaml",
                    ".git/x.yaml",
                ],
                Some("resources:\n- a.yaml\n- b.yml\n- deep/x.yaml\n"),
            ),
            (
                &[
                    "base/kustomization.yaml",
                    "base/x.yaml",
                    "base/y/z.yaml",
                    "base-x/a.yaml",
                ],
                Some("resources:\n- base-x/a.yaml\n- base\n"),
            ),
            (&["README.md"], Some("namespace: _dummy\n")),
            (&[], Some("namespace: _dummy\n")),
        ];
        for (paths, expected) in cases {
            let mut folder = FileTree::new();
            for path in paths {
                folder.insert(*path, b"".as_slice()).unwrap();
            }
            let expected = expected.map(|rest| format!("{head}{rest}"));
            assert_eq!(missing_kustomization(&folder), expected, "{paths:?}");
        }
    }
}
