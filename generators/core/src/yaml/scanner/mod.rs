//! Cuts YAML text into tokens, as libyaml's scanner does.
//!
//! Two things make YAML scanning more than lexing. Indentation opens and closes block collections,
//! so tokens that stand for no characters are put between the others. And a key shows only at the
//! `:` behind it, so tokens wait in a queue while one of them may still turn out to start a key.
//!
//! Mirrors `scannerc.go` of go.yaml.in/yaml v2.4.3, oddities included.

mod block_scalar;
mod cursor;
mod directive;
mod fetch;
mod indent;
mod plain_scalar;
mod quoted_scalar;
mod simple_key;
mod tag;
mod token;

use std::collections::{BTreeMap, VecDeque};

use self::simple_key::SimpleKey;
pub use self::token::ScalarStyle;
pub(super) use self::token::{Mark, Token, TokenData, TokenKind};
use super::error::Error;
use super::input::Input;

/// How many flow collections may stand inside each other.
const MAX_FLOW_LEVEL: usize = 10_000;

/// How many block collections may stand inside each other.
const MAX_INDENTS: usize = 10_000;

/// How many characters a key without `?` may take, with what is around it.
const MAX_SIMPLE_KEY_LENGTH: u32 = 1024;

/// How many digits each half of a `%YAML` version may have.
const MAX_VERSION_DIGITS: usize = 2;

/// A copyable view of the token at the head of the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peeked {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

/// How far the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    NotStarted,
    Running,
    Ended,
}

/// The state of scanning one text.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
    mark: Mark,
    /// What is wrong with the characters behind the end of `text`.
    unreadable_rest: Option<Error>,
    tokens: VecDeque<Token<'a>>,
    tokens_taken: usize,
    head_is_settled: bool,
    stage: Stage,
    /// The column of the innermost block collection, -1 outside of any.
    indent: i64,
    indents: Vec<i64>,
    flow_level: usize,
    simple_key_allowed: bool,
    /// One slot for each flow level, and one for the block context.
    simple_keys: Vec<SimpleKey>,
    simple_key_of_token: BTreeMap<usize, usize>,
}

impl<'a> Scanner<'a> {
    /// A scanner at the start of `input`.
    pub(super) fn new(input: &'a Input<'_>) -> Self {
        let text = input.text();
        Self {
            text,
            bytes: text.as_bytes(),
            position: 0,
            mark: Mark::default(),
            unreadable_rest: input.unreadable_rest(),
            tokens: VecDeque::new(),
            tokens_taken: 0,
            head_is_settled: false,
            stage: Stage::NotStarted,
            indent: -1,
            indents: Vec::new(),
            flow_level: 0,
            simple_key_allowed: true,
            simple_keys: vec![SimpleKey::default()],
            simple_key_of_token: BTreeMap::new(),
        }
    }

    /// Goes to a place inside of a block collection, to scan one scalar there.
    pub(super) fn go_to(&mut self, position: usize, column: u32, indent: i64) {
        self.position = position;
        self.mark.column = column;
        self.indent = indent;
    }

    /// The place in the text, in bytes.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The token at the head of the queue.
    pub(super) fn peek(&mut self) -> Result<Peeked, Error> {
        if !self.head_is_settled {
            self.settle_head()?;
        }
        let head = self.tokens.front().map(|token| Peeked {
            kind: token.kind,
            start: token.start,
            end: token.end,
        });
        // The queue is never empty once its head is settled.
        Ok(head.unwrap_or(Peeked {
            kind: TokenKind::StreamEnd,
            start: self.mark,
            end: self.mark,
        }))
    }

    /// Takes the token at the head of the queue away. To be called behind [`Scanner::peek`] only.
    pub(super) fn take(&mut self) -> TokenData<'a> {
        self.head_is_settled = false;
        self.tokens_taken += 1;
        let Some(token) = self.tokens.pop_front() else {
            return TokenData::None;
        };
        let ended = token.kind == TokenKind::StreamEnd;
        self.stage = if ended { Stage::Ended } else { Stage::Running };
        token.data
    }

    /// Whether the end of the stream has been taken.
    pub(super) fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Scans on until nothing can come in front of the head of the queue any more.
    fn settle_head(&mut self) -> Result<(), Error> {
        loop {
            if !self.tokens.is_empty() {
                let Some(&slot) = self.simple_key_of_token.get(&self.tokens_taken) else {
                    break;
                };
                if !self.simple_key_is_valid(slot)? {
                    break;
                }
            }
            let fetched = self.fetch_next_token();
            // A token that goes up to the unreadable characters would have gone on; this counts
            // more than what is wrong with it.
            self.require(1)?;
            fetched?;
        }
        self.head_is_settled = true;
        Ok(())
    }

    /// Fails if one of the next `count` characters cannot be read.
    fn require(&self, count: usize) -> Result<(), Error> {
        match &self.unreadable_rest {
            Some(error) if self.position + count > self.bytes.len() => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Queues a token; one with an `index` goes in front of the tokens behind it, if they are still
    /// there.
    fn queue(&mut self, index: Option<usize>, token: Token<'a>) {
        match index {
            Some(index) if index < self.tokens.len() => self.tokens.insert(index, token),
            _ => self.tokens.push_back(token),
        }
    }

    /// An error at the current place.
    fn error(&self, problem: &'static str) -> Error {
        Error::scanner(problem, self.mark)
    }
}
