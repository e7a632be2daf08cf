//! Which values of a file are encrypted.
//!
//! **Source**: `shouldBeEncrypted` in `sops.go` of SOPS 3.13.3.

use regex_lite::Regex;

use crate::error::SopsError;

/// The suffix of keys that stay readable if a file has no rule of its own.
const DEFAULT_UNENCRYPTED_SUFFIX: &str = "_unencrypted";

/// The longest pattern in bytes.
const MAX_PATTERN_BYTES: usize = 1024;

/// The most memory a compiled pattern takes, which is also what a character of a key costs at most.
const MAX_COMPILED_PATTERN_BYTES: usize = 32 * 1024;

/// A file's one rule.
#[derive(Debug)]
pub(crate) enum Rule {
    /// Values below a key that fits are encrypted, all others are not.
    Encrypted(KeyTest),
    /// Values below a key that fits are not encrypted, all others are.
    Unencrypted(KeyTest),
    /// Comments decide. They are not read, so what looks encrypted counts as encrypted: a value that was replaced by a readable one
    /// then misses in the message authentication code.
    Comments,
}

/// Picks keys.
#[derive(Debug)]
pub(crate) enum KeyTest {
    Suffix(String),
    Pattern(Regex),
}

impl Rule {
    /// The rule of the fields `unencrypted_suffix`, `encrypted_suffix`, `unencrypted_regex`, `encrypted_regex`,
    /// `unencrypted_comment_regex` and `encrypted_comment_regex`, of which `field` gives those that are not empty.
    pub(crate) fn read<'a>(
        field: impl Fn(&'static str) -> Option<&'a str>,
    ) -> Result<Self, SopsError> {
        let mut rules = Vec::new();
        if let Some(suffix) = field("unencrypted_suffix") {
            rules.push(Self::Unencrypted(KeyTest::Suffix(suffix.to_owned())));
        }
        if let Some(suffix) = field("encrypted_suffix") {
            rules.push(Self::Encrypted(KeyTest::Suffix(suffix.to_owned())));
        }
        if let Some(text) = field("unencrypted_regex") {
            rules.push(Self::Unencrypted(pattern("unencrypted_regex", text)?));
        }
        if let Some(text) = field("encrypted_regex") {
            rules.push(Self::Encrypted(pattern("encrypted_regex", text)?));
        }
        for name in ["unencrypted_comment_regex", "encrypted_comment_regex"] {
            if field(name).is_some() {
                rules.push(Self::Comments);
            }
        }
        if rules.len() > 1 {
            return Err(SopsError::Metadata {
                problem: "more than one rule says what is encrypted".to_owned(),
            });
        }
        let default = || Self::Unencrypted(KeyTest::Suffix(DEFAULT_UNENCRYPTED_SUFFIX.to_owned()));
        Ok(rules.pop().unwrap_or_else(default))
    }

    /// Whether a key is one that the rule is about. Values below it are meant as well.
    pub(crate) fn picks(&self, key: &str) -> bool {
        match self {
            Self::Encrypted(test) | Self::Unencrypted(test) => test.fits(key),
            Self::Comments => false,
        }
    }

    /// Whether a value is encrypted, if keys alone decide; `picked` says whether a key above it was picked.
    pub(crate) fn decides(&self, picked: bool) -> Option<bool> {
        match self {
            Self::Encrypted(_) => Some(picked),
            Self::Unencrypted(_) => Some(!picked),
            Self::Comments => None,
        }
    }
}

impl KeyTest {
    fn fits(&self, key: &str) -> bool {
        match self {
            Self::Suffix(suffix) => key.ends_with(suffix),
            Self::Pattern(pattern) => pattern.is_match(key),
        }
    }
}

fn pattern(field: &'static str, text: &str) -> Result<KeyTest, SopsError> {
    let problem = |what: &str| SopsError::Metadata {
        problem: format!("`{field}` {what}"),
    };
    if text.len() > MAX_PATTERN_BYTES {
        return Err(problem("is too long"));
    }
    regex_lite::RegexBuilder::new(text)
        .size_limit(MAX_COMPILED_PATTERN_BYTES)
        .build()
        .map(KeyTest::Pattern)
        .map_err(|_| problem("is not a pattern that is understood"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &'static str, text: &'static str) -> Result<Rule, SopsError> {
        Rule::read(|field| (field == name).then_some(text))
    }

    #[test]
    fn rules_pick_keys() {
        for (name, text, key, encrypted) in [
            ("", "", "a_unencrypted", false),
            ("", "", "a", true),
            ("unencrypted_suffix", "_open", "a_unencrypted", true),
            ("encrypted_suffix", "_closed", "a_closed", true),
            ("encrypted_suffix", "_closed", "a", false),
            ("encrypted_regex", "^(data|stringData)$", "data", true),
            ("encrypted_regex", "^(data|stringData)$", "database", false),
            ("unencrypted_regex", "(?i)^KIND$", "kind", false),
        ] {
            let rule = rule(name, text).unwrap();
            assert_eq!(
                rule.decides(rule.picks(key)),
                Some(encrypted),
                "{name} {key}"
            );
        }
    }

    #[test]
    fn patterns_that_are_not_understood_are_refused() {
        assert!(rule("encrypted_regex", "(").is_err());
        assert!(rule("encrypted_regex", "((((a{1000}){1000}){1000}){1000})").is_err());
        let words: Vec<_> = (0..60).map(|at| format!("databasePassword{at}")).collect();
        let many: &'static str = format!("^({})$", words.join("|")).leak();
        assert!(many.len() > 1_000 && rule("encrypted_regex", many).is_err());
        assert!(
            rule(
                "encrypted_regex",
                "^(data|stringData|password|token|secretKey)$"
            )
            .is_ok()
        );
        assert!(Rule::read(|_| Some("a")).is_err());
    }
}
