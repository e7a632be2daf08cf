//! Shell patterns over paths as Go's `path/filepath.Match` reads them.

/// A pattern that cannot be read: an open class, a trailing backslash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub(crate) struct BadPattern;

/// A pattern that was read: `*` and `?` stop at `/`, `[a-z]` and `[^a-z]` are classes, `\` takes the next character literally.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    tokens: Vec<Token>,
    /// What a pattern without any wildcard says; most are none.
    literal: Option<String>,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`BadPattern`] when it is malformed.
    pub(crate) fn parse(pattern: &str) -> Result<Self, BadPattern> {
        let tokens = parse(pattern)?;
        let character = |token: &Token| match token {
            Token::Literal(character) => Some(*character),
            _ => None,
        };
        let literal = tokens.iter().map(character).collect();
        Ok(Self { tokens, literal })
    }

    /// Whether the whole of a name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match &self.literal {
            Some(literal) => literal == name,
            None => matches_from(&self.tokens, name),
        }
    }
}

/// Whether a name matches a pattern; see [`PathPattern`].
///
/// # Errors
/// [`BadPattern`] when the pattern is malformed, even where the name would not need the malformed part.
pub(crate) fn path_matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    Ok(PathPattern::parse(pattern)?.matches(name))
}

#[derive(Debug, Clone)]
enum Token {
    Star,
    Any,
    Literal(char),
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

fn parse(pattern: &str) -> Result<Vec<Token>, BadPattern> {
    let mut rest = pattern.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(next) = rest.next() {
        tokens.push(match next {
            '*' => Token::Star,
            '?' => Token::Any,
            '\\' => Token::Literal(rest.next().ok_or(BadPattern)?),
            '[' => parse_class(&mut rest)?,
            literal => Token::Literal(literal),
        });
    }
    Ok(tokens)
}

fn parse_class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Token, BadPattern> {
    let negated = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        if !ranges.is_empty() && rest.next_if_eq(&']').is_some() {
            return Ok(Token::Class { negated, ranges });
        }
        let low = class_character(rest)?;
        let high = if rest.next_if_eq(&'-').is_some() {
            class_character(rest)?
        } else {
            low
        };
        ranges.push((low, high));
    }
}

fn class_character(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> Result<char, BadPattern> {
    match rest.next() {
        None | Some('-' | ']') => Err(BadPattern),
        Some('\\') => rest.next().ok_or(BadPattern),
        Some(character) => Ok(character),
    }
}

/// Greedy matching that goes back to the last star only, which suffices because a star never has to give back more than that.
fn matches_from(tokens: &[Token], name: &str) -> bool {
    let (mut token, mut rest) = (0, name);
    let mut retry: Option<(usize, &str)> = None;
    loop {
        let mut characters = rest.chars();
        let next = characters.next();
        match tokens.get(token) {
            Some(Token::Star) => {
                retry = Some((token, rest));
                token += 1;
                continue;
            }
            Some(other) if next.is_some_and(|c| matches_one(other, c)) => {
                token += 1;
                rest = characters.as_str();
                continue;
            }
            None if next.is_none() => return true,
            _ => {}
        }
        let Some((star, from)) = retry else {
            return false;
        };
        let mut characters = from.chars();
        match characters.next() {
            Some(c) if c != '/' => {
                rest = characters.as_str();
                retry = Some((star, rest));
                token = star + 1;
            }
            _ => return false,
        }
    }
}

fn matches_one(token: &Token, character: char) -> bool {
    match token {
        Token::Star => false,
        Token::Any => character != '/',
        Token::Literal(literal) => *literal == character,
        Token::Class { negated, ranges } => {
            let inside = ranges
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&character));
            inside != *negated
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        let cases = [
            ("values", "values", true),
            ("values", "value", false),
            ("*", "values", true),
            ("*s", "values", true),
            ("v*", "v", true),
            ("v*", "v1/x", false),
            ("v*/x", "v12/x", true),
            ("v*/x", "v/y/x", false),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcdef", false),
            ("*ab", "aab", true),
            ("*a*a*a", "aa", false),
            ("x[yz]", "xz", true),
            ("x[a-c]", "xb", true),
            ("x[a-c]", "xd", false),
            ("x[^yz]", "xy", false),
            ("x[^yz]", "xw", true),
            ("x\\*", "x*", true),
            ("x\\*", "xy", false),
            ("x?z", "xäz", true),
            ("x??z", "xäz", false),
            ("[α-ω]*", "λx", true),
            ("x?z", "x/z", false),
            ("[\\]]", "]", true),
            ("[a\\-]", "-", true),
            ("", "", true),
            ("", "a", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(
                path_matches(pattern, name),
                Ok(expected),
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for pattern in [
            "[]", "[]x]", "[-y]", "[y-]", "\\", "[u-v-w]", "[", "[^", "x[yz", "x[",
        ] {
            assert_eq!(path_matches(pattern, "a"), Err(BadPattern), "{pattern}");
        }
    }
}
