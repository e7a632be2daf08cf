//! Patterns for file names, as `.Files.Glob` takes them.
//!
//! Mirrors the syntax of `github.com/gobwas/glob` 0.2.3: `*` and `?` stop at separators, `**` does not, `[a-z]`, `[!a-z]`, `[abc]`,
//! `{one,other}` and `\` before a character that shall be literal.

use crate::regex::Engine;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir, Repetition};
use std::rc::Rc;

/// Bytes that a pattern may have.
const MAX_PATTERN_LENGTH: usize = 64 << 10;
/// Alternatives within alternatives that a pattern may have.
const MAX_DEPTH: usize = 100;
/// Bytes that a compiled pattern may take.
const PATTERN_SIZE_LIMIT: usize = 4 << 20;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Glob {
    engine: Rc<Engine>,
}

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// A bracket is not closed.
    #[error("unexpected end of input")]
    UnexpectedEnd,
    /// Something follows a range within its brackets.
    #[error("expected close range character")]
    UnclosedRange,
    /// Brackets hold nothing.
    #[error("could not parse range")]
    EmptyRange,
    /// A range runs backwards.
    #[error("hi character '{high}' should be greater than lo '{low}'")]
    ReversedRange {
        /// The first character.
        low: char,
        /// The second character.
        high: char,
    },
    /// The pattern is longer or deeper than this engine allows.
    #[error("pattern is too large")]
    TooLarge,
}

impl Glob {
    /// Compiles a pattern. `*` and `?` do not match the separators.
    ///
    /// # Errors
    /// [`GlobError`] if brackets are malformed, or the pattern is too large.
    pub fn new(pattern: &str, separators: &[char]) -> Result<Self, GlobError> {
        if pattern.len() > MAX_PATTERN_LENGTH {
            return Err(GlobError::TooLarge);
        }
        let hir = Parser::new(pattern, separators).run()?;
        // A pattern is put to some names once: automata would cost more than they spare.
        let engine = Engine::without_automata(hir, PATTERN_SIZE_LIMIT);
        Ok(Self {
            engine: Rc::new(engine.map_err(|_| GlobError::TooLarge)?),
        })
    }

    /// Whether the whole of a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.engine
            .is_match(Input::new(text).anchored(Anchored::Yes))
    }
}

/// A pair of braces that is open, or the pattern as a whole.
#[derive(Debug, Default)]
struct Frame {
    alternatives: Vec<Hir>,
    sequence: Vec<Hir>,
}

impl Frame {
    fn end_alternative(&mut self) {
        let sequence = std::mem::take(&mut self.sequence);
        self.alternatives.push(Hir::concat(sequence));
    }

    fn finish(mut self) -> Hir {
        self.end_alternative();
        Hir::alternation(self.alternatives)
    }
}

struct Parser<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    frames: Vec<Frame>,
    /// Any character but the separators.
    inner: Hir,
}

impl<'p> Parser<'p> {
    fn new(pattern: &'p str, separators: &[char]) -> Self {
        let inner = class(separators.iter().map(|c| (*c, *c)), true);
        Self {
            rest: pattern.chars().peekable(),
            frames: vec![Frame::default()],
            inner,
        }
    }

