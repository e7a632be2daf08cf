//! Errors as a person reads them.

use std::error::Error;

/// An error and its causes on one line. A cause that the text before it ends with is not said again.
pub(crate) fn on_one_line(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
