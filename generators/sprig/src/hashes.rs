//! Checksums: `sha1sum`, `sha256sum`, `sha512sum` and `adler32sum` of Sprig 3.3.

use crate::declare::{bytes, fixed};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value};

const STRING: &[Type] = &[Type::String];
/// The largest prime below 2¹⁶, by which both halves of an Adler-32 checksum are reduced.
const ADLER_MODULUS: u32 = 65_521;

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        fixed("adler32sum", STRING, adler32_sum),
        fixed("sha1sum", STRING, digest_sum::<Sha1>),
        fixed("sha256sum", STRING, digest_sum::<Sha256>),
        fixed("sha512sum", STRING, digest_sum::<Sha512>),
    ]
}

fn digest_sum<D: Digest>(
    _runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    Ok(hexadecimal(&D::digest(&*bytes(arguments, 0))).into())
}

fn adler32_sum(_runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let (low, high) = bytes(arguments, 0)
        .iter()
        .fold((1_u32, 0_u32), |(low, high), byte| {
            let low = (low + u32::from(*byte)) % ADLER_MODULUS;
            (low, (high + low) % ADLER_MODULUS)
        });
    Ok((high << 16 | low).to_string().into())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}
