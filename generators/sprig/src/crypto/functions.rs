//! `genPrivateKey`, `buildCustomCert` and the functions that make certificates.

use super::{
    certificate::{CERTIFICATE, Certificate},
    key::Key,
    pem,
    primes::random,
    x509::{Parent, Template},
};
use crate::{
    base_encoding::from_base64,
    dates::compact_utc,
    declare::{bytes, fixed, host, int, items},
};
use std::net::IpAddr;
use whipstaff_gotemplate::{Function, FunctionError, Runtime, Type, Value, format};

use Type::{Int, List, String as Text};

const HOST: Type = Type::Host(CERTIFICATE);
const SELF_SIGNED: &[Type] = &[Text, List, List, Int];
const SELF_SIGNED_WITH_KEY: &[Type] = &[Text, List, List, Int, Text];
const SIGNED: &[Type] = &[Text, List, List, Int, HOST];
const SIGNED_WITH_KEY: &[Type] = &[Text, List, List, Int, HOST, Text];

/// Bits of an RSA key that is made for a certificate, and of one that is made for itself.
const CERTIFICATE_KEY_BITS: usize = 2048;
const PRIVATE_KEY_BITS: usize = 4096;
const SERIAL_BITS: usize = 128;
const NANOSECONDS_PER_DAY: i64 = 86_400 * 1_000_000_000;

/// The functions of this module.
pub(super) fn functions() -> Vec<Function> {
    vec![
        fixed("genPrivateKey", &[Text], private_key),
        fixed("buildCustomCert", &[Text, Text], build_custom),
        fixed("genCA", &[Text, Int], authority),
        fixed("genCAWithKey", &[Text, Int, Text], authority_with_key),
        fixed("genSelfSignedCert", SELF_SIGNED, self_signed),
        fixed(
            "genSelfSignedCertWithKey",
            SELF_SIGNED_WITH_KEY,
            self_signed_with_key,
        ),
        fixed("genSignedCert", SIGNED, signed),
        fixed("genSignedCertWithKey", SIGNED_WITH_KEY, signed_with_key),
    ]
}

fn private_key(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let key = match &*bytes(arguments, 0) {
        b"" | b"rsa" => Key::rsa(runtime, PRIVATE_KEY_BITS)?,
        b"dsa" => Key::dsa(runtime)?,
        b"ecdsa" => Key::ecdsa(runtime)?,
        b"ed25519" => Key::ed25519(runtime)?,
        other => return Ok(Value::string([b"Unknown type ", other].concat())),
    };
    Ok(key.to_pem().into())
}

fn build_custom(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let decoded = |index: usize, what: &str| {
        from_base64(&bytes(arguments, index))
            .map_err(|_| FunctionError::new(format!("unable to decode base64 {what}")))
    };
    let certificate = decoded(0, "certificate")?;
    let key = decoded(1, "private key")?;
    runtime.charge(certificate.len().saturating_add(key.len()))?;
    parent(&certificate, "decodedCert")?;
    signer(&key)?;
    Ok(Value::host(Certificate { certificate, key }))
}

/// Reads a certificate. Go's error names the variable that held it.
fn parent(certificate: &[u8], variable: &str) -> Result<Parent, FunctionError> {
    let block = pem::decode(certificate)
        .ok_or_else(|| FunctionError::new("unable to decode certificate"))?;
    Parent::parse(&block.bytes).map_err(|error| {
        FunctionError::new(format!(
            "error parsing certificate: {variable}.Bytes: {error}"
        ))
    })
}

fn signer(key: &[u8]) -> Result<Key, FunctionError> {
    Key::from_pem(key)
        .map_err(|error| FunctionError::new(format!("error parsing private key: {error}")))
}

/// The key that is given as an argument.
fn given_key(arguments: &[Value], index: usize) -> Result<Key, FunctionError> {
    Key::from_pem(&bytes(arguments, index))
        .map_err(|error| FunctionError::new(format!("parsing private key: {error}")))
}

fn authority(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let key = Key::rsa(runtime, CERTIFICATE_KEY_BITS)?;
    own_authority(runtime, arguments, &key)
}

fn authority_with_key(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    own_authority(runtime, arguments, &given_key(arguments, 2)?)
}

