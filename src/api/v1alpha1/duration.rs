//! Durations as Kubernetes users write them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

/// What a duration must look like, for the API server to check.
pub const DURATION_PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";

/// A duration such as `30s`, `5m` or `1h30m`, kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DurationText(String);

/// A text that is not a duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{text}` is not a duration: expected something like `30s`, `5m` or `1h30m`")]
pub struct DurationError {
    /// The text as it was given.
    pub text: String,
}

impl DurationText {
    /// The length of time.
    ///
    /// # Errors
    /// [`DurationError`] when the text is malformed; the API server refuses such a text before it is stored.
    pub fn get(&self) -> Result<Duration, DurationError> {
        parse(&self.0).ok_or_else(|| DurationError {
            text: self.0.clone(),
        })
    }
}

impl FromStr for DurationText {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let duration = Self(text.to_owned());
        duration.get().map(|_| duration)
    }
}

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": 32, "pattern": DURATION_PATTERN })
    }
}

fn parse(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let seconds = match &rest[..letters] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
        rest = &rest[letters..];
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let cases = [
            ("30s", 30_000),
            ("1h30m", 5_400_000),
            ("1.5s", 1_500),
            ("250ms", 250),
        ];
        for (text, milliseconds) in cases {
            let duration: DurationText = text.parse().unwrap();
            assert_eq!(
                duration.get(),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        for text in ["", "5", "m", "1d", "-1s", "1e9h", "."] {
            assert!(text.parse::<DurationText>().is_err(), "{text}");
        }
    }
}
