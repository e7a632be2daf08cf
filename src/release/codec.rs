//! The form in which records are stored: JSON, compressed, in base64.

use super::error::CodecError;
use super::record::Release;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read as _, Write as _};

/// Most bytes of a record as it is stored; one in a Secret cannot have more than a mebibyte.
const MAX_STORED_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of a record.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// What compressed records begin with; those of old Helms are not compressed.
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// Reads a record as the value of a ConfigMap, or the decoded value of a Secret, has it.
///
/// # Errors
/// [`CodecError`] when it is not what Helm writes, or too large.
///
/// **Source**: `decodeRelease` in `pkg/storage/driver/util.go`.
pub(crate) fn decode(stored: &[u8]) -> Result<Release, CodecError> {
    if stored.len() > MAX_STORED_BYTES {
        return Err(CodecError::Large {
            limit: MAX_STORED_BYTES as u64,
        });
    }
    let bytes = STANDARD
        .decode(stored.trim_ascii())
        .map_err(CodecError::Base64)?;
    let json = if bytes.starts_with(&GZIP_MAGIC) {
        unpack(&bytes)?
    } else {
        bytes
    };
    serde_json::from_slice(&json).map_err(|cause| CodecError::Json(Box::new(cause)))
}

/// Writes a record as Helm does.
///
/// # Errors
/// [`CodecError::Json`] when a value of it cannot be JSON.
///
/// **Source**: `encodeRelease` in `pkg/storage/driver/util.go`.
#[allow(dead_code, reason = "for handing releases back")]
pub(crate) fn encode(release: &Release) -> Result<String, CodecError> {
    let json = serde_json::to_vec(release).map_err(|cause| CodecError::Json(Box::new(cause)))?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder
        .write_all(&json)
        .and_then(|()| encoder.finish())
        .map_err(CodecError::Gzip)?;
    Ok(STANDARD.encode(packed))
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut json = Vec::new();
    GzDecoder::new(packed)
        .take(MAX_BYTES + 1)
        .read_to_end(&mut json)
        .map_err(CodecError::Gzip)?;
    if json.len() as u64 > MAX_BYTES {
        return Err(CodecError::Large { limit: MAX_BYTES });
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> Release {
        Release {
            name: "web".to_owned(),
            version: 2,
            ..Release::default()
        }
    }

    #[test]
    fn record_is_read_as_it_was_written() {
        let stored = encode(&release()).unwrap();
        assert!(stored.starts_with("H4sI"), "{stored}");
        assert_eq!(decode(stored.as_bytes()).unwrap(), release());
    }

    #[test]
    fn records_of_old_helms_are_not_compressed() {
        let stored = STANDARD.encode(r#"{"name":"web","version":2}"#);
        assert_eq!(decode(stored.as_bytes()).unwrap(), release());
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for stored in ["", "?", "aGFsbG8=", "H4sIAAAA"] {
            assert!(decode(stored.as_bytes()).is_err(), "{stored}");
        }
        let large = vec![b'A'; MAX_STORED_BYTES + 1];
        assert!(matches!(decode(&large), Err(CodecError::Large { .. })));
    }
}
