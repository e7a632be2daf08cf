//! Constraints on versions.

use super::version::{Parts, Version, compare_prereleases};
use std::fmt;
use whipstaff_gotemplate::format::quote;

/// Bytes that a constraint may have.
const MAX_CONSTRAINT_LENGTH: usize = 512;
/// Alternatives that a constraint may have.
const MAX_GROUPS: usize = 32;

/// What versions shall be: `>=1.2 <2`, `~1.4 || ^2.0.0-0`, `1.2 - 1.4`, `1.x`.
///
/// Its alternatives are separated by `||`; the conditions of an alternative, by spaces or commas, must all hold. A prerelease
/// satisfies an alternative only if one of its conditions names a prerelease.
#[derive(Debug, Clone)]
pub struct Constraint {
    groups: Vec<Group>,
}

/// A text that is no constraint, with the text of Go's error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// It is too long.
    #[error("constraint string is too long (max {MAX_CONSTRAINT_LENGTH} bytes)")]
    TooLong,
    /// It has too many alternatives.
    #[error("too many constraint groups (max {MAX_GROUPS})")]
    TooManyGroups,
    /// An alternative is malformed.
    #[error("improper constraint: {}", String::from_utf8_lossy(&quote(.0.as_bytes())))]
    Improper(String),
    /// A condition's version is malformed.
    #[error("constraint parser error")]
    Version,
}

#[derive(Debug, Clone)]
struct Group {
    conditions: Vec<Condition>,
    has_prerelease: bool,
}

#[derive(Debug, Clone)]
struct Condition {
    operator: Operator,
    version: Version,
    original: String,
    /// Whether any number is absent or a wildcard.
    is_partial: bool,
    /// Whether that is so from the second number on.
    is_minor_open: bool,
    /// Whether that is so for the third number alone.
    is_patch_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    None,
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    EqualGreater,
    LessEqual,
    EqualLess,
    Tilde,
    TildeGreater,
    Caret,
}

/// Two-character operators first, so that they are not taken for their first character.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterEqual),
    ("=>", Operator::EqualGreater),
    ("<=", Operator::LessEqual),
    ("=<", Operator::EqualLess),
    ("~>", Operator::TildeGreater),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Constraint {
    /// Reads a constraint.
    ///
    /// # Errors
    /// [`ConstraintError`] if it is malformed.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        if text.len() > MAX_CONSTRAINT_LENGTH {
            return Err(ConstraintError::TooLong);
        }
        let text = rewrite_ranges(text);
        let alternatives: Vec<&str> = text.split("||").collect();
        if alternatives.len() > MAX_GROUPS {
            return Err(ConstraintError::TooManyGroups);
        }
        let groups = alternatives
            .into_iter()
            .map(Group::parse)
            .collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// Whether a version satisfies it.
    pub fn check(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            (version.prerelease.is_empty() || group.has_prerelease)
                && group
                    .conditions
                    .iter()
                    .all(|condition| condition.check(version))
        })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                f.write_str(" || ")?;
            }
            for (index, condition) in group.conditions.iter().enumerate() {
                let separator = if index > 0 { " " } else { "" };
                let operator = condition.operator.text();
                write!(f, "{separator}{operator}{}", condition.original)?;
            }
        }
        Ok(())
    }
}

impl Operator {
    fn text(self) -> &'static str {
        OPERATORS
            .iter()
            .find(|(_, operator)| *operator == self)
            .map_or("", |(text, _)| text)
    }
}

impl Group {
    fn parse(text: &str) -> Result<Self, ConstraintError> {
        let improper = || ConstraintError::Improper(text.to_owned());
        let mut conditions = Vec::new();
        let mut rest = text.trim_start_matches(is_space);
        loop {
            let (condition, behind) = Condition::read(rest).ok_or_else(improper)?;
            conditions.push(condition);
            rest = behind.trim_start_matches(is_space);
            if rest.is_empty() {
                break;
            }
            if let Some(behind) = rest.strip_prefix(',') {
                rest = behind.trim_start_matches(is_space);
            } else if rest.len() == behind.len() {
                return Err(improper());
            }
        }
        let conditions = conditions
            .into_iter()
            .map(|(operator, parts, original)| Condition::new(operator, &parts, original))
            .collect::<Result<Vec<_>, _>>()?;
        let has_prerelease = conditions
            .iter()
            .any(|condition| !condition.version.prerelease.is_empty());
        Ok(Self {
            conditions,
            has_prerelease,
        })
    }
}

type Read<'a> = ((Operator, Parts<'a>, &'a str), &'a str);

