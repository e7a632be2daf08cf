//! Private keys of any kind.

use super::{
    SLOW_CHARGE,
    curves::{Curve, EcKey, SEED, ed25519_public, ed25519_sign},
    der::{
        INTEGER, NULL, OBJECT_IDENTIFIER, OCTET_STRING, Reader, SEQUENCE, element, group, integer,
    },
    montgomery::power,
    pem,
    primes::{next_prime, random},
    rsa::RsaKey,
    x509::{Algorithm, EC_PUBLIC_KEY, ED25519, RSA_ENCRYPTION},
};
use num_bigint::BigUint;
use whipstaff_gotemplate::{FunctionError, Runtime};

/// Bits of a DSA key's primes.
const DSA_BITS: (usize, usize) = (2048, 256);

/// A private key.
#[derive(Debug, Clone)]
pub(super) enum Key {
    Rsa(Box<RsaKey>),
    /// The modulus, the order, the generator, the public and the private number. Such a key signs no certificates.
    Dsa(Box<[BigUint; 5]>),
    Ec(EcKey),
    Ed25519([u8; SEED]),
}

impl Key {
    /// An RSA key of so many bits.
    pub(super) fn rsa(runtime: &mut dyn Runtime, bits: usize) -> Result<Self, FunctionError> {
        runtime.charge(SLOW_CHARGE * bits / 512)?;
        RsaKey::generate(runtime, bits).map(Box::new).map(Self::Rsa)
    }

    /// A key on the curve P-256.
    pub(super) fn ecdsa(runtime: &mut dyn Runtime) -> Result<Self, FunctionError> {
        EcKey::generate(runtime, Curve::P256).map(Self::Ec)
    }

    /// An Ed25519 key.
    pub(super) fn ed25519(runtime: &mut dyn Runtime) -> Result<Self, FunctionError> {
        let mut seed = [0; SEED];
        runtime.environment().random(&mut seed)?;
        Ok(Self::Ed25519(seed))
    }

    /// A DSA key with parameters of its own.
    pub(super) fn dsa(runtime: &mut dyn Runtime) -> Result<Self, FunctionError> {
        runtime.charge(SLOW_CHARGE * 4)?;
        let (large, small) = DSA_BITS;
        let (one, two) = (BigUint::from(1_u32), BigUint::from(2_u32));
        loop {
            let mut start = random(runtime, small)?;
            start.set_bit(small as u64 - 1, true);
            start.set_bit(0, true);
            let Some(order) = next_prime(&start, &two).filter(|it| it.bits() == small as u64)
            else {
                continue;
            };
            let mut start = random(runtime, large)?;
            start.set_bit(large as u64 - 1, true);
            let step = &order * &two;
            let start = &start - &start % &step + &one;
            let Some(modulus) = next_prime(&start, &step).filter(|it| it.bits() == large as u64)
            else {
                continue;
            };
            let exponent = (&modulus - &one) / &order;
            let mut base = two.clone();
            let mut generator = power(&base, &exponent, &modulus);
            while generator == one {
                base += &one;
                generator = power(&base, &exponent, &modulus);
            }
            let private = random(runtime, small)? % (&order - &one) + &one;
            let public = power(&generator, &private, &modulus);
            return Ok(Self::Dsa(Box::new([
                modulus, order, generator, public, private,
            ])));
        }
    }

