//! Slash-separated paths inside of a file tree.

/// A path below a folder; an empty folder is the root.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}

/// The clean path that a relative one means in a folder; nothing when it climbs out of the tree.
pub(crate) fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Whether a path is a folder or lies in it.
pub(crate) fn contains(folder: &str, path: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_and_never_leave_the_tree() {
        let cases = [
            ("a/b", "../c", Some("a/c")),
            ("a", "./b//c/", Some("a/b/c")),
            ("a/b", "../..", Some("")),
            ("", "x", Some("x")),
            ("a", "../../x", None),
            ("", "..", None),
            ("a", "b/../../../x", None),
        ];
        for (folder, path, expected) in cases {
            assert_eq!(
                resolve(folder, path).as_deref(),
                expected,
                "{folder} {path}"
            );
        }
    }

    #[test]
    fn folders_contain_whole_names_only() {
        assert!(contains("", "a") && contains("a", "a") && contains("a", "a/b"));
        assert!(!contains("a", "ab") && !contains("a/b", "a"));
    }
}