    fn run(mut self) -> Result<Hir, GlobError> {
        while let Some(character) = self.rest.next() {
            let is_inside = self.frames.len() > 1;
            match character {
                '{' if self.frames.len() >= MAX_DEPTH => return Err(GlobError::TooLarge),
                '{' => self.frames.push(Frame::default()),
                ',' if is_inside => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.end_alternative();
                    }
                }
                '}' if is_inside => self.close(),
                '[' => {
                    let class = self.brackets()?;
                    self.push(class);
                }
                '?' => self.push(self.inner.clone()),
                '*' if self.rest.next_if_eq(&'*').is_some() => {
                    self.push(many(class(std::iter::empty(), true)));
                }
                '*' => self.push(many(self.inner.clone())),
                '\\' => {
                    if let Some(escaped) = self.rest.next() {
                        self.push(literal(escaped));
                    }
                }
                character => self.push(literal(character)),
            }
        }
        // What is not closed ends with the pattern.
        while self.frames.len() > 1 {
            self.close();
        }
        let whole = self.frames.pop().unwrap_or_default().finish();
        Ok(Hir::concat(vec![
            whole,
            Hir::look(regex_syntax::hir::Look::End),
        ]))
    }

    fn push(&mut self, hir: Hir) {
        if let Some(frame) = self.frames.last_mut() {
            frame.sequence.push(hir);
        }
    }

    fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.push(frame.finish());
        }
    }

    /// Reads what follows an opening bracket, up to the closing one.
    fn brackets(&mut self) -> Result<Hir, GlobError> {
        let is_negated = self.rest.next_if_eq(&'!').is_some();
        let low = self.rest.next().ok_or(GlobError::UnexpectedEnd)?;
        if self.rest.next_if_eq(&'-').is_some() {
            let high = self.rest.next().ok_or(GlobError::UnexpectedEnd)?;
            match self.rest.next() {
                None => return Err(GlobError::UnexpectedEnd),
                Some(']') if low <= high => {
                    return Ok(class(std::iter::once((low, high)), is_negated));
                }
                Some(']') => return Err(GlobError::ReversedRange { low, high }),
                Some(_) => return Err(GlobError::UnclosedRange),
            }
        }
        let mut characters = Vec::new();
        let mut next = Some(low);
        loop {
            match next.ok_or(GlobError::UnexpectedEnd)? {
                ']' => break,
                '\\' => characters.extend(self.rest.next()),
                character => characters.push(character),
            }
            next = self.rest.next();
        }
        if characters.is_empty() {
            return Err(GlobError::EmptyRange);
        }
        Ok(class(characters.into_iter().map(|c| (c, c)), is_negated))
    }
}

fn class(ranges: impl Iterator<Item = (char, char)>, is_negated: bool) -> Hir {
    let ranges = ranges.map(|(low, high)| ClassUnicodeRange::new(low, high));
    let mut class = ClassUnicode::new(ranges);
    if is_negated {
        class.negate();
    }
    crate::regex::class_hir(class)
}

fn many(hir: Hir) -> Hir {
    Hir::repetition(Repetition {
        min: 0,
        max: None,
        greedy: true,
        sub: Box::new(hir),
    })
}

fn literal(character: char) -> Hir {
    Hir::literal(character.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::{Glob, GlobError};

    #[test]
    fn single_star_stops_at_separators_and_double_star_does_not() {
        for (pattern, text, is_match) in [
            ("config/*", "config/a.yaml", true),
            ("config/*", "config/sub/a.yaml", false),
            ("config/**", "config/sub/a.yaml", true),
            ("**.yaml", "config/sub/a.yaml", true),
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "config/a.yaml", false),
            ("{a,b*}.txt", "bcd.txt", true),
            ("{a,b*}.txt", "c.txt", false),
            ("[a-c]?", "bz", true),
            ("[!a-c]?", "bz", false),
            ("[xyz]", "y", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("", "", true),
            ("", "a", false),
            ("{a,}b", "b", true),
        ] {
            let glob = Glob::new(pattern, &['/']).unwrap();
            assert_eq!(glob.is_match(text), is_match, "{pattern} {text}");
        }
    }

    #[test]
    fn malformed_brackets_are_refused() {
        for (pattern, error) in [
            ("[a-", GlobError::UnexpectedEnd),
            ("[a-z", GlobError::UnexpectedEnd),
            ("[abc", GlobError::UnexpectedEnd),
            ("[a-zA-Z]", GlobError::UnclosedRange),
            ("[]", GlobError::EmptyRange),
            (
                "[z-a]",
                GlobError::ReversedRange {
                    low: 'z',
                    high: 'a',
                },
            ),
        ] {
            assert_eq!(Glob::new(pattern, &['/']).unwrap_err(), error, "{pattern}");
        }
    }
}
