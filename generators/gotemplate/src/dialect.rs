//! The Helm versions whose behaviour differs.

use std::{fmt, str::FromStr};

/// A Helm version line whose rendering differs from its neighbours'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Dialect {
    /// Helm 3 (3.22).
    V3,
    /// Helm 4.0 and 4.1.
    V4_1,
    /// Helm 4.2.
    V4_2,
    /// Helm 4.3.
    #[default]
    V4_3,
}

/// A text that names no dialect.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{text}` is not a Helm dialect: expected `v3`, `v4`, `v4.1`, `v4.2` or `v4.3`")]
pub struct DialectError {
    /// The text as it was given.
    pub text: String,
}

impl Dialect {
    /// Whether this is Helm 4 of any version.
    pub fn is_v4(self) -> bool {
        self >= Self::V4_1
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V3 => "v3",
            Self::V4_1 => "v4.1",
            Self::V4_2 => "v4.2",
            Self::V4_3 => "v4.3",
        })
    }
}

impl FromStr for Dialect {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        match text {
            "v3" => Ok(Self::V3),
            "v4.0" | "v4.1" => Ok(Self::V4_1),
            "v4.2" => Ok(Self::V4_2),
            "v4" | "v4.3" => Ok(Self::V4_3),
            _ => Err(DialectError {
                text: text.to_owned(),
            }),
        }
    }
}
