//! Single encrypted values.
//!
//! **Source**: `aes/cipher.go` of SOPS 3.13.3.

use aes_gcm::aead::consts::U32;
use aes_gcm::aead::generic_array::GenericArray;
use aes_gcm::aes::Aes256;
use aes_gcm::{AeadInPlace, AesGcm, KeyInit};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use zeroize::Zeroizing;

use crate::error::ValueProblem;
use crate::tree::Node;

/// What every encrypted value starts with.
pub(crate) const PREFIX: &str = "ENC[AES256_GCM,data:";

const NONCE_BYTES: usize = 32;
const TAG_BYTES: usize = 16;

/// Decrypts values with the data key of a file.
pub(crate) struct Cipher(AesGcm<Aes256, U32>);

impl Cipher {
    /// None unless the key has 32 bytes.
    pub(crate) fn new(data_key: &[u8]) -> Option<Self> {
        AesGcm::new_from_slice(data_key).ok().map(Self)
    }

    /// Decrypts a value that was encrypted together with `additional` data. Empty texts are never encrypted.
    pub(crate) fn decrypt(&self, value: &str, additional: &str) -> Result<Node, ValueProblem> {
        if value.is_empty() {
            return Ok(Node::Text(Vec::new()));
        }
        let parts = Parts::of(value).ok_or(ValueProblem::Form)?;
        let nonce = decode(parts.nonce, NONCE_BYTES)?;
        let tag = decode(parts.tag, TAG_BYTES)?;
        let mut data = Zeroizing::new(
            BASE64_STANDARD
                .decode(parts.data)
                .map_err(|_| ValueProblem::Form)?,
        );
        self.0
            .decrypt_in_place_detached(
                GenericArray::from_slice(&nonce),
                additional.as_bytes(),
                &mut data,
                GenericArray::from_slice(&tag),
            )
            .map_err(|_| ValueProblem::Authentication)?;
        typed(std::mem::take(&mut *data), parts.kind)
    }
}

/// Whether a text is in the form of an encrypted value.
pub(crate) fn looks_encrypted(text: &str) -> bool {
    Parts::of(text).is_some()
}

struct Parts<'a> {
    data: &'a str,
    nonce: &'a str,
    tag: &'a str,
    kind: &'a str,
}

impl<'a> Parts<'a> {
    fn of(value: &'a str) -> Option<Self> {
        let rest = value.strip_prefix(PREFIX)?.strip_suffix(']')?;
        let (data, rest) = rest.split_once(",iv:")?;
        let (nonce, rest) = rest.split_once(",tag:")?;
        let (tag, kind) = rest.split_once(",type:")?;
        Some(Self {
            data,
            nonce,
            tag,
            kind,
        })
    }
}

fn decode(text: &str, length: usize) -> Result<Vec<u8>, ValueProblem> {
    let bytes = BASE64_STANDARD
        .decode(text)
        .map_err(|_| ValueProblem::Form)?;
    if bytes.len() == length {
        Ok(bytes)
    } else {
        Err(ValueProblem::Form)
    }
}

fn typed(bytes: Vec<u8>, kind: &str) -> Result<Node, ValueProblem> {
    match kind {
        "str" | "bytes" => return Ok(Node::Text(bytes)),
        "comment" => return Ok(Node::Comment(bytes)),
        _ => {}
    }
    let text = String::from_utf8(bytes).map_err(|_| ValueProblem::Type)?;
    let node = match kind {
        "int" => text.parse().ok().map(Node::Int),
        "float" => text.parse().ok().map(Node::Float),
        "bool" => boolean(&text).map(Node::Bool),
        "time" => Some(Node::Time(text)),
        _ => None,
    };
    node.ok_or(ValueProblem::Type)
}

/// The texts that Go takes for booleans; SOPS writes `True` and `False`.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value under a key of zeros and the additional data `a:`.
    fn encrypted(kind: &str, plain: &[u8]) -> String {
        let cipher = Cipher::new(&[0; 32]).unwrap();
        let mut data = plain.to_vec();
        let nonce = [7; NONCE_BYTES];
        let tag = cipher
            .0
            .encrypt_in_place_detached(GenericArray::from_slice(&nonce), b"a:", &mut data)
            .unwrap();
        format!(
            "{PREFIX}{},iv:{},tag:{},type:{kind}]",
            BASE64_STANDARD.encode(data),
            BASE64_STANDARD.encode(nonce),
            BASE64_STANDARD.encode(tag),
        )
    }

    #[test]
    fn values_come_back_with_their_type() {
        let cipher = Cipher::new(&[0; 32]).unwrap();
        let cases: [(&str, &[u8], Result<Node, ValueProblem>); 9] = [
            ("str", b"12", Ok(Node::text("12"))),
            ("str", b"\xFF", Ok(Node::Text(vec![0xFF]))),
            ("int", b"-12", Ok(Node::Int(-12))),
            ("float", b"1.5", Ok(Node::Float(1.5))),
            ("bool", b"True", Ok(Node::Bool(true))),
            ("bool", b"no", Err(ValueProblem::Type)),
            ("int", b"1.5", Err(ValueProblem::Type)),
            ("comment", b" c", Ok(Node::Comment(b" c".to_vec()))),
            ("unknown", b"x", Err(ValueProblem::Type)),
        ];
        for (kind, plain, expected) in cases {
            let value = encrypted(kind, plain);
            assert!(cipher.decrypt(&value, "a:") == expected, "{kind} {plain:?}");
        }
    }

    #[test]
    fn values_that_are_damaged_or_moved_do_not_decrypt() {
        let cipher = Cipher::new(&[0; 32]).unwrap();
        let value = encrypted("str", b"secret");
        for (value, additional, problem) in [
            (value.clone(), "b:", ValueProblem::Authentication),
            (
                value.replace("iv:BwcH", "iv:CwcH"),
                "a:",
                ValueProblem::Authentication,
            ),
            (value.replace("iv:BwcH", "iv:"), "a:", ValueProblem::Form),
            (
                value.replace("iv:BwcH", "iv:!!!!"),
                "a:",
                ValueProblem::Form,
            ),
            (value.replace(",tag:", ",tga:"), "a:", ValueProblem::Form),
            (format!("{value} "), "a:", ValueProblem::Form),
            ("plain".to_owned(), "a:", ValueProblem::Form),
        ] {
            assert!(
                cipher.decrypt(&value, additional) == Err(problem),
                "{value}"
            );
        }
    }
}
