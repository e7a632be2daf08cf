//! Which addresses `helm lint` takes for valid (`govalidator` 2023-03-01).

use regex::Regex;
use std::{net::Ipv6Addr, sync::LazyLock};

/// Longest address in characters, not included.
const MAX_URL_LENGTH: usize = 2083;
/// Shortest address in bytes, not included.
const MIN_URL_LENGTH: usize = 3;

/// Letters that are not ASCII, as far as mail addresses may have them.
const WIDE: &str = r"\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}";

static EMAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let atom = format!(r"[a-zA-Z0-9!#$%&'*+\-/=?^_`{{|}}~{WIDE}]+");
    let quoted = format!(r#""[\x01-\x08\x09\x0b\x0c\x0e-\x21\x23-\x5b\x5d-\x7f{WIDE}]*""#);
    let (letter, plain) = (format!("[a-zA-Z{WIDE}]"), format!("[a-zA-Z0-9{WIDE}]"));
    let label = format!(r"{plain}(?:[a-zA-Z0-9\-._~{WIDE}]*{plain})?");
    let last = format!(r"{letter}(?:[a-zA-Z0-9\-_~{WIDE}]*{letter})?");
    Regex::new(&format!(
        r"^(?:{atom}(?:\.{atom})*|{quoted})@(?:{label}\.)+{last}\.?$"
    ))
    .ok()
});

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let scheme = "(?:ftp|tcp|udp|wss?|https?)://";
    let byte = r"(?:\d{1,2}|1\d\d|2[0-4]\d|25[0-5])";
    let first = r"(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3]|24\d|25[0-5])";
    let last = r"(?:[0-9]\d?|1\d\d|2[0-4]\d|25[0-5])";
    let address = format!(r"{first}(?:\.{byte}){{2}}\.{last}");
    let wide = r"a-zA-Z\x{a1}-\x{ffff}";
    let dashed = "[a-zA-Z0-9][a-zA-Z0-9_-]*[a-zA-Z0-9](?:[-.][a-zA-Z0-9]+)*";
    let below = r"www\.|[a-zA-Z0-9]+(?:[-_.]?[a-zA-Z0-9])*[a-zA-Z0-9]\.[a-zA-Z0-9]+";
    let name = format!("(?:[{wide}0-9]+-?-?)*[{wide}0-9]+");
    let host = format!(r"(?:{dashed}|{below})?{name}(?:\.[{wide}]+)?");
    Regex::new(&format!(
        r"^(?:{scheme})?(?:\S+(?::\S*)?@)?(?:{address}|\[(?P<six>[^\]]*)\]|{host})\.?(?::\d{{1,5}})?(?:[/?#]\S*)?$"
    ))
    .ok()
});

/// Whether a text looks like an address for mail.
pub(super) fn is_email(text: &str) -> bool {
    EMAIL
        .as_ref()
        .is_some_and(|expression| expression.is_match(text))
}

/// Whether a text looks like the address of a page, with or without a scheme.
pub(super) fn is_url(text: &str) -> bool {
    let length = text.chars().count();
    if length >= MAX_URL_LENGTH || text.len() <= MIN_URL_LENGTH || text.starts_with('.') {
        return false;
    }
    let with_scheme = if text.contains(':') && !text.contains("://") {
        format!("http://{text}")
    } else {
        text.to_owned()
    };
    let Some((host, path)) = whipstaff_sprig::url_host_and_path(&with_scheme) else {
        return false;
    };
    if host.starts_with('.') || (host.is_empty() && !path.is_empty() && !path.contains('.')) {
        return false;
    }
    let Some(found) = URL
        .as_ref()
        .and_then(|expression| expression.captures(text))
    else {
        return false;
    };
    found
        .name("six")
        .is_none_or(|address| address.as_str().parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_for_mail_have_a_name_and_a_domain() {
        for text in [
            "a@b.co",
            "first.last+x@sub.example.com",
            "\"a b\"@c.org",
            "a@b.c.de.",
        ] {
            assert!(is_email(text), "{text}");
        }
        for text in [
            "a", "a@b", "@b.co", "a@b.c1", "a b@c.de", ".a@b.co", "a@b..co", "<a@b.co>",
        ] {
            assert!(!is_email(text), "{text}");
        }
    }

    #[test]
    fn addresses_of_pages_may_go_without_a_scheme() {
        let good = [
            "http://example.com",
            "https://github.com/a/b",
            "example.com",
            "localhost:8080",
            "10.0.0.1",
            "http://[::1]:80/",
            "ftp://u:p@h.org/x?y#z",
            "https://www.a-b.example.org.",
        ];
        for text in good {
            assert!(is_url(text), "{text}");
        }
        for text in [
            "",
            "abc",
            "http://",
            "gopher://x.org",
            ".example.com",
            "a b.com",
            "http://[::g]",
        ] {
            assert!(!is_url(text), "{text}");
        }
    }
}