fn own_authority(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
    key: &Key,
) -> Result<Value, FunctionError> {
    let names = Names {
        addresses: Vec::new(),
        host_names: Vec::new(),
    };
    let mut template = template(runtime, arguments, names, int(arguments, 1))?;
    template.is_authority = true;
    issue(&template, key, None, key)
}

fn self_signed(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let names = Names::read(arguments)?;
    let key = Key::rsa(runtime, CERTIFICATE_KEY_BITS)?;
    let template = template(runtime, arguments, names, int(arguments, 3))?;
    issue(&template, &key, None, &key)
}

fn self_signed_with_key(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
) -> Result<Value, FunctionError> {
    let key = given_key(arguments, 4)?;
    let names = Names::read(arguments)?;
    let template = template(runtime, arguments, names, int(arguments, 3))?;
    issue(&template, &key, None, &key)
}

fn signed(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let key = Key::rsa(runtime, CERTIFICATE_KEY_BITS)?;
    signed_by_authority(runtime, arguments, &key)
}

fn signed_with_key(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    signed_by_authority(runtime, arguments, &given_key(arguments, 5)?)
}

fn signed_by_authority(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
    key: &Key,
) -> Result<Value, FunctionError> {
    let authority = host::<Certificate>(arguments, 4)?;
    let parent = parent(&authority.certificate, "decodedSignerCert")?;
    let signer = signer(&authority.key)?;
    let names = Names::read(arguments)?;
    let template = template(runtime, arguments, names, int(arguments, 3))?;
    issue(&template, key, Some(&parent), &signer)
}

fn issue(
    template: &Template,
    key: &Key,
    parent: Option<&Parent>,
    signer: &Key,
) -> Result<Value, FunctionError> {
    let certificate = template
        .sign(key, parent, signer)
        .map_err(|error| FunctionError::new(format!("error creating certificate: {error}")))?;
    Ok(Value::host(Certificate {
        certificate: pem::encode("CERTIFICATE", &certificate).into_bytes(),
        key: key.to_pem().into_bytes(),
    }))
}

fn template(
    runtime: &mut dyn Runtime,
    arguments: &[Value],
    names: Names,
    days: i64,
) -> Result<Template, FunctionError> {
    let serial = random(runtime, SERIAL_BITS)?;
    let (seconds, nanoseconds) = runtime.environment().now();
    // A duration that does not fit wraps around, as it does in Go.
    let validity = days.wrapping_mul(NANOSECONDS_PER_DAY);
    Ok(Template {
        common_name: bytes(arguments, 0).to_vec(),
        addresses: names.addresses,
        host_names: names.host_names,
        serial,
        validity: [0, validity].map(|later| compact_utc(seconds, nanoseconds, later)),
        is_authority: false,
    })
}

/// Whom a certificate is for, apart from the common name.
struct Names {
    addresses: Vec<Vec<u8>>,
    host_names: Vec<Vec<u8>>,
}

impl Names {
    fn read(arguments: &[Value]) -> Result<Self, FunctionError> {
        let addresses = items(arguments, 1);
        let host_names = items(arguments, 2);
        Ok(Self {
            addresses: addresses.iter().map(address).collect::<Result<_, _>>()?,
            host_names: host_names.iter().map(host_name).collect::<Result<_, _>>()?,
        })
    }
}

fn printed(value: &Value) -> String {
    String::from_utf8_lossy(&format::sprint(std::slice::from_ref(value))).into_owned()
}

fn address(value: &Value) -> Result<Vec<u8>, FunctionError> {
    let Some(text) = value.as_bytes() else {
        let message = format!("error parsing ip: {} is not a string", printed(value));
        return Err(FunctionError::new(message));
    };
    match text
        .to_text()
        .parse::<IpAddr>()
        .map(|address| address.to_canonical())
    {
        Ok(IpAddr::V4(address)) => Ok(address.octets().to_vec()),
        Ok(IpAddr::V6(address)) => Ok(address.octets().to_vec()),
        Err(_) => Err(FunctionError::new(format!("error parsing ip: {text}"))),
    }
}

fn host_name(value: &Value) -> Result<Vec<u8>, FunctionError> {
    value.as_bytes().map(|text| text.to_vec()).ok_or_else(|| {
        let printed = printed(value);
        FunctionError::new(format!(
            "error processing alternate dns name: {printed} is not a string"
        ))
    })
}