impl Condition {
    /// Reads an operator and a version from the start of a text; gives them and what follows.
    fn read(text: &str) -> Option<Read<'_>> {
        let (operator, rest) = OPERATORS
            .iter()
            .find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)))
            .unwrap_or((Operator::None, text));
        let rest = rest.trim_start_matches(is_space);
        let parts = Parts::read_prefix(rest, is_wild_digit)?;
        let (original, behind) = rest.split_at_checked(parts.length)?;
        Some(((operator, parts, original), behind))
    }

    fn new(operator: Operator, parts: &Parts<'_>, original: &str) -> Result<Self, ConstraintError> {
        let is_any = is_open(parts.major);
        let is_minor_open = !is_any && is_open(parts.minor);
        let is_patch_open = !is_any && !is_minor_open && is_open(parts.patch);
        let is_partial = is_any || is_minor_open || is_patch_open;
        let numbers = if is_any {
            "0.0.0".to_owned()
        } else if is_minor_open {
            format!("{}.0.0", parts.major)
        } else {
            format!("{}.{}.0", parts.major, parts.minor)
        };
        let text = match (is_partial, parts.prerelease) {
            (false, _) => original.to_owned(),
            (true, "") => numbers,
            (true, prerelease) => format!("{numbers}-{prerelease}"),
        };
        let version = Version::parse(&text).map_err(|_| ConstraintError::Version)?;
        let original = original.to_owned();
        Ok(Self {
            operator,
            version,
            original,
            is_partial,
            is_minor_open,
            is_patch_open,
        })
    }

    fn check(&self, version: &Version) -> bool {
        match self.operator {
            Operator::None | Operator::Equal if self.is_partial => self.is_tilde(version),
            Operator::None | Operator::Equal => *version == self.version,
            Operator::NotEqual => self.is_not_equal(version),
            Operator::Greater => self.is_greater(version),
            Operator::Less => *version < self.version,
            Operator::GreaterEqual | Operator::EqualGreater => *version >= self.version,
            Operator::LessEqual | Operator::EqualLess => self.is_less_or_equal(version),
            Operator::Tilde | Operator::TildeGreater => self.is_tilde(version),
            Operator::Caret => self.is_caret(version),
        }
    }

    fn is_not_equal(&self, version: &Version) -> bool {
        let own = &self.version;
        if !self.is_partial || own.major != version.major {
            return *version != *own;
        }
        if self.is_minor_open {
            return false;
        }
        if own.minor != version.minor || (own.patch != version.patch && !self.is_patch_open) {
            return true;
        }
        if self.is_patch_open {
            return compare_prereleases(&version.prerelease, &own.prerelease).is_ne();
        }
        *version != *own
    }

    fn is_greater(&self, version: &Version) -> bool {
        let own = &self.version;
        if !self.is_partial {
            return version > own;
        }
        if version.major != own.major {
            return version.major > own.major;
        }
        // `>11` wants 12, and `>11.1` wants 11.2.
        if self.is_minor_open {
            return false;
        }
        if self.is_patch_open {
            version.minor > own.minor
        } else {
            version > own
        }
    }

    fn is_less_or_equal(&self, version: &Version) -> bool {
        let own = &self.version;
        if !self.is_partial {
            return version <= own;
        }
        if version.major > own.major {
            return false;
        }
        version.major != own.major || version.minor <= own.minor || self.is_minor_open
    }

    /// `~1.2.3` is `>=1.2.3 <1.3`; `~1` is `>=1 <2`.
    fn is_tilde(&self, version: &Version) -> bool {
        let own = &self.version;
        if version < own {
            return false;
        }
        // `~0.0.0`, and with it `*`, takes everything.
        let is_zero = (own.major, own.minor, own.patch) == (0, 0, 0);
        if is_zero && !self.is_minor_open && !self.is_patch_open {
            return true;
        }
        version.major == own.major && (version.minor == own.minor || self.is_minor_open)
    }

    /// `^1.2.3` is `>=1.2.3 <2`; for `0.x` it is the first number that is not zero which may not change.
    fn is_caret(&self, version: &Version) -> bool {
        let own = &self.version;
        if version < own {
            return false;
        }
        if own.major > 0 || self.is_minor_open {
            return version.major == own.major;
        }
        if version.major > 0 {
            return false;
        }
        if own.minor > 0 || self.is_patch_open {
            return version.minor == own.minor;
        }
        version.minor == 0 && own.patch == version.patch
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\u{c}' | '\r')
}

/// What a number of a condition may consist of. The bar is an accident of the original's expression.
fn is_wild_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'x' | b'X' | b'*' | b'|')
}

fn is_open(number: &str) -> bool {
    matches!(number, "" | "x" | "X" | "*")
}

/// Writes `1.2 - 1.4` as `>= 1.2, <= 1.4`.
fn rewrite_ranges(text: &str) -> String {
    let mut output = text.to_owned();
    let mut at = 0;
    while at < text.len() {
        let Some(range) = text.get(at..).and_then(Range::read) else {
            at += 1;
            continue;
        };
        let replacement = format!(">= {}, <= {} ", range.low, range.high);
        output = output.replacen(range.whole, &replacement, 1);
        at += range.whole.len();
    }
    output
}

/// A range with hyphen, and the text that it covers.
struct Range<'a> {
    low: &'a str,
    high: &'a str,
    whole: &'a str,
}

impl<'a> Range<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (low, rest) = Self::version(text.trim_start_matches(is_space))?;
        let rest = Self::spaces(rest)?.strip_prefix('-')?;
        let (high, rest) = Self::version(Self::spaces(rest)?)?;
        let rest = rest.trim_start_matches(is_space);
        Some(Self {
            low,
            high,
            whole: text.get(..text.len() - rest.len())?,
        })
    }

    fn version(text: &'a str) -> Option<(&'a str, &'a str)> {
        let parts = Parts::read_prefix(text, is_wild_digit)?;
        text.split_at_checked(parts.length)
    }

    /// Skips spaces, of which there must be one.
    fn spaces(text: &'a str) -> Option<&'a str> {
        let rest = text.trim_start_matches(is_space);
        (rest.len() < text.len()).then_some(rest)
    }
}
