//! Reading JSON as Go's `encoding/json` does into an `interface {}`, with its error texts.

use crate::equality::{MAX_VALUE_DEPTH, too_deep};
use whipstaff_gotemplate::{FunctionError, Value, format};

/// What was read. Go goes on after a number that no `float64` can hold, and reports it at the end.
#[derive(Debug)]
pub(crate) struct Read {
    /// The value; numbers are floats.
    pub(crate) value: Value,
    /// The first number that does not fit.
    pub(crate) error: Option<String>,
}

/// Why a text is no JSON.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// Go's text.
    Syntax(String),
    /// A limit of this reader.
    Limit(FunctionError),
}

/// Reads one document.
pub(crate) fn read(text: &[u8]) -> Result<Read, ReadError> {
    let mut reader = Reader {
        text,
        position: 0,
        overflow: None,
    };
    let value = reader.value(MAX_VALUE_DEPTH)?;
    reader.skip_space();
    match reader.peek() {
        Some(byte) => Err(invalid(byte, "after top-level value")),
        None => Ok(Read {
            value,
            error: reader.overflow,
        }),
    }
}

/// What `encoding/json` calls a value in its type errors; nothing for null, which fits everywhere.
pub(crate) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "number",
    }
}

fn invalid(byte: u8, context: &str) -> ReadError {
    let character = char::from(byte);
    let quoted = match character {
        '\'' => r"'\''".to_owned(),
        '"' => "'\"'".to_owned(),
        _ => {
            let quoted = format::quote(character.encode_utf8(&mut [0; 4]).as_bytes());
            let inner = quoted
                .get(1..quoted.len().saturating_sub(1))
                .unwrap_or_default();
            format!("'{}'", String::from_utf8_lossy(inner))
        }
    };
    ReadError::Syntax(format!("invalid character {quoted} {context}"))
}

fn unexpected_end() -> ReadError {
    ReadError::Syntax("unexpected end of JSON input".to_owned())
}

struct Reader<'a> {
    text: &'a [u8],
    position: usize,
    overflow: Option<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn next(&mut self) -> Result<u8, ReadError> {
        let byte = self.peek().ok_or_else(unexpected_end)?;
        self.position += 1;
        Ok(byte)
    }

    /// The next byte inside a literal, a number or an escape. Go has it end at a space where the text does.
    fn next_inside(&mut self) -> u8 {
        self.next().unwrap_or(b' ')
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
    }

    /// The next byte that is no space.
    fn next_token(&mut self) -> Result<u8, ReadError> {
        self.skip_space();
        self.next()
    }

    fn value(&mut self, depth: usize) -> Result<Value, ReadError> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| ReadError::Limit(too_deep()))?;
        match self.next_token()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => Ok(Value::string(self.string()?)),
            b't' => self.literal("true", Value::Bool(true)),
            b'f' => self.literal("false", Value::Bool(false)),
            b'n' => self.literal("null", Value::Nil),
            byte @ (b'-' | b'0'..=b'9') => self.number(byte),
            byte => Err(invalid(byte, "looking for beginning of value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, ReadError> {
        let mut entries = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.position += 1;
            return Ok(Value::map::<Vec<u8>>(entries));
        }
        loop {
            match self.next_token()? {
                b'"' => {}
                byte => return Err(invalid(byte, "looking for beginning of object key string")),
            }
            let key = self.string()?;
            match self.next_token()? {
                b':' => {}
                byte => return Err(invalid(byte, "after object key")),
            }
            entries.push((key, self.value(depth)?));
            match self.next_token()? {
                b',' => {}
                b'}' => return Ok(Value::map(entries)),
                byte => return Err(invalid(byte, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, ReadError> {
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.position += 1;
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value(depth)?);
            match self.next_token()? {
                b',' => {}
                b']' => return Ok(Value::list(items)),
                byte => return Err(invalid(byte, "after array element")),
            }
        }
    }

    fn literal(&mut self, name: &str, value: Value) -> Result<Value, ReadError> {
        for expected in name.bytes().skip(1) {
            let byte = self.next_inside();
            if byte != expected {
                let expected = char::from(expected);
                let context = format!("in literal {name} (expecting '{expected}')");
                return Err(invalid(byte, &context));
            }
        }
        Ok(value)
    }

    fn number(&mut self, first: u8) -> Result<Value, ReadError> {
        let start = self.position - 1;
        let mut digit = first;
        if first == b'-' {
            digit = self.next_inside();
            if !digit.is_ascii_digit() {
                return Err(invalid(digit, "in numeric literal"));
            }
        }
        if digit != b'0' {
            self.skip_digits();
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = self.text.get(start..self.position).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => {
                self.overflow.get_or_insert_with(|| {
                    format!("json: cannot unmarshal number {text} into Go value of type float64")
                });
                Ok(Value::Nil)
            }
        }
    }

    fn digits(&mut self, context: &str) -> Result<(), ReadError> {
        let byte = self.next_inside();
        if !byte.is_ascii_digit() {
            return Err(invalid(byte, context));
        }
        self.skip_digits();
        Ok(())
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
    }

    /// The rest of a string. What is not UTF-8, and half a surrogate pair, become U+FFFD.
    fn string(&mut self) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Ok(crate::runes::text_of(&bytes).into_bytes()),
                b'\\' => {
                    let character = self.escape()?;
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                byte @ 0..0x20 => return Err(invalid(byte, "in string literal")),
                byte => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        Ok(match self.next_inside() {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'u' => return self.unicode_escape(),
            byte => return Err(invalid(byte, "in string escape code")),
        })
    }

    fn unicode_escape(&mut self) -> Result<char, ReadError> {
        let high = self.hexadecimal()?;
        if !(0xd800..0xdc00).contains(&high) {
            return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let after = self.position;
        if self
            .text
            .get(after..)
            .is_some_and(|rest| rest.starts_with(b"\\u"))
        {
            self.position += 2;
            let low = self.hexadecimal()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // The second escape stands for itself.
            self.position = after;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hexadecimal(&mut self) -> Result<u32, ReadError> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.next_inside();
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(invalid(byte, "in \\u hexadecimal character escape"));
            };
            code = code << 4 | digit;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_errors_have_the_texts_of_go() {
        for (text, expected) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("-", "invalid character ' ' in numeric literal"),
            ("x", "invalid character 'x' looking for beginning of value"),
            (
                "'",
                r"invalid character '\'' looking for beginning of value",
            ),
            (
                "{a",
                "invalid character 'a' looking for beginning of object key string",
            ),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (
                r#"{"a":1 2}"#,
                "invalid character '2' after object key:value pair",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            (
                "[1,]",
                "invalid character ']' looking for beginning of value",
            ),
            ("01", "invalid character '1' after top-level value"),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            (
                "1ex",
                "invalid character 'x' in exponent of numeric literal",
            ),
            ("-x", "invalid character 'x' in numeric literal"),
            (
                "nul1",
                "invalid character '1' in literal null (expecting 'l')",
            ),
            ("\"\n\"", r"invalid character '\n' in string literal"),
            (r#""\x""#, "invalid character 'x' in string escape code"),
            (
                r#""\u12x""#,
                "invalid character 'x' in \\u hexadecimal character escape",
            ),
        ] {
            let found = match read(text.as_bytes()) {
                Err(ReadError::Syntax(message)) => message,
                other => format!("{other:?}"),
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
