//! RSA.

use super::{
    der::{INTEGER, NULL, OCTET_STRING, Reader, SEQUENCE, element, group, integer},
    montgomery::power,
    primes::{common_divisor, next_prime, random, remainder},
    x509::Algorithm,
};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};
use whipstaff_gotemplate::{FunctionError, Runtime};

const EXPONENT: u32 = 65_537;
/// The smallest key that Go signs with.
const MIN_BITS: u64 = 1024;
/// The largest key that this engine signs with.
const MAX_BITS: u64 = 16_384;
/// The object identifier of SHA-256.
const SHA_256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];

/// A private key of two primes.
#[derive(Debug, Clone)]
pub(super) struct RsaKey {
    modulus: BigUint,
    public_exponent: BigUint,
    private_exponent: BigUint,
    first: BigUint,
    second: BigUint,
}

impl RsaKey {
    /// Makes a key of so many bits.
    pub(super) fn generate(runtime: &mut dyn Runtime, bits: usize) -> Result<Self, FunctionError> {
        loop {
            let first = prime(runtime, bits / 2)?;
            let second = prime(runtime, bits / 2)?;
            if let Some(key) = Self::from_primes(first, second) {
                return Ok(key);
            }
        }
    }

    fn from_primes(first: BigUint, second: BigUint) -> Option<Self> {
        if first == second {
            return None;
        }
        let (first_less, second_less) = (less_one(&first), less_one(&second));
        let order = &first_less / common_divisor(&first_less, &second_less) * &second_less;
        let public_exponent = BigUint::from(EXPONENT);
        let private_exponent = public_exponent.modinv(&order)?;
        let modulus = &first * &second;
        Some(Self {
            modulus,
            public_exponent,
            private_exponent,
            first,
            second,
        })
    }

    /// Reads the form of PKCS #1.
    ///
    /// # Errors
    /// The text of Go's error, or one like it.
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<Self, String> {
        let malformed = || "asn1: structure error: malformed RSA private key".to_owned();
        let mut reader = Reader::new(der);
        let mut body = reader.sequence().ok_or_else(malformed)?;
        if !reader.is_empty() {
            return Err("asn1: syntax error: trailing data".to_owned());
        }
        let version = body.integer().ok_or_else(malformed)?;
        if version != BigUint::ZERO {
            return Err("x509: unsupported private key version".to_owned());
        }
        let mut number = || body.integer().ok_or_else(malformed);
        let key = Self {
            modulus: number()?,
            public_exponent: number()?,
            private_exponent: number()?,
            first: number()?,
            second: number()?,
        };
        key.check()?;
        Ok(key)
    }

    fn check(&self) -> Result<(), String> {
        let one = BigUint::from(1_u32);
        if [
            &self.modulus,
            &self.private_exponent,
            &self.first,
            &self.second,
        ]
        .into_iter()
        .any(|number| *number == BigUint::ZERO)
        {
            return Err("x509: private key contains zero or negative value".to_owned());
        }
        if self.modulus.bits() > MAX_BITS {
            return Err(format!("RSA key has more than {MAX_BITS} bits"));
        }
        if self.first <= one || self.second <= one || &self.first * &self.second != self.modulus {
            return Err("crypto/rsa: invalid modulus".to_owned());
        }
        let product = &self.public_exponent * &self.private_exponent;
        let is_inverse = |prime: &BigUint| &product % less_one(prime) == one;
        if !is_inverse(&self.first) || !is_inverse(&self.second) {
            return Err("crypto/rsa: invalid exponents".to_owned());
        }
        Ok(())
    }

    /// The form of PKCS #1.
    pub(super) fn to_pkcs1(&self) -> Vec<u8> {
        let (first_exponent, second_exponent, coefficient) = self.precomputed();
        let numbers = [
            &self.modulus,
            &self.public_exponent,
            &self.private_exponent,
            &self.first,
            &self.second,
            &first_exponent,
            &second_exponent,
            &coefficient,
        ];
        let numbers: Vec<u8> = numbers.into_iter().flat_map(integer).collect();
        group(SEQUENCE, &[&element(INTEGER, &[0]), &numbers])
    }

    /// The exponents for either prime, and the inverse of the second prime for the first.
    fn precomputed(&self) -> (BigUint, BigUint, BigUint) {
        let coefficient = self.second.modinv(&self.first).unwrap_or_default();
        let exponent = |prime: &BigUint| &self.private_exponent % less_one(prime);
        (exponent(&self.first), exponent(&self.second), coefficient)
    }

    /// The public key, as a certificate's bit string holds it.
    pub(super) fn public(&self) -> Vec<u8> {
        group(
            SEQUENCE,
            &[&integer(&self.modulus), &integer(&self.public_exponent)],
        )
    }

    pub(super) fn algorithm() -> Algorithm {
        Algorithm::Rsa
    }

    /// A signature by PKCS #1 v1.5 with SHA-256.
    ///
    /// # Errors
    /// The text of Go's error for a key that is too small.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let bits = self.modulus.bits();
        if bits < MIN_BITS {
            let hint = "see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size";
            return Err(format!("crypto/rsa: {bits}-bit keys are insecure ({hint})"));
        }
        let algorithm = group(SEQUENCE, &[&element(6, SHA_256), &element(NULL, &[])]);
        let hash = element(OCTET_STRING, &Sha256::digest(message));
        let info = group(SEQUENCE, &[&algorithm, &hash]);
        let length = bits.div_ceil(8) as usize;
        let filling = vec![0xff; length.saturating_sub(info.len() + 3)];
        let padded = BigUint::from_bytes_be(&[&[0, 1], &*filling, &[0], &*info].concat());
        let signature = self.power(&padded);
        if power(&signature, &self.public_exponent, &self.modulus) != padded {
            return Err("crypto/rsa: internal error".to_owned());
        }
        let bytes = signature.to_bytes_be();
        Ok([vec![0; length.saturating_sub(bytes.len())], bytes].concat())
    }

    /// Raises to the private exponent, for either prime apart.
    fn power(&self, base: &BigUint) -> BigUint {
        let (first_exponent, second_exponent, coefficient) = self.precomputed();
        let first = power(base, &first_exponent, &self.first);
        let second = power(base, &second_exponent, &self.second);
        let difference = (&first + &self.first - &second % &self.first) % &self.first;
        second + coefficient * difference % &self.first * &self.second
    }
}

fn less_one(number: &BigUint) -> BigUint {
    number - BigUint::from(1_u32)
}

/// A prime with its two highest bits set, so that the product of two has all bits.
fn prime(runtime: &mut dyn Runtime, bits: usize) -> Result<BigUint, FunctionError> {
    loop {
        let mut start = random(runtime, bits)?;
        for bit in [bits - 1, bits - 2, 0] {
            start.set_bit(bit as u64, true);
        }
        let Some(prime) = next_prime(&start, &BigUint::from(2_u32)) else {
            continue;
        };
        if prime.bits() == bits as u64 && remainder(&less_one(&prime), EXPONENT) != 0 {
            return Ok(prime);
        }
    }
}
