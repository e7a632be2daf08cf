//! Versions.

use std::{cmp::Ordering, fmt};

/// Bytes that a version may have.
const MAX_VERSION_LENGTH: usize = 256;

/// A semantic version. Comparing takes no account of the build metadata, nor of how the version was written.
#[derive(Debug, Clone)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    /// What follows the hyphen, without it.
    pub prerelease: String,
    /// What follows the plus sign, without it.
    pub metadata: String,
    /// The text that was read.
    pub original: String,
}

/// A text that is no version, with the text of Go's error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// It does not look like one.
    #[error("invalid semantic version")]
    Invalid,
    /// It is empty.
    #[error("version string empty")]
    Empty,
    /// It is too long.
    #[error("version string is too long (max {MAX_VERSION_LENGTH} bytes)")]
    TooLong,
    /// A number has something that is no digit.
    #[error("invalid characters in version")]
    Characters,
    /// A number has a leading zero.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// The build metadata is malformed.
    #[error("invalid metadata string")]
    Metadata,
    /// The prerelease is malformed.
    #[error("invalid prerelease string")]
    Prerelease,
    /// A number of a lenient version has more than 64 bits.
    #[error("error parsing version segment: {}", out_of_range(.0))]
    Segment(String),
    /// A number of a strict version has more than 64 bits, or no digits.
    #[error("{}", out_of_range(.0))]
    Number(String),
}

impl Version {
    /// Reads a version leniently: `v1`, `1.2` and leading zeros are fine.
    ///
    /// # Errors
    /// [`VersionError`] if it does not look like a version.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.len() > MAX_VERSION_LENGTH {
            return Err(VersionError::TooLong);
        }
        let parts = Parts::read(text).ok_or(VersionError::Invalid)?;
        let version = Self {
            major: segment(parts.major)?,
            minor: segment(parts.minor)?,
            patch: segment(parts.patch)?,
            prerelease: parts.prerelease.to_owned(),
            metadata: parts.metadata.to_owned(),
            original: text.to_owned(),
        };
        if !version.prerelease.is_empty() {
            check_prerelease(&version.prerelease)?;
        }
        Ok(version)
    }

    /// Reads a version that has all three numbers and nothing before them.
    ///
    /// # Errors
    /// [`VersionError`] with what is wrong.
    pub fn parse_strict(text: &str) -> Result<Self, VersionError> {
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        if text.len() > MAX_VERSION_LENGTH {
            return Err(VersionError::TooLong);
        }
        let mut numbers = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return Err(VersionError::Invalid);
        };
        let (rest, metadata) = cut(rest, '+');
        metadata.map_or(Ok(()), check_metadata)?;
        let (patch, prerelease) = cut(rest, '-');
        prerelease.map_or(Ok(()), check_prerelease)?;
        for number in [major, minor, patch] {
            if !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(VersionError::Characters);
            }
            if number.len() > 1 && number.starts_with('0') {
                return Err(VersionError::LeadingZero);
            }
        }
        Ok(Self {
            major: number(major)?,
            minor: number(minor)?,
            patch: number(patch)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// A version of three numbers.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        let original = format!("{major}.{minor}.{patch}");
        let (prerelease, metadata) = (String::new(), String::new());
        Self {
            major,
            minor,
            patch,
            prerelease,
            metadata,
            original,
        }
    }

    /// The next major version; nothing if there is no greater number.
    pub fn next_major(&self) -> Option<Self> {
        Some(self.next(self.major.checked_add(1)?, 0, 0))
    }

    /// The next minor version; nothing if there is no greater number.
    pub fn next_minor(&self) -> Option<Self> {
        Some(self.next(self.major, self.minor.checked_add(1)?, 0))
    }

    /// The next patch version, which for a prerelease is its release; nothing if there is no greater number.
    pub fn next_patch(&self) -> Option<Self> {
        let step = u64::from(self.prerelease.is_empty());
        Some(self.next(self.major, self.minor, self.patch.checked_add(step)?))
    }

    fn next(&self, major: u64, minor: u64, patch: u64) -> Self {
        self.rewritten(Self::new(major, minor, patch))
    }

    /// The same with another prerelease.
    ///
    /// # Errors
    /// [`VersionError`] if the prerelease is malformed.
    pub fn with_prerelease(&self, prerelease: &str) -> Result<Self, VersionError> {
        if !prerelease.is_empty() {
            check_prerelease(prerelease)?;
        }
        Ok(self.rewritten(Self {
            prerelease: prerelease.to_owned(),
            ..self.clone()
        }))
    }

    /// The same with other build metadata.
    ///
    /// # Errors
    /// [`VersionError`] if the metadata is malformed.
    pub fn with_metadata(&self, metadata: &str) -> Result<Self, VersionError> {
        if !metadata.is_empty() {
            check_metadata(metadata)?;
        }
        Ok(self.rewritten(Self {
            metadata: metadata.to_owned(),
            ..self.clone()
        }))
    }

    /// A changed version, whose original keeps this one's `v`.
    fn rewritten(&self, mut changed: Self) -> Self {
        let prefix = if self.original.starts_with('v') {
            "v"
        } else {
            ""
        };
        changed.original = format!("{prefix}{changed}");
        changed
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = (self.major, self.minor, self.patch);
        numbers
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| {
                // A release is greater than its prereleases.
                match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                    (true, true) => Ordering::Equal,
                    (true, false) => Ordering::Greater,
                    (false, true) => Ordering::Less,
                    (false, false) => compare_prereleases(&self.prerelease, &other.prerelease),
                }
            })
    }
}

