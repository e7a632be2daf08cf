//! Go's `fmt` and `strconv`, as far as templates use them (Go 1.26).
//!
//! ```text
//! sprint, sprintln, sprintf ──► Printer ──► verbs on kinds ──► float, quote, names
//! ```

mod float;
mod names;
mod printer;
mod printf;
mod quote;
mod scalar;
mod unicode;

pub use float::{float, float_precision};
pub use names::{duration, month, weekday};
pub use printer::TooLarge;
pub use quote::{
    SyntaxError, Unquoted, can_backquote, quote, quote_rune, quote_to_ascii, unquote, unquote_char,
};
pub use unicode::{
    RUNE_ERROR, decode_last_rune, decode_rune, is_letter_or_digit, is_print, rune_count, runes,
};

use crate::Value;
use printer::Printer;

/// Bytes after which printing stops when the caller set no limit of its own.
pub const MAX_PRINTED_BYTES: usize = 64 * 1024 * 1024;

/// Nesting of lists and maps after which printing stops. Only a map that contains itself is nested that deep.
pub const MAX_PRINTED_DEPTH: usize = 1_000;

/// `fmt.Sprint`: a space between operands when neither is a string. What is larger than [`MAX_PRINTED_BYTES`] is cut.
pub fn sprint(values: &[Value]) -> Vec<u8> {
    let mut printer = Printer::new(MAX_PRINTED_BYTES);
    printer.print(values);
    printer.into_bytes()
}

/// `fmt.Sprintln`. What is larger than [`MAX_PRINTED_BYTES`] is cut.
pub fn sprintln(values: &[Value]) -> Vec<u8> {
    let mut printer = Printer::new(MAX_PRINTED_BYTES);
    printer.println(values);
    printer.into_bytes()
}

/// `fmt.Sprintf`. What is larger than [`MAX_PRINTED_BYTES`] is cut.
pub fn sprintf(format: &[u8], values: &[Value]) -> Vec<u8> {
    let mut printer = Printer::new(MAX_PRINTED_BYTES);
    printer.printf(format, values);
    printer.into_bytes()
}

/// [`sprint`] of at most so many bytes.
///
/// # Errors
/// When the text would be longer, or a map contains itself.
pub fn sprint_within(values: &[Value], limit: usize) -> Result<Vec<u8>, TooLarge> {
    let mut printer = Printer::new(limit);
    printer.print(values);
    printer.finish()
}

/// [`sprintln`] of at most so many bytes.
///
/// # Errors
/// When the text would be longer, or a map contains itself.
pub fn sprintln_within(values: &[Value], limit: usize) -> Result<Vec<u8>, TooLarge> {
    let mut printer = Printer::new(limit);
    printer.println(values);
    printer.finish()
}

/// [`sprintf`] of at most so many bytes.
///
/// # Errors
/// When the text would be longer, or a map contains itself.
pub fn sprintf_within(format: &[u8], values: &[Value], limit: usize) -> Result<Vec<u8>, TooLarge> {
    let mut printer = Printer::new(limit);
    printer.printf(format, values);
    printer.finish()
}
