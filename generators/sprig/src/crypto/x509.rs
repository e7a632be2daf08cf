//! Certificates: writing them as Go's `x509.CreateCertificate` does, and reading what signing needs of them.

use super::{
    curves::Curve,
    der::{
        BOOLEAN, GENERALIZED_TIME, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, PRINTABLE_STRING,
        Reader, SEQUENCE, SET, UTC_TIME, UTF8_STRING, bits, context, element, group, integer,
    },
    key::{Key, null},
};
use num_bigint::BigUint;
use sha2::{Digest, Sha256};

pub(super) const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
pub(super) const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
pub(super) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const RSA_SHA_256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
/// What all of the identifiers of ECDSA with SHA-2 begin with.
const ECDSA_SHA_2: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
const EXTENDED_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const SERVER_AUTHENTICATION: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
const CLIENT_AUTHENTICATION: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
/// Bytes of the hash that names a key.
const KEY_NAME: usize = 20;
const MALFORMED: &str = "x509: malformed certificate";

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rsa,
    Ecdsa(Curve),
    Ed25519,
}

/// What a certificate shall say.
#[derive(Debug, Clone)]
pub(super) struct Template {
    pub(super) common_name: Vec<u8>,
    /// IPv4 addresses have four bytes, IPv6 addresses sixteen.
    pub(super) addresses: Vec<Vec<u8>>,
    pub(super) host_names: Vec<Vec<u8>>,
    pub(super) serial: BigUint,
    /// From when on and up to when it is valid, as `YYYYMMDDhhmmss`.
    pub(super) validity: [String; 2],
    pub(super) is_authority: bool,
}

/// What signing needs of the certificate that signs.
#[derive(Debug, Clone)]
pub(super) struct Parent {
    subject: Vec<u8>,
    public_key: Vec<u8>,
    key_name: Vec<u8>,
}

impl Algorithm {
    /// The identifier of the key.
    fn of_key(self) -> Vec<u8> {
        let (identifier, parameters) = match self {
            Self::Rsa => (RSA_ENCRYPTION, null()),
            Self::Ecdsa(curve) => (
                EC_PUBLIC_KEY,
                element(OBJECT_IDENTIFIER, curve.identifier()),
            ),
            Self::Ed25519 => (ED25519, Vec::new()),
        };
        group(
            SEQUENCE,
            &[&element(OBJECT_IDENTIFIER, identifier), &parameters],
        )
    }

    /// The identifier of signatures.
    fn of_signature(self) -> Vec<u8> {
        let ecdsa = |last: u8| [&ECDSA_SHA_2[..], &[last]].concat();
        let (identifier, parameters) = match self {
            Self::Rsa => (RSA_SHA_256.to_vec(), null()),
            Self::Ecdsa(Curve::P256) => (ecdsa(2), Vec::new()),
            Self::Ecdsa(Curve::P384) => (ecdsa(3), Vec::new()),
            Self::Ed25519 => (ED25519.to_vec(), Vec::new()),
        };
        group(
            SEQUENCE,
            &[&element(OBJECT_IDENTIFIER, &identifier), &parameters],
        )
    }
}

impl Parent {
    /// Reads a certificate.
    ///
    /// # Errors
    /// Go's text for one that is malformed.
    pub(super) fn parse(der: &[u8]) -> Result<Self, String> {
        Self::read(der).ok_or_else(|| MALFORMED.to_owned())
    }

    fn read(der: &[u8]) -> Option<Self> {
        let mut outer = Reader::new(der);
        let mut certificate = outer.sequence()?;
        if !outer.is_empty() {
            return None;
        }
        let mut body = certificate.sequence()?;
        certificate.sequence()?;
        certificate.bits()?;
        body.read(context(0, true));
        body.read(INTEGER)?;
        body.sequence()?;
        body.sequence()?;
        body.sequence()?;
        let subject = body
            .next()
            .filter(|element| element.tag == SEQUENCE)?
            .whole
            .to_vec();
        let public_key = body
            .next()
            .filter(|element| element.tag == SEQUENCE)?
            .whole
            .to_vec();
        let mut key_name = Vec::new();
        while let Some(element) = body.next() {
            if element.tag == context(3, true) {
                key_name = subject_key(element.body)?;
            }
        }
        Some(Self {
            subject,
            public_key,
            key_name,
        })
    }
}

/// The name of the key among a certificate's extensions, empty if there is none.
fn subject_key(extensions: &[u8]) -> Option<Vec<u8>> {
    let mut extensions = Reader::new(extensions).sequence()?;
    while !extensions.is_empty() {
        let mut extension = extensions.sequence()?;
        let identifier = extension.read(OBJECT_IDENTIFIER)?;
        extension.read(BOOLEAN);
        let value = extension.read(OCTET_STRING)?;
        if identifier == SUBJECT_KEY {
            return Some(Reader::new(value).read(OCTET_STRING)?.to_vec());
        }
    }
    Some(Vec::new())
}

