//! Which names of objects Kubernetes takes (`k8s.io/apimachinery` 0.37, `pkg/api/validation`).

use super::quoted;
use std::collections::BTreeSet;

const MAX_LABEL: usize = 63;
const MAX_SUBDOMAIN: usize = 253;
const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/// Checks a name by the rules for a kind.
///
/// # Errors
/// Helm's text.
pub(super) fn check_name(kind: &str, name: &str) -> Result<(), String> {
    let problems = match kind.to_lowercase().as_str() {
        "service" => old_label(name),
        "namespace" => label(name),
        "certificatesigningrequest" => Vec::new(),
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => path_segment(name),
        _ => subdomain(name),
    };
    let mut seen = BTreeSet::new();
    let shown = quoted(name);
    let texts: Vec<String> = problems
        .into_iter()
        .map(|problem| format!("metadata.name: Invalid value: {shown}: {problem}"))
        .filter(|text| seen.insert(text.clone()))
        .collect();
    let all = match texts.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Err(format!(
        "object name does not conform to Kubernetes naming requirements: {shown}: {all}"
    ))
}

fn too_long(name: &str, limit: usize) -> Option<String> {
    (name.len() > limit).then(|| format!("must be no more than {limit} characters"))
}

fn subdomain(name: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(name, MAX_SUBDOMAIN).into_iter().collect();
    if !is_subdomain(name) {
        problems.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end \
             with an alphanumeric character (e.g. 'example.com', regex used for validation is '{LABEL}(\\.{LABEL})*')"
        ));
    }
    problems
}

fn label(name: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(name, MAX_LABEL).into_iter().collect();
    if is_label(name) {
        return problems;
    }
    problems.push(if is_subdomain(name) {
        "must not contain dots".to_owned()
    } else {
        format!(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an \
             alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
        )
    });
    problems
}

fn old_label(name: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(name, MAX_LABEL).into_iter().collect();
    if !is_label(name) || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end \
             with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .into_iter()
        .filter(|part| name.contains(part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

fn is_label(name: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    plain(first) && plain(last) && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_rule() {
        let good = [
            ("Pod", "a.b-c.1"),
            ("Service", "a-1"),
            ("Namespace", "1-a"),
            ("Role", "system:a"),
            ("ClusterRole", ""),
            ("CertificateSigningRequest", "/%/"),
        ];
        for (kind, name) in good {
            assert_eq!(check_name(kind, name), Ok(()), "{kind} {name}");
        }
        let bad = [
            ("Pod", "A", "RFC 1123 subdomain"),
            ("Pod", "a..b", "RFC 1123 subdomain"),
            ("Service", "1a", "DNS-1035"),
            ("Namespace", "a.b", "must not contain dots"),
            ("Namespace", "a_b", "RFC 1123 label"),
            (
                "Role",
                "a/b%",
                "[metadata.name: Invalid value: \"a/b%\": may not contain '/', ",
            ),
            ("RoleBinding", "..", "may not be '..'"),
        ];
        for (kind, name, part) in bad {
            let text = check_name(kind, name).unwrap_err();
            assert!(text.contains(part), "{text}");
        }
        let long = "a".repeat(300);
        assert!(
            check_name("Pod", &long)
                .unwrap_err()
                .contains("253 characters")
        );
    }
}
