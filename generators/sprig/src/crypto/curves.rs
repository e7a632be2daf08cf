//! Elliptic curves: ECDSA on the curves of NIST that are in use for certificates, P-256 and P-384, and Ed25519.

use super::{
    der::{
        INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, Reader, SEQUENCE, bits, context, element, group,
        integer,
    },
    x509::Algorithm,
};
use ed25519_dalek::Signer;
use num_bigint::BigUint;
use whipstaff_gotemplate::{FunctionError, Runtime};

/// Bytes of an Ed25519 key.
pub(super) const SEED: usize = 32;
/// The version that the form of SEC 1 has.
const SEC1_VERSION: u32 = 1;

/// A curve of NIST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    P384,
}

/// An ECDSA key.
#[derive(Debug, Clone)]
pub(super) struct EcKey {
    curve: Curve,
    /// The number, as wide as the curve's order.
    scalar: Vec<u8>,
    /// The point that is public, uncompressed.
    point: Vec<u8>,
}

impl Curve {
    /// The curve of an object identifier.
    pub(super) fn of(identifier: &[u8]) -> Option<Self> {
        [Self::P256, Self::P384]
            .into_iter()
            .find(|curve| curve.identifier() == identifier)
    }

    /// The encoded object identifier.
    pub(super) fn identifier(self) -> &'static [u8] {
        match self {
            Self::P256 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
            Self::P384 => &[0x2b, 0x81, 0x04, 0x00, 0x22],
        }
    }

    fn width(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
        }
    }

    /// The public point of a number, uncompressed; nothing if the number is zero or too large.
    fn point(self, scalar: &[u8]) -> Option<Vec<u8>> {
        Some(match self {
            Self::P256 => {
                let key = p256::ecdsa::SigningKey::from_slice(scalar).ok()?;
                key.verifying_key()
                    .to_encoded_point(false)
                    .as_bytes()
                    .to_vec()
            }
            Self::P384 => {
                let key = p384::ecdsa::SigningKey::from_slice(scalar).ok()?;
                key.verifying_key()
                    .to_encoded_point(false)
                    .as_bytes()
                    .to_vec()
            }
        })
    }
}

impl EcKey {
    /// Makes a key.
    pub(super) fn generate(runtime: &mut dyn Runtime, curve: Curve) -> Result<Self, FunctionError> {
        loop {
            let mut scalar = vec![0; curve.width()];
            runtime.environment().random(&mut scalar)?;
            if let Some(point) = curve.point(&scalar) {
                return Ok(Self {
                    curve,
                    scalar,
                    point,
                });
            }
        }
    }

    /// Reads the form of SEC 1, whose curve may be given outside.
    ///
    /// # Errors
    /// The text of Go's error, or one like it.
    pub(super) fn from_sec1(der: &[u8], outer: Option<&[u8]>) -> Result<Self, String> {
        let malformed =
            || "x509: failed to parse EC private key: asn1: structure error: malformed".to_owned();
        let mut body = Reader::new(der).sequence().ok_or_else(malformed)?;
        let version = body.integer().ok_or_else(malformed)?;
        let mut scalar = body.read(OCTET_STRING).ok_or_else(malformed)?;
        if version != BigUint::from(SEC1_VERSION) {
            return Err(format!("x509: unknown EC private key version {version}"));
        }
        let inner = body.read(context(0, true));
        let inner = inner.and_then(|inner| Reader::new(inner).read(OBJECT_IDENTIFIER));
        let curve = outer.or(inner).and_then(Curve::of);
        let curve = curve.ok_or_else(|| "x509: unknown elliptic curve".to_owned())?;
        while scalar.len() > curve.width() {
            scalar = scalar
                .strip_prefix(&[0])
                .ok_or_else(|| "x509: invalid private key length".to_owned())?;
        }
        let scalar = [vec![0; curve.width() - scalar.len()], scalar.to_vec()].concat();
        let point = curve
            .point(&scalar)
            .ok_or_else(|| "ecdsa: invalid private key".to_owned())?;
        Ok(Self {
            curve,
            scalar,
            point,
        })
    }

    /// The form of SEC 1, with the curve and the public point.
    pub(super) fn to_sec1(&self) -> Vec<u8> {
        let curve = element(OBJECT_IDENTIFIER, self.curve.identifier());
        group(
            SEQUENCE,
            &[
                &element(INTEGER, &[SEC1_VERSION as u8]),
                &element(OCTET_STRING, &self.scalar),
                &element(context(0, true), &curve),
                &element(context(1, true), &bits(&self.point)),
            ],
        )
    }

    pub(super) fn public(&self) -> Vec<u8> {
        self.point.clone()
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        Algorithm::Ecdsa(self.curve)
    }

    /// A signature with the hash of the curve's size. Its number is derived from the message (RFC 6979), where Go draws one.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let invalid = |error: p256::ecdsa::Error| error.to_string();
        let numbers = match self.curve {
            Curve::P256 => {
                let key = p256::ecdsa::SigningKey::from_slice(&self.scalar).map_err(invalid)?;
                let signature: p256::ecdsa::Signature = key.sign(message);
                signature.to_bytes().to_vec()
            }
            Curve::P384 => {
                let key = p384::ecdsa::SigningKey::from_slice(&self.scalar).map_err(invalid)?;
                let signature: p384::ecdsa::Signature = key.sign(message);
                signature.to_bytes().to_vec()
            }
        };
        let (first, second) = numbers.split_at(numbers.len() / 2);
        let [first, second] = [first, second].map(|half| integer(&BigUint::from_bytes_be(half)));
        Ok(group(SEQUENCE, &[&first, &second]))
    }
}

/// The public key of an Ed25519 seed.
pub(super) fn ed25519_public(seed: &[u8; SEED]) -> Vec<u8> {
    ed25519_dalek::SigningKey::from_bytes(seed)
        .verifying_key()
        .to_bytes()
        .to_vec()
}

/// A signature with an Ed25519 seed.
pub(super) fn ed25519_sign(seed: &[u8; SEED], message: &[u8]) -> Vec<u8> {
    ed25519_dalek::SigningKey::from_bytes(seed)
        .sign(message)
        .to_bytes()
        .to_vec()
}
