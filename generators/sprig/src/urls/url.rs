//! URLs.

use super::escape::{Part, escape, unescape};
use std::net::{Ipv4Addr, Ipv6Addr};
use whipstaff_gotemplate::format::quote;

/// A URL by its parts, decoded but for the query and the opaque part.
#[derive(Debug, Default, Clone)]
pub(super) struct Url {
    pub(super) scheme: Vec<u8>,
    pub(super) opaque: Vec<u8>,
    pub(super) user: Option<User>,
    /// With the port, if there is one.
    pub(super) host: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) query: Vec<u8>,
    pub(super) fragment: Vec<u8>,
}

/// A name, and a password if there is one.
#[derive(Debug, Default, Clone)]
pub(super) struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// A text that is no URL, with the text of Go's error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum UrlError {
    #[error("invalid URL escape {}", quoted(.0))]
    Escape(Vec<u8>),
    #[error("invalid character {} in host name", quoted(.0))]
    HostCharacter(Vec<u8>),
    #[error("invalid port {} after host", quoted(.0))]
    Port(Vec<u8>),
    #[error("invalid host: ParseAddr({}): unable to parse IP", quoted(.0))]
    Address(Vec<u8>),
    #[error("{0}")]
    Form(&'static str),
    #[error("parse {}: {cause}", quoted(.url))]
    Parse { url: Vec<u8>, cause: Box<Self> },
}

fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(&quote(text)).into_owned()
}

/// Splits at the first separator; without one, all is before it.
fn cut(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == separator) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

impl Url {
    /// `url.Parse`.
    ///
    /// # Errors
    /// [`UrlError::Parse`] with what is wrong.
    pub(super) fn parse(text: &[u8]) -> Result<Self, UrlError> {
        let (body, fragment) = cut(text, b'#');
        let within = |url: &[u8]| {
            let url = url.to_vec();
            move |cause| UrlError::Parse {
                url,
                cause: Box::new(cause),
            }
        };
        let mut url = Self::parse_body(body).map_err(within(body))?;
        if let Some(fragment) = fragment {
            url.fragment = unescape(fragment, Part::Fragment).map_err(within(text))?;
        }
        Ok(url)
    }

    /// `url.ParseRequestURI` for a text that has a scheme: `#` does not start a fragment.
    ///
    /// # Errors
    /// [`UrlError`] with what is wrong.
    pub(super) fn parse_request(text: &[u8]) -> Result<Self, UrlError> {
        Self::parse_body(text)
    }

    fn parse_body(text: &[u8]) -> Result<Self, UrlError> {
        if text.iter().any(u8::is_ascii_control) {
            return Err(UrlError::Form("net/url: invalid control character in URL"));
        }
        let mut url = Self::default();
        if text == b"*" {
            url.path = text.to_vec();
            return Ok(url);
        }
        let (scheme, rest) = split_scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (mut rest, query) = cut(rest, b'?');
        url.query = query.unwrap_or_default().to_vec();
        let has_scheme = !url.scheme.is_empty();
        if !rest.starts_with(b"/") {
            if has_scheme {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err(UrlError::Form(
                    "first path segment in URL cannot contain colon",
                ));
            }
        }
        let may_have_authority = has_scheme || !rest.starts_with(b"///");
        if let Some(behind) = rest.strip_prefix(b"//").filter(|_| may_have_authority) {
            let end = behind
                .iter()
                .position(|byte| *byte == b'/')
                .unwrap_or(behind.len());
            let (authority, path) = behind.split_at(end);
            url.set_authority(authority)?;
            rest = path;
        }
        url.path = unescape(rest, Part::Path)?;
        Ok(url)
    }

    fn set_authority(&mut self, authority: &[u8]) -> Result<(), UrlError> {
        let Some(at) = authority.iter().rposition(|byte| *byte == b'@') else {
            self.host = host(&self.scheme, authority)?;
            return Ok(());
        };
        let (user, behind) = authority.split_at(at);
        self.host = host(&self.scheme, behind.get(1..).unwrap_or_default())?;
        let is_valid =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
        if !user.iter().all(is_valid) {
            return Err(UrlError::Form("net/url: invalid userinfo"));
        }
        let (name, password) = cut(user, b':');
        let name = unescape(name, Part::UserInfo)?;
        let password = password
            .map(|text| unescape(text, Part::UserInfo))
            .transpose()?;
        self.user = Some(User { name, password });
        Ok(())
    }

