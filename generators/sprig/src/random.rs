//! Random texts and numbers.
//!
//! Mirrors Sprig 3.3 in what is drawn from and how much. All randomness is the environment's, drawn in the order of the calls, so
//! that an environment that repeats its bytes repeats the results.

use crate::{
    base_encoding::base64,
    declare::{bytes, fixed, int},
};
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value};

const COUNT: &[Type] = &[Type::Int];
const DIGITS: &[u8] = b"0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// From the space on.
const PRINTABLE: u64 = 95;

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        fixed("randAlphaNum", COUNT, |runtime, arguments| {
            letters(runtime, arguments, ALPHANUMERIC)
        }),
        fixed("randAlpha", COUNT, |runtime, arguments| {
            letters(runtime, arguments, LETTERS)
        }),
        fixed("randNumeric", COUNT, |runtime, arguments| {
            letters(runtime, arguments, DIGITS)
        }),
        fixed("randAscii", COUNT, ascii),
        fixed("randBytes", COUNT, random_bytes),
        fixed("randInt", &[Type::Int, Type::Int], random_integer),
        fixed("uuidv4", &[], uuid),
        fixed("shuffle", &[Type::String], shuffle),
    ]
}

/// A number below a bound, each as likely as the others. Draws that would favour small numbers are repeated.
pub(crate) fn below(runtime: &mut dyn Runtime, bound: u64) -> Result<u64, FunctionError> {
    let bound = bound.max(1);
    let limit = u64::MAX - (u64::MAX % bound + 1) % bound;
    loop {
        let mut buffer = [0; 8];
        runtime.environment().random(&mut buffer)?;
        let drawn = u64::from_be_bytes(buffer);
        if drawn <= limit {
            return Ok(drawn % bound);
        }
    }
}

/// A count, taken from the budget. A negative one gives nothing, as Sprig drops the error.
fn count(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<usize, FunctionError> {
    let count = usize::try_from(int(arguments, 0)).unwrap_or(0);
    runtime.charge(count)?;
    Ok(count)
}

fn letters(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
    alphabet: &[u8],
) -> Result<Value, FunctionError> {
    let count = count(runtime, arguments)?;
    let mut output = Vec::with_capacity(count);
    for _ in 0..count {
        let drawn = below(runtime, alphabet.len() as u64)?;
        output.extend(alphabet.get(drawn as usize));
    }
    Ok(Value::string(output))
}

fn ascii(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let count = count(runtime, arguments)?;
    let mut output = Vec::with_capacity(count);
    for _ in 0..count {
        output.push(b' ' + below(runtime, PRINTABLE)? as u8);
    }
    Ok(Value::string(output))
}

fn random_bytes(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let Ok(count) = usize::try_from(int(arguments, 0)) else {
        return Err(FunctionError::new(
            "runtime error: makeslice: len out of range",
        ));
    };
    runtime.charge(count.saturating_mul(3))?;
    let mut buffer = vec![0; count];
    runtime.environment().random(&mut buffer)?;
    Ok(base64(&buffer).into())
}

fn random_integer(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (low, high) = (int(arguments, 0), int(arguments, 1));
    let range = high.wrapping_sub(low);
    if range <= 0 {
        return Err(FunctionError::new("invalid argument to Intn"));
    }
    Ok(Value::int(
        low.wrapping_add(below(runtime, range.unsigned_abs())? as i64),
    ))
}

fn uuid(runtime: &mut dyn Runtime, _arguments: &[Value]) -> Result<Value, FunctionError> {
    let mut buffer = [0; 16];
    runtime.environment().random(&mut buffer)?;
    // Version four, and the variant of RFC 9562.
    let number = u128::from_be_bytes(buffer) & !(0xf000 << 64) & !(3 << 62);
    let number = number | 0x4000 << 64 | 2 << 62;
    let digits = format!("{number:032x}");
    let mut output = String::with_capacity(36);
    for (index, digit) in digits.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            output.push('-');
        }
        output.push(digit);
    }
    Ok(output.into())
}

fn shuffle(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    // Each byte that is not UTF-8 becomes a character of its own, as converting to runes does.
    let mut characters = Vec::with_capacity(input.len());
    for chunk in input.utf8_chunks() {
        characters.extend(chunk.valid().chars());
        characters.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    runtime.charge(characters.len().saturating_mul(size_of::<char>()))?;
    for index in (1..characters.len()).rev() {
        let other = below(runtime, index as u64 + 1)? as usize;
        characters.swap(index, other);
    }
    Ok(String::from_iter(characters).into())
}