impl Template {
    /// Writes the certificate of a key, signed by another, or by itself without a parent.
    ///
    /// # Errors
    /// The text of Go's error.
    pub(super) fn sign(
        &self,
        key: &Key,
        parent: Option<&Parent>,
        signer: &Key,
    ) -> Result<Vec<u8>, String> {
        let (signer_algorithm, signer_public) = signer.public()?;
        let (algorithm, public) = key.public()?;
        let subject = self.subject()?;
        let issuer = parent.map_or(&subject, |parent| &parent.subject);
        let is_foreign = *issuer != subject;
        let authority = parent
            .filter(|_| is_foreign)
            .map_or(&[][..], |parent| &parent.key_name);
        let signer_info = public_key_info(signer_algorithm, &signer_public);
        if parent.is_some_and(|parent| parent.public_key != signer_info) {
            return Err("x509: provided PrivateKey doesn't match parent's PublicKey".to_owned());
        }
        let extensions = self.extensions(&public, authority)?;
        let signature_algorithm = signer_algorithm.of_signature();
        let body = group(
            SEQUENCE,
            &[
                &element(context(0, true), &element(INTEGER, &[2])),
                &integer(&self.serial),
                &signature_algorithm,
                issuer,
                &group(
                    SEQUENCE,
                    &[&time(&self.validity[0])?, &time(&self.validity[1])?],
                ),
                &subject,
                &public_key_info(algorithm, &public),
                &element(context(3, true), &element(SEQUENCE, &extensions)),
            ],
        );
        let signature = signer.sign(&body)?;
        Ok(group(
            SEQUENCE,
            &[&body, &signature_algorithm, &bits(&signature)],
        ))
    }

    /// The name of whom it is for; without a common name, an empty one.
    fn subject(&self) -> Result<Vec<u8>, String> {
        if self.common_name.is_empty() {
            return Ok(element(SEQUENCE, &[]));
        }
        let name = std::str::from_utf8(&self.common_name)
            .map_err(|_| "asn1: string not valid UTF-8".to_owned())?;
        let is_printable = |c: char| c.is_ascii_alphanumeric() || " '()+,-./:=?".contains(c);
        let tag = if name.chars().all(is_printable) {
            PRINTABLE_STRING
        } else {
            UTF8_STRING
        };
        let identifier = element(OBJECT_IDENTIFIER, COMMON_NAME);
        let attribute = group(SEQUENCE, &[&identifier, &element(tag, name.as_bytes())]);
        Ok(element(SEQUENCE, &element(SET, &attribute)))
    }

    /// The extensions, in Go's order.
    fn extensions(&self, public: &[u8], authority: &[u8]) -> Result<Vec<u8>, String> {
        // Bits for digital signatures, encipherment of keys, and signing of certificates.
        let usage: &[u8] = if self.is_authority {
            &[2, 0xa4]
        } else {
            &[5, 0xa0]
        };
        let constraints = if self.is_authority {
            element(BOOLEAN, &[0xff])
        } else {
            Vec::new()
        };
        let purposes = [SERVER_AUTHENTICATION, CLIENT_AUTHENTICATION]
            .map(|purpose| element(OBJECT_IDENTIFIER, purpose));
        let mut output = [
            extension(KEY_USAGE, true, &element(super::der::BIT_STRING, usage)),
            extension(
                EXTENDED_USAGE,
                false,
                &element(SEQUENCE, &purposes.concat()),
            ),
            extension(BASIC_CONSTRAINTS, true, &element(SEQUENCE, &constraints)),
        ]
        .concat();
        if self.is_authority {
            let hash = Sha256::digest(public);
            let name = hash.get(..KEY_NAME).unwrap_or_default();
            output.extend(extension(SUBJECT_KEY, false, &element(OCTET_STRING, name)));
        }
        if !authority.is_empty() {
            let name = element(SEQUENCE, &element(context(0, false), authority));
            output.extend(extension(AUTHORITY_KEY, false, &name));
        }
        let names = self.names()?;
        if !names.is_empty() {
            let is_critical = self.common_name.is_empty();
            output.extend(extension(
                ALTERNATIVE_NAMES,
                is_critical,
                &element(SEQUENCE, &names),
            ));
        }
        Ok(output)
    }

    fn names(&self) -> Result<Vec<u8>, String> {
        let mut output = Vec::new();
        for name in &self.host_names {
            if !name.is_ascii() {
                let quoted = whipstaff_gotemplate::format::quote(name);
                let quoted = String::from_utf8_lossy(&quoted);
                return Err(format!("x509: {quoted} cannot be encoded as an IA5String"));
            }
            output.extend(element(context(2, false), name));
        }
        output.extend(
            self.addresses
                .iter()
                .flat_map(|address| element(context(7, false), address)),
        );
        Ok(output)
    }
}

fn public_key_info(algorithm: Algorithm, public: &[u8]) -> Vec<u8> {
    group(SEQUENCE, &[&algorithm.of_key(), &bits(public)])
}

fn extension(identifier: &[u8], is_critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if is_critical {
        element(BOOLEAN, &[0xff])
    } else {
        Vec::new()
    };
    let identifier = element(OBJECT_IDENTIFIER, identifier);
    group(
        SEQUENCE,
        &[&identifier, &critical, &element(OCTET_STRING, value)],
    )
}

/// A moment; from 1950 to 2049 the year has two digits.
fn time(text: &str) -> Result<Vec<u8>, String> {
    let year = text
        .len()
        .checked_sub(10)
        .and_then(|end| text.get(..end)?.parse::<i64>().ok());
    match year {
        Some(1950..=2049) => {
            let short = text.get(2..).unwrap_or_default();
            Ok(element(UTC_TIME, format!("{short}Z").as_bytes()))
        }
        Some(0..=9999) => Ok(element(GENERALIZED_TIME, format!("{text}Z").as_bytes())),
        _ => Err("asn1: structure error: cannot represent time as GeneralizedTime".to_owned()),
    }
}
