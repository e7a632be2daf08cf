//! Tokens (`text/template/parse/lex.go`).

use super::Delimiters;
use crate::format::{decode_last_rune, decode_rune, is_letter_or_digit, is_print, quote};
use memchr::memmem;

const LEFT_COMMENT: &[u8] = b"/*";
const RIGHT_COMMENT: &[u8] = b"*/";
/// The minus sign and the space next to it.
const TRIM_MARKER: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    End,
    Field,
    Identifier,
    LeftDelimiter,
    LeftParenthesis,
    Number,
    Pipe,
    RawString,
    RightDelimiter,
    RightParenthesis,
    Space,
    String,
    Text,
    Variable,
    Dot,
    Nil,
    Keyword(Keyword),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
}

/// A token; what it reads stands in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Line of its start.
    pub(super) line: usize,
}

impl Token {
    pub(super) const NONE: Self = Self {
        kind: TokenKind::End,
        start: 0,
        end: 0,
        line: 0,
    };
}

#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts about where the lexer is"
)]
pub(super) struct Lexer<'a> {
    input: &'a [u8],
    delimiters: &'a Delimiters,
    position: usize,
    start: usize,
    at_end: bool,
    parentheses: usize,
    line: usize,
    start_line: usize,
    inside_action: bool,
    has_break: bool,
    has_continue: bool,
    error: String,
}

impl<'a> Lexer<'a> {
    /// Reads a text. `break` and `continue` are keywords unless functions have these names.
    pub(super) fn new(
        input: &'a [u8],
        delimiters: &'a Delimiters,
        has_break: bool,
        has_continue: bool,
    ) -> Self {
        Self {
            input,
            delimiters,
            position: 0,
            start: 0,
            at_end: false,
            parentheses: 0,
            line: 1,
            start_line: 1,
            inside_action: false,
            has_break,
            has_continue,
            error: String::new(),
        }
    }

    /// What a token reads; the message of an error.
    pub(super) fn value(&self, token: Token) -> &[u8] {
        match token.kind {
            TokenKind::Error => self.error.as_bytes(),
            TokenKind::End => b"EOF",
            _ => self.input.get(token.start..token.end).unwrap_or_default(),
        }
    }

