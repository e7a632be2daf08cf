//! Go's `fmt` and `strconv`, as far as templates use them.

use crate::Value;

/// `fmt.Sprint`: a space between operands when neither is a string.
pub fn sprint(values: &[Value]) -> Vec<u8> {
    let _ = values;
    Vec::new()
}

/// `fmt.Sprintln`.
pub fn sprintln(values: &[Value]) -> Vec<u8> {
    let _ = values;
    Vec::new()
}

/// `fmt.Sprintf`.
pub fn sprintf(format: &[u8], values: &[Value]) -> Vec<u8> {
    let _ = (format, values);
    Vec::new()
}

/// `strconv.Quote`.
pub fn quote(text: &[u8]) -> Vec<u8> {
    text.to_vec()
}

/// `strconv.FormatFloat` with the shortest digits that read back (`-1`), in format `b'e'`, `b'f'` or `b'g'`.
pub fn float(value: f64, format: u8) -> String {
    let _ = format;
    value.to_string()
}
