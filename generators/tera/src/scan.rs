//! Tags, expressions and tokens of a Tera source, as Tera's lexer finds them (Tera 2.4, `parsing/lexer.rs`).

use std::ops::Range;

/// A part of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that is written as it is, the insides of `raw` included. Its length in bytes.
    Text(usize),
    /// `{{ … }}`.
    Print(Markup),
    /// `{% … %}`.
    Tag(Markup),
}

/// A tag or an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Markup {
    /// From the first brace to the last.
    pub(crate) range: Range<usize>,
    /// What stands inside.
    pub(crate) tokens: Vec<Token>,
    /// Where what stands inside ends: the place of `%}`, or of `-%}`.
    pub(crate) inside_end: usize,
    /// Where what stands inside begins.
    pub(crate) inside_start: usize,
    /// Whether it ends in `-%}` or `-}}`.
    pub(crate) trims: bool,
}

/// A token inside a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Identifier,
    String,
    Number,
    /// An operator or a bracket; its text tells which.
    Mark,
}

/// The text is none that Tera's lexer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotTera;

/// Takes a source apart.
pub(crate) fn scan(source: &str) -> Result<Vec<Part>, NotTera> {
    let mut scanner = Scanner {
        bytes: source.as_bytes(),
        at: 0,
    };
    let mut parts = Vec::new();
    while scanner.at < scanner.bytes.len() {
        if let Some(part) = scanner.part()? {
            parts.push(part);
        }
    }
    Ok(parts)
}

struct Scanner<'s> {
    bytes: &'s [u8],
    at: usize,
}

const LONG_MARKS: [&[u8]; 10] = [
    b"...", b"//", b"**", b"==", b"!=", b">=", b"<=", b"</", b"?.", b"?[",
];
const SHORT_MARKS: &[u8] = b"+-*/%!.,:~|=><()[]{}@";

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn find(&self, from: usize, needle: [u8; 2]) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        let offset = rest.windows(2).position(|window| window == needle)?;
        Some(from + offset)
    }

    fn part(&mut self) -> Result<Option<Part>, NotTera> {
        match self.rest() {
            [b'{', b'{', ..] => self.markup(*b"}}").map(|markup| Some(Part::Print(markup))),
            [b'{', b'%', ..] => match self.raw()? {
                Some(length) => Ok(Some(Part::Text(length))),
                None => self.markup(*b"%}").map(|markup| Some(Part::Tag(markup))),
            },
            [b'{', b'#', ..] => {
                let after = self.at + 2 + usize::from(self.bytes.get(self.at + 2) == Some(&b'-'));
                let end = self.find(after, *b"#}").ok_or(NotTera)?;
                self.at = end + 2;
                Ok(None)
            }
            _ => Ok(Some(Part::Text(self.text()))),
        }
    }

    fn text(&mut self) -> usize {
        let is_start = |window: &[u8]| matches!(window, b"{{" | b"{%" | b"{#");
        let rest = self.rest();
        let length = rest.windows(2).position(is_start).unwrap_or(rest.len());
        self.at += length;
        length
    }

    /// The length of the insides of a `raw` block, if one starts here.
    fn raw(&mut self) -> Result<Option<usize>, NotTera> {
        let Some(start) = self.named_tag(self.at, b"raw") else {
            return Ok(None);
        };
        let mut from = start;
        while let Some(tag) = self.find(from, *b"{%") {
            if let Some(end) = self.named_tag(tag, b"endraw") {
                self.at = end;
                return Ok(Some(tag - start));
            }
            from = tag + 2;
        }
        Err(NotTera)
    }

    /// The end of a tag that holds nothing but a name, if it is that.
    fn named_tag(&self, at: usize, name: &[u8]) -> Option<usize> {
        let mut rest = self.bytes.get(at + 2..)?;
        rest = rest.strip_prefix(b"-").unwrap_or(rest);
        // Tera passes a second dash over, too.
        rest = rest.strip_prefix(b"-").unwrap_or(rest);
        rest = rest.trim_ascii_start().strip_prefix(name)?;
        rest = rest.trim_ascii_start();
        rest = rest.strip_prefix(b"-").unwrap_or(rest);
        rest = rest.strip_prefix(b"%}")?;
        Some(self.bytes.len() - rest.len())
    }

    fn markup(&mut self, end: [u8; 2]) -> Result<Markup, NotTera> {
        let start = self.at;
        self.at += 2;
        if self.rest().first() == Some(&b'-') {
            self.at += 1;
        }
        let inside_start = self.at;
        let mut tokens = Vec::new();
        loop {
            let space = self
                .rest()
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace());
            self.at += space.count();
            let inside_end = self.at;
            let trims = self.rest().first() == Some(&b'-') && self.rest().get(1..3) == Some(&end);
            if trims || self.rest().get(..2) == Some(&end) {
                self.at += 2 + usize::from(trims);
                return Ok(Markup {
                    range: start..self.at,
                    tokens,
                    inside_end,
                    inside_start,
                    trims,
                });
            }
            tokens.push(self.token()?);
        }
    }

    fn token(&mut self) -> Result<Token, NotTera> {
        let start = self.at;
        let rest = self.rest();
        let first = *rest.first().ok_or(NotTera)?;
        let long = LONG_MARKS.iter().find(|mark| rest.starts_with(mark));
        let (kind, length) = if let Some(mark) = long {
            (Kind::Mark, mark.len())
        } else if SHORT_MARKS.contains(&first) {
            (Kind::Mark, 1)
        } else if matches!(first, b'"' | b'\'' | b'`') {
            (Kind::String, string_length(rest).ok_or(NotTera)?)
        } else if first.is_ascii_digit() {
            (Kind::Number, number_length(rest))
        } else if first.is_ascii_alphabetic() || first == b'_' {
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            (Kind::Identifier, rest.iter().take_while(is_part).count())
        } else {
            return Err(NotTera);
        };
        self.at += length;
        Ok(Token {
            kind,
            range: start..self.at,
        })
    }
}

