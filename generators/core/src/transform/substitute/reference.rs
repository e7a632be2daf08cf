//! Reading and evaluating a reference such as `${name:-default}`.

mod pattern;

use super::{MAX_REFERENCE_DEPTH, SubstituteError, Substitution, Undefined};
use pattern::{Match, replaced, trimmed};
use std::borrow::Cow;

/// Characters of a reference that an error shows.
const SHOWN: usize = 40;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// As it is.
    Text(String),
    /// To be replaced.
    Reference(Reference),
}

/// A reference to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// The variable.
    pub(super) name: String,
    form: Form,
    /// As it was written.
    source: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Plain,
    Length,
    Default(Test, Vec<Part>),
    Alternative(Test, Vec<Part>),
    Needed(Test, Vec<Part>),
    Slice(usize, Option<usize>),
    Case(Reach, Case),
    Trim(Match, Vec<Part>),
    Replace(Match, Vec<Part>, Vec<Part>),
}

/// What counts as not having a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Undefined,
    UndefinedOrEmpty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    First,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// Takes a text apart.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, SubstituteError> {
    let mut reader = Reader { rest: text };
    let parts = reader.parts(&[], 0)?;
    Ok(parts)
}

impl Reference {
    /// Whether it is nothing but the variable.
    pub(super) fn is_plain(&self) -> bool {
        self.form == Form::Plain
    }

    /// What it stands for.
    pub(super) fn evaluate(&self, values: &Substitution) -> Result<String, SubstituteError> {
        let value = values.variable(&self.name)?;
        match &self.form {
            Form::Default(test, word) => match test.value(value) {
                Some(value) => Ok(value.into_owned()),
                None => values.join(word),
            },
            Form::Alternative(test, word) => match test.value(value) {
                Some(_) => values.join(word),
                None => Ok(String::new()),
            },
            Form::Needed(test, word) => match test.value(value) {
                Some(value) => Ok(value.into_owned()),
                None => Err(SubstituteError::Needed {
                    name: self.name.clone(),
                    text: values.join(word)?,
                }),
            },
            _ => match (value, values.undefined) {
                (Some(value), _) => self.derive(&value, values),
                (None, Undefined::Empty) => self.derive("", values),
                (None, Undefined::Keep) => Ok(self.source.clone()),
                (None, Undefined::Refuse) => Err(SubstituteError::Undefined {
                    name: self.name.clone(),
                }),
            },
        }
    }

    fn derive(&self, value: &str, values: &Substitution) -> Result<String, SubstituteError> {
        Ok(match &self.form {
            Form::Length => value.chars().count().to_string(),
            Form::Slice(offset, length) => value
                .chars()
                .skip(*offset)
                .take(length.unwrap_or(usize::MAX))
                .collect(),
            Form::Case(Reach::All, Case::Lower) => value.to_lowercase(),
            Form::Case(Reach::All, Case::Upper) => value.to_uppercase(),
            Form::Case(Reach::First, case) => with_first(value, *case),
            Form::Trim(kind, pattern) => trimmed(value, &values.join(pattern)?, *kind)?,
            Form::Replace(kind, pattern, by) => {
                replaced(value, &values.join(pattern)?, &values.join(by)?, *kind)?
            }
            Form::Plain | Form::Default(..) | Form::Alternative(..) | Form::Needed(..) => {
                value.to_owned()
            }
        })
    }
}

impl Test {
    fn value(self, value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
        value.filter(|value| self == Self::Undefined || !value.is_empty())
    }
}