    /// The host without port and brackets.
    pub(super) fn host_name(&self) -> &[u8] {
        let mut host = self.host.as_slice();
        if let Some(colon) = host.iter().rposition(|byte| *byte == b':') {
            let (name, port) = host.split_at(colon);
            if is_port(port) {
                host = name;
            }
        }
        host.strip_prefix(b"[")
            .and_then(|inner| inner.strip_suffix(b"]"))
            .unwrap_or(host)
    }

    /// `URL.String`.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut output = Vec::new();
        if !self.scheme.is_empty() {
            output.extend_from_slice(&self.scheme);
            output.push(b':');
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(&mut output);
        } else {
            output.extend_from_slice(&self.opaque);
        }
        if !self.query.is_empty() {
            output.push(b'?');
            output.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            output.push(b'#');
            output.extend(escape(&self.fragment, Part::Fragment));
        }
        output
    }

    fn write_hierarchy(&self, output: &mut Vec<u8>) {
        if !self.host.is_empty()
            || self.user.is_some()
            || (!self.scheme.is_empty() && !self.path.is_empty())
        {
            output.extend_from_slice(b"//");
        }
        if let Some(user) = &self.user {
            output.extend(user.text());
            output.push(b'@');
        }
        output.extend(escape(&self.host, Part::Host));
        let path = if self.path == b"*" {
            b"*".to_vec()
        } else {
            escape(&self.path, Part::Path)
        };
        if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
            output.push(b'/');
        }
        // Else the colon would end a scheme.
        if output.is_empty() && cut(&path, b'/').0.contains(&b':') {
            output.extend_from_slice(b"./");
        }
        output.extend(path);
    }
}

impl User {
    /// `Userinfo.String`.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut output = escape(&self.name, Part::UserInfo);
        if let Some(password) = &self.password {
            output.push(b':');
            output.extend(escape(password, Part::UserInfo));
        }
        output
    }
}

/// The scheme, which may be empty, and what follows its colon.
fn split_scheme(text: &[u8]) -> Result<(&[u8], &[u8]), UrlError> {
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err(UrlError::Form("missing protocol scheme")),
            b':' => {
                let (scheme, rest) = text.split_at(index);
                return Ok((scheme, rest.get(1..).unwrap_or_default()));
            }
            _ => break,
        }
    }
    Ok((b"", text))
}

/// Whether a text is empty, or a colon and digits.
fn is_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn host(scheme: &[u8], text: &[u8]) -> Result<Vec<u8>, UrlError> {
    match text.iter().rposition(|byte| *byte == b'[') {
        Some(0) => return bracketed_host(text),
        Some(_) => return Err(UrlError::Form("invalid IP-literal")),
        None => {}
    }
    let is_web = matches!(scheme, b"http" | b"https");
    let is_colon = |byte: &u8| *byte == b':';
    // Schemes other than those of the web may have several colons, of which the last starts the port.
    let colon = if is_web {
        text.iter().position(is_colon)
    } else {
        text.iter().rposition(is_colon)
    };
    if let Some(port) = colon
        .and_then(|colon| text.get(colon..))
        .filter(|port| !is_port(port))
    {
        return Err(UrlError::Port(port.to_vec()));
    }
    unescape(text, Part::Host)
}

fn bracketed_host(text: &[u8]) -> Result<Vec<u8>, UrlError> {
    let Some(close) = text.iter().rposition(|byte| *byte == b']') else {
        return Err(UrlError::Form("missing ']' in host"));
    };
    let port = text.get(close + 1..).unwrap_or_default();
    if !is_port(port) {
        return Err(UrlError::Port(port.to_vec()));
    }
    let inner = text.get(1..close).unwrap_or_default();
    let zone = inner
        .windows(3)
        .position(|window| window == b"%25")
        .unwrap_or(inner.len());
    let (address, zone) = inner.split_at(zone);
    let mut name = unescape(address, Part::Host)?;
    name.extend(unescape(zone, Part::Zone)?);
    check_address(&name)?;
    Ok([b"[", name.as_slice(), b"]", port].concat())
}

/// Only addresses of IPv6 stand in brackets.
fn check_address(name: &[u8]) -> Result<(), UrlError> {
    let text = String::from_utf8_lossy(name);
    if text.parse::<Ipv4Addr>().is_ok() {
        return Err(UrlError::Form("invalid IP-literal"));
    }
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text.as_ref(), None),
    };
    if address.parse::<Ipv6Addr>().is_err() || zone == Some("") {
        return Err(UrlError::Address(name.to_vec()));
    }
    Ok(())
}
