//! `encryptAES` and `decryptAES`: AES-256-CBC under a password that is cut or filled with zeros to the size of a key.

use crate::{
    base_encoding::{base64, base64_error, from_base64},
    declare::{bytes, fixed},
};
use aes::Aes256;
use aes::cipher::{
    BlockDecryptMut, BlockEncryptMut, KeyIvInit,
    block_padding::{NoPadding, Pkcs7},
};
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value};

const TWO: &[Type] = &[Type::String, Type::String];
const BLOCK: usize = 16;
const KEY: usize = 32;

/// The functions of this module.
pub(super) fn functions() -> Vec<Function> {
    vec![
        fixed("encryptAES", TWO, encrypt),
        fixed("decryptAES", TWO, decrypt),
    ]
}

fn key(password: &[u8]) -> [u8; KEY] {
    let mut key = [0; KEY];
    for (to, from) in key.iter_mut().zip(password) {
        *to = *from;
    }
    key
}

fn encrypt(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let plain = bytes(arguments, 1);
    if plain.is_empty() {
        return Ok("".into());
    }
    runtime.charge(plain.len().saturating_add(2 * BLOCK).saturating_mul(2))?;
    let mut vector = [0; BLOCK];
    runtime.environment().random(&mut vector)?;
    let cipher = cbc::Encryptor::<Aes256>::new(&key(&bytes(arguments, 0)).into(), &vector.into());
    let mut output = vector.to_vec();
    let mut padded = plain.to_vec();
    padded.resize((plain.len() / BLOCK + 1) * BLOCK, 0);
    let encrypted = cipher
        .encrypt_padded_mut::<Pkcs7>(&mut padded, plain.len())
        .map_err(|error| FunctionError::new(error.to_string()))?;
    output.extend_from_slice(encrypted);
    Ok(base64(&output).into())
}

fn decrypt(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let encoded = bytes(arguments, 1);
    if encoded.is_empty() {
        return Ok("".into());
    }
    runtime.charge(encoded.len())?;
    let encrypted =
        from_base64(&encoded).map_err(|offset| FunctionError::new(base64_error(offset)))?;
    let Some((vector, body)) = encrypted.split_first_chunk::<BLOCK>() else {
        let capacity = encoded.len() / 4 * 3;
        let message =
            format!("runtime error: slice bounds out of range [:{BLOCK}] with capacity {capacity}");
        return Err(FunctionError::new(message));
    };
    if body.len() % BLOCK != 0 {
        return Err(FunctionError::new("crypto/cipher: input not full blocks"));
    }
    let cipher = cbc::Decryptor::<Aes256>::new(&key(&bytes(arguments, 0)).into(), vector.into());
    let mut body = body.to_vec();
    let plain = cipher
        .decrypt_padded_mut::<NoPadding>(&mut body)
        .map_err(|error| FunctionError::new(error.to_string()))?;
    // The last byte tells how long the padding is; Go does not look at the rest of it.
    let Some(padding) = plain.last() else {
        return Err(FunctionError::new("runtime error: index out of range [-1]"));
    };
    let length = plain.len() as i64 - i64::from(*padding);
    let plain = usize::try_from(length)
        .ok()
        .and_then(|length| plain.get(..length));
    plain.map(Value::string).ok_or_else(|| {
        FunctionError::new(format!(
            "runtime error: slice bounds out of range [:{length}]"
        ))
    })
}
