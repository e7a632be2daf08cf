//! What is asked of the fetcher.

use super::address::Address;
use reqwest::header::{HeaderValue, InvalidHeaderValue};
use std::fmt;
use whipstaff_generator::Digest;

/// An archive to be fetched.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct FetchRequest {
    /// An `http` or `https` address of a gzip-compressed tar archive.
    pub url: String,
    /// The digest that the archive must have. With it, a cached archive is used without asking the server.
    pub digest: Option<Digest>,
    /// What to sign in with. Sent to the origin of `url` only, never along a redirect to another one.
    pub credentials: Option<Credentials>,
}

/// What to sign in to a server with. Debug shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A user name and a password.
    Basic {
        /// The user name.
        username: String,
        /// The password.
        password: String,
    },
    /// A bearer token.
    Bearer {
        /// The token.
        token: String,
    },
}

impl Credentials {
    /// The value of the `Authorization` header.
    pub(super) fn header(&self) -> Result<HeaderValue, InvalidHeaderValue> {
        let text = match self {
            Self::Basic { username, password } => {
                use base64::{Engine as _, engine::general_purpose::STANDARD};
                format!(
                    "Basic {}",
                    STANDARD.encode(format!("{username}:{password}"))
                )
            }
            Self::Bearer { token } => format!("Bearer {token}"),
        };
        let mut value = HeaderValue::from_str(&text)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Tells one set of credentials from another without holding them.
    pub(super) fn fingerprint(credentials: Option<&Self>) -> Digest {
        let parts: [&str; 3] = match credentials {
            None => ["anonymous", "", ""],
            Some(Self::Basic { username, password }) => ["basic", username, password],
            Some(Self::Bearer { token }) => ["bearer", token, ""],
        };
        Digest::of_parts(parts.map(str::as_bytes))
    }
}

impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = Address::parse(&self.url).map_or_else(|_| String::new(), |url| url.printable());
        f.debug_struct("FetchRequest")
            .field("url", &url)
            .field("digest", &self.digest)
            .field("credentials", &self.credentials)
            .finish()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Basic { .. } => "Basic(redacted)",
            Self::Bearer { .. } => "Bearer(redacted)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(username: &str, password: &str) -> Credentials {
        Credentials::Basic {
            username: username.to_owned(),
            password: password.to_owned(),
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let request = FetchRequest {
            url: "https://host/a?key=s3cret".to_owned(),
            digest: None,
            credentials: Some(basic("s3cret", "s3cret")),
        };
        let text = format!(
            "{request:?} {:?}",
            Credentials::Bearer {
                token: "s3cret".to_owned()
            }
        );
        assert!(!text.contains("s3cret"), "{text}");
        assert!(text.contains("https://host/a"), "{text}");
    }

    #[test]
    fn header_is_basic_or_bearer_and_sensitive() {
        let header = basic("user", "pass").header().unwrap();
        assert_eq!(header.to_str().unwrap(), "Basic dXNlcjpwYXNz");
        assert!(header.is_sensitive());
        let header = Credentials::Bearer {
            token: "abc".to_owned(),
        }
        .header()
        .unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer abc");
        assert!(
            Credentials::Bearer {
                token: "a\r\nHost: b".to_owned()
            }
            .header()
            .is_err()
        );
    }

    #[test]
    fn fingerprints_tell_credentials_apart() {
        let token = Credentials::Bearer {
            token: "a".to_owned(),
        };
        let all = [
            None,
            Some(basic("a", "bc")),
            Some(basic("ab", "c")),
            Some(token),
        ];
        for (number, one) in all.iter().enumerate() {
            for (other, two) in all.iter().enumerate() {
                let same = Credentials::fingerprint(one.as_ref())
                    == Credentials::fingerprint(two.as_ref());
                assert_eq!(same, number == other);
            }
        }
    }
}
