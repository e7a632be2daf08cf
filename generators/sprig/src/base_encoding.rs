//! Base64 and base32 as Go's `encoding/base64` and `encoding/base32` read and write them.
//!
//! Mirrors `b64enc`, `b64dec`, `b32enc` and `b32dec` of Sprig 3.3: bad input yields the error's text as the result.

use crate::declare::{bytes, fixed};
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const STRING: &[Type] = &[Type::String];

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        fixed("b64enc", STRING, encode64),
        fixed("b64dec", STRING, decode64),
        fixed("b32enc", STRING, encode32),
        fixed("b32dec", STRING, decode32),
    ]
}

fn encode64(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    runtime.charge(input.len().div_ceil(3).saturating_mul(4))?;
    Ok(base64(&input).into())
}

fn decode64(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    runtime.charge(input.len())?;
    Ok(match from_base64(&input) {
        Ok(bytes) => Value::string(bytes),
        Err(offset) => base64_error(offset).into(),
    })
}

fn encode32(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    runtime.charge(input.len().div_ceil(5).saturating_mul(8))?;
    Ok(base32(&input).into())
}

fn decode32(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    runtime.charge(input.len())?;
    Ok(match from_base32(&input) {
        Ok(bytes) => Value::string(bytes),
        Err(offset) => format!("illegal base32 data at input byte {offset}").into(),
    })
}

/// The text of Go's `base64.CorruptInputError`.
pub(crate) fn base64_error(offset: usize) -> String {
    format!("illegal base64 data at input byte {offset}")
}

/// Standard base64 with padding.
pub(crate) fn base64(input: &[u8]) -> String {
    let mut output = String::with_capacity(input.len().div_ceil(3) * 4);
    for chunk in input.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |group, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for position in 0..4 {
            if position > chunk.len() {
                output.push('=');
                continue;
            }
            output.push(symbol(BASE64, group >> (18 - 6 * position)));
        }
    }
    output
}

fn base32(input: &[u8]) -> String {
    let mut output = String::with_capacity(input.len().div_ceil(5) * 8);
    for chunk in input.chunks(5) {
        let group = chunk
            .iter()
            .fold(0_u64, |group, byte| group << 8 | u64::from(*byte))
            << (8 * (5 - chunk.len()));
        let used = (chunk.len() * 8).div_ceil(5);
        for position in 0..8 {
            if position >= used {
                output.push('=');
                continue;
            }
            output.push(symbol(BASE32, (group >> (35 - 5 * position)) as u32));
        }
    }
    output
}

/// A digit of an alphabet whose length is a power of two.
fn symbol(alphabet: &[u8], digit: u32) -> char {
    alphabet
        .get(digit as usize & (alphabet.len() - 1))
        .map_or('=', |byte| char::from(*byte))
}

fn digit(alphabet: &[u8], symbol: u8) -> Option<u32> {
    alphabet
        .iter()
        .position(|candidate| *candidate == symbol)
        .map(|digit| digit as u32)
}

/// Reads standard base64. Line ends are skipped wherever they stand.
///
/// # Errors
/// The offset that Go reports.
pub(crate) fn from_base64(input: &[u8]) -> Result<Vec<u8>, usize> {
    let mut output = Vec::with_capacity(input.len() / 4 * 3);
    let mut at = 0;
    while at < input.len() {
        at = quantum64(input, at, &mut output)?;
    }
    Ok(output)
}

/// Reads up to four digits from an offset, and gives the offset behind them.
fn quantum64(input: &[u8], start: usize, output: &mut Vec<u8>) -> Result<usize, usize> {
    let mut at = start;
    let mut group = 0_u32;
    let mut count = 0;
    while count < 4 {
        let Some(byte) = input.get(at).copied() else {
            // Only line ends were left, or digits are missing.
            return if count == 0 { Ok(at) } else { Err(at - count) };
        };
        at += 1;
        if let Some(digit) = digit(BASE64, byte) {
            group = group << 6 | digit;
            count += 1;
            continue;
        }
        match byte {
            b'\n' | b'\r' => {}
            b'=' if count >= 2 => {
                at = padding64(input, at, count)?;
                push(output, u64::from(group) << (6 * (4 - count)), 3, count - 1);
                return Ok(at);
            }
            _ => return Err(at - 1),
        }
    }
    push(output, u64::from(group), 3, 3);
    Ok(at)
}

/// Checks what follows the first padding character.
fn padding64(input: &[u8], at: usize, count: usize) -> Result<usize, usize> {
    let mut at = at;
    if count == 2 {
        at = skip_line_ends(input, at);
        match input.get(at) {
            None => return Err(input.len()),
            Some(b'=') => at += 1,
            Some(_) => return Err(at - 1),
        }
    }
    at = skip_line_ends(input, at);
    if at < input.len() { Err(at) } else { Ok(at) }
}

fn skip_line_ends(input: &[u8], at: usize) -> usize {
    let rest = input.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'))
        .count()
}

/// Appends the first `count` of a group's `width` bytes.
fn push(output: &mut Vec<u8>, group: u64, width: usize, count: usize) {
    output.extend((0..count).map(|index| (group >> (8 * (width - 1 - index))) as u8));
}

fn from_base32(input: &[u8]) -> Result<Vec<u8>, usize> {
    let input: Vec<u8> = input
        .iter()
        .copied()
        .filter(|byte| !matches!(byte, b'\n' | b'\r'))
        .collect();
    let mut output = Vec::with_capacity(input.len() / 8 * 5);
    for start in (0..input.len()).step_by(8) {
        let (group, count) = quantum32(&input, start)?;
        push(&mut output, group << (5 * (8 - count)), 5, count * 5 / 8);
        if count < 8 {
            break;
        }
    }
    Ok(output)
}

/// Reads up to eight digits from an offset, and tells how many there were before the padding.
fn quantum32(input: &[u8], start: usize) -> Result<(u64, usize), usize> {
    let mut group = 0_u64;
    for count in 0..8 {
        let at = start + count;
        let Some(byte) = input.get(at).copied() else {
            return Err(start);
        };
        if byte == b'=' && count >= 2 && input.len() - at <= 8 {
            padding32(input, at, count)?;
            return Ok((group, count));
        }
        let digit = digit(BASE32, byte).ok_or(at)?;
        group = group << 5 | u64::from(digit);
    }
    Ok((group, 8))
}

/// Checks the padding that starts at an offset.
fn padding32(input: &[u8], at: usize, count: usize) -> Result<(), usize> {
    let rest = input.get(at + 1..).unwrap_or_default();
    if rest.len() + count < 7 {
        return Err(input.len());
    }
    if let Some(offset) = rest.iter().take(7 - count).position(|byte| *byte != b'=') {
        return Err(at + offset);
    }
    if matches!(count, 1 | 3 | 6) {
        Err(at)
    } else {
        Ok(())
    }
}
