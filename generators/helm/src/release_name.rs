//! Release names (Helm 4.3, `pkg/chart/v2/util/validate_name.go`).

/// Longest release name in bytes.
pub const MAX_RELEASE_NAME: usize = 53;

/// A name that no release can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseNameError {
    /// There is no name.
    #[error("no name provided")]
    Missing,
    /// It is too long, or not a DNS subdomain.
    #[error(
        "invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ \
         and the length must not be longer than {MAX_RELEASE_NAME}"
    )]
    Invalid,
}

/// Checks a release name.
///
/// # Errors
/// [`ReleaseNameError`] when it is empty, too long or not a DNS subdomain.
pub fn check_release_name(name: &str) -> Result<(), ReleaseNameError> {
    if name.is_empty() {
        return Err(ReleaseNameError::Missing);
    }
    let label = |label: &str| {
        let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = label.as_bytes();
        edge(bytes.first())
            && edge(bytes.last())
            && bytes
                .iter()
                .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    if name.len() <= MAX_RELEASE_NAME && name.split('.').all(label) {
        Ok(())
    } else {
        Err(ReleaseNameError::Invalid)
    }
}

/// The name that Helm makes up for a release: the file name of its chart up to the first dot, and seconds since 1970
/// (`pkg/action/install.go`, `NameAndChart`).
pub fn generated_release_name(file_name: &str, seconds: u64) -> String {
    let base = match file_name.split('.').next() {
        None | Some("") => "chart",
        Some(base) => base,
    };
    format!("{base}-{seconds}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_begin_with_the_name_of_the_chart() {
        for (file_name, name) in [
            ("shop", "shop-7"),
            ("shop-1.2.3.tgz", "shop-1-7"),
            ("", "chart-7"),
            (".", "chart-7"),
        ] {
            assert_eq!(generated_release_name(file_name, 7), name);
        }
    }

    #[test]
    fn names_are_dns_subdomains_of_limited_length() {
        let longest = "a".repeat(MAX_RELEASE_NAME);
        for name in ["a", "a-b", "0", "a.b-c.d", longest.as_str()] {
            assert_eq!(check_release_name(name), Ok(()), "{name}");
        }
        let long = "a".repeat(MAX_RELEASE_NAME + 1);
        for name in [
            "A",
            "a_b",
            "-a",
            "a-",
            "a..b",
            ".a",
            "a.",
            "ä",
            "a b",
            long.as_str(),
        ] {
            assert_eq!(
                check_release_name(name),
                Err(ReleaseNameError::Invalid),
                "{name}"
            );
        }
        assert_eq!(check_release_name(""), Err(ReleaseNameError::Missing));
    }
}
