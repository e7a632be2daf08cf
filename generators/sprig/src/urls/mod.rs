//! `urlParse` and `urlJoin`.
//!
//! Mirrors Go's `net/url` 1.26 and Sprig 3.3.

mod escape;
mod functions;
mod url;

pub(crate) use functions::functions;

/// Whether a text is an absolute URL, as `url.ParseRequestURI` reads it.
pub fn is_absolute_url(text: &str) -> bool {
    url::Url::parse_request(text.as_bytes()).is_ok_and(|url| !url.scheme.is_empty())
}

/// Host, with the port, and path of a URL, as `url.Parse` reads it.
pub fn url_host_and_path(text: &str) -> Option<(String, String)> {
    let url = url::Url::parse(text.as_bytes()).ok()?;
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((lossy(&url.host), lossy(&url.path)))
}