    /// Reads a key from PEM.
    ///
    /// # Errors
    /// The text of Sprig's error; where it holds one of Go's decoder, one like it.
    pub(super) fn from_pem(text: &[u8]) -> Result<Self, String> {
        let block = pem::decode(text).ok_or_else(|| "no PEM data in input".to_owned())?;
        if block.kind == "PRIVATE KEY" {
            return Self::from_pkcs8(&block.bytes)
                .map_err(|error| format!("decoding PEM as PKCS#8: {error}"));
        }
        let Some(kind) = block.kind.strip_suffix(" PRIVATE KEY") else {
            return Err(format!(
                "no private key data in PEM block of type {}",
                block.kind
            ));
        };
        let failed = |error: String| format!("parsing {kind} private key from PEM: {error}");
        match kind {
            "RSA" => {
                let key = RsaKey::from_pkcs1(&block.bytes).map_err(failed)?;
                Ok(Self::Rsa(Box::new(key)))
            }
            "EC" => EcKey::from_sec1(&block.bytes, None)
                .map(Self::Ec)
                .map_err(failed),
            "DSA" => Self::dsa_from(&block.bytes)
                .ok_or_else(|| failed("asn1: structure error: malformed".to_owned())),
            _ => Err(format!("invalid private key type {}", block.kind)),
        }
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, String> {
        let malformed = || "asn1: structure error: malformed".to_owned();
        let mut body = Reader::new(der).sequence().ok_or_else(malformed)?;
        body.integer().ok_or_else(malformed)?;
        let mut algorithm = body.sequence().ok_or_else(malformed)?;
        let identifier = algorithm.read(OBJECT_IDENTIFIER).ok_or_else(malformed)?;
        let inner = body.read(OCTET_STRING).ok_or_else(malformed)?;
        let embedded = |kind: &str, error: String| {
            format!("x509: failed to parse {kind} private key embedded in PKCS#8: {error}")
        };
        match identifier {
            RSA_ENCRYPTION => RsaKey::from_pkcs1(inner)
                .map(|key| Self::Rsa(Box::new(key)))
                .map_err(|error| embedded("RSA", error)),
            EC_PUBLIC_KEY => EcKey::from_sec1(inner, algorithm.read(OBJECT_IDENTIFIER))
                .map(Self::Ec)
                .map_err(|error| embedded("EC", error)),
            ED25519 => {
                let seed = Reader::new(inner).read(OCTET_STRING);
                let seed = seed.ok_or_else(|| "x509: invalid Ed25519 private key".to_owned())?;
                let length = seed.len();
                seed.try_into()
                    .map(Self::Ed25519)
                    .map_err(|_| format!("x509: invalid Ed25519 private key length: {length}"))
            }
            _ => {
                Err("x509: PKCS#8 wrapping contained private key with unknown algorithm".to_owned())
            }
        }
    }

    fn dsa_from(der: &[u8]) -> Option<Self> {
        let mut body = Reader::new(der).sequence()?;
        body.integer()?;
        let mut number = || body.integer();
        Some(Self::Dsa(Box::new([
            number()?,
            number()?,
            number()?,
            number()?,
            number()?,
        ])))
    }

    /// The key as PEM, each kind in the form that Sprig gives it.
    pub(super) fn to_pem(&self) -> String {
        match self {
            Self::Rsa(key) => pem::encode("RSA PRIVATE KEY", &key.to_pkcs1()),
            Self::Ec(key) => pem::encode("EC PRIVATE KEY", &key.to_sec1()),
            Self::Dsa(numbers) => {
                let numbers: Vec<u8> = numbers.iter().flat_map(integer).collect();
                let der = group(SEQUENCE, &[&element(INTEGER, &[0]), &numbers]);
                pem::encode("DSA PRIVATE KEY", &der)
            }
            Self::Ed25519(seed) => {
                let algorithm = element(SEQUENCE, &element(OBJECT_IDENTIFIER, ED25519));
                let seed = element(OCTET_STRING, &element(OCTET_STRING, seed));
                let der = group(SEQUENCE, &[&element(INTEGER, &[0]), &algorithm, &seed]);
                pem::encode("PRIVATE KEY", &der)
            }
        }
    }

    /// The public key and its algorithm.
    ///
    /// # Errors
    /// The text of Go's error for a kind that signs no certificates.
    pub(super) fn public(&self) -> Result<(Algorithm, Vec<u8>), String> {
        match self {
            Self::Rsa(key) => Ok((RsaKey::algorithm(), key.public())),
            Self::Ec(key) => Ok((key.algorithm(), key.public())),
            Self::Ed25519(seed) => Ok((Algorithm::Ed25519, ed25519_public(seed))),
            Self::Dsa(_) => {
                Err("x509: certificate private key does not implement crypto.Signer".to_owned())
            }
        }
    }

    /// Signs with the algorithm that belongs to the key.
    ///
    /// # Errors
    /// As for [`Self::public`], or a key that is too small.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Rsa(key) => key.sign(message),
            Self::Ec(key) => key.sign(message),
            Self::Ed25519(seed) => Ok(ed25519_sign(seed, message)),
            Self::Dsa(_) => self.public().map(|(_, public)| public),
        }
    }
}

/// What follows an RSA identifier.
pub(super) fn null() -> Vec<u8> {
    element(NULL, &[])
}
