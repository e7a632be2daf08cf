//! Decrypts the values of a file in their order, and what they amount to: the message authentication code.
//!
//! **Source**: `Tree.Decrypt` in `sops.go` and `DecryptTree` in `cmd/sops/common/common.go` of SOPS 3.13.3.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha512};

use crate::cipher::{Cipher, PREFIX, looks_encrypted};
use crate::error::{SopsError, ValueProblem, shown};
use crate::metadata::Metadata;
use crate::tree::{Documents, Node};

/// What a code over encrypted values alone starts with, so that it is never one over all values: the SHA-256 of `sops`.
const MAC_ONLY_ENCRYPTED_START: [u8; 32] = [
    0x8a, 0x3f, 0xd2, 0xad, 0x54, 0xce, 0x66, 0x52, 0x7b, 0x10, 0x34, 0xf3, 0xd1, 0x47, 0xbe, 0x0b,
    0x0b, 0x97, 0x5b, 0x3b, 0xf4, 0x4f, 0x72, 0xc6, 0xfd, 0xad, 0xec, 0x81, 0x76, 0xf2, 0x7d, 0x69,
];

/// Decrypts all documents of a file and checks its message authentication code.
pub(crate) fn decrypt(
    documents: &mut Documents,
    metadata: &Metadata,
    cipher: &Cipher,
) -> Result<(), SopsError> {
    let mut walk = Walk {
        cipher,
        metadata,
        mac: Sha512::new(),
        path: String::new(),
    };
    if metadata.mac_only_encrypted {
        walk.mac.update(MAC_ONLY_ENCRYPTED_START);
    }
    for document in documents {
        walk.node(document, false)?;
    }
    let mut found = String::with_capacity(128);
    for byte in walk.mac.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(found, "{byte:02X}");
    }
    let expected = cipher
        .decrypt(&metadata.mac, &metadata.last_modified)
        .map_err(|_| SopsError::Mac)?;
    if expected.as_str() == Some(found.as_str()) {
        Ok(())
    } else {
        Err(SopsError::Mac)
    }
}

struct Walk<'a> {
    cipher: &'a Cipher,
    metadata: &'a Metadata,
    mac: Sha512,
    /// The keys to where the walk is, each followed by a colon.
    path: String,
}

impl Walk<'_> {
    /// `picked` says whether the file's rule picked a key on the path. Readers limit how deep this goes.
    fn node(&mut self, node: &mut Node, picked: bool) -> Result<(), SopsError> {
        match node {
            Node::Null => Ok(()),
            Node::Comment(text) => {
                self.comment(text);
                Ok(())
            }
            Node::List(items) => {
                for item in items.iter_mut() {
                    self.node(item, picked)?;
                }
                // Older versions kept comments as items.
                items.retain(|item| !matches!(item, Node::Comment(_)));
                Ok(())
            }
            Node::Map(entries) => self.entries(entries, picked),
            leaf => self.leaf(leaf, picked),
        }
    }

    fn entries(&mut self, entries: &mut [(String, Node)], picked: bool) -> Result<(), SopsError> {
        for (key, value) in entries {
            if let Node::Comment(text) = value {
                self.comment(text);
                continue;
            }
            let length = self.path.len();
            self.path.push_str(key);
            self.path.push(':');
            let picked = picked || self.metadata.rule.picks(key);
            self.node(value, picked)?;
            if matches!(value, Node::Comment(_)) {
                return Err(self.problem(ValueProblem::Type));
            }
            self.path.truncate(length);
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &mut Node, picked: bool) -> Result<(), SopsError> {
        let looks = leaf.as_str().is_some_and(looks_encrypted);
        let encrypted = self.metadata.rule.decides(picked).unwrap_or(looks);
        if encrypted {
            let Node::Text(text) = &*leaf else {
                return Err(self.problem(ValueProblem::Plain));
            };
            let text = std::str::from_utf8(text).map_err(|_| self.problem(ValueProblem::Plain))?;
            if !looks && !text.is_empty() {
                let problem = if text.starts_with(PREFIX) {
                    ValueProblem::Form
                } else {
                    ValueProblem::Plain
                };
                return Err(self.problem(problem));
            }
            let decrypted = self.cipher.decrypt(text, &self.additional());
            *leaf = decrypted.map_err(|problem| self.problem(problem))?;
        }
        if encrypted || !self.metadata.mac_only_encrypted {
            authenticate(&mut self.mac, leaf);
        }
        Ok(())
    }

    /// Comments are not authenticated, and may be readable in files of any age.
    fn comment(&self, text: &mut Vec<u8>) {
        let decrypted = std::str::from_utf8(text)
            .ok()
            .and_then(|text| self.cipher.decrypt(text, &self.additional()).ok());
        if let Some(Node::Comment(plain) | Node::Text(plain)) = decrypted {
            *text = plain;
        }
    }

    /// What a value here was encrypted together with.
    fn additional(&self) -> String {
        if self.path.is_empty() {
            ":".to_owned()
        } else {
            self.path.clone()
        }
    }

    fn problem(&self, problem: ValueProblem) -> SopsError {
        SopsError::Value {
            key: shown(self.path.strip_suffix(':').unwrap_or_default()),
            problem,
        }
    }
}

/// Adds a value to the message authentication code.
fn authenticate(mac: &mut Sha512, leaf: &Node) {
    match leaf {
        Node::Bool(true) => mac.update("True"),
        Node::Bool(false) => mac.update("False"),
        Node::Int(number) => mac.update(number.to_string()),
        Node::Float(number) => mac.update(go_float(*number)),
        Node::Text(bytes) => mac.update(bytes),
        Node::Time(text) => mac.update(text),
        Node::Null | Node::Comment(_) | Node::List(_) | Node::Map(_) => {}
    }
}

/// A float without an exponent, as Go's `FormatFloat(…, 'f', -1, 64)` writes it.
fn go_float(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        let sign = if number > 0.0 { '+' } else { '-' };
        format!("{sign}Inf")
    } else {
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_go_does() {
        for (number, text) in [
            (2.0, "2"),
            (0.25, "0.25"),
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (-0.0, "-0"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(go_float(number), text);
        }
    }
}
