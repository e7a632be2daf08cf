//! Addresses in texts that a person reads.

/// What stands in the place of what was taken away.
const MASK: &str = "***";
const SCHEMES: [&str; 2] = ["https://", "http://"];
/// Parts of a query that say what is fetched; all others may let somebody in.
const KNOWN: [&str; 4] = ["ref", "version", "timeout", "submodules"];

/// A text with the names, passwords and tokens taken out of its HTTP addresses: what stands in front of `@`, and the values of a
/// query but for `ref`, `version`, `timeout` and `submodules`.
pub fn without_credentials(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, scheme)) = first_scheme(rest) {
        let (before, address) = rest.split_at(at + scheme.len());
        clean.push_str(before);
        let end = address.find(is_outside).unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        push_address(address, &mut clean);
        rest = after;
    }
    clean.push_str(rest);
    clean
}

fn first_scheme(text: &str) -> Option<(usize, &'static str)> {
    // ASCII letters only change their case, so that places stay where they are.
    let lower = text.to_ascii_lowercase();
    let found = SCHEMES.iter().filter_map(|scheme| {
        let at = lower.find(scheme)?;
        Some((at, *scheme))
    });
    found.min()
}

fn is_outside(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\'' | '"' | '`' | '<' | '>' | ')')
}

fn push_address(address: &str, clean: &mut String) {
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (address, None),
    };
    let host_end = path.find('/').unwrap_or(path.len());
    let host = path.get(..host_end).unwrap_or_default();
    match host.rfind('@') {
        Some(at) => {
            clean.push_str(MASK);
            clean.push_str(path.get(at..).unwrap_or_default());
        }
        None => clean.push_str(path),
    }
    let Some(query) = query else { return };
    let parts: Vec<_> = query.split('&').map(shown).collect();
    clean.push('?');
    clean.push_str(&parts.join("&"));
}

fn shown(part: &str) -> String {
    match part.split_once('=') {
        Some((key, _)) if !KNOWN.contains(&key) => format!("{key}={MASK}"),
        _ => part.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_out_and_everything_else_stays() {
        let cases = [
            ("no address", "no address"),
            (
                "from 'https://me:s3cret@host/org/repo//a?ref=v1': lost",
                "from 'https://***@host/org/repo//a?ref=v1': lost",
            ),
            (
                "HTTPS://token@host and http://host/a?sig=s3cret&ref=x, gone",
                "HTTPS://***@host and http://host/a?sig=***&ref=x, gone",
            ),
            ("ssh://git@host/a and a@b", "ssh://git@host/a and a@b"),
            ("https://host/a@b", "https://host/a@b"),
            ("„https://“ é https://é", "„https://“ é https://é"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_credentials(text), expected);
        }
    }
}
