//! Addresses that archives are fetched from.

use super::SourceError;
use url::{Origin, Url};

/// Longest address in bytes.
pub(super) const MAX_ADDRESS_LENGTH: usize = 8 * 1024;

/// A checked `http` or `https` address.
#[derive(Clone)]
pub(super) struct Address(Url);

impl Address {
    /// Checks an address that somebody wrote. The text is never repeated in the error, since it may hold a secret.
    pub(super) fn parse(text: &str) -> Result<Self, SourceError> {
        if text.len() > MAX_ADDRESS_LENGTH {
            let reason = format!("it is longer than {MAX_ADDRESS_LENGTH} bytes");
            return Err(SourceError::Address { reason });
        }
        let url = Url::parse(text.trim()).map_err(|error| SourceError::Address {
            reason: error.to_string(),
        })?;
        Self::check(url).map_err(|reason| SourceError::Address {
            reason: reason.to_owned(),
        })
    }

    /// Where a redirect from this address leads.
    pub(super) fn redirected(&self, location: &str) -> Result<Self, SourceError> {
        let refused = |reason: &str| SourceError::Redirect {
            url: self.printable(),
            reason: reason.into(),
        };
        if location.len() > MAX_ADDRESS_LENGTH {
            return Err(refused("the address is too long"));
        }
        let next = self
            .0
            .join(location)
            .map_err(|error| refused(&error.to_string()))?;
        if self.0.scheme() == "https" && next.scheme() == "http" {
            return Err(refused("from `https` to `http`"));
        }
        Self::check(next).map_err(refused)
    }

    fn check(mut url: Url) -> Result<Self, &'static str> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err("only `http` and `https` are supported");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it holds a user name or a password: use a secret instead");
        }
        url.set_fragment(None);
        Ok(Self(url))
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    /// Scheme, host and port: what credentials are meant for.
    pub(super) fn origin(&self) -> Origin {
        self.0.origin()
    }

    /// The address without its query, which may hold a secret.
    pub(super) fn printable(&self) -> String {
        let mut url = self.0.clone();
        url.set_query(None);
        url.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_cannot_be_used_are_refused_without_repeating_them() {
        let long = format!("https://host/{}", "s3cret".repeat(2000));
        let addresses = [
            "",
            "s3cret.example.org/a.tgz",
            "ftp://host/s3cret",
            "file:///s3cret",
            "oci://host/s3cret",
            "https://user:s3cret@host/a.tgz",
            "https://s3cret@host/a.tgz",
            "https://:s3cret@host/",
            "https:///",
            "https://host:s3cret/",
            &long,
        ];
        for text in addresses {
            let Err(error) = Address::parse(text) else {
                panic!("{text} was accepted")
            };
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn printable_address_has_no_query() {
        let address = Address::parse(" https://Host:443/a%20b.tgz?token=s3cret#part ").unwrap();
        assert_eq!(address.printable(), "https://host/a%20b.tgz");
        assert_eq!(
            address.url().as_str(),
            "https://host/a%20b.tgz?token=s3cret"
        );
    }

    #[test]
    fn redirects_are_resolved_and_checked() {
        let cases = [
            ("https://host/a/b", "c?x=1", Some("https://host/a/c?x=1")),
            ("https://host/a/b", "/c", Some("https://host/c")),
            ("https://host/a", "//other/c", Some("https://other/c")),
            ("http://host/a", "https://host/a", Some("https://host/a")),
            ("https://host/a", "http://host/a", None),
            ("https://host/a", "ftp://host/a", None),
            ("https://host/a", "file:///etc/passwd", None),
            ("https://host/a", "https://user:word@host/a", None),
            ("http://host/a", "http://[/", None),
        ];
        for (from, location, to) in cases {
            let next = Address::parse(from).unwrap().redirected(location);
            assert_eq!(
                next.ok().map(|next| next.0.to_string()).as_deref(),
                to,
                "{location}"
            );
        }
    }
}