    /// What a token reads that is neither an error nor the end.
    pub(super) fn source(&self, token: Token) -> &'a [u8] {
        self.input.get(token.start..token.end).unwrap_or_default()
    }

    /// A token as error messages show it.
    pub(super) fn describe(&self, token: Token) -> String {
        const SHOWN: usize = 10;
        let value = self.value(token);
        let text = match token.kind {
            TokenKind::Error | TokenKind::End => value.to_vec(),
            TokenKind::Keyword(_) | TokenKind::Dot | TokenKind::Nil => [b"<", value, b">"].concat(),
            _ if value.len() > SHOWN => {
                let end = crate::format::runes(value)
                    .nth(SHOWN)
                    .map_or(value.len(), |rune| rune.0);
                [&quote(&value[..end]), b"...".as_slice()].concat()
            }
            _ => quote(value),
        };
        String::from_utf8_lossy(&text).into_owned()
    }

    pub(super) fn next_token(&mut self) -> Token {
        if self.inside_action {
            self.inside_action()
        } else {
            self.text()
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.input.get(self.position..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let rest = self.rest();
        if let Some(&byte) = rest.first().filter(|byte| byte.is_ascii()) {
            self.position += 1;
            self.line += usize::from(byte == b'\n');
            return Some(char::from(byte));
        }
        if rest.is_empty() {
            self.at_end = true;
            return None;
        }
        let (character, width) = decode_rune(rest);
        self.position += width;
        self.line += usize::from(character == '\n');
        Some(character)
    }

    fn peek(&self) -> Option<char> {
        let rest = self.rest();
        if let Some(&byte) = rest.first().filter(|byte| byte.is_ascii()) {
            return Some(char::from(byte));
        }
        (!rest.is_empty()).then(|| decode_rune(rest).0)
    }

    fn back_up(&mut self) {
        if self.at_end || self.position == 0 {
            return;
        }
        if self.input[self.position - 1].is_ascii() {
            self.position -= 1;
            self.line -= usize::from(self.input[self.position] == b'\n');
            return;
        }
        let (character, width) = decode_last_rune(&self.input[..self.position]);
        self.position -= width;
        self.line -= usize::from(character == '\n');
    }

    fn emit(&mut self, kind: TokenKind) -> Token {
        let token = Token {
            kind,
            start: self.start,
            end: self.position,
            line: self.start_line,
        };
        self.start = self.position;
        self.start_line = self.line;
        token
    }

    fn ignore(&mut self) {
        self.count_lines();
        self.start = self.position;
        self.start_line = self.line;
    }

    /// Counts the lines of what was skipped without reading it.
    fn count_lines(&mut self) {
        let skipped = &self.input[self.start..self.position];
        self.line += memchr::memchr_iter(b'\n', skipped).count();
    }

    fn error(&mut self, message: impl Into<String>) -> Token {
        self.error = message.into();
        Token {
            kind: TokenKind::Error,
            start: self.start,
            end: self.start,
            line: self.start_line,
        }
    }

    fn bad_character(&mut self, what: &str, character: char) -> Token {
        let code = u32::from(character);
        self.error(if is_print(character) {
            format!("{what} U+{code:04X} '{character}'")
        } else {
            format!("{what} U+{code:04X}")
        })
    }

    fn text(&mut self) -> Token {
        loop {
            let Some(length) = find(self.rest(), self.delimiters.left()) else {
                self.position = self.input.len();
                if self.position > self.start {
                    self.count_lines();
                    return self.emit(TokenKind::Text);
                }
                return self.emit(TokenKind::End);
            };
            if length > 0 {
                self.position += length;
                let trimmed = self.trimmed_before();
                self.position -= trimmed;
                self.count_lines();
                let token = self.emit(TokenKind::Text);
                self.position += trimmed;
                self.ignore();
                if token.end > token.start {
                    return token;
                }
            }
            if let Some(token) = self.left_delimiter() {
                return token;
            }
        }
    }

    /// How much white space a trim marker takes away before the delimiter here.
    fn trimmed_before(&self) -> usize {
        if !has_left_trim_marker(&self.rest()[self.delimiters.left().len()..]) {
            return 0;
        }
        let text = &self.input[self.start..self.position];
        text.iter()
            .rev()
            .take_while(|&&byte| is_space(char::from(byte)))
            .count()
    }

    /// None after a comment, which is no token.
    fn left_delimiter(&mut self) -> Option<Token> {
        self.position += self.delimiters.left().len();
        let marker = if has_left_trim_marker(self.rest()) {
            TRIM_MARKER
        } else {
            0
        };
        if self.rest()[marker..].starts_with(LEFT_COMMENT) {
            self.position += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.emit(TokenKind::LeftDelimiter);
        self.inside_action = true;
        self.position += marker;
        self.ignore();
        self.parentheses = 0;
        Some(token)
    }

    fn comment(&mut self) -> Option<Token> {
        self.position += LEFT_COMMENT.len();
        let Some(length) = memmem::find(self.rest(), RIGHT_COMMENT) else {
            return Some(self.error("unclosed comment"));
        };
        self.position += length + RIGHT_COMMENT.len();
        let Some(trims) = self.at_right_delimiter() else {
            return Some(self.error("comment ends before closing delimiter"));
        };
        self.position += if trims { TRIM_MARKER } else { 0 } + self.delimiters.right().len();
        self.skip_space(trims);
        self.ignore();
        None
    }

    fn skip_space(&mut self, trims: bool) {
        if trims {
            let spaces = self
                .rest()
                .iter()
                .take_while(|&&byte| is_space(char::from(byte)));
            self.position += spaces.count();
        }
    }

    /// Whether a right delimiter stands here, and if so whether it has a trim marker.
    fn at_right_delimiter(&self) -> Option<bool> {
        let rest = self.rest();
        // Asked before every token: a look at one byte settles nearly all of them.
        let first = *rest.first()?;
        if !is_space(char::from(first)) && self.delimiters.right().first() != Some(&first) {
            return None;
        }
        if has_right_trim_marker(rest) && rest[TRIM_MARKER..].starts_with(self.delimiters.right()) {
            return Some(true);
        }
        rest.starts_with(self.delimiters.right()).then_some(false)
    }

    fn right_delimiter(&mut self, trims: bool) -> Token {
        if trims {
            self.position += TRIM_MARKER;
            self.ignore();
        }
        self.position += self.delimiters.right().len();
        let token = self.emit(TokenKind::RightDelimiter);
        if trims {
            self.skip_space(true);
            self.ignore();
        }
        self.inside_action = false;
        token
    }

    fn inside_action(&mut self) -> Token {
        if let Some(trims) = self.at_right_delimiter() {
            if self.parentheses == 0 {
                return self.right_delimiter(trims);
            }
            return self.error("unclosed left paren");
        }
        let Some(character) = self.next() else {
            return self.error("unclosed action");
        };
        match character {
            ' ' | '\t' | '\r' | '\n' => {
                self.back_up();
                self.space()
            }
            '=' => self.emit(TokenKind::Assign),
            ':' if self.next() == Some('=') => self.emit(TokenKind::Declare),
            ':' => self.error("expected :="),
            '|' => self.emit(TokenKind::Pipe),
            '"' => self.quoted('"', TokenKind::String, "unterminated quoted string"),
            '`' => self.raw_string(),
            '$' => self.field_or_variable(TokenKind::Variable),
            '\'' => self.quoted(
                '\'',
                TokenKind::CharConstant,
                "unterminated character constant",
            ),
            '.' if !matches!(self.rest().first(), None | Some(b'0'..=b'9')) => {
                self.field_or_variable(TokenKind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.back_up();
                self.number()
            }
            _ if is_alphanumeric(character) => {
                self.back_up();
                self.identifier()
            }
            '(' => {
                self.parentheses += 1;
                self.emit(TokenKind::LeftParenthesis)
            }
            ')' if self.parentheses == 0 => self.error("unexpected right paren"),
            ')' => {
                self.parentheses -= 1;
                self.emit(TokenKind::RightParenthesis)
            }
            ' '..='~' => self.emit(TokenKind::Char),
            _ => self.bad_character("unrecognized character in action:", character),
        }
    }

    /// A run of spaces, of which the last may belong to a trim marker.
    fn space(&mut self) -> Token {
        let mut count = 0;
        for byte in self.rest() {
            if !is_space(char::from(*byte)) {
                break;
            }
            self.line += usize::from(*byte == b'\n');
            count += 1;
        }
        self.position += count;
        let rest = self
            .input
            .get(self.position.saturating_sub(1)..)
            .unwrap_or_default();
        if has_right_trim_marker(rest) && rest[TRIM_MARKER..].starts_with(self.delimiters.right()) {
            self.back_up();
            if count == 1 {
                return self.right_delimiter(true);
            }
        }
        self.emit(TokenKind::Space)
    }

    /// Goes over letters, digits and underscores.
    fn skip_word(&mut self) {
        loop {
            let rest = self.rest();
            let is_word = |byte: u8| IS_WORD[usize::from(byte)];
            let end = rest.iter().position(|byte| !is_word(*byte));
            self.position += end.unwrap_or(rest.len());
            if end.is_none_or(|end| rest[end].is_ascii()) {
                return;
            }
            match self.peek() {
                Some(character) if is_alphanumeric(character) => {
                    self.next();
                }
                _ => return,
            }
        }
    }

    fn identifier(&mut self) -> Token {
        self.skip_word();
        if let Some(character) = self.peek().filter(|_| !self.at_terminator()) {
            return self.bad_character("bad character", character);
        }
        let kind = match &self.input[self.start..self.position] {
            b"block" => TokenKind::Keyword(Keyword::Block),
            b"break" if self.has_break => TokenKind::Keyword(Keyword::Break),
            b"continue" if self.has_continue => TokenKind::Keyword(Keyword::Continue),
            b"define" => TokenKind::Keyword(Keyword::Define),
            b"else" => TokenKind::Keyword(Keyword::Else),
            b"end" => TokenKind::Keyword(Keyword::End),
            b"if" => TokenKind::Keyword(Keyword::If),
            b"range" => TokenKind::Keyword(Keyword::Range),
            b"template" => TokenKind::Keyword(Keyword::Template),
            b"with" => TokenKind::Keyword(Keyword::With),
            b"nil" => TokenKind::Nil,
            b"true" | b"false" => TokenKind::Bool,
            _ => TokenKind::Identifier,
        };
        self.emit(kind)
    }

    /// The dot or dollar sign has been read.
    fn field_or_variable(&mut self, kind: TokenKind) -> Token {
        if self.at_terminator() {
            let is_variable = kind == TokenKind::Variable;
            return self.emit(if is_variable { kind } else { TokenKind::Dot });
        }
        self.skip_word();
        if let Some(character) = self.peek().filter(|_| !self.at_terminator()) {
            return self.bad_character("bad character", character);
        }
        self.emit(kind)
    }

    fn at_terminator(&self) -> bool {
        let rest = self.rest();
        match rest.first() {
            None | Some(b'.' | b',' | b'|' | b':' | b')' | b'(' | b' ' | b'\t' | b'\r' | b'\n') => {
                true
            }
            first => {
                let right = self.delimiters.right();
                first == right.first() && rest.starts_with(right)
            }
        }
    }

    /// A string or character constant; the first quotation mark has been read.
    fn quoted(&mut self, mark: char, kind: TokenKind, unterminated: &str) -> Token {
        loop {
            let rest = self.rest().iter();
            let plain = |byte: &&u8| (b' '..=b'~').contains(*byte) && !b"\"'\\".contains(*byte);
            self.position += rest.take_while(plain).count();
            let character = match self.next() {
                Some('\\') => match self.next() {
                    None | Some('\n') => None,
                    Some(_) => continue,
                },
                other => other,
            };
            match character {
                None | Some('\n') => return self.error(unterminated),
                Some(character) if character == mark => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn raw_string(&mut self) -> Token {
        loop {
            match self.next() {
                None => return self.error("unterminated raw quoted string"),
                Some('`') => return self.emit(TokenKind::RawString),
                Some(_) => {}
            }
        }
    }

    fn number(&mut self) -> Token {
        if !self.scan_number() {
            return self.bad_number();
        }
        if !matches!(self.peek(), Some('+' | '-')) {
            return self.emit(TokenKind::Number);
        }
        if !self.scan_number() || self.input.get(self.position - 1) != Some(&b'i') {
            return self.bad_number();
        }
        self.emit(TokenKind::Complex)
    }

    fn bad_number(&mut self) -> Token {
        let shown = quote(&self.input[self.start..self.position]);
        self.error(format!(
            "bad number syntax: {}",
            String::from_utf8_lossy(&shown)
        ))
    }

    fn accept(&mut self, valid: &str) -> bool {
        let accepted = self
            .peek()
            .is_some_and(|character| valid.contains(character));
        if accepted {
            self.next();
        }
        accepted
    }

    fn accept_run(&mut self, valid: &str) {
        while self.accept(valid) {}
    }

    /// Not a perfect scanner: what it lets pass is looked at again when the number is parsed.
    fn scan_number(&mut self) -> bool {
        const DECIMAL: &str = "0123456789_";
        const HEXADECIMAL: &str = "0123456789abcdefABCDEF_";
        self.accept("+-");
        let mut digits = DECIMAL;
        if self.accept("0") {
            if self.accept("xX") {
                digits = HEXADECIMAL;
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = match digits {
            DECIMAL => "eE",
            HEXADECIMAL => "pP",
            _ => "",
        };
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run(DECIMAL);
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }
}

/// Which bytes are letters, digits and underscores of ASCII.
static IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    table
};

/// Where the next action or comment starts.
fn find(text: &[u8], delimiter: &[u8]) -> Option<usize> {
    let first = *delimiter.first()?;
    memchr::memchr_iter(first, text).find(|at| text[*at..].starts_with(delimiter))
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_alphanumeric(character: char) -> bool {
    character == '_' || is_letter_or_digit(character)
}

fn has_left_trim_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', space, ..] if is_space(char::from(*space)))
}

fn has_right_trim_marker(text: &[u8]) -> bool {
    matches!(text, [space, b'-', ..] if is_space(char::from(*space)))
}