fn with_first(value: &str, case: Case) -> String {
    let mut letters = value.chars();
    let Some(first) = letters.next() else {
        return String::new();
    };
    let first: String = match case {
        Case::Lower => first.to_lowercase().collect(),
        Case::Upper => first.to_uppercase().collect(),
    };
    first + letters.as_str()
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Reads up to one of the characters that end the word, or to the end of the text. The end is not taken.
    fn parts(&mut self, ends: &[char], depth: usize) -> Result<Vec<Part>, SubstituteError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        while let Some(next) = self.rest.chars().next() {
            if ends.contains(&next) {
                break;
            }
            if let Some(rest) = self.rest.strip_prefix("$${") {
                text.push_str("${");
                self.rest = rest;
                // The literal's own end is text too.
                if depth > 0 {
                    text.push_str(self.until_brace());
                }
            } else if self.rest.starts_with("${") {
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(Part::Reference(self.reference(depth + 1)?));
            } else if depth > 0 && next == '\\' {
                self.rest = &self.rest[1..];
                text.extend(self.take_char());
            } else {
                text.extend(self.take_char());
            }
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(parts)
    }

    fn reference(&mut self, depth: usize) -> Result<Reference, SubstituteError> {
        let start = self.rest;
        let malformed = |problem| SubstituteError::Malformed {
            reference: start.chars().take(SHOWN).collect(),
            problem,
        };
        if depth > MAX_REFERENCE_DEPTH {
            return Err(malformed("references are nested too deeply"));
        }
        self.rest = &self.rest[2..];
        let length = self.take("#");
        let name = self.name().ok_or_else(|| malformed("a name is missing"))?;
        let form = if length {
            Form::Length
        } else {
            self.form(depth, &malformed)?
        };
        if !self.take("}") {
            return Err(malformed("`}` is missing"));
        }
        let source = start[..start.len() - self.rest.len()].to_owned();
        Ok(Reference { name, form, source })
    }

    fn form(
        &mut self,
        depth: usize,
        malformed: &dyn Fn(&'static str) -> SubstituteError,
    ) -> Result<Form, SubstituteError> {
        if self.rest.starts_with('}') {
            return Ok(Form::Plain);
        }
        if let Some(form) = self.case().or_else(|| self.slice()) {
            return Ok(form);
        }
        let trim = [
            ("##", Match::LongestPrefix),
            ("#", Match::ShortestPrefix),
            ("%%", Match::LongestSuffix),
            ("%", Match::ShortestSuffix),
        ];
        for (operator, kind) in trim {
            if self.take(operator) {
                return Ok(Form::Trim(kind, self.parts(&['}'], depth)?));
            }
        }
        let replace = [
            ("//", Match::All),
            ("/#", Match::LongestPrefix),
            ("/%", Match::LongestSuffix),
            ("/", Match::First),
        ];
        for (operator, kind) in replace {
            if self.take(operator) {
                let pattern = self.parts(&['/', '}'], depth)?;
                let by = if self.take("/") {
                    self.parts(&['}'], depth)?
                } else {
                    Vec::new()
                };
                return Ok(Form::Replace(kind, pattern, by));
            }
        }
        let test = if self.take(":") {
            Test::UndefinedOrEmpty
        } else {
            Test::Undefined
        };
        let operator = self
            .take_char()
            .ok_or_else(|| malformed("`}` is missing"))?;
        let word = self.parts(&['}'], depth)?;
        match operator {
            '-' | '=' => Ok(Form::Default(test, word)),
            '+' => Ok(Form::Alternative(test, word)),
            '?' => Ok(Form::Needed(test, word)),
            _ => Err(malformed("what follows the name is not understood")),
        }
    }

    fn case(&mut self) -> Option<Form> {
        let forms = [
            (",,", Reach::All, Case::Lower),
            ("^^", Reach::All, Case::Upper),
            (",", Reach::First, Case::Lower),
            ("^", Reach::First, Case::Upper),
        ];
        let (_, reach, case) = forms.into_iter().find(|(text, ..)| self.take(text))?;
        Some(Form::Case(reach, case))
    }

    /// `:offset` and `:offset:length`; nothing is taken when it is something else.
    fn slice(&mut self) -> Option<Form> {
        let numbers = self.rest.strip_prefix(':')?;
        let numbers = &numbers[..numbers.find('}')?];
        let (offset, length) = match numbers.split_once(':') {
            Some((offset, length)) => (offset, Some(length.parse().ok()?)),
            None => (numbers, None),
        };
        let offset = offset.parse().ok()?;
        self.rest = &self.rest[1 + numbers.len()..];
        Some(Form::Slice(offset, length))
    }

    fn name(&mut self) -> Option<String> {
        let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let name = &self.rest[..end];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.rest = &self.rest[end..];
        Some(name.to_owned())
    }

    fn until_brace(&mut self) -> &'a str {
        let end = self.rest.find('}').map_or(self.rest.len(), |end| end + 1);
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take_char(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }
}