fn string_length(rest: &[u8]) -> Option<usize> {
    let quote = *rest.first()?;
    let mut escaped = false;
    for (index, byte) in rest.iter().enumerate().skip(1) {
        if escaped {
            escaped = false;
        } else if *byte == b'\\' {
            escaped = true;
        } else if *byte == quote {
            return Some(index + 1);
        }
    }
    None
}

fn number_length(rest: &[u8]) -> usize {
    let mut has_point = false;
    let is_part = |byte: &&u8| {
        let is_point = **byte == b'.' && !has_point;
        has_point |= is_point;
        is_point || byte.is_ascii_digit()
    };
    rest.iter().take_while(is_part).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(source: &str) -> Result<Vec<String>, NotTera> {
        let shown = |part: &Part| match part {
            Part::Text(length) => format!("text {length}"),
            Part::Print(markup) | Part::Tag(markup) => {
                let tokens: Vec<&str> = markup
                    .tokens
                    .iter()
                    .map(|token| &source[token.range.clone()])
                    .collect();
                let name = if matches!(part, Part::Tag(_)) {
                    "tag"
                } else {
                    "print"
                };
                let trims = if markup.trims { " trims" } else { "" };
                format!("{name} {}{trims}", tokens.join(" "))
            }
        };
        Ok(scan(source)?.iter().map(shown).collect())
    }

    #[test]
    fn sources_are_taken_apart_as_tera_does() {
        let cases: [(&str, &[&str]); 8] = [
            ("", &[]),
            ("plain { text }", &["text 14"]),
            (
                "a{{- b.c | d(e='}}') -}}f",
                &["text 1", "print b . c | d ( e = '}}' ) trims", "text 1"],
            ),
            ("{# {{ a }} #}b", &["text 1"]),
            ("{% raw %}{{ a }}{% endraw %}b", &["text 7", "text 1"]),
            ("{%- raw -%} {% {%- endraw -%}b", &["text 4", "text 1"]),
            ("{% if a?.b?[1] >= 1.5 %}", &["tag if a ?. b ?[ 1 ] >= 1.5"]),
            ("{% for k, v in {...m} %}", &["tag for k , v in { ... m }"]),
        ];
        for (source, expected) in cases {
            assert_eq!(shape(source).unwrap(), expected, "{source}");
        }
        for source in ["{{ a", "{% raw %}", "{# a", "{{ 'a }}", "{{ § }}"] {
            assert_eq!(shape(source), Err(NotTera), "{source}");
        }
    }
}
