//! Selectors of labels: `a=b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a`, `!a`, `a>1`, `a<1`, joined by commas.
//!
//! Mirrors `labels/selector.go` of apimachinery as kyaml v0.21.1 carries it.

use crate::error::{Result, fail};
use std::collections::BTreeMap;

/// The longest name of a label, without its prefix, and the longest value.
const MAX_NAME_LENGTH: usize = 63;
/// The longest prefix of a label.
const MAX_PREFIX_LENGTH: usize = 253;

/// Requirements, all of which have to be met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    GreaterThan(i64),
    LessThan(i64),
}

impl LabelSelector {
    /// Reads a selector; an empty one selects everything.
    ///
    /// # Errors
    /// When it does not follow the grammar.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
        };
        let mut requirements = Vec::new();
        while let Some(token) = parser.peek() {
            match token {
                Token::Word(_) | Token::Symbol("!") => {
                    let requirement = parser
                        .requirement()
                        .map_err(|error| error.within("unable to parse requirement"))?;
                    requirements.push(requirement);
                    match parser.next() {
                        None => break,
                        Some(Token::Symbol(",")) => match parser.peek() {
                            Some(Token::Word(_) | Token::Symbol("!")) => {}
                            other => {
                                return Err(fail(format!(
                                    "found '{}', expected: identifier after ','",
                                    shown(other)
                                )));
                            }
                        },
                        other => {
                            return Err(fail(format!(
                                "found '{}', expected: ',' or 'end of string'",
                                shown(other.as_ref())
                            )));
                        }
                    }
                }
                other @ Token::Symbol(_) => {
                    return Err(fail(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        shown(Some(other))
                    )));
                }
            }
        }
        Ok(Self { requirements })
    }

    /// Whether there are no requirements.
    pub(super) fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether labels meet all requirements.
    pub(super) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match &requirement.test {
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Test::Exists => value.is_some(),
                Test::DoesNotExist => value.is_none(),
                Test::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
                Test::LessThan(bound) => number().is_some_and(|number| number < *bound),
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(&'static str),
}

fn shown(token: Option<&Token>) -> String {
    match token {
        None => String::new(),
        Some(Token::Word(word)) => word.clone(),
        Some(Token::Symbol(symbol)) => (*symbol).to_owned(),
    }
}

const SYMBOLS: [&str; 10] = ["==", "!=", "=", "!", ">", "<", "(", ")", ",", ""];

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let symbol = SYMBOLS
            .into_iter()
            .find(|symbol| !symbol.is_empty() && rest.starts_with(symbol));
        let length = if let Some(symbol) = symbol {
            tokens.push(Token::Symbol(symbol));
            symbol.len()
        } else {
            let ends = |c: char| c.is_whitespace() || "=!><(),".contains(c);
            let length = rest.find(ends).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            tokens.push(Token::Word(word.to_owned()));
            length
        };
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement> {
        let negated = self.peek() == Some(&Token::Symbol("!"));
        if negated {
            self.at += 1;
        }
        let key = match self.next() {
            Some(Token::Word(key)) => key,
            other => {
                return Err(fail(format!(
                    "found '{}', expected: identifier",
                    shown(other.as_ref())
                )));
            }
        };
        check_key(&key)?;
        if negated {
            return Ok(Requirement {
                key,
                test: Test::DoesNotExist,
            });
        }
        let test = match self.peek().cloned() {
            None | Some(Token::Symbol(",")) => Test::Exists,
            Some(operator) => {
                self.at += 1;
                self.test(&key, &operator)?
            }
        };
        Ok(Requirement { key, test })
    }

    fn test(&mut self, key: &str, operator: &Token) -> Result<Test> {
        match operator {
            Token::Symbol("=" | "==") => Ok(Test::In(vec![self.value(key)?])),
            Token::Symbol("!=") => Ok(Test::NotIn(vec![self.value(key)?])),
            Token::Symbol(">") => self.number(key).map(Test::GreaterThan),
            Token::Symbol("<") => self.number(key).map(Test::LessThan),
            Token::Word(word) if word == "in" => self.values(key).map(Test::In),
            Token::Word(word) if word == "notin" => self.values(key).map(Test::NotIn),
            other => Err(fail(format!(
                "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                shown(Some(other))
            ))),
        }
    }

    /// A value, empty in front of a comma or at the end.
    fn value(&mut self, key: &str) -> Result<String> {
        match self.peek().cloned() {
            None | Some(Token::Symbol(",")) => Ok(String::new()),
            Some(Token::Word(value)) => {
                self.at += 1;
                check_value(key, &value)?;
                Ok(value)
            }
            other => Err(fail(format!(
                "found '{}', expected: identifier",
                shown(other.as_ref())
            ))),
        }
    }

    fn number(&mut self, key: &str) -> Result<i64> {
        let value = self.value(key)?;
        value
            .parse()
            .map_err(|_| fail("for 'Gt', 'Lt' operators, the value must be an integer"))
    }

    fn values(&mut self, key: &str) -> Result<Vec<String>> {
        if self.next() != Some(Token::Symbol("(")) {
            return Err(fail("found '', expected: '('"));
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                Some(Token::Word(value)) => {
                    check_value(key, &value)?;
                    values.push(value);
                    match self.next() {
                        Some(Token::Symbol(",")) if self.peek() == Some(&Token::Symbol(")")) => {
                            values.push(String::new());
                        }
                        Some(Token::Symbol(",")) => {}
                        Some(Token::Symbol(")")) => return Ok(values),
                        other => {
                            return Err(fail(format!(
                                "found '{}', expected: ',' or ')'",
                                shown(other.as_ref())
                            )));
                        }
                    }
                }
                Some(Token::Symbol(",")) => values.push(String::new()),
                Some(Token::Symbol(")")) => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    return Ok(values);
                }
                other => {
                    return Err(fail(format!(
                        "found '{}', expected: ',', ')' or identifier",
                        shown(other.as_ref())
                    )));
                }
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= MAX_NAME_LENGTH
        && edge(text.chars().next())
        && edge(text.chars().next_back())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn check_key(key: &str) -> Result<()> {
    let (prefix, name) = key
        .split_once('/')
        .map_or((None, key), |(p, n)| (Some(p), n));
    let is_domain = |prefix: &str| {
        !prefix.is_empty()
            && prefix.len() <= MAX_PREFIX_LENGTH
            && prefix
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
    };
    if is_name(name) && prefix.is_none_or(is_domain) {
        return Ok(());
    }
    Err(fail(format!("invalid label key {key:?}")))
}

fn check_value(key: &str, value: &str) -> Result<()> {
    if value.is_empty() || is_name(value) {
        return Ok(());
    }
    Err(fail(format!(
        "invalid label value: {value:?}: at key: {key:?}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_follow_the_grammar_of_kubernetes() {
        let labels: BTreeMap<_, _> = [("app", "web"), ("n", "5")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let cases = [
            ("", true),
            ("app=web", true),
            ("app == web, n>4", true),
            ("app!=web", false),
            ("app in (db, web)", true),
            ("tier notin (x)", true),
            ("!tier", true),
            ("tier", false),
            ("n<5", false),
        ];
        for (text, want) in cases {
            assert_eq!(
                LabelSelector::parse(text).unwrap().matches(&labels),
                want,
                "{text}"
            );
        }
        for text in ["=", "a in", "a,", "a in (x", "a b", "-a=b"] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
        }
    }
}
