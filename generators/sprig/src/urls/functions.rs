//! The functions of this module, on maps of a URL's parts.

use super::url::{Url, UrlError};
use crate::declare::{bytes, fixed, value};
use whipstaff_gotemplate::{Function, FunctionError, Map, Runtime, Type, Value};

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        fixed("urlParse", &[Type::String], url_parse),
        fixed("urlJoin", &[Type::Map], url_join),
    ]
}

fn url_parse(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let input = bytes(arguments, 0);
    runtime.charge(input.len())?;
    let url = Url::parse(&input)
        .map_err(|error| FunctionError::new(format!("unable to parse url: {error}")))?;
    let user = url
        .user
        .as_ref()
        .map(super::url::User::text)
        .unwrap_or_default();
    let host_name = url.host_name().to_vec();
    Ok(Value::map([
        ("scheme", Value::string(url.scheme)),
        ("host", Value::string(url.host)),
        ("hostname", Value::string(host_name)),
        ("path", Value::string(url.path)),
        ("query", Value::string(url.query)),
        ("opaque", Value::string(url.opaque)),
        ("fragment", Value::string(url.fragment)),
        ("userinfo", Value::string(user)),
    ]))
}

fn url_join(runtime: &mut dyn Runtime, arguments: &[Value]) -> Result<Value, FunctionError> {
    let parts = value(arguments, 0);
    let parts = parts.as_map();
    let mut url = Url {
        scheme: part(parts, "scheme")?,
        host: part(parts, "host")?,
        path: part(parts, "path")?,
        query: part(parts, "query")?,
        opaque: part(parts, "opaque")?,
        fragment: part(parts, "fragment")?,
        user: None,
    };
    let user = part(parts, "userinfo")?;
    if !user.is_empty() {
        let carrier = [b"proto://", user.as_slice(), b"@host"].concat();
        url.user = Url::parse(&carrier)
            .map_err(|error: UrlError| {
                FunctionError::new(format!("unable to parse userinfo in dict: {error}"))
            })?
            .user;
    }
    let joined = url.text();
    runtime.charge(joined.len())?;
    Ok(Value::string(joined))
}

/// A part of the map, empty if it is absent.
fn part(parts: Option<&Map>, key: &str) -> Result<Vec<u8>, FunctionError> {
    match parts.and_then(|parts| parts.get(key.as_bytes())) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.to_vec()),
        // Go asks a nil type for its kind.
        Some(Value::Nil) => Err(FunctionError::new(
            "runtime error: invalid memory address or nil pointer dereference",
        )),
        Some(other) => {
            let kind = other.kind().name();
            let message =
                format!("unable to parse {key} key, must be of type string, but {kind} found");
            Err(FunctionError::new(message))
        }
    }
}
