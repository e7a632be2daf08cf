//! What a YAML text stands for.
//!
//! **Source**: `resolve.go` of go.yaml.in/yaml v3.0.4.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::timestamp;
use crate::tree::Node;

/// What all tags of YAML's own types start with.
const TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The value of a scalar; none if it is not what its tag says, or a number that is too large.
pub(super) fn node(text: &str, tag: &str, plain: bool) -> Option<Node> {
    let kind = tag.strip_prefix(TAG_PREFIX).unwrap_or(tag);
    match kind {
        "" if !plain => return Some(Node::text(text)),
        "" | "int" | "float" | "bool" | "null" | "timestamp" => {}
        "binary" => {
            let letters: Vec<u8> = text
                .bytes()
                .filter(|byte| !byte.is_ascii_whitespace())
                .collect();
            return BASE64_STANDARD.decode(letters).ok().map(Node::Text);
        }
        // `!!str`, `!!merge`, and tags of applications.
        _ => return Some(Node::text(text)),
    }
    let resolved = resolve(text, kind)?;
    match (kind, resolved) {
        ("float", Node::Int(number)) => Some(Node::Float(number as f64)),
        ("", node)
        | ("int", node @ Node::Int(_))
        | ("float", node @ Node::Float(_))
        | ("bool", node @ Node::Bool(_))
        | ("null", node @ Node::Null)
        | ("timestamp", node @ Node::Time(_)) => Some(node),
        _ => None,
    }
}

fn resolve(text: &str, kind: &str) -> Option<Node> {
    let node = match text {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "true" | "True" | "TRUE" => Node::Bool(true),
        "false" | "False" | "FALSE" => Node::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Node::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Node::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Node::Float(f64::NEG_INFINITY),
        _ => return number_or_text(text, kind),
    };
    Some(node)
}

fn number_or_text(text: &str, kind: &str) -> Option<Node> {
    match text.as_bytes().first() {
        Some(b'.') => return Some(float(text).unwrap_or_else(|| Node::text(text))),
        Some(b'+' | b'-' | b'0'..=b'9') => {}
        _ => return Some(Node::text(text)),
    }
    if (kind.is_empty() || kind == "timestamp")
        && let Some(time) = timestamp::normalized(text)
    {
        return Some(Node::Time(time));
    }
    let digits = text.replace('_', "");
    match integer(&digits) {
        Integer::Fits(number) => Some(Node::Int(number)),
        // SOPS cannot handle it either.
        Integer::Unsigned => None,
        Integer::No => Some(float(&digits).unwrap_or_else(|| Node::text(text))),
    }
}

enum Integer {
    Fits(i64),
    /// Only an unsigned integer holds it.
    Unsigned,
    No,
}

/// An integer as Go reads it: `0x` is hexadecimal, `0b` binary, and a leading zero octal.
fn integer(text: &str) -> Integer {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..)),
        Some(b'+') => (false, text.get(1..)),
        _ => (false, Some(text)),
    };
    let rest = rest.unwrap_or_default();
    let (base, digits) = match rest.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, rest.get(2..)),
        [b'0', b'b' | b'B', ..] => (2, rest.get(2..)),
        [b'0', b'o' | b'O', ..] => (8, rest.get(2..)),
        [b'0', _, ..] => (8, rest.get(1..)),
        _ => (10, Some(rest)),
    };
    let digits = digits.unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Integer::No;
    }
    let Ok(size) = i128::from_str_radix(digits, base) else {
        return Integer::No;
    };
    let number = if negative { -size } else { size };
    match i64::try_from(number) {
        Ok(number) => Integer::Fits(number),
        // Go reads unsigned integers without a sign only.
        Err(_) if u64::try_from(number).is_ok() && !text.starts_with('+') => Integer::Unsigned,
        Err(_) => Integer::No,
    }
}

/// A decimal float; infinity is written otherwise.
fn float(text: &str) -> Option<Node> {
    let is_decimal = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !is_decimal {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(Node::Float(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_are_what_go_yaml_makes_of_them() {
        for (text, expected) in [
            ("", Some(Node::Null)),
            ("~", Some(Node::Null)),
            ("yes", Some(Node::text("yes"))),
            ("on", Some(Node::text("on"))),
            ("True", Some(Node::Bool(true))),
            ("tRue", Some(Node::text("tRue"))),
            ("0644", Some(Node::Int(420))),
            ("0o17", Some(Node::Int(15))),
            ("0x1F", Some(Node::Int(31))),
            ("-0b11", Some(Node::Int(-3))),
            ("+12", Some(Node::Int(12))),
            ("1_000", Some(Node::Int(1000))),
            ("089", Some(Node::Float(89.0))),
            ("1.5e3", Some(Node::Float(1500.0))),
            (".5", Some(Node::Float(0.5))),
            ("1.", Some(Node::Float(1.0))),
            ("1e", Some(Node::text("1e"))),
            ("1e999", Some(Node::text("1e999"))),
            ("0x", Some(Node::text("0x"))),
            ("-", Some(Node::text("-"))),
            ("--1", Some(Node::text("--1"))),
            ("1:30", Some(Node::text("1:30"))),
            ("9223372036854775807", Some(Node::Int(i64::MAX))),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(Node::Int(i64::MIN))),
            (
                "18446744073709551616",
                Some(Node::Float(18_446_744_073_709_551_616.0)),
            ),
            (
                "2024-02-29",
                Some(Node::Time("2024-02-29T00:00:00Z".to_owned())),
            ),
            ("2023-02-29", Some(Node::text("2023-02-29"))),
        ] {
            assert!(node(text, "", true) == expected, "{text}");
        }
        assert!(node("12", "", false) == Some(Node::text("12")));
    }

    #[test]
    fn tags_decide() {
        for (text, tag, expected) in [
            ("12", "str", Some(Node::text("12"))),
            ("12", "int", Some(Node::Int(12))),
            ("12", "float", Some(Node::Float(12.0))),
            ("x", "int", None),
            ("aGk=", "binary", Some(Node::text("hi"))),
            ("!", "binary", None),
        ] {
            let tag = format!("{TAG_PREFIX}{tag}");
            assert!(node(text, &tag, false) == expected, "{tag} {text}");
        }
        assert!(node("12", "!own", true) == Some(Node::text("12")));
    }
}
