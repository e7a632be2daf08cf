//! `bcrypt`, `htpasswd` and `derivePassword`.

use super::SLOW_CHARGE;
use crate::declare::{bytes, fixed, int};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value};

/// Go's `bcrypt.DefaultCost`.
const BCRYPT_COST: u32 = 10;
const BCRYPT_MAX_LENGTH: usize = 72;
const BCRYPT_ALPHABET: &[u8] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The name space of the Master Password algorithm.
const MASTER_PASSWORD: &[u8] = b"com.lyndir.masterpassword";
/// The logarithm of scrypt's cost, and its other parameters, as the algorithm fixes them.
const SCRYPT: (u8, u32, u32) = (15, 8, 2);
const SCRYPT_LENGTH: usize = 64;

/// The functions of this module.
pub(super) fn functions() -> Vec<Function> {
    use Type::{String, Uint32};
    vec![
        fixed("bcrypt", &[String], bcrypt_function),
        fixed("htpasswd", &[String, String], htpasswd),
        fixed(
            "derivePassword",
            &[Uint32, String, String, String, String],
            derive_password,
        ),
    ]
}

fn bcrypt_function(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    hash(runtime, &bytes(arguments, 0)).map(Value::from)
}

fn htpasswd(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let user = bytes(arguments, 0);
    if user.contains(&b':') {
        return Ok(Value::string([b"invalid username: ", &*user].concat()));
    }
    let hash = hash(runtime, &bytes(arguments, 1))?;
    Ok(Value::string([&*user, b":", hash.as_bytes()].concat()))
}

/// A hash in the form of `$2a$10$…`, or the text of Go's error.
fn hash(runtime: &mut dyn Runtime, password: &[u8]) -> Result<String, FunctionError> {
    if password.len() > BCRYPT_MAX_LENGTH {
        let reason = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {reason}"));
    }
    runtime.charge(SLOW_CHARGE)?;
    let mut salt = [0; 16];
    runtime.environment().random(&mut salt)?;
    // The zero that ends the password belongs to it; a password of full length has no place for it.
    let mut input = [password, b"\0"].concat();
    input.truncate(BCRYPT_MAX_LENGTH);
    let hash = bcrypt::bcrypt(BCRYPT_COST, salt, &input);
    // The last byte is dropped, as every implementation does.
    let hash = hash.get(..23).unwrap_or_default();
    Ok(format!(
        "$2a${BCRYPT_COST}${}{}",
        bcrypt_base64(&salt),
        bcrypt_base64(hash)
    ))
}

/// Base64 in the order of bcrypt's alphabet, without padding.
fn bcrypt_base64(bytes: &[u8]) -> String {
    let mut output = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |group, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for position in 0..=chunk.len() {
            let digit = group >> (18 - 6 * position) & 63;
            output.extend(
                BCRYPT_ALPHABET
                    .get(digit as usize)
                    .map(|byte| char::from(*byte)),
            );
        }
    }
    output
}

fn derive_password(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let counter = int(arguments, 0) as u32;
    let [kind, password, user, site] = [1, 2, 3, 4].map(|index| bytes(arguments, index));
    let Some(templates) = templates(&kind) else {
        return Ok(Value::string(
            [b"cannot find password template ", &*kind].concat(),
        ));
    };
    runtime.charge(SLOW_CHARGE)?;
    let internal = |error: &dyn std::fmt::Display| FunctionError::new(error.to_string());
    let salt = [MASTER_PASSWORD, &(user.len() as u32).to_be_bytes(), &user].concat();
    let (cost, block, parallel) = SCRYPT;
    let parameters = scrypt::Params::new(cost, block, parallel, SCRYPT_LENGTH)
        .map_err(|error| internal(&error))?;
    let mut key = [0; SCRYPT_LENGTH];
    scrypt::scrypt(&password, &salt, &parameters, &mut key).map_err(|error| internal(&error))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| internal(&error))?;
    for part in [
        MASTER_PASSWORD,
        &(site.len() as u32).to_be_bytes(),
        &site,
        &counter.to_be_bytes(),
    ] {
        mac.update(part);
    }
    let seed = mac.finalize().into_bytes();
    let pick = |index: usize| usize::from(seed.get(index).copied().unwrap_or_default());
    let template = templates
        .get(pick(0) % templates.len())
        .copied()
        .unwrap_or_default();
    let characters = template.bytes().enumerate().filter_map(|(index, class)| {
        let class = class_of(class).as_bytes();
        class.get(pick(index + 1) % class.len().max(1)).copied()
    });
    Ok(Value::string(characters.collect::<Vec<_>>()))
}

/// The forms of a kind of password, by classes of characters.
fn templates(kind: &[u8]) -> Option<&'static [&'static str]> {
    Some(match kind {
        b"maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        b"long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        b"medium" => &["CvcnoCvc", "CvcCvcno"],
        b"short" => &["Cvcn"],
        b"basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        b"pin" => &["nnnn"],
        _ => return None,
    })
}

fn class_of(letter: u8) -> &'static str {
    match letter {
        b'V' => "AEIOU",
        b'C' => "BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => "aeiou",
        b'c' => "bcdfghjklmnpqrstvwxyz",
        b'a' => "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => "0123456789",
        b'o' => "@&%?,=[]_:-+*$#!'^~;()/.",
        b'x' => "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
        _ => "",
    }
}
