//! Names that the API server would refuse.

use super::{TransformContext, Transformer};
use crate::{Error, ErrorKind, Location, ObjectSet};

/// Longest name of an object in bytes.
const MAX_NAME: usize = 253;

/// Refuses objects whose names no kind accepts, before anything is applied: empty ones, ones that are too long, and ones that cannot
/// be part of a path. What a single kind demands beyond that, the API server says.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckNames;

impl Transformer for CheckNames {
    fn transform(&self, objects: &mut ObjectSet, _: &TransformContext<'_>) -> Result<(), Error> {
        for item in objects.iter() {
            if let Some(problem) = problem(item.object.name()) {
                let message = format!("the name of {} {problem}", item.object.describe());
                let error = Error::new(ErrorKind::Output, message);
                return Err(error.at(Location::file(item.source.clone())));
            }
        }
        Ok(())
    }
}

fn problem(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if name.len() > MAX_NAME {
        return Some(format!("is longer than {MAX_NAME} bytes"));
    }
    if name == "." || name == ".." {
        return Some(format!("may not be `{name}`"));
    }
    let bad = name
        .chars()
        .find(|c| matches!(c, '/' | '%') || c.is_whitespace() || c.is_control())?;
    Some(format!("has a character that is not allowed: {bad:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_kind_accepts_are_told() {
        for name in ["", ".", "..", "a/b", "a%b", "a b", "a\n"] {
            assert!(problem(name).is_some(), "{name}");
        }
        assert!(problem(&"a".repeat(254)).is_some());
        for name in ["a", "system:node", "a.b-c", "UPPER"] {
            assert_eq!(problem(name), None, "{name}");
        }
    }
}
