//! `strconv.Quote` and `strconv.Unquote`.

use super::unicode::{RUNE_ERROR, decode_rune, is_print, runes};

/// `strconv.Quote`: a Go string literal in double quotes; printable Unicode stays as it is.
pub fn quote(text: &[u8]) -> Vec<u8> {
    quote_with(text, b'"', false)
}

/// `strconv.QuoteToASCII`.
pub fn quote_to_ascii(text: &[u8]) -> Vec<u8> {
    quote_with(text, b'"', true)
}

/// `strconv.QuoteRune`, or `QuoteRuneToASCII`.
pub fn quote_rune(character: char, ascii: bool) -> Vec<u8> {
    let mut out = vec![b'\''];
    append_escaped(&mut out, character, b'\'', ascii);
    out.push(b'\'');
    out
}

fn quote_with(text: &[u8], mark: u8, ascii: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(mark);
    for (offset, character, width) in runes(text) {
        if width == 1 && character == RUNE_ERROR {
            append_byte(&mut out, text[offset]);
        } else {
            append_escaped(&mut out, character, mark, ascii);
        }
    }
    out.push(mark);
    out
}

fn append_byte(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
}

fn append_escaped(out: &mut Vec<u8>, character: char, mark: u8, ascii: bool) {
    if character == char::from(mark) || character == '\\' {
        out.extend([b'\\', character as u8]);
        return;
    }
    if is_print(character) && (!ascii || character.is_ascii()) {
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let letter = match character {
        '\x07' => b'a',
        '\x08' => b'b',
        '\x0C' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\x0B' => b'v',
        '\0'..=' ' | '\x7F' => return append_byte(out, character as u8),
        _ => {
            let code = u32::from(character);
            let text = if code < 0x10000 {
                format!("\\u{code:04x}")
            } else {
                format!("\\U{code:08x}")
            };
            return out.extend_from_slice(text.as_bytes());
        }
    };
    out.extend([b'\\', letter]);
}

/// `strconv.CanBackquote`: whether a text can stand in back quotes on one line.
pub fn can_backquote(text: &[u8]) -> bool {
    runes(text).all(|(_, character, width)| match character {
        RUNE_ERROR => width > 1,
        '\u{FEFF}' | '`' | '\x7F' => false,
        '\t' => true,
        other => other >= ' ',
    })
}

/// A literal that Go does not read (`strconv.ErrSyntax`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid syntax")]
pub struct SyntaxError;

/// `strconv.Unquote` of a string in double quotes or back quotes.
///
/// # Errors
/// When the literal is malformed.
pub fn unquote(literal: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    let (&mark, rest) = literal.split_first().ok_or(SyntaxError)?;
    let (&last, body) = rest.split_last().ok_or(SyntaxError)?;
    if mark != last {
        return Err(SyntaxError);
    }
    match mark {
        b'`' if body.contains(&b'`') => Err(SyntaxError),
        b'`' => Ok(body.iter().copied().filter(|&byte| byte != b'\r').collect()),
        b'"' => unquote_body(body),
        _ => Err(SyntaxError),
    }
}

fn unquote_body(mut body: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    let means_itself = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\"\\".contains(byte);
    if body.iter().all(means_itself) {
        return Ok(body.to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    while let Some(&first) = body.first() {
        if first == b'\n' {
            return Err(SyntaxError);
        }
        let (unquoted, rest) = unquote_char(body, b'"')?;
        match unquoted {
            Unquoted::Byte(byte) => out.push(byte),
            Unquoted::Char(character) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        body = rest;
    }
    Ok(out)
}

/// One character of a literal: `\xff` and `\377` are bytes, everything else is a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unquoted {
    /// A byte.
    Byte(u8),
    /// A character.
    Char(char),
}

impl Unquoted {
    /// The number that a character constant has.
    pub fn code(self) -> u32 {
        match self {
            Self::Byte(byte) => byte.into(),
            Self::Char(character) => character.into(),
        }
    }
}

/// `strconv.UnquoteChar`: the first character of a literal's body, and what follows it.
///
/// # Errors
/// When it is malformed, or an unescaped quotation mark.
pub fn unquote_char(body: &[u8], mark: u8) -> Result<(Unquoted, &[u8]), SyntaxError> {
    let &first = body.first().ok_or(SyntaxError)?;
    if first == mark && (mark == b'\'' || mark == b'"') {
        return Err(SyntaxError);
    }
    if first != b'\\' {
        let (character, width) = decode_rune(body);
        return Ok((Unquoted::Char(character), &body[width..]));
    }
    let &letter = body.get(1).ok_or(SyntaxError)?;
    let rest = &body[2..];
    let simple = |character| Ok((Unquoted::Char(character), rest));
    match letter {
        b'a' => simple('\x07'),
        b'b' => simple('\x08'),
        b'f' => simple('\x0C'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'v' => simple('\x0B'),
        b'\\' => simple('\\'),
        b'\'' | b'"' if letter == mark => simple(char::from(letter)),
        b'x' => hexadecimal(rest, 2).map(|(code, rest)| (Unquoted::Byte(code as u8), rest)),
        b'u' | b'U' => {
            let (code, rest) = hexadecimal(rest, if letter == b'u' { 4 } else { 8 })?;
            let character = char::from_u32(code).ok_or(SyntaxError)?;
            Ok((Unquoted::Char(character), rest))
        }
        b'0'..=b'7' => octal(&body[1..]),
        _ => Err(SyntaxError),
    }
}

fn hexadecimal(body: &[u8], count: usize) -> Result<(u32, &[u8]), SyntaxError> {
    let digits = body.get(..count).ok_or(SyntaxError)?;
    let code = digits.iter().try_fold(0, |code: u32, &digit| {
        Some(code.wrapping_shl(4) | char::from(digit).to_digit(16)?)
    });
    Ok((code.ok_or(SyntaxError)?, &body[count..]))
}

fn octal(body: &[u8]) -> Result<(Unquoted, &[u8]), SyntaxError> {
    let digits = body.get(..3).ok_or(SyntaxError)?;
    let code = digits.iter().try_fold(0, |code: u32, &digit| {
        Some(code << 3 | char::from(digit).to_digit(8)?)
    });
    let byte = code
        .and_then(|code| u8::try_from(code).ok())
        .ok_or(SyntaxError)?;
    Ok((Unquoted::Byte(byte), &body[3..]))
}