/// The parts of a version as they are written. Absent numbers are empty.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parts<'a> {
    pub(super) major: &'a str,
    pub(super) minor: &'a str,
    pub(super) patch: &'a str,
    pub(super) prerelease: &'a str,
    pub(super) metadata: &'a str,
    /// Bytes that were read.
    pub(super) length: usize,
}

impl<'a> Parts<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let parts = Self::read_prefix(text, |byte| byte.is_ascii_digit())?;
        (parts.length == text.len()).then_some(parts)
    }

    /// Reads as much of a text as is a version, whose numbers may consist of the characters that a function allows.
    pub(super) fn read_prefix(text: &'a str, is_digit: fn(u8) -> bool) -> Option<Self> {
        let mut rest = text.strip_prefix('v').unwrap_or(text);
        let major = take(&mut rest, is_digit)?;
        let minor = take_after(&mut rest, '.', |rest| take(rest, is_digit)).unwrap_or_default();
        let patch = if minor.is_empty() {
            ""
        } else {
            take_after(&mut rest, '.', |rest| take(rest, is_digit)).unwrap_or_default()
        };
        let prerelease = take_after(&mut rest, '-', take_identifiers).unwrap_or_default();
        let metadata = take_after(&mut rest, '+', take_identifiers).unwrap_or_default();
        let length = text.len() - rest.len();
        Some(Self {
            major,
            minor,
            patch,
            prerelease,
            metadata,
            length,
        })
    }
}

/// Takes the characters that a function allows; there must be one.
fn take<'a>(rest: &mut &'a str, is_allowed: fn(u8) -> bool) -> Option<&'a str> {
    let length = rest.bytes().take_while(|byte| is_allowed(*byte)).count();
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    (length > 0).then_some(taken)
}

/// Takes a separator and what follows it, or nothing at all.
fn take_after<'a>(
    rest: &mut &'a str,
    separator: char,
    take: impl FnOnce(&mut &'a str) -> Option<&'a str>,
) -> Option<&'a str> {
    let mut behind = rest.strip_prefix(separator)?;
    let taken = take(&mut behind)?;
    *rest = behind;
    Some(taken)
}

/// Takes identifiers with dots between them.
fn take_identifiers<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let start = *rest;
    take(rest, is_identifier)?;
    while take_after(rest, '.', |rest| take(rest, is_identifier)).is_some() {}
    start.get(..start.len() - rest.len())
}

fn is_identifier(byte: u8) -> bool {
    byte == b'-' || byte.is_ascii_alphanumeric()
}

fn cut(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn check_prerelease(text: &str) -> Result<(), VersionError> {
    for part in text.split('.') {
        if part.is_empty() || !part.bytes().all(is_identifier) {
            return Err(VersionError::Prerelease);
        }
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && part.len() > 1 && part.starts_with('0') {
            return Err(VersionError::LeadingZero);
        }
    }
    Ok(())
}

fn check_metadata(text: &str) -> Result<(), VersionError> {
    let is_valid = |part: &str| !part.is_empty() && part.bytes().all(is_identifier);
    if text.split('.').all(is_valid) {
        Ok(())
    } else {
        Err(VersionError::Metadata)
    }
}

/// A number of a lenient version, zero if it is absent.
fn segment(digits: &str) -> Result<u64, VersionError> {
    if digits.is_empty() {
        return Ok(0);
    }
    digits
        .parse()
        .map_err(|_| VersionError::Segment(digits.to_owned()))
}

fn number(digits: &str) -> Result<u64, VersionError> {
    digits
        .parse()
        .map_err(|_| VersionError::Number(digits.to_owned()))
}

/// The text of `strconv.ParseUint`'s error for digits.
fn out_of_range(digits: &str) -> String {
    let reason = if digits.is_empty() {
        "invalid syntax"
    } else {
        "value out of range"
    };
    format!("strconv.ParseUint: parsing \"{digits}\": {reason}")
}

pub(super) fn compare_prereleases(left: &str, right: &str) -> Ordering {
    let mut left = left.split('.');
    let mut right = right.split('.');
    loop {
        let (one, other) = (left.next(), right.next());
        if one.is_none() && other.is_none() {
            return Ordering::Equal;
        }
        let order = compare_identifiers(one.unwrap_or_default(), other.unwrap_or_default());
        if order.is_ne() {
            return order;
        }
    }
}

/// Numbers come before words, and an absent identifier before both.
fn compare_identifiers(left: &str, right: &str) -> Ordering {
    if left == right || left.is_empty() || right.is_empty() {
        return left.len().cmp(&right.len());
    }
    match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}
